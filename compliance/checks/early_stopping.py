"""LAT-: early stopping recomputed from what LoadGen counted, and held against what the log claims of it."""

import re
from collections.abc import Iterator, Mapping

from compliance.checks.facts import about, amount, is_open, result_of, scenario_of_log, strictly
from compliance.checks.limits import PERCENTILES
from compliance.checks.model import Finding, Scope, Skip, Subject
from compliance.checks.registry import check
from compliance.logs.detail import DetailLog
from compliance.metrics.early_stopping import discarded_queries, enough_queries, fewest_queries
from compliance.vocabulary import Scenario, Severity

_NEEDS = ("loadgen", "performance", "benchmark")
_COUNT = "result_query_count"
_OVER = "result_overlatency_query_count"
_MET = "early_stopping_met"
_TEXTS = ("early_stopping_result", "early_stopping_ttft_result", "early_stopping_tpot_result")
_NS_PER_MS = 1_000_000
_LARGEST = 2**63
_POINTS = ("50.00", "90.00", "95.00", "97.00", "99.00", "99.90")
_UNMET = re.compile(r"Run unsuccessful|Only processed")
_PROCESSED = re.compile(r"Processed at least \d+ queries \((\d+)\)")
_DISCARDED = re.compile(r"Would discard (\d+) highest")
_ONE_RUN = "Put the log of one run there, whole and as LoadGen wrote it; repeat the run where there is none."


def _count(detail: DetailLog, key: str) -> int | None:
    """A count of a log; None where there is none, or none that a run can have reached."""
    value = detail.number(key)
    least = 1 if key == _COUNT else 0
    return value if isinstance(value, int) and least <= value < _LARGEST else None


@check(
    "LAT-010",
    "the counts bear early stopping out",
    "inference_rules.adoc:1065; loadgen/results.cc:149-285; weighbridge: the official checker takes the log's word",
    Scope.RESULT,
    _NEEDS,
    fix="Let the run complete more queries, or lower target_qps until the percentile holds; repeat the run.",
)
def counts(subject: Subject) -> Iterator[Finding | Skip]:
    """Where the log says that early stopping was met, its counts of queries and of those over the limit show it.

    In Server and Interactive with no query over its limit 459 are needed, with one 662, and so on. Where token
    latencies were measured LoadGen logs no such count: the 99.9th percentiles give the least there can have been.
    SingleStream needs 64 queries, MultiStream 662. In open it is a warning unless the queries would be too few for any
    latency.
    """
    run = result_of(subject).performance
    scenario = scenario_of_log(run)
    percentile = PERCENTILES.get(scenario) if scenario else None
    if run.detail is None or percentile is None or run.detail.value(_MET) is not True:
        yield Skip("no early stopping that was met (LAT-001), or Offline")
        return
    for key in _TEXTS:
        text = run.detail.value(key)
        if isinstance(text, str) and _UNMET.search(text):
            found = " ".join(text.replace("*", " ").split())
            yield strictly(about(run, key, f"{key} of a run that met early stopping, as {_MET} says", found=found))
    queries = _count(run.detail, _COUNT)
    over = _over(subject, run.detail, queries) if scenario is Scenario.SERVER else 1
    if queries is None or over is None:
        yield Skip("the log does not say how many queries there were, or the percentile is missed (LAT-005, LAT-006)")
        return
    if enough_queries(queries, over, percentile):
        return
    least = fewest_queries(over, percentile) if over < _LARGEST >> 8 else over
    limit = f"{over} over the limit" if scenario is Scenario.SERVER else "an estimate"
    finding = about(run, _COUNT, f"{_COUNT} >= {least} for {limit} at {percentile:.0%}")
    bare = enough_queries(queries, 0 if scenario is Scenario.SERVER else 1, percentile)
    yield strictly(finding, Severity.WARNING if is_open(subject) and bare else Severity.ERROR)


def _over(subject: Subject, detail: DetailLog, queries: int | None) -> int | None:
    """How many queries were over their limit, or the least there can have been; None where LAT-005 and 006 say so."""
    if not detail.value("requested_use_token_latencies"):
        return _count(detail, _OVER)
    rules = subject.scenario
    if rules is None or queries is None:
        return None
    kinds = (
        ("result_first_token_{}_percentile_latency_ns", rules.max_ttft_p99_ms),
        ("result_time_per_output_token_{}_percentile_ns", rules.max_tpot_p99_ms),
    )
    least = 0
    for key, limit_ms in kinds:
        at_99, at_999 = (detail.number(key.format(point)) for point in ("99.00", "99.90"))
        if limit_ms is None or at_99 is None or at_99 >= limit_ms * _NS_PER_MS:
            return None
        if at_999 is not None and at_999 > limit_ms * _NS_PER_MS:
            least = max(least, queries - int(queries * 0.999))
    return least


