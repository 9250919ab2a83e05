"""TEST08: predictions in performance mode are the accuracy run's, by their normalized entropy (compliance/TEST08)."""

import math
import struct
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from compliance.audits.stated import Stated, stated
from compliance.errors import ComplianceError
from compliance.logs.accuracy import AccuracyEntry
from compliance.logs.verdicts import VerifyText

TOLERANCE_PERCENT = 0.1
"""How far the entropies of one sample may lie apart: the script's own default."""
_FLOAT_BYTES = 4
_HEAD = 2
_EPSILON = 1e-7
_MOST_BYTES = 64 << 20
_SHOWN = 5
Key = tuple[int, int]


class NotPaired(ComplianceError):
    """Logs that cannot be compared: their answers are of another form, or too many to be held."""


@dataclass(frozen=True, slots=True)
class Test08Fault:
    """A sample whose predictions differ: its timestamp and query, and both entropies."""

    key: Key
    reference: float
    measured: float


@dataclass(frozen=True, slots=True)
class Test08Verdict:
    """How many logged answers have their like in the accuracy run's log, and how many of those differ."""

    entries: int
    matched: int
    mismatched: int
    faults: tuple[Test08Fault, ...]

    @property
    def unmatched(self) -> int:
        """Answers of samples that the accuracy run does not have."""
        return self.entries - self.matched

    @property
    def passed(self) -> bool:
        """Whether the test holds."""
        return self.matched > 0 and not self.unmatched and not self.mismatched


@dataclass(frozen=True, slots=True)
class Test08Text:
    """What verify_accuracy.txt says: counts, and the tolerance in percent; None where it does not say."""

    matched: Stated | None
    unmatched: Stated | None
    mismatched: Stated | None
    tolerance_percent: Stated | None
    logged: Stated | None


def verify(reference: Iterable[AccuracyEntry], log: Iterable[AccuracyEntry]) -> Test08Verdict:
    """Compare the answers of TEST08's log with the accuracy run's, paired by timestamp and query.

    An answer of the accuracy run is float32: timestamp, query, n predictions, n labels, n weights, n; one of TEST08's
    timestamp, query, predictions. Raises NotPaired where they are of another form.
    """
    measured: dict[Key, list[Sequence[float]]] = {}
    entries, held = 0, 0
    for entry in log:
        entries, held = entries + 1, held + len(entry.data)
        if held > _MOST_BYTES:
            raise NotPaired(f"the log holds more than {_MOST_BYTES >> 20} MiB of answers")
        values = _floats(entry)
        measured.setdefault(_key(entry, values), []).append(values[_HEAD:])
    matched, mismatched, faults = 0, 0, list[Test08Fault]()
    for entry in reference:
        values = _floats(entry)
        answers = measured.pop(_key(entry, values), None)
        for own, other in _entropies(entry, values, answers or ()):
            matched += 1
            if not _alike(own, other):
                mismatched += 1
                faults.append(Test08Fault(_key(entry, values), own, other))
    return Test08Verdict(entries, matched, mismatched, tuple(faults[:_SHOWN]))


def read_text(text: VerifyText) -> Test08Text:
    """The numbers in what the verification printed."""
    names = ("num_matched", "num_unmatched", "num_ne_mismatch", "tolerance", "num_perf_log_entries")
    return Test08Text(*(stated(text, name) for name in names))


def _floats(entry: AccuracyEntry) -> tuple[float, ...]:
    count, rest = divmod(len(entry.data), _FLOAT_BYTES)
    if rest or count <= _HEAD:
        raise NotPaired(f"line {entry.line}: an answer of {len(entry.data)} bytes is none of float32 predictions")
    return struct.unpack(f"<{count}f", entry.data)


def _key(entry: AccuracyEntry, values: Sequence[float]) -> Key:
    if not all(map(math.isfinite, values[:_HEAD])):
        raise NotPaired(f"line {entry.line}: an answer does not begin with a timestamp and a query")
    return int(values[0]), int(values[1])


def _entropies(
    entry: AccuracyEntry, values: Sequence[float], answers: Iterable[Sequence[float]]
) -> Iterator[tuple[float, float]]:
    """The entropy of the accuracy run's predictions with that of each answer to the same sample."""
    for answer in answers:
        count = int(values[-1]) if math.isfinite(values[-1]) else -1
        if count < 1 or len(values) != _HEAD + 3 * count + 1 or len(answer) != count:
            raise NotPaired(f"line {entry.line}: predictions, labels and weights do not fit together")
        own, labels, weights = (values[_HEAD + at * count :][:count] for at in range(3))
        yield normalized_entropy(own, labels, weights), normalized_entropy(answer, labels, weights)


def normalized_entropy(predictions: Sequence[float], labels: Sequence[float], weights: Sequence[float]) -> float:
    """The weighted cross entropy over that of always predicting the labels' mean; 0 where either has no weight."""
    total = math.fsum(weights)
    if total == 0:
        return 0.0
    inner = [_inside(label) for label in labels]
    cross = -math.fsum(
        weight * _log_likelihood(_inside(one), label)
        for one, label, weight in zip(predictions, inner, weights, strict=True)
    )
    mean = _inside(math.fsum(weight * label for label, weight in zip(inner, weights, strict=True)) / total)
    return cross / (-_log_likelihood(mean, mean) * total)


def _log_likelihood(prediction: float, label: float) -> float:
    return label * math.log(prediction) + (1 - label) * math.log1p(-prediction)


def _inside(value: float) -> float:
    """A probability kept off 0 and 1; what is no number stays none."""
    return value if math.isnan(value) else min(max(value, _EPSILON), 1 - _EPSILON)


def _alike(reference: float, measured: float) -> bool:
    if reference == 0 or measured == 0:
        return reference == measured
    return abs(measured - reference) / abs(reference) <= TOLERANCE_PERCENT / 100
