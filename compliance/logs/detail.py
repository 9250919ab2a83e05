"""The detail log: `:::MLLOG` records with their line numbers, parsed once (loadgen/logging.h:706-743)."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from compliance.errors import UnreadableFile
from compliance.logs.detail_decode import Decoded, LogValue, decode_lenient, decode_strict
from compliance.logs.lines import BOM, iter_lines

__all__ = ["DetailLog", "LogProblem", "LogRecord", "LogValue", "read_detail"]

MARKERS = (b":::MLLOG", b":::ENDPTS")
# LoadGen's clock underflows before the test starts; no run lasts three centuries.
_NO_TIME_MS = 1e13
# A record that a raw line break cut is looked for on so many further lines.
_CONTINUATION_LINES = 16


@dataclass(frozen=True, slots=True)
class LogRecord:
    """One record. `line` is 1-based. `value` of loaded_qsl_set is dropped (None): it is half of a log's bytes."""

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

    `repeated` maps a key that stands more than once to the number of its records.
    """

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


@dataclass(slots=True)
class _Building:
    """A detail log while it is read."""

    records: dict[str, LogRecord] = field(default_factory=dict)
    counts: dict[str, int] = field(default_factory=dict)
    errors: list[LogRecord] = field(default_factory=list)
    warnings: list[LogRecord] = field(default_factory=list)
    problems: list[LogProblem] = field(default_factory=list)
    marker: bytes | None = None
    valid_first_line: bool = False
    broken: "_Broken | None" = None

    def feed(self, number: int, line: bytes) -> None:
        """Takes one line: a record, the rest of a broken one, or neither."""
        if self.marker is None:
            self.marker = next((marker for marker in MARKERS if line.startswith(marker)), None)
            self.valid_first_line = self.marker is not None and number == 1 and not self.problems
        if self.marker is not None and line.startswith(self.marker):
            self.drop_broken()
            self._take(number, line, len(self.marker))
        elif self.broken is not None:
            if self.broken.complete(line, self):
                self.broken = None
        elif self.marker is not None and line.strip():
            self.problems.append(LogProblem(number, "not a log record; skipped", recovered=True, official=True))

    def _take(self, number: int, line: bytes, offset: int) -> None:
        body = line[offset:]
        decoded: Decoded | str = decode_strict(body) or decode_lenient(body, offset)
        if isinstance(decoded, str):
            self.broken = _Broken(number, [body], decoded)
        else:
            self.add(number, decoded)

    def add(self, line: int, decoded: Decoded) -> None:
        """Keeps a record: the first of its key, and every error and warning."""
        key = decoded.key
        record = LogRecord(line, key, decoded.value, decoded.time_ms, decoded.is_error, decoded.is_warning)
        self.records.setdefault(key, record)
        self.counts[key] = self.counts.get(key, 0) + 1
        if record.is_error:
            self.errors.append(record)
        if record.is_warning:
            self.warnings.append(record)
        for note in decoded.notes:
            self.problems.append(LogProblem(line, note, recovered=True, official=decoded.official))

    def drop_broken(self) -> None:
        """A record that was not completed stays unread."""
        if self.broken is not None:
            self.problems.append(LogProblem(self.broken.line, self.broken.reason, recovered=False))
            self.broken = None


def read_detail(path: Path) -> DetailLog:
    """Reads a detail log in one pass; faults of single lines become problems.

    Raises UnreadableFile when the file cannot be read or holds no record at all.
    """
    build, lines = _Building(), 0
    for number, line in _numbered(path, build):
        lines = number
        build.feed(number, line)
    build.drop_broken()
    if not build.records:
        raise UnreadableFile(path, _nothing_read(build, lines), build.problems[0].line if build.problems else None)
    if not build.valid_first_line:
        reason = "the first line is no :::MLLOG record, as LoadGen's is; do not edit logs"
        build.problems.append(LogProblem(1, reason, recovered=True))
    return DetailLog(
        path=path,
        records=build.records,
        repeated={key: count for key, count in build.counts.items() if count > 1},
        errors=tuple(build.errors),
        warnings=tuple(build.warnings),
        problems=tuple(sorted(build.problems, key=lambda problem: problem.line)),
        lines=lines,
        valid_first_line=build.valid_first_line,
    )


def _numbered(path: Path, build: _Building) -> Iterator[tuple[int, bytes]]:
    """The file's lines; a byte order mark before the first is taken off and noted."""
    for number, line in iter_lines(path):
        if number == 1 and line.startswith(BOM):
            build.problems.append(LogProblem(1, "the file begins with a byte order mark", recovered=True))
            yield number, line.removeprefix(BOM)
        else:
            yield number, line


@dataclass(slots=True)
class _Broken:
    """A record that its own line does not complete."""

    line: int
    parts: list[bytes]
    reason: str

    def complete(self, line: bytes, build: _Building) -> bool:
        """Takes one more line; True when the record is whole now, and added."""
        if len(self.parts) > _CONTINUATION_LINES:
            return False
        self.parts.append(line)
        if not line.rstrip().endswith(b"}"):
            return False
        # The line break stood inside a string that LoadGen did not escape.
        body = b"\\n".join(self.parts)
        decoded: Decoded | str = decode_strict(body) or decode_lenient(body)
        if isinstance(decoded, str):
            return False
        build.add(self.line, decoded)
        reason = f"the record goes on over {len(self.parts)} lines"
        build.problems.append(LogProblem(self.line, reason, recovered=True))
        return True


def _nothing_read(build: _Building, lines: int) -> str:
    if lines == 0:
        return "the file is empty; copy the one LoadGen wrote"
    unread = next((problem.reason for problem in build.problems if not problem.recovered), None)
    if unread is not None:
        return f"no record of it can be read: {unread}"
    return "no line begins with :::MLLOG; LoadGen's free-text logs of old rounds are not read, copy the detail log anew"
