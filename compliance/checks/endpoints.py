"""PERF-1xx: the performance run of endpoints (performance_check.py of the official checker)."""

import math
from collections.abc import Iterator

from compliance.checks.endpoints_facts import (
    CONFIG,
    NEEDS_CONFIG,
    NEEDS_SUMMARY,
    SUMMARY,
    at,
    config_of,
    exactly,
    run_of,
    said,
    summary_of,
)
from compliance.checks.facts import amount, benchmark_of, graded, number_in, result_of, strictly, system_of
from compliance.checks.model import Finding, Scope, Skip, Subject
from compliance.checks.registry import check
from compliance.logs.documents import JsonValue
from compliance.logs.endpoints_official import MIN_DURATION, SAMPLE_INDEX_SEED, SCHEDULE_SEED
from compliance.metrics.performance import endpoints_keys, endpoints_scenario
from compliance.vocabulary import Scenario, Severity

_ENDPOINTS = ("endpoints",)
_NS_PER_MS = 1_000_000
_MOST = 10**300
_RERUN = "Set it in the configuration and repeat the performance run."
_SEED_FIX = (
    "Set settings.runtime.scheduler_random_seed and dataloader_random_seed to the round's seeds; repeat the run."
)


@check(
    "PERF-101",
    "the endpoints run is of this scenario",
    "performance_check.py:64-72, 506; loader.py:503",
    Scope.RESULT,
    NEEDS_CONFIG,
    fix="Put the run of this very scenario here: type offline for Offline, online for the others.",
)
def run_scenario(subject: Subject) -> Iterator[Finding | Skip]:
    """config.yaml's type fits the folder: offline for Offline, online for the others; one stream for SingleStream.

    The official checker takes any type in SingleStream and Interactive folders; nothing is inferred here.
    """
    run, config = run_of(subject), config_of(subject)
    folder = result_of(subject).scenario
    if folder is None:
        yield Skip("the folder's name is no scenario (SCN-001)")
        return
    measured = endpoints_scenario(result_of(subject))
    official = measured is None or measured.lower() != folder.value.lower()
    offline = folder is Scenario.OFFLINE
    fitting = {"offline"} if offline else {"online", folder.value.lower(), folder.loadgen_name.lower()}
    strict = config.kind is None or config.kind.lower() not in fitting
    expected = f"type: {'offline' if offline else 'online'}, for {folder.value}"
    yield from exactly(at(run, CONFIG, "/type", expected, said("type", config.kind)), official=official, strict=strict)
    streams = config.target_concurrency
    if folder is Scenario.SINGLE_STREAM and streams is not None and streams != 1:
        pointer = "/settings/load_pattern/target_concurrency"
        yield strictly(
            at(run, CONFIG, pointer, "target_concurrency: 1, for SingleStream", said("target_concurrency", streams))
        )


def _seed(subject: Subject, key: str, name: str, seed: int) -> Iterator[Finding]:
    run, config = run_of(subject), config_of(subject)
    stated = config.sample_index_seed if key == SAMPLE_INDEX_SEED else config.schedule_seed
    finding = at(
        run,
        CONFIG,
        f"/settings/runtime/{name}",
        f"{name}: {seed}, the seed of round {subject.round.name}",
        said(name, stated),
    )
    yield from exactly(finding, official=run.official.performance.get(key) != seed, strict=stated != seed)


@check(
    "PERF-102",
    "the seed of the sample order is the round's",
    "performance_check.py:235-250; constants.py:2263",
    Scope.RESULT,
    NEEDS_CONFIG,
    fix=_SEED_FIX,
)
def sample_seed(subject: Subject) -> Iterator[Finding | Skip]:
    """settings.runtime.dataloader_random_seed equals the round's sample index seed; endpoints runs have no QSL seed."""
    yield from _seed(subject, SAMPLE_INDEX_SEED, "dataloader_random_seed", subject.round.seeds.sample_index)


