"""A detail log as checks see it: records with their line numbers, and what is wrong with the file's form."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import msgspec

from compliance.logs.detail_decode import LogValue

# LoadGen's clock underflows before the test starts; no run lasts three centuries.
_NO_TIME_MS = 1e13


class LogRecord(msgspec.Struct, frozen=True, gc=False):
    """One record: a struct, for one is made ten times as fast as a frozen dataclass.

    `line` is 1-based. `value` of loaded_qsl_set is dropped (None): it is half of a log's bytes.
    """

    line: int
    key: str
    value: LogValue
    time_ms: float
    is_error: bool
    is_warning: bool

    @property
    def time_is_meaningful(self) -> bool:
        """Whether `time_ms` is a time: LoadGen prints a wrapped-around number for lines before the test's start."""
        return 0 <= self.time_ms < _NO_TIME_MS


@dataclass(frozen=True, slots=True)
class LogProblem:
    """A line that is not as LoadGen writes it: what is wrong, and whether the record could still be read.

    `official` says whether the official checker's parser reads past this line; where it does not, it stops there.
    """

    line: int
    reason: str
    recovered: bool
    official: bool = False


@dataclass(frozen=True, slots=True)
class DetailLog:
    """A whole detail log. `path` is as given to the reader; `records` keeps the first record of each key.

    `repeated` maps a key that stands more than once to the number of its records. Of errors, warnings and problems the
    first hundred are kept; `error_count`, `warning_count` and `problem_count` say how many there are. `kept` are the
    keys that were kept, None for all: to ask for another is a LookupError.
    """

    path: Path
    records: Mapping[str, LogRecord]
    repeated: Mapping[str, int]
    errors: tuple[LogRecord, ...]
    warnings: tuple[LogRecord, ...]
    problems: tuple[LogProblem, ...]
    lines: int
    valid_first_line: bool
    error_count: int = 0
    warning_count: int = 0
    problem_count: int = 0
    kept: frozenset[str] | None = None

    def only(self, keys: frozenset[str]) -> "DetailLog":
        """The log with the records of a few keys and nothing else, to be held long."""
        records = {key: record for key, record in self.records.items() if key in keys}
        return DetailLog(self.path, records, {}, (), (), (), self.lines, self.valid_first_line, kept=keys)

    def record(self, key: str) -> LogRecord | None:
        """The first record of a key, as the official checker takes it."""
        found = self.records.get(key)
        if found is None and self.kept is not None and key not in self.kept:
            raise LookupError(f"{key} of the log is not kept; enter it in compliance/logs/detail_keys.py")
        return found

    def number(self, key: str) -> float | int | None:
        """The value of a key when it is a number (never a bool); None otherwise."""
        value = self.value(key)
        return value if isinstance(value, int | float) and not isinstance(value, bool) else None

    def value(self, key: str) -> LogValue:
        """The value of a key, None when the key is absent."""
        record = self.record(key)
        return None if record is None else record.value
