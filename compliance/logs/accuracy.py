"""The accuracy log: responses as hex, one object per line; whole or truncated (loadgen/logging.cc:281-303)."""

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import msgspec

from compliance.errors import UnreadableFile
from compliance.logs.accuracy_scan import ELLIPSIS, SEPARATORS, TRUNCATED, AccuracyScan, is_ellipsis
from compliance.logs.lines import read_at_most
from compliance.logs.token_counts import CountsSeen, TokenCounts


@dataclass(frozen=True, slots=True)
class AccuracyEntry:
    """One logged response. `data` and `token_data` are the raw bytes; `token_count` is LoadGen's n_tokens."""

    seq_id: int
    qsl_idx: int
    data: bytes
    token_data: bytes | None
    token_count: int | None
    line: int


@dataclass(frozen=True, slots=True)
class AccuracyLog:
    """What is known of an accuracy log without holding its responses. `entries` is None when it cannot be counted.

    `truncated` is true of the form a submission carries (first and last 4096 bytes around `...`) and of any log whose
    end is no JSON. `problem` says in words why `entries` is None, at `problem_line`. `token_counts` are of all answers
    that can be read, those around the cut included; None where there are none.
    """

    path: Path
    bytes: int
    truncated: bool
    entries: int | None
    sha256: str
    problem: str = ""
    problem_line: int | None = None
    token_counts: TokenCounts | None = None


class _Entry(msgspec.Struct, gc=False):
    seq_id: int
    qsl_idx: int
    data: str
    token_data: str | None = None
    token_count: int | None = None


_ENTRY = msgspec.json.Decoder(_Entry)
_ENTRIES = msgspec.json.Decoder(list[_Entry])
_ONE_STEP_BYTES = 4 << 20


def iter_accuracy(path: Path) -> Iterator[AccuracyEntry]:
    """The responses of a whole accuracy log in order of completion, one at a time.

    Raises UnreadableFile when the log is truncated, cut, or no accuracy log.
    """
    small = _small(path)
    known = None if small is None else _with_lines(small)
    for line, entry in known or ((line, _decode(path, line, text)) for line, text in AccuracyScan(path).objects()):
        yield AccuracyEntry(
            entry.seq_id,
            entry.qsl_idx,
            _hex(path, line, entry.data),
            None if entry.token_data is None else _hex(path, line, entry.token_data),
            entry.token_count,
            line,
        )


def read_accuracy(path: Path) -> AccuracyLog:
    """Size, SHA-256 and number of entries of an accuracy log, in one pass that holds one entry at a time.

    Raises UnreadableFile only when the file cannot be opened or is empty.
    """
    whole = _in_one_step(path)
    if whole is not None:
        return whole
    counts = CountsSeen()
    scan = AccuracyScan(path, counts)
    count, problem, line = 0, "", None
    try:
        for number, text in scan.objects():
            _decode(path, number, text)
            count += 1
    except UnreadableFile as error:
        if scan.bytes == 0:
            raise
        problem, line = error.reason, error.line
        scan.drain()
    entries = None if problem else count
    digest = scan.digest.hexdigest()
    return AccuracyLog(path, scan.bytes, scan.truncated, entries, digest, problem, line, counts.counts())


def _small(path: Path) -> bytes | None:
    """The bytes of a log that may be read in one step; None for a longer one, and where there is none."""
    try:
        data = read_at_most(path, _ONE_STEP_BYTES)
    except UnreadableFile:
        return None
    return data if 0 < len(data) < _ONE_STEP_BYTES else None


def _entries(text: bytes) -> list[_Entry] | None:
    """The entries of a JSON array that is as it should be; None for any other text."""
    try:
        return _ENTRIES.decode(text)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return None


def _with_lines(text: bytes) -> list[tuple[int, _Entry]] | None:
    """The entries with the line each ends on; None where they cannot be told at once."""
    entries = _entries(text)
    if entries is None or text.count(b"}") != len(entries):
        return None
    found: list[tuple[int, _Entry]] = []
    line, position = 1, 0
    for entry in entries:
        end = text.find(b"}", position)
        line += text.count(b"\n", position, end)
        position = end + 1
        found.append((line, entry))
    return found


def _in_one_step(path: Path) -> AccuracyLog | None:
    """A small log that is an array of entries as it should be, or the beginning and end of one; None for any other."""
    data = _small(path)
    if data is None:
        return None
    counts = CountsSeen()
    counts.take(data, 1)
    cut = _cut_at(data)
    if cut is None:
        entries = _entries(data)
        if entries is None:
            return None
        return AccuracyLog(path, len(data), False, len(entries), _sha256(data), token_counts=counts.counts())
    begun, brace, rest = data[:cut].rpartition(b"}")
    if not brace or rest.partition(b"{")[0].translate(None, SEPARATORS) or _entries(begun + b"}]") is None:
        return None
    line = data.count(b"\n", 0, cut) + 1
    return AccuracyLog(path, len(data), True, None, _sha256(data), TRUNCATED, line, counts.counts())


def _cut_at(data: bytes) -> int | None:
    """Where the first line begins that stands for what was cut out."""
    at = data.find(ELLIPSIS)
    while at >= 0:
        start, end = data.rfind(b"\n", 0, at) + 1, data.find(b"\n", at)
        if is_ellipsis(data[start : end + 1 if end >= 0 else len(data)]):
            return start
        at = data.find(ELLIPSIS, at + len(ELLIPSIS))
    return None


def _sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def _decode(path: Path, line: int, text: bytes) -> _Entry:
    try:
        return _ENTRY.decode(text)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise UnreadableFile(path, f"no entry of an accuracy log ({error}); copy the log anew", line) from error


def _hex(path: Path, line: int, text: str) -> bytes:
    try:
        return bytes.fromhex(text)
    except ValueError as error:
        raise UnreadableFile(path, f"a response is no hex string ({error}); copy the log anew", line) from error
