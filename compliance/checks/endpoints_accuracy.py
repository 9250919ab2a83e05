"""ACC-1xx: the accuracy run of endpoints (accuracy_check.py:108-136, 254-310)."""

from collections.abc import Iterator

from compliance.checks.endpoints_facts import (
    ACCURACY,
    NEEDS_ACCURACY,
    accuracy_of,
    at,
    by_division,
    exactly,
    run_of,
    said,
)
from compliance.checks.facts import amount, benchmark_of, is_open, number_in, off_by, result_of, strictly
from compliance.checks.model import Finding, Scope, Skip, Subject
from compliance.checks.registry import check
from compliance.logs.documents import JsonValue
from compliance.logs.endpoints_official import ACCURACY_COUNT, ACCURACY_SCORE, ERRORS, TOTAL_COUNT
from compliance.metrics.endpoints import TargetScore, target_scores
from compliance.rulebook.model import AccuracyTarget
from compliance.vocabulary import Scenario, Severity

_NEEDS = (*NEEDS_ACCURACY, "benchmark")
_SCORE = "Score the accuracy run with the benchmark's own scorer and submit its accuracy_results.json as written."
_ANSWERS = "Find why answers differ from the reference (weights, tokenizer, quantisation, cut answers); repeat the run."
_SCENARIOS = frozenset(scenario.value for scenario in Scenario)


@check(
    "ACC-101", "the endpoints run has a score", "accuracy_check.py:108-116", Scope.RESULT, NEEDS_ACCURACY, fix=_SCORE
)
def score(subject: Subject) -> Iterator[Finding | Skip]:
    """An entry of accuracy_scores has a score, in every division.

    The official checker takes the first score there is; the rules want that of an accuracy data set.
    """
    run = run_of(subject)
    scored = any(entry.values for entry in accuracy_of(subject).accuracy_scores)
    official = run.official.accuracy.get(ACCURACY_SCORE) is None
    finding = at(run, ACCURACY, "/accuracy_scores", "a score of an accuracy data set", "none")
    yield from exactly(finding, official=official, strict=not scored)


def _official_score(value: JsonValue, targets: tuple[AccuracyTarget, ...]) -> float | None:
    """The number the official checker finds in a score (accuracy_check.py:205-236)."""
    if not isinstance(value, dict):
        return None if isinstance(value, list) else number_in(value)
    names = [name for target in targets for name in _spellings(target.metric)]
    members = (value.get(name) for name in (*names, "f1", "score", "accuracy"))
    found = (number_in(member) for member in members if isinstance(member, int | float | str))
    return next((number for number in found if number is not None), None)


def _spellings(metric: str) -> tuple[str, ...]:
    return metric, metric.lower(), metric.rsplit("_", 1)[-1].lower()


@check(
    "ACC-102",
    "every score of the endpoints run reaches its minimum",
    "accuracy_check.py:117-135; constants.py:89-172",
    Scope.RESULT,
    _NEEDS,
    fix=_ANSWERS,
)
def minima(subject: Subject) -> Iterator[Finding | Skip]:
    """Each target of the benchmark has a score of at least reference x factor; a warning in the open division.

    The official checker compares Qwen3-VL's score alone, and not in open. Fractions count as hundredths where the
    target is above 1; the scores of several data sets count by their unit samples.
    """
    rules = benchmark_of(subject)
    targets = rules.targets(result_of(subject).scenario)
    first = run_of(subject).official.accuracy.get(ACCURACY_SCORE)
    least = [target.minimum for target in targets if target.minimum is not None]
    read = _official_score(first, targets)
    asked = rules.endpoints_score and not is_open(subject) and first is not None and bool(least)
    official = asked and (read is None or read < least[0])
    for one in target_scores(accuracy_of(subject), targets):
        if one.target.minimum is not None:
            yield from _minimum(subject, one, one.target.minimum, official=official)
            official = False