@check(
    "PERF-103",
    "the seed of the schedule is the round's",
    "performance_check.py:235-250; constants.py:2264",
    Scope.RESULT,
    NEEDS_CONFIG,
    fix=_SEED_FIX,
)
def schedule_seed(subject: Subject) -> Iterator[Finding | Skip]:
    """settings.runtime.scheduler_random_seed equals the round's schedule seed."""
    yield from _seed(subject, SCHEDULE_SEED, "scheduler_random_seed", subject.round.seeds.schedule)


def _least_ms(subject: Subject) -> int:
    return subject.scenario.min_duration_ms if subject.scenario else subject.round.min_duration_ms


@check(
    "PERF-104",
    "the endpoints run was asked to last long enough",
    "performance_check.py:364",
    Scope.RESULT,
    NEEDS_CONFIG,
    fix=_RERUN,
)
def min_duration(subject: Subject) -> Iterator[Finding | Skip]:
    """settings.runtime.min_duration_ms is at least the round's minimum (600 000 ms), in every division."""
    run, stated, least = run_of(subject), config_of(subject).min_duration_ms, _least_ms(subject)
    value = run.official.performance.get(MIN_DURATION)
    finding = at(
        run,
        CONFIG,
        "/settings/runtime/min_duration_ms",
        f"min_duration_ms >= {least} ms",
        said("min_duration_ms", stated),
    )
    official = not isinstance(value, int | float) or value < least
    yield from exactly(finding, official=official, strict=stated is None or not stated >= least)


@check(
    "PERF-105",
    "the endpoints run lasted as long as asked",
    "inference_rules.adoc:132-170",
    Scope.RESULT,
    NEEDS_SUMMARY,
    fix="Issue more samples, or at a higher rate for longer, until the run lasts min_duration_ms; repeat it.",
)
def lasted(subject: Subject) -> Iterator[Finding | Skip]:
    """duration_ns of the summary is at least the round's minimum: the official checker tests the setting alone."""
    run, least = run_of(subject), _least_ms(subject)
    duration_ns = summary_of(subject).duration_ns
    if duration_ns is None or not math.isfinite(duration_ns):
        yield strictly(at(run, SUMMARY, "/duration_ns", "duration_ns as a number of nanoseconds", "no such number"))
    elif duration_ns / _NS_PER_MS < least:
        shown = f"duration_ns = {amount(duration_ns / _NS_PER_MS, 'ms')}"
        yield strictly(at(run, SUMMARY, "/duration_ns", f"duration_ns >= {least} ms", shown))


@check(
    "PERF-106",
    "the metric of the endpoints run can be read",
    "performance_check.py:540-583; constants.py:1582-1590, 1700-1720",
    Scope.RESULT,
    (*NEEDS_SUMMARY, "benchmark"),
    fix="Submit the summary of a finished run: it holds qps, tps and latency, and the counts that they come from.",
)
def metric(subject: Subject) -> Iterator[Finding | Skip]:
    """The values that make the scenario's metric are numbers above zero.

    Samples per second stand for qps where that is null: issued / duration. Language models in Server need tps too;
    SingleStream the mean latency, or the benchmark's own percentile of latency.early_stopping_percentiles.
    """
    run = run_of(subject)
    scenario = endpoints_scenario(result_of(subject))
    keys = endpoints_keys(benchmark_of(subject), scenario) if scenario else ()
    if not keys:
        yield at(run, CONFIG, "/type", "a scenario whose metric is known", said("type", config_of(subject).kind))
    for key in keys:
        value = run.official.performance.get(key)
        yield from _number(subject, key, value)


def _number(subject: Subject, key: str, value: JsonValue) -> Iterator[Finding]:
    number = None if isinstance(value, list | dict) else number_in(value)
    if isinstance(number, int) and abs(number) > _MOST:
        number = None
    finding = at(run_of(subject), SUMMARY, "", f"{key} > 0", said(key, value))
    if number is None:
        yield finding
    elif not math.isfinite(number):
        yield strictly(finding)
    elif number <= 0:
        yield from exactly(finding, official=number == 0, strict=True)


