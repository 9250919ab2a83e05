"""ACC-: the scores in accuracy.txt and the hash of the log they come from (accuracy_check.py:108-204)."""

import re
from collections.abc import Iterator
from dataclasses import replace

from compliance.checks.accuracy_hints import length_hint
from compliance.checks.accuracy_run import TRUNCATE
from compliance.checks.facts import (
    amount,
    benchmark_of,
    graded,
    is_open,
    missing,
    off_by,
    result_of,
    strictly,
)
from compliance.checks.model import Finding, Scope, Skip, Subject
from compliance.checks.registry import check
from compliance.logs.accuracy_txt import AccuracyText, Score
from compliance.rulebook.model import AccuracyTarget
from compliance.vocabulary import Severity

_TEXT = "accuracy.txt"
_SHA256 = re.compile(r"[0-9a-fA-F]{64}")
_SCORES = ("loadgen", "accuracy_text", "benchmark")
_PRINT = (
    "Print the score as a plain number, as the reference script does: {'rouge1': 44.4718}, not np.float64(44.4718)."
)


@check(
    "ACC-001",
    "accuracy.txt can be read",
    "accuracy_check.py:147-171, 203",
    Scope.RESULT,
    ("loadgen",),
    fix="Save what the benchmark's accuracy script prints as accuracy/accuracy.txt (`weighbridge accuracy`).",
)
def accuracy_text(subject: Subject) -> Iterator[Finding | Skip]:
    """accuracy/accuracy.txt exists and can be read, in every division; in open an empty one passes officially."""
    result = result_of(subject)
    if result.accuracy_text is not None:
        return
    path = f"{result.accuracy.folder}/{_TEXT}"
    empty = any(entry.path == path and entry.bytes == 0 for entry in subject.submission.files)
    official = None if empty and is_open(subject) else Severity.ERROR
    finding = missing(subject, path, "the accuracy script's output")
    yield from graded(finding, official=official, strict=Severity.ERROR)


def _read_until(text: AccuracyText, targets: tuple[AccuracyTarget, ...]) -> int | None:
    """The line after which the official checker reads no further: all metrics met and the hash seen."""
    ends = [text.hash_line]
    for target in targets:
        least = target.minimum
        if least is not None:
            met = (score.line for score in text.official(target.metric) if score.value >= least)
            ends.append(next(met, None))
    lines = [line for line in ends if line is not None]
    return max(lines) if len(lines) == len(ends) else None


def _official(text: AccuracyText, target: AccuracyTarget, end: int | None) -> tuple[Score, ...]:
    return tuple(score for score in text.official(target.metric) if end is None or score.line <= end)


def _weights(subject: Subject) -> tuple[Severity | None, Severity]:
    """(official, strict): the official checker lets the open division's scores pass, the rules want them reported."""
    return (None, Severity.WARNING) if is_open(subject) else (Severity.ERROR, Severity.ERROR)


@check(
    "ACC-002",
    "every score reaches its minimum",
    "accuracy_check.py:147-171, 203; constants.py:1804-1831",
    Scope.RESULT,
    _SCORES,
    fix="Find why answers differ from the reference (weights, tokenizer, quantisation, cut answers); repeat the run.",
)
def minima(subject: Subject) -> Iterator[Finding | Skip]:
    """Every metric stands in accuracy.txt and each of its values is at least reference x factor.

    The official checker reads no further than the line where all is met, and only numbers in the reference's form;
    strict reads every line and NumPy's forms, too. In the open division both are content (strict warns).
    """
    text = result_of(subject).accuracy_text
    targets = benchmark_of(subject).targets(result_of(subject).scenario)
    end = _read_until(text, targets) if text else None
    if text is not None:
        for target in targets:
            if target.minimum is not None:
                yield from _minimum(subject, text, target, (target.minimum, end))
        yield from _overlooked(subject, text, targets, end)


def _minimum(
    subject: Subject, text: AccuracyText, target: AccuracyTarget, bounds: tuple[float, int | None]
) -> Iterator[Finding]:
    least, end = bounds
    where = f"{result_of(subject).accuracy.folder}/{_TEXT}"
    expected = f"{target.metric} >= {amount(least)}"
    official, strict = _weights(subject)
    seen = _official(text, target, end)
    written = text.written(target.metric)
    for score in written:
        if score.value >= least:
            continue
        message = off_by(least - score.value, least, how="short", of="minimum")
        found = f"{target.metric} = {amount(score.value)}"
        finding = Finding(where, expected, found, length_hint(subject, text), message, line=score.line)
        yield from graded(finding, official=official if _read(score, seen) else None, strict=strict)
    if not seen and not written:
        yield from graded(Finding(where, expected, f"no {target.metric}"), official=official, strict=strict)


