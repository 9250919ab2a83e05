"""LAT-: early stopping, target latency and the token latencies."""

import re
from collections.abc import Iterator
from dataclasses import replace

from compliance.checks.facts import (
    about,
    amount,
    benchmark_of,
    graded,
    is_open,
    off_by,
    result_of,
    rules_by_log,
    scenario_of_log,
    strictly,
)
from compliance.checks.hints import fix_of_error
from compliance.checks.model import Finding, Scope, Skip, Subject
from compliance.checks.performance import latency_alone
from compliance.checks.registry import check
from compliance.rulebook.model import ScenarioRules
from compliance.vocabulary import Scenario, Severity

TTFT_KEY = "result_first_token_99.00_percentile_latency_ns"
TPOT_KEY = "result_time_per_output_token_99.00_percentile_ns"
_LATENCY_KEY = "result_99.00_percentile_latency_ns"
_EARLY_STOPPING = (Scenario.SERVER, Scenario.SINGLE_STREAM, Scenario.MULTI_STREAM)
_NS_PER_MS = 1_000_000
_MEASURED = ("", "TTFT", "TPOT")
_MORE_QUERIES = re.compile(r"Need to process at least (\d+) more queries")
_NEEDS = ("loadgen", "performance", "benchmark")
_UNREPORTED = (
    (TTFT_KEY, "p99 first-token latency", "first tokens were never reported"),
    (TPOT_KEY, "p99 time per output token", "answers of one token, or first tokens reported with the whole answer"),
)
_LOWER = "Lower target_qps until the limit holds (`weighbridge search` finds the highest rate); repeat the run."


@check(
    "LAT-001",
    "early stopping was met",
    "performance_check.py:265-273",
    Scope.RESULT,
    _NEEDS,
    fix="Let the run complete more queries, or lower target_qps until the percentile holds; repeat the run.",
)
def early_stopping(subject: Subject) -> Iterator[Finding | Skip]:
    """early_stopping_met is true in Server, Interactive, SingleStream and MultiStream, in every division.

    In the open division a run that misses its latency limits alone is warned about in strict.
    """
    run = result_of(subject).performance
    if scenario_of_log(run) not in _EARLY_STOPPING:
        yield Skip("Offline does not use early stopping")
        return
    if run.detail is None or run.detail.value("early_stopping_met"):
        return
    texts = {name: run.detail.value(f"early_stopping_{name.lower()}{'_' if name else ''}result") for name in _MEASURED}
    reasons = [_early_reason(name, text) for name, text in texts.items() if isinstance(text, str) and text.strip()]
    message = "; ".join(reason for reason in reasons if reason)
    finding = about(run, "early_stopping_met", "early_stopping_met = true", message=message)
    strict = Severity.WARNING if latency_alone(subject) else Severity.ERROR
    yield from graded(finding, official=Severity.ERROR, strict=strict)


def _early_reason(measured: str, text: str) -> str:
    """LoadGen's text on one latency in plain words; empty where it was content with it."""
    needed = _MORE_QUERIES.search(text)
    if needed is not None:
        queries = f"{needed[1]} more {'query' if needed[1] == '1' else 'queries'}"
        return f"{measured} early stopping needs {queries}: run longer or raise min_query_count".lstrip()
    said = " ".join(text.replace("*", " ").split())
    return "" if said.startswith("Run successful") else f"{measured} {said}".lstrip()


@check(
    "LAT-002",
    "the target latency is no looser than the limit",
    "performance_check.py:277-294",
    Scope.RESULT,
    _NEEDS,
    fix="Leave target_latency as mlperf.conf has it and repeat the run.",
)
def target_latency(subject: Subject) -> Iterator[Finding | Skip]:
    """effective_target_latency_ns is at most the end-to-end limit of the log's scenario; LLMs have it set to 0."""
    run = result_of(subject).performance
    rules = rules_by_log(subject)
    if scenario_of_log(run) not in _EARLY_STOPPING or rules is None or rules.max_latency_p99_ms is None:
        yield Skip("no end-to-end latency limit in this scenario")
        return
    yield from _at_most(subject, "effective_target_latency_ns", rules.max_latency_p99_ms)


@check(
    "LAT-003",
    "the 99th percentile latency is within the limit",
    "performance_check.py:304-325",
    Scope.RESULT,
    _NEEDS,
    fix=_LOWER,
)
def latency(subject: Subject) -> Iterator[Finding | Skip]:
    """result_99.00_percentile_latency_ns of a run without early stopping is at most the folder's limit."""
    limit = subject.scenario.max_latency_p99_ms if subject.scenario else None
    if scenario_of_log(result_of(subject).performance) in _EARLY_STOPPING or limit is None:
        yield Skip("no end-to-end latency limit, or early stopping judges it")
        return
    yield from _at_most(subject, _LATENCY_KEY, limit)


def _at_most(subject: Subject, key: str, limit_ms: float) -> Iterator[Finding]:
    run = result_of(subject).performance
    value = run.detail.number(key) if run.detail else None
    if value is None:
        yield about(run, key, f"{key} <= {amount(limit_ms, 'ms')}")
    elif value > limit_ms * _NS_PER_MS:
        over = value / _NS_PER_MS - limit_ms
        found = f"{key} = {_ms(value)}"
        message = off_by(over, limit_ms, "ms")
        yield about(run, key, f"{key} <= {amount(limit_ms, 'ms')}", found=found, message=message)


