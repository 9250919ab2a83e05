"""accuracy.txt: the scores as the official checker's patterns read them, and the hash line (rules.md 7.1)."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Score:
    """One metric's value where it stands. `official` says whether the official checker's pattern reads it."""

    metric: str
    value: float
    line: int
    official: bool


@dataclass(frozen=True, slots=True)
class AccuracyText:
    """All scores by metric in order of appearance, and the `hash=` line."""

    path: Path
    scores: Mapping[str, tuple[Score, ...]]
    hash: str | None
    hash_line: int | None
