"""The detail log: `:::MLLOG` records with their line numbers, parsed once (rules.md 4.1-4.4)."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

LogValue = str | int | float | bool | list[int] | dict[str, str] | None


@dataclass(frozen=True, slots=True)
class LogRecord:
    """One record. `line` is 1-based. `value` of loaded_qsl_set is dropped (None): it is half of a log's bytes."""

    line: int
    key: str
    value: LogValue
    time_ms: float
    is_error: bool
    is_warning: bool


@dataclass(frozen=True, slots=True)
class LogProblem:
    """A line that is not as LoadGen writes it: what is wrong, and whether the record could still be read."""

    line: int
    reason: str
    recovered: bool


@dataclass(frozen=True, slots=True)
class DetailLog:
    """A whole detail log. `path` is as given to the reader; `records` keeps the first record of each key."""

    path: Path
    records: Mapping[str, LogRecord]
    repeated: Mapping[str, int]
    errors: tuple[LogRecord, ...]
    warnings: tuple[LogRecord, ...]
    problems: tuple[LogProblem, ...]
    lines: int
    valid_first_line: bool

    def record(self, key: str) -> LogRecord | None:
        """The first record of a key, as the official checker takes it."""
        return self.records.get(key)

    def number(self, key: str) -> float | int | None:
        """The value of a key when it is a number (never a bool); None otherwise."""
        value = self.value(key)
        return value if isinstance(value, int | float) and not isinstance(value, bool) else None

    def value(self, key: str) -> LogValue:
        """The value of a key, None when the key is absent."""
        record = self.records.get(key)
        return None if record is None else record.value