def _overlooked(
    subject: Subject, text: AccuracyText, targets: tuple[AccuracyTarget, ...], end: int | None
) -> Iterator[Finding]:
    """One finding for all metrics that are written, but in no form that the official checker reads."""
    missed = [
        target.metric
        for target in targets
        if target.minimum is not None and text.written(target.metric) and not _official(text, target, end)
    ]
    if missed:
        official, _ = _weights(subject)
        found = f"{', '.join(missed)} in a form that it overlooks, as NumPy 2 prints numbers: np.float64(44.4718)"
        line = text.written(missed[0])[0].line
        where = f"{result_of(subject).accuracy.folder}/{_TEXT}"
        finding = Finding(where, "scores as plain numbers, which the official checker reads", found, _PRINT, line=line)
        yield from graded(finding, official=official, strict=Severity.WARNING)


def _read(score: Score, seen: tuple[Score, ...]) -> bool:
    """Whether the official checker sees this value on its line."""
    return any(other.line == score.line and other.value == score.value for other in seen)


@check(
    "ACC-003",
    "no score exceeds its upper limit",
    "accuracy_check.py:172-193, 203",
    Scope.RESULT,
    _SCORES,
    fix="Check the generation limits: answers longer than the reference's mean another max_new_tokens or missing EOS.",
)
def maxima(subject: Subject) -> Iterator[Finding | Skip]:
    """No value of a metric with an upper limit (answer lengths) is above reference x factor; a warning in open."""
    text = result_of(subject).accuracy_text
    targets = benchmark_of(subject).targets(result_of(subject).scenario)
    official, strict = _weights(subject)
    where = f"{result_of(subject).accuracy.folder}/{_TEXT}"
    end = _read_until(text, targets) if text else None
    for target in targets if text else ():
        most = target.maximum
        if text is None or most is None:
            continue
        seen = _official(text, target, end)
        for score in text.written(target.metric):
            if score.value > most:
                message = off_by(score.value - most, most)
                found = f"{target.metric} = {amount(score.value)}"
                expected = f"{target.metric} <= {amount(most)}"
                finding = Finding(where, expected, found, length_hint(subject, text), message, line=score.line)
                yield from graded(finding, official=official if _read(score, seen) else None, strict=strict)


@check(
    "ACC-004",
    "accuracy.txt holds the log's hash",
    "accuracy_check.py:154-201, 203",
    Scope.RESULT,
    _SCORES[:2],
    fix=TRUNCATE,
)
def hash_line(subject: Subject) -> Iterator[Finding | Skip]:
    """A line hash= followed by the SHA-256 of the untruncated accuracy log; a warning in the open division.

    The official checker takes any word for the SHA-256.
    """
    result = result_of(subject)
    if result.accuracy_text is not None and result.accuracy_text.hash is None:
        official, strict = _weights(subject)
        finding = Finding(f"{result.accuracy.folder}/{_TEXT}", "a line hash=<SHA-256 of the whole log>", "no such line")
        yield from graded(finding, official=official, strict=strict)
    elif result.accuracy_text is not None and not _SHA256.fullmatch(result.accuracy_text.hash or ""):
        text = result.accuracy_text
        finding = Finding(f"{result.accuracy.folder}/{_TEXT}", "hash= and 64 hexadecimal digits", f"hash={text.hash}")
        yield strictly(replace(finding, line=text.hash_line), _weights(subject)[1])


@check(
    "ACC-005",
    "the hash is that of the log",
    "accuracy_check.py:154-201; weighbridge: the official checker does not compare the value",
    Scope.RESULT,
    _SCORES[:2],
    fix="Score the log that is submitted, or submit the log that was scored; then truncate anew.",
)
def hash_matches(subject: Subject) -> Iterator[Finding | Skip]:
    """Where the whole accuracy log is at hand, its SHA-256 is the one in accuracy.txt."""
    result = result_of(subject)
    text, log = result.accuracy_text, result.accuracy.accuracy
    if text is None or text.hash is None or log is None or log.truncated or log.entries is None:
        yield Skip("no whole accuracy log at hand, or no hash to compare")
        return
    if text.hash.lower() != log.sha256.lower():
        where = f"{result.accuracy.folder}/{_TEXT}"
        yield strictly(Finding(where, f"hash={log.sha256}", f"hash={text.hash}", line=text.hash_line))
