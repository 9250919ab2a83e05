"""ACC-, PERF-: how long answers are, against what the rules let a benchmark generate (inference_rules.adoc:367-387)."""

import re
from collections.abc import Iterator

from compliance.checks.endpoints_facts import NEEDS_SUMMARY, SUMMARY, at, run_of, summary_of
from compliance.checks.facts import (
    ACCURACY_LOG,
    about,
    amount,
    benchmark_of,
    is_open,
    result_of,
    scenario_of_log,
    strictly,
)
from compliance.checks.figures import logged_number
from compliance.checks.model import Finding, Scope, Skip, Subject
from compliance.checks.registry import check
from compliance.logs.accuracy import AccuracyLog
from compliance.metrics.performance import BASE_KEYS
from compliance.rulebook.model import BenchmarkRules
from compliance.vocabulary import AuditId, Scenario, Severity

_END = 1
"""The end token, which some engines count and others do not."""
_GENERATE = "Generate with the rules' own limits (min_new_tokens, max_new_tokens) and repeat the run."
_LENGTH = "TOKENS_PER_SAMPLE"
_FIGURES = 5
_ROUNDING = 0.01
"""How far rates are from exact: LoadGen prints six digits, and counts a Server run's samples less one."""
_APART = 0.10
"""How far mean lengths may lie apart: as far as the rules let TOKENS_PER_SAMPLE lie from its reference."""


def _weight(subject: Subject) -> Severity:
    return Severity.WARNING if is_open(subject) else Severity.ERROR


def _longest(rules: BenchmarkRules, *, performance: bool) -> int:
    generation = rules.generation
    own = generation.performance_max_new_tokens if performance else None
    return (own or generation.max_new_tokens) + _END


def _logs(subject: Subject) -> Iterator[tuple[str, AccuracyLog, int]]:
    """Each log of answers with the most tokens its answers may have. TEST07 runs as the accuracy run does."""
    result, rules = result_of(subject), benchmark_of(subject)
    if result.accuracy.accuracy is not None:
        yield result.accuracy.folder, result.accuracy.accuracy, _longest(rules, performance=False)
    for audit, run in result.audits.items():
        if run.accuracy is not None and audit in rules.audits:
            most = _longest(rules, performance=audit is not AuditId.TEST07)
            yield f"{run.folder}/accuracy", run.accuracy, most


@check(
    "ACC-012",
    "no answer is longer or shorter than the rules let it be",
    "inference_rules.adoc:367-387; weighbridge: neither checker reads the answers' lengths",
    Scope.RESULT,
    ("loadgen", "benchmark"),
    fix=_GENERATE,
)
def lengths(subject: Subject) -> Iterator[Finding | Skip]:
    """Token counts in the accuracy log and in those of the audits lie within the benchmark's min and max_new_tokens.

    Of a truncated log what is left of it is read. One token more is let pass, as some engines count the end token. Too
    long an answer is an error in closed and network, a warning in open; too short a one is a warning.
    """
    rules = benchmark_of(subject)
    if not rules.generates_text or not rules.token_latencies:
        yield Skip("the benchmark's answers are no counted text tokens")
        return
    least = rules.generation.min_new_tokens
    for folder, log, most in _logs(subject):
        counts = log.token_counts
        if counts is None:
            continue
        where, read = f"{folder}/{ACCURACY_LOG}", f"of {counts.answers} answers that can be read"
        if counts.longest.tokens > most:
            expected, found = f"at most {most} tokens per answer", f"{counts.longest.tokens} tokens"
            finding = Finding(where, expected, found, message=f"the longest {read}", line=counts.longest.line)
            yield strictly(finding, _weight(subject))
        if counts.shortest.tokens < least:
            expected, found = f"at least {least} tokens per answer", f"{counts.shortest.tokens} tokens"
            finding = Finding(where, expected, found, message=f"the shortest {read}", line=counts.shortest.line)
            yield strictly(finding, Severity.WARNING)


def mean_tokens(subject: Subject) -> tuple[str, float] | None:
    """The key of the performance run's token rate and the mean length of its answers in tokens; None if not logged."""
    detail = result_of(subject).performance.detail
    scenario = scenario_of_log(result_of(subject).performance)
    if detail is None or scenario is None or not benchmark_of(subject).token_latencies:
        return None
    offline = scenario is Scenario.OFFLINE
    key = "result_tokens_per_second" if offline else "result_completed_tokens_per_second"
    streams = scenario in {Scenario.SINGLE_STREAM, Scenario.MULTI_STREAM}
    samples = logged_number(detail, "result_qps_with_loadgen_overhead" if streams else BASE_KEYS[scenario])
    tokens = logged_number(detail, key)
    return (key, tokens / samples) if tokens and samples and samples > 0 else None


