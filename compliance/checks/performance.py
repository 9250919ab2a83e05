"""PERF-: what a performance run must have been asked for and have reached."""

import math
from collections.abc import Iterator

from compliance.checks.facts import (
    about,
    at_least,
    benchmark_of,
    graded,
    is_open,
    number_in,
    result_of,
    scenario_of_log,
    strictly,
    system_of,
)
from compliance.checks.model import Finding, Scope, Skip, Subject
from compliance.checks.registry import check
from compliance.metrics.performance import BASE_KEYS, metric_key
from compliance.vocabulary import Division, Scenario, Severity

_LOG = ("loadgen", "performance")
_RULES = ("loadgen", "performance", "benchmark")
_SEED_FIX = (
    "Seeds in user.conf are ignored: run with the LoadGen release of this round, which embeds them, and load its"
    " settings once per process (a second FromConfig in a process leaves the seeds 0)."
)
_RERUN = "Set it for this scenario in user.conf and repeat the performance run."


@check(
    "PERF-001",
    "enough samples were held in memory",
    "performance_check.py:188",
    Scope.RESULT,
    _RULES,
    fix="Raise performance_sample_count_override (or the QSL's performance count) and repeat the run.",
)
def performance_sample_count(subject: Subject) -> Iterator[Finding | Skip]:
    """effective_performance_sample_count of the performance run is at least the benchmark's."""
    least = benchmark_of(subject).performance_sample_count
    yield from at_least(result_of(subject).performance, "effective_performance_sample_count", least, "samples")


def _seed(subject: Subject, key: str, seed: int) -> Iterator[Finding]:
    run = result_of(subject).performance
    if run.detail is not None and run.detail.value(key) != seed:
        yield about(run, key, f"{key} = {seed}, the seed of round {subject.round.name}")


@check("PERF-002", "the QSL seed is the round's", "performance_check.py:225", Scope.RESULT, _LOG, fix=_SEED_FIX)
def qsl_seed(subject: Subject) -> Iterator[Finding | Skip]:
    """effective_qsl_rng_seed of the performance run equals the round's seed."""
    yield from _seed(subject, "effective_qsl_rng_seed", subject.round.seeds.qsl)


@check(
    "PERF-003",
    "the sample index seed is the round's",
    "performance_check.py:235-250",
    Scope.RESULT,
    _LOG,
    fix=_SEED_FIX,
)
def sample_index_seed(subject: Subject) -> Iterator[Finding | Skip]:
    """effective_sample_index_rng_seed of the performance run equals the round's seed."""
    yield from _seed(subject, "effective_sample_index_rng_seed", subject.round.seeds.sample_index)


@check(
    "PERF-004", "the schedule seed is the round's", "performance_check.py:235-250", Scope.RESULT, _LOG, fix=_SEED_FIX
)
def schedule_seed(subject: Subject) -> Iterator[Finding | Skip]:
    """effective_schedule_rng_seed of the performance run equals the round's seed."""
    yield from _seed(subject, "effective_schedule_rng_seed", subject.round.seeds.schedule)


@check(
    "PERF-005",
    "enough queries without early stopping",
    "performance_check.py:339-352",
    Scope.RESULT,
    _RULES,
    fix=_RERUN,
)
def min_query_count(subject: Subject) -> Iterator[Finding | Skip]:
    """effective_min_query_count is at least the benchmark's minimum where early stopping does not decide."""
    run = result_of(subject).performance
    if scenario_of_log(run) is not Scenario.OFFLINE:
        yield Skip("early stopping decides the query count in this scenario")
        return
    rules = benchmark_of(subject).scenarios.get(Scenario.OFFLINE)
    yield from at_least(run, "effective_min_query_count", (rules and rules.checker_min_query_count) or 1, "queries")