@check(
    "LAT-011",
    "the early stopping estimate is that of the run's latencies",
    "loadgen/results.cc:162-285; weighbridge: the estimate is the metric of SingleStream and MultiStream",
    Scope.RESULT,
    _NEEDS,
    fix=_ONE_RUN,
)
def estimates(subject: Subject) -> Iterator[Finding | Skip]:
    """SingleStream's and MultiStream's estimates lie where the query count and the percentiles put them.

    LoadGen leaves out as many of the slowest queries as their number allows and takes the next: between two of the
    percentiles it logs. Its text names the number of queries and of those left out.
    """
    run = result_of(subject).performance
    scenario = scenario_of_log(run)
    detail = run.detail
    if detail is None or scenario not in {Scenario.SINGLE_STREAM, Scenario.MULTI_STREAM}:
        yield Skip("asked of SingleStream and MultiStream runs")
        return
    queries = _count(detail, _COUNT)
    if queries is None or detail.value("requested_use_token_latencies"):
        yield Skip("no query count in the log, or the estimates are those of token latencies")
        return
    asked = detail.number("effective_target_latency_percentile") or PERCENTILES[scenario]
    if not 0 < asked < 1:
        yield Skip("no percentile that can be estimated (LAT-009)")
        return
    yield from _text(subject, detail, queries, asked)
    single = scenario is Scenario.SINGLE_STREAM
    wanted = {"early_stopping_latency_ss": asked, "early_stopping_latency_ms": 0.99} if single else {}
    for key, percentile in (wanted or {"early_stopping_latency_ms": asked}).items():
        yield from _estimate(subject, key, (queries, percentile), _latencies(detail, per_query=not single))


def _text(subject: Subject, detail: DetailLog, queries: int, percentile: float) -> Iterator[Finding]:
    """What LoadGen says it did, held against the count."""
    text = detail.value("early_stopping_result")
    processed, discarded = (
        (pattern.search(text) if isinstance(text, str) else None) for pattern in (_PROCESSED, _DISCARDED)
    )
    said = tuple(int(match[1]) if match else None for match in (processed, discarded))
    wanted = (queries, discarded_queries(queries, percentile))
    if any(told not in {None, own} for told, own in zip(said, wanted, strict=True)):
        expected = f"{wanted[0]} queries, {wanted[1]} of them discarded, as {_COUNT} gives"
        found = f"{said[0]} queries, {said[1]} discarded"
        yield strictly(about(result_of(subject).performance, "early_stopping_result", expected, found=found))


def _latencies(detail: DetailLog, *, per_query: bool) -> Mapping[str, float]:
    """Latencies by percentile, as far as they are logged."""
    form = "result_{}_percentile_per_query_latency_ns" if per_query else "result_{}_percentile_latency_ns"
    values = {point: detail.number(form.format(point)) for point in _POINTS}
    return {point: value for point, value in values.items() if value is not None}


def _estimate(
    subject: Subject, key: str, asked: tuple[int, float], latencies_ns: Mapping[str, float]
) -> Iterator[Finding]:
    queries, percentile = asked
    run = result_of(subject).performance
    value = run.detail.number(key) if run.detail else None
    discarded = discarded_queries(queries, percentile)
    if not value or discarded is None:
        return
    rank = queries - discarded - 1
    ranks = {point: int(queries * (float(point) / 100)) for point in latencies_ns}
    least = max((latencies_ns[point] for point, own in ranks.items() if own <= rank), default=None)
    most = min((latencies_ns[point] for point, own in ranks.items() if own >= rank), default=None)
    if (least is None or value >= least) and (most is None or value <= most):
        return
    bounds = " and ".join(
        f"{sign} {amount(bound, 'ns')}" for sign, bound in ((">=", least), ("<=", most)) if bound is not None
    )
    yield strictly(about(run, key, f"{key} {bounds}, by the percentiles", found=f"{key} = {amount(value, 'ns')}"))
