"""The summary log: what LoadGen says of a performance run in words (loadgen/results.cc:382-639)."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from compliance.logs.lines import read_text, split_lines

_RESULT = "Result is"


@dataclass(frozen=True, slots=True)
class SummaryLog:
    """`fields` maps each "name : value" line to its value; `valid` is None when there is no "Result is" line.

    A name that stands twice keeps its first value: the headline block comes first.
    """

    path: Path
    valid: bool | None
    fields: Mapping[str, str]
    text: str


def read_summary(path: Path) -> SummaryLog:
    """Reads a summary log. Raises UnreadableFile when it is missing or empty."""
    text = read_text(path)
    fields: dict[str, str] = {}
    for line in split_lines(text):
        name, _, value = line.partition(":")
        name, value = name.strip(), value.strip()
        if name and value:
            fields.setdefault(name, value)
    result = fields.get(_RESULT)
    valid = {"VALID": True, "INVALID": False}.get(result) if result is not None else None
    return SummaryLog(path, valid, fields, text)