@check(
    "PERF-006",
    "the Offline query holds enough samples",
    "performance_check.py:353-361",
    Scope.RESULT,
    (*_RULES, "closed"),
    fix="Set min_query_count (or target_qps) for Offline in user.conf so that one query holds that many samples.",
)
def samples_per_query(subject: Subject) -> Iterator[Finding | Skip]:
    """effective_samples_per_query of an Offline run is at least 24576, or the data set where that is smaller.

    The official checker asks in the closed division only; the rules ask in network too.
    """
    run = result_of(subject).performance
    rules = benchmark_of(subject).scenarios.get(Scenario.OFFLINE)
    if scenario_of_log(run) is not Scenario.OFFLINE:
        yield Skip("asked of Offline runs")
        return
    if rules is None or rules.min_samples_per_query is None:
        finding = about(
            run, "effective_samples_per_query", "a benchmark with a minimum in the official checker's table"
        )
        yield from graded(finding, official=Severity.ERROR, strict=None)
        return
    official = Severity.ERROR if result_of(subject).division is Division.CLOSED else None
    for finding in at_least(run, "effective_samples_per_query", rules.min_samples_per_query, "samples"):
        yield from graded(finding, official=official, strict=Severity.ERROR)


@check("PERF-007", "the run was asked to last long enough", "performance_check.py:364", Scope.RESULT, _LOG, fix=_RERUN)
def min_duration(subject: Subject) -> Iterator[Finding | Skip]:
    """effective_min_duration_ms is at least the round's minimum (600 000 ms in official rounds), in every division."""
    least = subject.scenario.min_duration_ms if subject.scenario else subject.round.min_duration_ms
    yield from at_least(result_of(subject).performance, "effective_min_duration_ms", least, "ms")


def latency_alone(subject: Subject) -> bool:
    """Whether an open result's run failed by its latencies alone, not binding there (inference_rules.adoc:355-365)."""
    detail = result_of(subject).performance.detail
    if detail is None or not is_open(subject):
        return False
    other = (detail.value("result_min_duration_met"), detail.value("result_min_queries_met"))
    return detail.value("result_perf_constraints_met") is False and False not in other


@check(
    "PERF-008",
    "LoadGen calls the run VALID",
    "old:2006",
    Scope.RESULT,
    _LOG,
    fix="See result_invalid_reason in the log, or `weighbridge explain RUN_DIR`, and repeat the run.",
)
def result_validity(subject: Subject) -> Iterator[Finding | Skip]:
    """result_validity is VALID. The official checker reads it and looks away; LoadGen's verdict is the rule.

    In the open division a run that is INVALID by its latencies alone is warned about.
    """
    run = result_of(subject).performance
    if run.detail is None or run.detail.value("result_validity") == "VALID":
        return
    reason = run.detail.value("result_invalid_reason")
    severity = Severity.WARNING if latency_alone(subject) else Severity.ERROR
    message = f"LoadGen's reason: {reason}" if reason else ""
    yield strictly(about(run, "result_validity", "result_validity = VALID", message=message), severity)


@check(
    "PERF-009",
    "the metric can be read",
    "performance_check.py:540; constants.py:1554-1734",
    Scope.RESULT,
    _RULES,
    fix="Repeat the run to its end with token latencies on; LoadGen writes the metric when the test has finished.",
)
def metric(subject: Subject) -> Iterator[Finding | Skip]:
    """The benchmark's metric for the log's scenario is in the log and is a number above zero.

    The official checker lets negative ones pass, and wants the scenario's general metric (samples per second) too.
    """
    run = result_of(subject).performance
    scenario = scenario_of_log(run)
    if run.detail is None or scenario is None:
        yield about(run, "effective_scenario", "a scenario whose metric is known")
        return
    own = metric_key(benchmark_of(subject), scenario)
    value = number_in(run.detail.value(own))
    if value is None:
        yield about(run, own, f"{own} as a number")
    elif not math.isfinite(value):
        yield strictly(about(run, own, f"{own} as a number"))
    elif value <= 0:
        official = Severity.ERROR if value == 0 else None
        yield from graded(about(run, own, f"{own} > 0"), official=official, strict=Severity.ERROR)
    base = BASE_KEYS[scenario]
    if base != own and number_in(run.detail.value(base)) is None:
        yield from graded(about(run, base, f"{base} as a number"), official=Severity.ERROR, strict=Severity.WARNING)


