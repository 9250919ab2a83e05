"""The summary log: what LoadGen says of a performance run in words (rules.md 4.5)."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class SummaryLog:
    """`fields` maps each "name : value" line to its value; `valid` is None when there is no "Result is" line."""

    path: Path
    valid: bool | None
    fields: Mapping[str, str]
    text: str
