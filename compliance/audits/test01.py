"""TEST01: in performance mode the system gives the answers of its accuracy run (compliance/TEST01)."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from compliance.audits.scores import RunScore, comparable
from compliance.logs.accuracy import AccuracyEntry

_GENERAL_PERCENT, _STRICT_PERCENT = 1.0, 0.1
_STRICT_TARGET = "99.9"
_SHOWN = 5


@dataclass(frozen=True, slots=True)
class Test01Fault:
    """An answer that differs from the accuracy run's: its line in the audit's log (1-based) and its sample index."""

    line: int
    qsl_idx: int


@dataclass(frozen=True, slots=True)
class Test01Verdict:
    """How many of the audit's answers were found in the accuracy run, differ from it, or are of unknown samples.

    `faults` holds the first few that differ.
    """

    matched: int
    mismatched: int
    unknown: int
    faults: tuple[Test01Fault, ...]

    @property
    def passed(self) -> bool:
        """Whether there was something to compare and nothing differs."""
        return self.matched > 0 and not self.mismatched


def verify(reference: Iterable[AccuracyEntry], audit: Iterable[AccuracyEntry]) -> Test01Verdict:
    """Compare the first byte of every answer of the audit with that of the accuracy run's for the same sample.

    The upstream script compares the first element of an answer in a data type of the submitter's choice. Answers that
    differ in the first byte differ in every type, so what fails here cannot have passed there. An empty answer
    equals only an empty one.
    """
    known: dict[int, bytes] = {}
    for entry in reference:
        known.setdefault(entry.qsl_idx, entry.data[:1])
    matched, mismatched, unknown = 0, 0, 0
    faults: list[Test01Fault] = []
    for entry in audit:
        expected = known.get(entry.qsl_idx)
        if expected is None:
            unknown += 1
            continue
        matched += 1
        if entry.data[:1] != expected:
            mismatched += 1
            if len(faults) < _SHOWN:
                faults.append(Test01Fault(entry.line, entry.qsl_idx))
    return Test01Verdict(matched, mismatched, unknown, tuple(faults))


def allowed_delta_percent(benchmark: str, own: Mapping[str, float], metric: str) -> float:
    """How far the two scores of a metric may lie apart, in percent of the audit's (configuration.py:215-225).

    The round's `own` value for the metric; else 0.1 for a benchmark held to 99.9 % of the reference, and 1.
    """
    return own.get(metric, _STRICT_PERCENT if _STRICT_TARGET in benchmark else _GENERAL_PERCENT)


def delta_percent(baseline: float, compliance: float) -> float | None:
    """How far the score on the audit's answers is from that on the accuracy run's, in percent of the former.

    None where one of the scores is zero, which is what a score that was not found counts as.
    """
    return None if baseline == 0 or compliance == 0 else abs(1 - baseline / compliance) * 100


def verify_score(reference: RunScore, audit: RunScore) -> str | None:
    """Why the audit was not as fast as the performance run, None if it was: within a tenth, or a fifth of very short.

    Latencies are compared as latencies, rates as rates, both ways.
    """
    reason = comparable(reference, audit)
    if reason is not None:
        return reason
    least, most = (reference.value * (1 + sign * reference.noise) for sign in (-1, 1))
    if least <= audit.value <= most:
        return None
    return f"{audit.value:.10g} lies outside {least:.10g} to {most:.10g}, the performance run's +-{reference.noise:.0%}"
