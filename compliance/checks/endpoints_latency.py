"""LAT-1xx: latencies of an endpoints run by early stopping's estimates (performance_check.py:297-325, 436-504)."""

from collections.abc import Iterator

from compliance.checks.endpoints_facts import NEEDS_SUMMARY, SUMMARY, at, by_division, run_of, summary_of
from compliance.checks.facts import amount, benchmark_of, graded, off_by, result_of, strictly
from compliance.checks.model import Finding, Scope, Skip, Subject
from compliance.checks.registry import check
from compliance.logs.endpoints import as_float
from compliance.logs.endpoints_official import LATENCY_P99, TPOT_P99, TTFT_P99
from compliance.logs.endpoints_records import Distribution
from compliance.metrics.performance import endpoints_scenario
from compliance.rulebook.model import ScenarioRules
from compliance.vocabulary import Scenario, Severity

_PERCENT = 99.0
_NS_PER_MS = 1_000_000
_KEYS = {"latency": LATENCY_P99, "ttft": TTFT_P99, "tpot": TPOT_P99}
_NEEDS = (*NEEDS_SUMMARY, "benchmark")
_LOWER = (
    "Lower the rate or concurrency, with early stopping on so that the summary holds its estimates; repeat the run."
)
_STREAMED = (Scenario.SERVER, Scenario.INTERACTIVE)
_SKIP = "asked of Server and Interactive runs of language models"


def _ms(value_ns: float) -> str:
    return amount(value_ns / _NS_PER_MS, "ms")


def _distribution(subject: Subject, name: str) -> Distribution:
    summary = summary_of(subject)
    return {"latency": summary.latency, "ttft": summary.ttft, "tpot": summary.tpot}[name]


def _finding(subject: Subject, name: str, expected: str, limit_ms: float) -> Finding:
    """The finding about a 99th percentile: what the file has, or which percentiles it has instead."""
    held = _distribution(subject, name)
    value = held.early_stopping.at(_PERCENT)
    keys = held.early_stopping.spellings
    spelling = next((key for key in keys if as_float(key) == _PERCENT), "99.0")
    pointer = f"/{name}/early_stopping_percentiles/{spelling}"
    message = ""
    if value is not None:
        over = value / _NS_PER_MS - limit_ms
        found = f"{name} p99 = {_ms(value)}"
        message = off_by(over, limit_ms, "ms") if over >= 0 else ""
        message = message or f'the official checker reads the keys "99" and "99.0" alone, not "{spelling}"'
    elif _PERCENT in held.early_stopping.values:
        found = f"{name}.early_stopping_percentiles has null at {spelling}: too few samples for an estimate"
    elif keys:
        found = f"no 99 among the keys of {name}.early_stopping_percentiles: {', '.join(keys)[:200]}"
    else:
        found = f"no {name}.early_stopping_percentiles"
        plain = held.percentiles.at(_PERCENT)
        if plain is not None:
            message = f"the plain 99th percentile is {_ms(plain)}; the rules want the estimate of early stopping"
        elif held.percentiles.spellings:
            message = f"keys of {name}.percentiles: {', '.join(held.percentiles.spellings)[:200]}"
    return at(run_of(subject), SUMMARY, pointer, expected, found, message)


@check(
    "LAT-101",
    "the endpoints run's 99th percentile latency is within the limit",
    "performance_check.py:297-325",
    Scope.RESULT,
    _NEEDS,
    fix=_LOWER,
)
def latency(subject: Subject) -> Iterator[Finding | Skip]:
    """latency.early_stopping_percentiles at 99 is at most the folder's end-to-end limit; a warning in strict in open.

    Asked of benchmarks that are judged by no token latencies (Qwen3-VL).
    """
    limit_ms = subject.scenario.max_latency_p99_ms if subject.scenario else None
    if benchmark_of(subject).token_latencies or limit_ms is None:
        yield Skip("no end-to-end latency limit, or token latencies judge it")
        return
    limit_ns = limit_ms * _NS_PER_MS
    value = run_of(subject).official.performance.get(LATENCY_P99)
    official = not isinstance(value, int | float) or value > limit_ns
    own = _distribution(subject, "latency").early_stopping.at(_PERCENT)
    finding = _finding(subject, "latency", f"latency p99 <= {amount(limit_ms, 'ms')}", limit_ms)
    yield from by_division(finding, subject, official=official, strict=own is None or own > limit_ns)


