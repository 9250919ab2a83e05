"""The detail log: `:::MLLOG` records with their line numbers, parsed once (loadgen/logging.h:706-743)."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import msgspec

from compliance.errors import UnreadableFile
from compliance.logs.blocks import MAX_LINE_BYTES, Block, iter_blocks
from compliance.logs.detail_blocks import BlockRecord, decode_block
from compliance.logs.detail_decode import DROPPED_KEY, Decoded, LogValue, decode_lenient, decode_strict
from compliance.logs.detail_keys import CHECKED_KEYS
from compliance.logs.detail_log import DetailLog, LogProblem, LogRecord
from compliance.logs.lines import BOM

__all__ = ["DetailLog", "LogProblem", "LogRecord", "LogValue", "read_checked", "read_detail"]

MARKERS = (b":::MLLOG", b":::ENDPTS")
# A record that a raw line break cut is looked for on so many further lines.
_CONTINUATION_LINES = 16
# A longer line is read only in LoadGen's own form: the objects of a hostile one take many times its size.
_MAX_LENIENT_BYTES = 1 << 20
_KEPT_OF_A_KIND = 100
_KEPT_CHARACTERS = 1 << 16


@dataclass(slots=True)
class _Bounded:
    """The first records of a kind, and how many there are."""

    first: list[LogRecord] = field(default_factory=list)
    count: int = 0

    def add(self, record: LogRecord) -> None:
        self.count += 1
        if len(self.first) < _KEPT_OF_A_KIND:
            self.first.append(record)


@dataclass(slots=True)
class _Building:
    """A detail log while it is read. `keys` are those to keep, None for all; `lines` counts what was read."""

    keys: frozenset[str] | None = None
    lines: int = 0
    records: dict[str, LogRecord] = field(default_factory=dict)
    counts: dict[str, int] = field(default_factory=dict)
    errors: _Bounded = field(default_factory=_Bounded)
    warnings: _Bounded = field(default_factory=_Bounded)
    problems: list[LogProblem] = field(default_factory=list)
    problem_count: int = 0
    kinds: set[tuple[bool, bool]] = field(default_factory=set)
    any_record: bool = False
    marker: bytes | None = None
    valid_first_line: bool = False
    broken: "_Broken | None" = None

    def take(self, block: Block) -> None:
        """Takes a block of lines: at once when each is a record as LoadGen writes it, else one by one."""
        if self.lines == 0:
            self._begin(block.text)
        if block.too_long:
            self._too_long()
        elif not self._whole(block.text):
            for line in _lines(block.text):
                self.lines += 1
                text = line.removeprefix(BOM) if self.lines == 1 else line
                if len(text) <= _MAX_LENIENT_BYTES or not self._whole(text, self.lines):
                    self.feed(self.lines, text)

    def _begin(self, text: bytes) -> None:
        if text.startswith(BOM):
            self.note(LogProblem(1, "the file begins with a byte order mark", recovered=True))
            return
        self.marker = next((marker for marker in MARKERS if text.startswith(marker)), None)
        self.valid_first_line = self.marker is not None

    def _whole(self, text: bytes, line: int | None = None) -> bool:
        """Takes lines that are all as LoadGen writes them; False when one is not, and nothing was taken.

        `line` is the number of a single line that is counted already.
        """
        records = None if self.marker is None else decode_block(text, self.marker)
        if records is None:
            return False
        self.drop_broken()
        self.any_record = True
        self._keep_all(records, line or self.lines + 1)
        self.lines += 0 if line else len(records)
        return True

    def _keep_all(self, records: list[BlockRecord], first: int) -> None:
        """Keeps what is wanted of the records of lines from `first` on. The usual case is written out: it is hot."""
        keys, counts, kept = self.keys, self.counts, self.records
        for number, record in enumerate(records, first):
            key, metadata = record.key, record.metadata
            if metadata.is_error or metadata.is_warning or key == DROPPED_KEY:
                self._take_record(number, record)
            elif keys is None or key in keys:
                if key in kept:
                    counts[key] += 1
                    continue
                value = record.value
                made = LogRecord(number, key, value, record.time_ms, is_error=False, is_warning=False)
                if type(value) is str and len(value) > _KEPT_CHARACTERS:
                    self._keep(made)
                else:
                    counts[key] = 1
                    kept[key] = made

    def _take_record(self, number: int, record: BlockRecord) -> None:
        """Keeps what is wanted of a record, whatever it is."""
        metadata = record.metadata
        if self.keys is None or record.key in self.keys or metadata.is_error or metadata.is_warning:
            value = None if record.key == DROPPED_KEY else record.value
            self._keep(LogRecord(number, record.key, value, record.time_ms, metadata.is_error, metadata.is_warning))

    def _too_long(self) -> None:
        """A line over the limit: a fault that is said, whatever the line is."""
        self.lines += 1
        self.drop_broken()
        reason = f"the line is longer than {MAX_LINE_BYTES >> 20} MiB; it is not read"
        self.note(LogProblem(self.lines, reason, recovered=False))

    def feed(self, number: int, line: bytes) -> None:
        """Takes one line: a record, the rest of a broken one, or neither."""
        if self.marker is None:
            self.marker = next((marker for marker in MARKERS if line.startswith(marker)), None)
            self.valid_first_line = self.marker is not None and number == 1 and not self.problems
        if self.marker is not None and line.startswith(self.marker):
            self.drop_broken()
            self._take_line(number, line, len(self.marker))
        elif self.broken is not None:
            if self.broken.complete(line, self):
                self.broken = None
        elif self.marker is not None and line.strip():
            reason = "NUL bytes, as a crash leaves them; skipped" if b"\0" in line else "not a log record; skipped"
            self.note(LogProblem(number, reason, recovered=True, official=True))

    def _take_line(self, number: int, line: bytes, offset: int) -> None:
        if len(line) > _MAX_LENIENT_BYTES:
            size = f"{len(line) / (1 << 20):.1f} MiB"
            self.note(
                LogProblem(number, f"a line of {size} that is not as LoadGen writes it; not read", recovered=False)
            )
            return
        body = line[offset:]
        decoded: Decoded | str = decode_strict(body) or decode_lenient(body, offset)
        if isinstance(decoded, str):
            self.broken = _Broken(number, [body], decoded)
        else:
            self.add(number, decoded)

    def add(self, line: int, decoded: Decoded) -> None:
        """Keeps a record: the first of its key where the key is kept, and the first errors and warnings."""
        self.any_record = True
        if self.keys is None or decoded.key in self.keys or decoded.is_error or decoded.is_warning:
            self._keep(
                LogRecord(line, decoded.key, decoded.value, decoded.time_ms, decoded.is_error, decoded.is_warning)
            )
        for note in decoded.notes:
            self.note(LogProblem(line, note, recovered=True, official=decoded.official))

    def _keep(self, record: LogRecord) -> None:
        if isinstance(record.value, str) and len(record.value) > _KEPT_CHARACTERS:
            record = msgspec.structs.replace(record, value=record.value[:_KEPT_CHARACTERS])
        key = record.key
        if self.keys is None or key in self.keys:
            self.counts[key] = self.counts.get(key, 0) + 1
            self.records.setdefault(key, record)
        if record.is_error:
            self.errors.add(record)
        if record.is_warning:
            self.warnings.add(record)

    def note(self, problem: LogProblem) -> None:
        """Keeps a problem: the first ones, and the first of each kind, so that no graver kind is lost among many."""
        self.problem_count += 1
        kind = (problem.recovered, problem.official)
        if len(self.problems) < _KEPT_OF_A_KIND or kind not in self.kinds:
            self.problems.append(problem)
        self.kinds.add(kind)

    def drop_broken(self) -> None:
        """A record that was not completed stays unread."""
        if self.broken is not None:
            self.note(LogProblem(self.broken.line, self.broken.reason, recovered=False))
            self.broken = None


def read_detail(path: Path, keys: frozenset[str] | None = None) -> DetailLog:
    """Reads a detail log in one pass; faults of single lines become problems. `keys` are those to keep, None for all.

    Raises UnreadableFile when the file cannot be read or holds no record at all.
    """
    build = _Building(keys)
    for block in iter_blocks(path):
        build.take(block)
    build.drop_broken()
    if not build.any_record:
        raise UnreadableFile(path, _nothing_read(build), build.problems[0].line if build.problems else None)
    if not build.valid_first_line:
        reason = "the first line is no :::MLLOG record, as LoadGen's is; do not edit logs"
        build.note(LogProblem(1, reason, recovered=True))
    return DetailLog(
        path=path,
        records=build.records,
        repeated={key: count for key, count in build.counts.items() if count > 1},
        errors=tuple(build.errors.first),
        warnings=tuple(build.warnings.first),
        problems=tuple(sorted(build.problems, key=lambda problem: problem.line)),
        lines=build.lines,
        valid_first_line=build.valid_first_line,
        error_count=build.errors.count,
        warning_count=build.warnings.count,
        problem_count=build.problem_count,
        kept=keys,
    )


def read_checked(path: Path) -> DetailLog:
    """Reads a detail log of a tree: of its keys only those that checks and reports read. Raises as read_detail."""
    return read_detail(path, CHECKED_KEYS)


@dataclass(slots=True)
class _Broken:
    """A record that its own line does not complete."""

    line: int
    parts: list[bytes]
    reason: str

    def complete(self, line: bytes, build: _Building) -> bool:
        """Takes one more line; True when the record is whole now, and added."""
        if len(self.parts) > _CONTINUATION_LINES or len(line) > _MAX_LENIENT_BYTES:
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
        build.note(LogProblem(self.line, reason, recovered=True))
        return True


def _lines(text: bytes) -> Iterator[bytes]:
    """The lines of a block without LF or CRLF, one at a time."""
    position = 0
    while position < len(text):
        end = text.find(b"\n", position)
        end = len(text) if end < 0 else end
        yield text[position:end].rstrip(b"\r\n")
        position = end + 1


def _nothing_read(build: _Building) -> str:
    if build.lines == 0:
        return "the file is empty; copy the one LoadGen wrote"
    unread = next((problem.reason for problem in build.problems if not problem.recovered), None)
    if unread is not None:
        return f"no record of it can be read: {unread}"
    return "no line begins with :::MLLOG; LoadGen's free-text logs of old rounds are not read, copy the detail log anew"
