"""LAT-: the limits and percentiles that LoadGen itself was given, which the closed divisions may not loosen."""

from collections.abc import Iterator

from compliance.checks.facts import about, amount, benchmark_of, is_open, result_of, scenario_of_log, strictly
from compliance.checks.model import Finding, Scope, Skip, Subject
from compliance.checks.registry import check
from compliance.vocabulary import Scenario, Severity

_NEEDS = ("loadgen", "performance", "benchmark")
_NS_PER_MS = 1_000_000
_FIX = "Leave it out of user.conf, so that mlperf.conf's own value is in force, and repeat the run."
PERCENTILES = {
    Scenario.SERVER: 0.99,
    Scenario.MULTI_STREAM: 0.99,
    Scenario.SINGLE_STREAM: 0.90,
}
"""What LoadGen judges a scenario's latency by (loadgen/mlperf.conf:50-83); Offline has none."""


def _weight(subject: Subject) -> Severity:
    return Severity.WARNING if is_open(subject) else Severity.ERROR


@check(
    "LAT-008",
    "LoadGen judged by the round's token latency limits",
    "loadgen/mlperf.conf:114-164; weighbridge: the official checker does not compare what LoadGen was given",
    Scope.RESULT,
    _NEEDS,
    fix=_FIX,
)
def given_limits(subject: Subject) -> Iterator[Finding | Skip]:
    """requested_server_ttft_latency and _tpot_latency are no looser than the folder's scenario has them.

    With looser ones LoadGen's VALID and its early stopping stand for other limits: an error in closed and network, a
    warning in open. Tighter ones do no harm.
    """
    run, rules = result_of(subject).performance, subject.scenario
    if rules is None or not benchmark_of(subject).token_latencies or scenario_of_log(run) is not Scenario.SERVER:
        yield Skip("asked of Server and Interactive runs of language models")
        return
    limits_ms = (("ttft", rules.max_ttft_p99_ms), ("tpot", rules.max_tpot_p99_ms))
    for name, limit_ms in limits_ms:
        key = f"requested_server_{name}_latency"
        value = run.detail.number(key) if run.detail else None
        if value is None or limit_ms is None or value <= limit_ms * _NS_PER_MS:
            continue
        found = f"{key} = {amount(value / _NS_PER_MS, 'ms')}"
        yield strictly(about(run, key, f"{key} <= {amount(limit_ms, 'ms')}", found=found), _weight(subject))


@check(
    "LAT-009",
    "LoadGen judged by the scenario's percentile",
    "loadgen/mlperf.conf:50-83; weighbridge: the official checker does not read the percentile",
    Scope.RESULT,
    _NEEDS,
    fix=_FIX,
)
def percentile(subject: Subject) -> Iterator[Finding | Skip]:
    """effective_target_latency_percentile is at least 0.99 in Server and MultiStream and 0.90 in SingleStream.

    A lower one is an error in closed and network, a warning in open.
    """
    run = result_of(subject).performance
    scenario = scenario_of_log(run)
    least = PERCENTILES.get(scenario) if scenario else None
    key = "effective_target_latency_percentile"
    value = run.detail.number(key) if run.detail else None
    if least is None or value is None:
        yield Skip("Offline has no latency to judge" if least is None else f"no {key} in the log")
    elif value < least:
        yield strictly(about(run, key, f"{key} >= {amount(least)}"), _weight(subject))
