"""PERF-: counts, rates and settings of one log, and of user.conf, held against each other."""

from collections.abc import Iterator

from compliance.checks.facts import about, amount, benchmark_of, result_of, scenario_of_log, strictly
from compliance.checks.measurements import conf_path
from compliance.checks.model import Finding, Scope, Skip, Subject
from compliance.checks.registry import check
from compliance.logs.detail import DetailLog
from compliance.metrics.performance import BASE_KEYS
from compliance.vocabulary import Scenario, Severity

_LOG = ("loadgen", "performance")
_QUERIES, _SAMPLES = "generated_query_count", "generated_samples_per_query"
_CONCATENATE = "effective_sample_concatenate_permutation"
_ROUNDING = 0.01
"""LoadGen prints rates with six digits, and counts a Server run's samples less one."""
_MS_PER_S, _NS_PER_MS = 1000, 1_000_000
_LARGEST = 2**63
_COPY = "Put the logs and the user.conf of one and the same run there."
_CONF_KEYS = {
    (Scenario.OFFLINE, "target_qps"): (("requested_offline_expected_qps",), 1),
    (Scenario.SERVER, "target_qps"): (("requested_server_target_qps",), 1),
    (Scenario.SERVER, "target_latency"): (("requested_server_target_latency_ns",), _NS_PER_MS),
    (Scenario.SINGLE_STREAM, "target_latency"): (("requested_single_stream_expected_latency_ns",), _NS_PER_MS),
    (Scenario.MULTI_STREAM, "target_latency"): (("requested_multi_stream_expected_latency_ns",), _NS_PER_MS),
}
_CONF_KEYS |= {
    (scenario, key): ((f"requested_{key}{'_ms' if key.endswith('duration') else ''}",), 1)
    for scenario in Scenario
    for key in (
        "min_duration",
        "max_duration",
        "min_query_count",
        "max_query_count",
        "performance_sample_count_override",
    )
}
"""Settings of user.conf by scenario: the keys that LoadGen logs what it was asked for under, and their unit."""


def logged_number(detail: DetailLog, key: str) -> float | int | None:
    """The value of a key when it is a finite number that a run can have reached, below 2^63; None otherwise."""
    value = detail.number(key)
    return value if value is not None and -_LARGEST < value < _LARGEST else None


def _rate_key(scenario: Scenario) -> str:
    """The key of the rate at which samples, in MultiStream queries, came back over the whole run."""
    streams = scenario in {Scenario.SINGLE_STREAM, Scenario.MULTI_STREAM}
    return "result_qps_with_loadgen_overhead" if streams else BASE_KEYS[scenario]


@check(
    "PERF-016",
    "counts and rate give a run as long as asked",
    "inference_rules.adoc:132-170; weighbridge: the official checker tests the setting alone",
    Scope.RESULT,
    _LOG,
    fix="Put the log of one run there, whole and as LoadGen wrote it; repeat a run that was too short.",
)
def duration(subject: Subject) -> Iterator[Finding | Skip]:
    """Samples over samples per second, the time that the run took, is at least the round's minimum duration.

    Asked in Offline, Server, Interactive and SingleStream, of a run that was asked to last so long (PERF-007) and where
    LoadGen itself does not say that it was shorter (PERF-012). 1 % is let pass, for what LoadGen rounds.
    """
    run = result_of(subject).performance
    scenario, detail = scenario_of_log(run), run.detail
    if detail is None or scenario is None or detail.value("result_min_duration_met") is False:
        yield Skip("LoadGen says that the run was too short (PERF-012), or no scenario is logged")
        return
    key = _rate_key(scenario)
    queries, each, rate = (logged_number(detail, name) for name in (_QUERIES, _SAMPLES, key))
    if not queries or not each or not rate or rate <= 0 or scenario is Scenario.MULTI_STREAM:
        yield Skip("the log does not give count and rate, or MultiStream")
        return
    least_ms = subject.scenario.min_duration_ms if subject.scenario else subject.round.min_duration_ms
    if (logged_number(detail, "effective_min_duration_ms") or 0) < least_ms:
        yield Skip("the run was not asked to last as long (PERF-007)")
        return
    took_ms = queries / rate * each * _MS_PER_S
    if took_ms < least_ms * (1 - _ROUNDING):
        samples = amount(int(queries) * int(each), "samples")
        found = f"{amount(round(took_ms), 'ms')}: {samples} at {amount(rate)} per second"
        yield strictly(about(run, key, f"a run of {amount(least_ms, 'ms')} or more", found=found))


@check(
    "PERF-017",
    "equal issue filled up the last round of samples",
    "loadgen/loadgen.cc:316-390; weighbridge: the official checker does not read the counts",
    Scope.RESULT,
    (*_LOG, "benchmark"),
    fix="Run with this round's LoadGen, which issues whole rounds where sample_concatenate_permutation is on.",
)
def whole_rounds(subject: Subject) -> Iterator[Finding | Skip]:
    """With equal issue on, the samples generated are a multiple of those held in memory. A warning."""
    run = result_of(subject).performance
    detail = run.detail
    held_key = "effective_performance_sample_count"
    if detail is None or not benchmark_of(subject).equal_issue or detail.value(_CONCATENATE) is not True:
        yield Skip("no equal issue asked for, or not on (PERF-010)")
        return
    counts = [logged_number(detail, name) for name in (_QUERIES, _SAMPLES, held_key)]
    queries, each, held = (value if isinstance(value, int) else 0 for value in counts)
    if queries <= 0 or each <= 0 or held < max(1, benchmark_of(subject).performance_sample_count):
        yield Skip("the log does not give the counts, or holds too few samples (PERF-001)")
    elif queries * each % held:
        key = _SAMPLES if each > 1 else _QUERIES
        expected, found = f"a multiple of {held} samples", f"{queries * each} samples"
        yield strictly(about(run, key, expected, found=found), Severity.WARNING)


@check(
    "PERF-018",
    "every setting of user.conf is the run's",
    "submission_rules.adoc:420-432; weighbridge: the official checker does not open user.conf",
    Scope.RESULT,
    (*_LOG, "benchmark"),
    fix=_COPY,
)
def same_settings(subject: Subject) -> Iterator[Finding | Skip]:
    """What user.conf sets for the scenario is what the log says LoadGen was asked for. A warning.

    Rates, target latencies, durations, query counts and the number of samples held. Values are compared as LoadGen
    prints them, with six digits.
    """
    result = result_of(subject)
    conf, limits, detail = result.user_conf, subject.scenario, result.performance.detail
    scenario = scenario_of_log(result.performance)
    if conf is None or limits is None or detail is None or scenario is None or limits.scenario is not result.scenario:
        yield Skip("no readable user.conf (MEAS-002), or no scenario to read it for")
        return
    for (known, name), (keys, unit) in _CONF_KEYS.items():
        wanted = conf.value(name, scenario.value, limits.loadgen_model) if known is scenario else None
        for key in keys:
            logged = logged_number(detail, key)
            if wanted is None or logged is None or abs(logged - wanted * unit) <= abs(wanted * unit) * 1e-5:
                continue
            line = next((item.line for item in reversed(conf.assignments) if item.key == name), None)
            expected = f"{name} = {amount(logged / unit)}, as the log has it ({key})"
            finding = Finding(conf_path(subject), expected, f"{name} = {amount(wanted)}", line=line)
            yield strictly(finding, Severity.WARNING)