def _limit_ms(rules: ScenarioRules | None, name: str) -> float | None:
    if rules is None:
        return None
    return rules.max_ttft_p99_ms if name == "ttft" else rules.max_tpot_p99_ms


def _official_rules(subject: Subject) -> tuple[bool, ScenarioRules | None]:
    """Whether the official checker asks for token latencies here, and by which scenario's limits."""
    scenario = endpoints_scenario(result_of(subject))
    named = next((one for one in _STREAMED if one.value == scenario), None)
    if named is None or not benchmark_of(subject).token_latencies:
        return False, None
    return True, benchmark_of(subject).scenarios.get(named)


def _token_latency(subject: Subject, name: str) -> Iterator[Finding | Skip]:
    asked, rules = _official_rules(subject)
    strictly_asked = benchmark_of(subject).token_latencies and result_of(subject).scenario in _STREAMED
    if not asked and not strictly_asked:
        yield Skip(_SKIP)
        return
    official_ms, strict_ms = _limit_ms(rules, name), _limit_ms(subject.scenario, name)
    limit_ms = strict_ms if strict_ms is not None and strictly_asked else official_ms
    if limit_ms is None:
        expected = "a scenario in which the benchmark has token latency limits"
        finding = Finding(result_of(subject).path, expected, f"no {name} limit for {benchmark_of(subject).name} here")
        yield from graded(finding, official=Severity.ERROR if asked else None, strict=None)
        return
    value = run_of(subject).official.performance.get(_KEYS[name])
    kept = isinstance(value, int | float) and official_ms is not None and value < official_ms * _NS_PER_MS
    own = _distribution(subject, name).early_stopping.at(_PERCENT)
    strict = strictly_asked and strict_ms is not None and (own is None or not own < strict_ms * _NS_PER_MS)
    finding = _finding(subject, name, f"{name} p99 < {amount(limit_ms, 'ms')}", limit_ms)
    yield from by_division(finding, subject, official=asked and not kept, strict=strict)


@check(
    "LAT-102",
    "TTFT of the endpoints run is below its limit",
    "performance_check.py:463-504; constants.py:1736-1802",
    Scope.RESULT,
    _NEEDS,
    fix=_LOWER,
)
def ttft(subject: Subject) -> Iterator[Finding | Skip]:
    """ttft.early_stopping_percentiles at 99 is strictly below the limit of the folder's scenario; a warning in open.

    The plain percentiles do not count. Keys "99" and "99.0" are read alike.
    """
    yield from _token_latency(subject, "ttft")


@check(
    "LAT-103",
    "TPOT of the endpoints run is below its limit",
    "performance_check.py:463-504; constants.py:1736-1802",
    Scope.RESULT,
    _NEEDS,
    fix=_LOWER,
)
def tpot(subject: Subject) -> Iterator[Finding | Skip]:
    """tpot.early_stopping_percentiles at 99 is strictly below the limit of the folder's scenario; a warning in open.

    The plain percentiles do not count. Keys "99" and "99.0" are read alike.
    """
    yield from _token_latency(subject, "tpot")


@check(
    "LAT-104",
    "latencies of the endpoints run are above zero",
    "weighbridge: a latency of zero or less was not measured",
    Scope.RESULT,
    _NEEDS,
    fix="Stream the answers, so that the client sees the first token when it is there; repeat the run.",
)
def plausible(subject: Subject) -> Iterator[Finding | Skip]:
    """No 99th percentile in the summary is zero or less."""
    for name in _KEYS:
        value = _distribution(subject, name).early_stopping.at(_PERCENT)
        if value is not None and value <= 0:
            yield strictly(_finding(subject, name, f"{name} p99 > 0", 1.0))