@check(
    "LAT-004",
    "token latencies were measured",
    "performance_check.py:448-461",
    Scope.RESULT,
    _NEEDS,
    fix="Run with the benchmark's LoadGen model name, which turns use_token_latencies on; a misspelt one does not.",
)
def token_latencies(subject: Subject) -> Iterator[Finding | Skip]:
    """requested_use_token_latencies is true for language models, in every division."""
    run = result_of(subject).performance
    if not benchmark_of(subject).token_latencies:
        yield Skip("the benchmark has no token latencies")
    elif run.detail is not None and not run.detail.value("requested_use_token_latencies"):
        yield about(run, "requested_use_token_latencies", "requested_use_token_latencies = true")


def _below(subject: Subject, key: str, limits_ms: tuple[float | None, float | None]) -> Iterator[Finding]:
    """Findings where a percentile is not strictly below its (official, strict) limit; open is warned."""
    run = result_of(subject).performance
    value = run.detail.number(key) if run.detail else None
    weights = (Severity.ERROR, Severity.WARNING if is_open(subject) else Severity.ERROR)
    official, strict = (
        None if limit is None or (value is not None and value < limit * _NS_PER_MS) else weight
        for limit, weight in zip(limits_ms, weights, strict=True)
    )
    limit_ms = limits_ms[1] if strict else limits_ms[0]
    if limit_ms is None or not (official or strict):
        return
    if value is None:
        yield from graded(about(run, key, f"{key} < {amount(limit_ms, 'ms')}"), official=official, strict=strict)
        return
    over = value / _NS_PER_MS - limit_ms
    message = off_by(over, limit_ms, "ms")
    if not official and limits_ms[0] is not None:
        message += f"; the official checker tests against Server's {amount(limits_ms[0], 'ms')}"
    finding = about(run, key, f"{key} < {amount(limit_ms, 'ms')}", found=f"{key} = {_ms(value)}", message=message)
    yield from graded(finding, official=official, strict=strict)


def _limits_apply(subject: Subject) -> bool:
    return benchmark_of(subject).token_latencies and scenario_of_log(result_of(subject).performance) is Scenario.SERVER


@check("LAT-005", "TTFT is below its limit", "performance_check.py:463-504; old:1933", Scope.RESULT, _NEEDS, fix=_LOWER)
def ttft(subject: Subject) -> Iterator[Finding | Skip]:
    """The 99th percentile time to first token is strictly below the limit of the folder's scenario.

    The official checker takes the limit of the log's scenario, which is Server for Interactive too. A warning in open.
    """
    if not _limits_apply(subject):
        yield Skip("asked of Server and Interactive runs of language models")
        return
    by_log, by_folder = rules_by_log(subject), subject.scenario
    yield from _below(subject, TTFT_KEY, (_ttft_ms(by_log), _ttft_ms(by_folder)))
    if _ttft_ms(by_log) is None:
        finding = about(result_of(subject).performance, TTFT_KEY, "a benchmark with token latency limits in Server")
        yield from graded(finding, official=Severity.ERROR, strict=None)


@check("LAT-006", "TPOT is below its limit", "performance_check.py:463-504; old:1933", Scope.RESULT, _NEEDS, fix=_LOWER)
def tpot(subject: Subject) -> Iterator[Finding | Skip]:
    """The 99th percentile time per output token is strictly below the limit of the folder's scenario.

    The official checker takes the limit of the log's scenario, which is Server for Interactive too. A warning in open.
    """
    if not _limits_apply(subject):
        yield Skip("asked of Server and Interactive runs of language models")
        return
    by_log, by_folder = rules_by_log(subject), subject.scenario
    yield from _below(subject, TPOT_KEY, (_tpot_ms(by_log), _tpot_ms(by_folder)))


@check(
    "LAT-007",
    "token latencies are above zero",
    "weighbridge: a latency of zero or less was not measured",
    Scope.RESULT,
    _NEEDS,
    fix="Report the first token when it is there, and answers of two tokens or more; repeat the run.",
)
def plausible(subject: Subject) -> Iterator[Finding | Skip]:
    """TTFT and TPOT percentiles are above zero: LoadGen writes garbage for answers of one token."""
    run = result_of(subject).performance
    if not _limits_apply(subject):
        yield Skip("asked of Server and Interactive runs of language models")
        return
    for key, title, unreported in _UNREPORTED:
        value = run.detail.number(key) if run.detail else None
        if value is not None and value <= 0:
            message = f"{title} is {amount(value, 'ns')}: {unreported}"
            finding = about(run, key, f"{key} > 0 ns", found=f"{key} = {amount(value, 'ns')}", message=message)
            yield strictly(replace(finding, fix=fix_of_error("first token") if key == TTFT_KEY else ""))


def _ms(value_ns: float) -> str:
    return amount(value_ns / _NS_PER_MS, "ms")


def _ttft_ms(rules: ScenarioRules | None) -> float | None:
    return rules.max_ttft_p99_ms if rules else None


def _tpot_ms(rules: ScenarioRules | None) -> float | None:
    return rules.max_tpot_p99_ms if rules else None
