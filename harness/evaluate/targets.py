"""Scores against accuracy targets: a pure comparison."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from compliance.rulebook.model import AccuracyTarget


@dataclass(frozen=True, slots=True)
class TargetRow:
    """One metric of the rules, what was measured (None: not measured) and its inclusive bounds."""

    metric: str
    value: float | None
    minimum: float | None
    maximum: float | None
    passed: bool


def compare(scores: Mapping[str, float], targets: Sequence[AccuracyTarget]) -> tuple[TargetRow, ...]:
    """One row per target. A metric that was not measured fails where it has a minimum, as in the official checker."""
    return tuple(_row(scores.get(target.metric), target) for target in targets)


def _row(value: float | None, target: AccuracyTarget) -> TargetRow:
    minimum, maximum = target.minimum, target.maximum
    if value is None:
        passed = minimum is None
    else:
        passed = (minimum is None or value >= minimum) and (maximum is None or value <= maximum)
    return TargetRow(target.metric, value, minimum, maximum, passed)