@check(
    "PERF-107",
    "the benchmark may be submitted from endpoints",
    "performance_check.py:586; accuracy_check.py:343; constants.py:2045-2053, 1582",
    Scope.RESULT,
    (*_ENDPOINTS, "benchmark"),
    fix="Run it with LoadGen, and copy mlperf_log_detail.txt of both runs.",
)
def model(subject: Subject) -> Iterator[Finding | Skip]:
    """The round lists the benchmark among those that endpoints runs may stand for. Rounds before v6.1 list none."""
    if not benchmark_of(subject).endpoints:
        allowed = ", ".join(name for name, rules in subject.round.benchmarks.items() if rules.endpoints) or "none"
        expected = f"LoadGen's detail logs, or a benchmark that endpoints runs may stand for ({allowed})"
        yield Finding(run_of(subject).folder, expected, f"endpoints files for {benchmark_of(subject).name}")


@check(
    "PERF-108",
    "no sample of the endpoints run failed",
    "inference_rules.adoc:1065; weighbridge: the official checker does not look at n_samples_failed",
    Scope.RESULT,
    NEEDS_SUMMARY,
    fix="Find why requests failed or were left open (the endpoint's log has them), mend it and repeat the run.",
)
def failures(subject: Subject) -> Iterator[Finding | Skip]:
    """n_samples_failed is 0, n_samples_completed is n_samples_issued, and the run is not called incomplete."""
    run, summary = run_of(subject), summary_of(subject)
    if summary.failed:
        yield strictly(
            at(run, SUMMARY, "/n_samples_failed", "n_samples_failed = 0", said("n_samples_failed", summary.failed))
        )
    elif summary.issued is not None and summary.completed is not None and summary.completed < summary.issued:
        expected = f"n_samples_completed = {summary.issued}, as issued"
        yield strictly(
            at(run, SUMMARY, "/n_samples_completed", expected, said("n_samples_completed", summary.completed))
        )
    elif summary.complete is False:
        yield strictly(at(run, SUMMARY, "/complete", "complete = true", "complete = false"))


@check(
    "PERF-109",
    "the Offline endpoints run holds enough samples",
    "performance_check.py:353-361; weighbridge: the official checker does not ask endpoints runs",
    Scope.RESULT,
    (*NEEDS_SUMMARY, "benchmark", "closed"),
    fix="Issue at least as many samples: settings.runtime.n_samples_to_issue.",
)
def offline_samples(subject: Subject) -> Iterator[Finding | Skip]:
    """n_samples_issued of an Offline run is at least 24576, or the data set where that is smaller."""
    least = subject.scenario.min_samples_per_query if subject.scenario else None
    if result_of(subject).scenario is not Scenario.OFFLINE or least is None:
        yield Skip("asked of Offline runs")
        return
    issued = summary_of(subject).issued
    if issued is None or issued < least:
        run = run_of(subject)
        yield strictly(
            at(run, SUMMARY, "/n_samples_issued", f"n_samples_issued >= {least}", said("n_samples_issued", issued))
        )


@check(
    "PERF-110",
    "an endpoints run is of no network system",
    "performance_check.py:424-434",
    Scope.RESULT,
    (*_ENDPOINTS, "description"),
    fix='Describe the system as it is; the official checker turns down endpoints results whose is_network is "true".',
)
def network(subject: Subject) -> Iterator[Finding | Skip]:
    """is_network is not "true": endpoints files have no SUT name, which the official checker then wants to read."""
    description = system_of(subject).description
    flag = description.members.get("is_network") if description else None
    if str(flag).lower() == "true":
        finding = Finding(system_of(subject).path, 'is_network other than "true"', f"is_network = {flag}")
        yield from graded(finding, official=Severity.ERROR, strict=None)