def _minimum(subject: Subject, one: TargetScore, least: float, *, official: bool) -> Iterator[Finding]:
    run, metric = run_of(subject), one.target.metric
    expected = f"{metric} >= {amount(least)}"
    if one.value is None:
        finding = at(run, ACCURACY, one.pointer, expected, f"no {metric} among the scores")
        if one.target.max_factor is None or official:
            yield from by_division(finding, subject, official=official, strict=True)
        else:
            yield strictly(finding, Severity.WARNING)
        return
    short = least - one.value
    message = off_by(short, least, how="short", of="minimum") if short > 0 else "read otherwise officially"
    finding = at(run, ACCURACY, one.pointer, expected, f"{metric} = {amount(one.value)}", message)
    yield from by_division(finding, subject, official=official, strict=not one.value >= least)


@check(
    "ACC-103",
    "no score of the endpoints run exceeds its upper limit",
    "accuracy_check.py:172-193; weighbridge: the official checker does not ask endpoints runs",
    Scope.RESULT,
    _NEEDS,
    fix="Check the generation limits: answers longer than the reference's mean another max_new_tokens or missing EOS.",
)
def maxima(subject: Subject) -> Iterator[Finding | Skip]:
    """No score with an upper limit (answer lengths) is above reference x factor; a warning in the open division."""
    targets = benchmark_of(subject).targets(result_of(subject).scenario)
    for one in target_scores(accuracy_of(subject), targets):
        most = one.target.maximum
        if most is None or one.value is None or one.value <= most:
            continue
        expected, found = f"{one.target.metric} <= {amount(most)}", f"{one.target.metric} = {amount(one.value)}"
        message = off_by(one.value - most, most)
        finding = at(run_of(subject), ACCURACY, one.pointer, expected, found, message)
        yield from by_division(finding, subject, official=False, strict=True)


@check(
    "ACC-104",
    "the endpoints accuracy run covers the data set",
    "accuracy_check.py:281; endpoints_parser.py:77-93",
    Scope.RESULT,
    _NEEDS,
    fix="Run accuracy over the whole data set, with the benchmark's number of repeats.",
)
def coverage(subject: Subject) -> Iterator[Finding | Skip]:
    """total_samples (else response_counts.issued) of all accuracy data sets together are the benchmark's count.

    In every division. Where the count differs by scenario the official checker knows the usual spelling alone.
    """
    run, rules = run_of(subject), benchmark_of(subject)
    count = rules.accuracy_samples(result_of(subject).scenario)
    values = run.official.accuracy
    key = ACCURACY_COUNT if ACCURACY_COUNT in values else TOTAL_COUNT
    by_scenario = any(one.accuracy_sample_count for one in rules.scenarios.values())
    unknown = by_scenario and result_of(subject).scenario_dir not in _SCENARIOS
    samples = [entry.samples for entry in accuracy_of(subject).accuracy_scores if entry.samples is not None]
    total = sum(samples) if samples else None
    pointer = accuracy_of(subject).accuracy_scores[0].pointer if samples else "/accuracy_scores"
    finding = at(run, ACCURACY, f"{pointer}/total_samples", f"{count} samples", said("total_samples", total))
    yield from exactly(finding, official=unknown or values.get(key) != count, strict=total != count)


@check(
    "ACC-105",
    "the endpoints accuracy run is whole",
    "accuracy_check.py:254-279",
    Scope.RESULT,
    NEEDS_ACCURACY,
    fix="Find why requests failed or answers were not scored, mend it and repeat the accuracy run.",
)
def whole(subject: Subject) -> Iterator[Finding | Skip]:
    """n_samples_failed, where the file has it, is 0; no accuracy data set is called incomplete."""
    run = run_of(subject)
    errors = run.official.accuracy.get(ERRORS)
    if errors:
        yield at(run, ACCURACY, "/n_samples_failed", "n_samples_failed = 0", said("n_samples_failed", errors))
    for entry in accuracy_of(subject).accuracy_scores:
        if entry.complete is False:
            yield strictly(at(run, ACCURACY, f"{entry.pointer}/complete", "complete = true", "complete = false"))
