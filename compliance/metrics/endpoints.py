"""Scores of an endpoints accuracy run against a benchmark's targets: by which name, on which scale."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from compliance.logs.endpoints_records import EndpointsAccuracy, EndpointsScore
from compliance.rulebook.model import AccuracyTarget

_PERCENT = 100.0
_GENERAL = ("f1", "score", "accuracy")
"""Names that stand for a benchmark's only score (accuracy_check.py:205-236)."""


@dataclass(frozen=True, slots=True)
class TargetScore:
    """The score for one target, on the target's scale and where it stands; None where the run has none."""

    target: AccuracyTarget
    value: float | None
    line: int | None
    pointer: str


def target_scores(accuracy: EndpointsAccuracy, targets: tuple[AccuracyTarget, ...]) -> Iterator[TargetScore]:
    """For each target the score of the run's accuracy data sets; of several the mean, weighted by unit samples.

    Scores from 0 to 1 against a target above 1 are fractions of a hundred. An upper limit alone (answer lengths) is
    given where the run names it.
    """
    entries = accuracy.accuracy_scores
    minima = [target for target in targets if target.minimum is not None and target.max_factor is None]
    for target in targets:
        alone = minima == [target]
        value = _weighted(entries, target, alone=alone)
        first = next((entry for entry in entries if _named(entry.values, target, alone=alone) is not None), None)
        place = first or next(iter(entries), None)
        pointer = f"{place.pointer}/score" if place else "/accuracy_scores"
        yield TargetScore(target, value, place.line if place else None, pointer)


def _weighted(entries: tuple[EndpointsScore, ...], target: AccuracyTarget, *, alone: bool) -> float | None:
    total, weights = 0.0, 0.0
    for entry in entries:
        value = _named(entry.values, target, alone=alone)
        weight = 1.0 if entry.unit_samples is None else entry.unit_samples
        if value is not None and weight > 0:
            total += value * weight
            weights += weight
    if not weights:
        return None
    mean = total / weights
    bound = target.reference
    return mean * _PERCENT if bound > 1 and 0 <= mean <= 1 and target.max_factor is None else mean


def _named(values: Mapping[str, float], target: AccuracyTarget, *, alone: bool) -> float | None:
    """The value under the target's name however it is spelled; one without a name where it is the only target."""
    spelled = {_plain(name): value for name, value in values.items()}
    wanted = [_plain(target.metric)]
    if alone:
        wanted += [_plain(target.metric.rsplit("_", 1)[-1]), *_GENERAL, ""]
    return next((spelled[name] for name in wanted if name in spelled), None)


def _plain(name: str) -> str:
    return re.sub(r"[^a-z0-9]", "", name.lower())