@check(
    "PERF-010",
    "every sample is issued equally often",
    "old:1583-1601, 2042-2054",
    Scope.RESULT,
    _RULES,
    fix="Leave sample_concatenate_permutation at 1, as mlperf.conf has it (set `equal_issue: true` in the campaign"
    " or leave it out), and repeat the run.",
)
def equal_issue(subject: Subject) -> Iterator[Finding | Skip]:
    """effective_sample_concatenate_permutation is true where prompts differ in length: an error in closed and network.

    In the open division it is a warning. The official checker's own test of it is dead.
    """
    run = result_of(subject).performance
    if not benchmark_of(subject).equal_issue:
        yield Skip("the benchmark does not ask for equal issue mode")
        return
    key = "effective_sample_concatenate_permutation"
    if run.detail is not None and run.detail.value(key) is not True:
        yield strictly(about(run, key, f"{key} = true"), Severity.WARNING if is_open(subject) else Severity.ERROR)


@check(
    "PERF-011",
    "a network system's SUT says so",
    "performance_check.py:424-434",
    Scope.RESULT,
    (*_LOG, "description"),
    fix='Let the SUT call itself something that contains "Network SUT".',
)
def network_sut_name(subject: Subject) -> Iterator[Finding | Skip]:
    """sut_name contains "Network SUT" when the description's is_network is "true"."""
    description = system_of(subject).description
    flag = description.members.get("is_network") if description else None
    if str(flag).lower() != "true":
        yield Skip("is_network is not true")
        return
    run = result_of(subject).performance
    if run.detail is not None and "Network SUT" not in str(run.detail.value("sut_name")):
        yield about(run, "sut_name", 'sut_name contains "Network SUT"')


@check(
    "PERF-019",
    "a network system's name comes from the SUT",
    "inference_rules.adoc:499-509",
    Scope.RESULT,
    (*_LOG, "description"),
    fix="Let the SUT's name be asked for over the network each time, and keep no copy of it at LoadGen's side.",
)
def network_round_trip(subject: Subject) -> Iterator[Finding | Skip]:
    """Where is_network is "true", LoadGen's call for the SUT's name took time, as a round trip does. A warning."""
    description = system_of(subject).description
    flag = description.members.get("is_network") if description else None
    if str(flag).lower() != "true":
        yield Skip("is_network is not true")
        return
    run, key = result_of(subject).performance, "get_sut_name_duration_ns"
    took_ns = run.detail.number(key) if run.detail else None
    if took_ns is None or not took_ns > 0:
        yield strictly(about(run, key, f"{key} > 0"), Severity.WARNING)


@check(
    "PERF-012",
    "the run lasted as long as asked",
    "inference_rules.adoc:132-170",
    Scope.RESULT,
    _LOG,
    fix="Raise target_qps (Server) or the number of samples (Offline) until the run lasts min_duration; repeat it.",
)
def duration_met(subject: Subject) -> Iterator[Finding | Skip]:
    """result_min_duration_met is not false: the official checker tests the setting, LoadGen the time that passed."""
    run = result_of(subject).performance
    if run.detail is not None and run.detail.value("result_min_duration_met") is False:
        yield strictly(about(run, "result_min_duration_met", "result_min_duration_met = true"))


@check(
    "PERF-013",
    "the run completed as many queries as asked",
    "inference_rules.adoc:1065",
    Scope.RESULT,
    _LOG,
    fix="Let the run go on until min_query_count queries are complete: raise max_duration or lower the QPS; repeat it.",
)
def queries_met(subject: Subject) -> Iterator[Finding | Skip]:
    """result_min_queries_met is not false."""
    run = result_of(subject).performance
    if run.detail is not None and run.detail.value("result_min_queries_met") is False:
        yield strictly(about(run, "result_min_queries_met", "result_min_queries_met = true"))