@check(
    "PERF-014",
    "the mean answer is no longer than the rules let it be",
    "inference_rules.adoc:367-387; weighbridge: neither checker compares the two rates",
    Scope.RESULT,
    ("loadgen", "performance", "benchmark"),
    fix=_GENERATE,
)
def mean_within(subject: Subject) -> Iterator[Finding | Skip]:
    """Tokens per second over samples per second, the mean length of an answer, is at most the round's max_new_tokens.

    One token more is let pass for the end token. An error in closed and network, a warning in open.
    """
    mean = mean_tokens(subject)
    if mean is None:
        yield Skip("no token rate and sample rate to compare, or the benchmark has none")
        return
    most = _longest(benchmark_of(subject), performance=True)
    if mean[1] > most * (1 + _ROUNDING):
        expected = f"at most {most} tokens per answer in the mean"
        found = f"{mean[1]:.1f} tokens per answer ({mean[0]} over the rate of samples)"
        yield strictly(about(result_of(subject).performance, mean[0], expected, found=found), _weight(subject))


@check(
    "PERF-015",
    "answers of the performance run are as long as the accuracy run's",
    "inference_rules.adoc:477; weighbridge: both runs are made with the same code and options",
    Scope.RESULT,
    ("loadgen", "performance", "benchmark", "accuracy_text"),
    fix="Make both runs with the same code, weights and generation settings; repeat the one that differs.",
)
def same_length(subject: Subject) -> Iterator[Finding | Skip]:
    """The mean length of the performance run's answers is within 10 % of what accuracy.txt prints. A warning.

    Asked where accuracy.txt has tokens_per_sample and both runs take the same data set.
    """
    rules, text = benchmark_of(subject), result_of(subject).accuracy_text
    scores = text.written(_LENGTH) if text else ()
    mean = mean_tokens(subject)
    if mean is None or not scores or rules.accuracy_samples(result_of(subject).scenario) != rules.dataset_size:
        yield Skip("no tokens_per_sample, no token rate, or another data set for accuracy")
        return
    printed = scores[-1].value
    if not abs(mean[1] - printed) <= _APART * printed:
        expected = f"{amount(printed)} tokens per answer within {_APART:.0%}, as accuracy.txt prints"
        found = f"{mean[1]:.1f} tokens per answer ({mean[0]} over the rate of samples)"
        finding = about(result_of(subject).performance, mean[0], expected, found=found)
        yield strictly(finding, Severity.WARNING)


@check(
    "ACC-013",
    "scores are printed as exactly as the limit asks",
    "inference_rules.adoc:345; weighbridge: the official checker compares what is printed",
    Scope.RESULT,
    ("benchmark", "accuracy_text"),
    fix="Print five significant figures, rounded half to even, as the reference's script does.",
)
def significant(subject: Subject) -> Iterator[Finding | Skip]:
    """A score of fewer than five significant figures lies further from its limits than its last digit may hide.

    A warning: where it does not, rounding may have made it pass. A score that is the limit itself is let pass.
    """
    text, scenario = result_of(subject).accuracy_text, result_of(subject).scenario
    for target in benchmark_of(subject).targets(scenario) if text else ():
        scores = text.written(target.metric) if text else ()
        printed = (scores[-1].text or str(scores[-1].value)) if scores else ""
        if not scores or len(re.sub(r"\D", "", printed).lstrip("0")) >= _FIGURES:
            continue
        half = 0.5 * 10 ** -len(printed.partition(".")[2])
        for limit in (target.minimum, target.maximum):
            if limit is not None and 0 < abs(scores[-1].value - limit) < half:
                where = f"{result_of(subject).accuracy.folder}/accuracy.txt"
                expected = f"{target.metric} in five significant figures, to compare with {amount(limit)}"
                finding = Finding(where, expected, f"{target.metric} = {printed}", line=scores[-1].line)
                yield strictly(finding, Severity.WARNING)


@check(
    "PERF-111",
    "answers of the endpoints run are no longer than the rules let them be",
    "inference_rules.adoc:367-387; weighbridge: the official checker reads the mean alone, for TEST09",
    Scope.RESULT,
    (*NEEDS_SUMMARY, "benchmark"),
    fix=_GENERATE,
)
def endpoints_lengths(subject: Subject) -> Iterator[Finding | Skip]:
    """output_sequence_lengths.max of an endpoints run is at most the round's max_new_tokens, and one for the end token.

    A warning: endpoints counts the tokens of the text that came back, which may be encoded otherwise than it was
    generated.
    """
    if not benchmark_of(subject).generates_text:
        yield Skip("the benchmark's answers are no text tokens")
        return
    most, longest = _longest(benchmark_of(subject), performance=True), summary_of(subject).output_tokens.maximum
    if longest is not None and longest > most:
        pointer, found = "/output_sequence_lengths/max", f"max = {amount(longest, 'tokens')}"
        finding = at(run_of(subject), SUMMARY, pointer, f"at most {most} tokens per answer", found)
        yield strictly(finding, Severity.WARNING)
