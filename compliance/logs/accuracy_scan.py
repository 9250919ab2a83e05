"""One pass over an accuracy log of any size: its hash, and its entries as the bytes of one JSON object each."""

import hashlib
import re
from collections.abc import Iterator
from enum import Enum
from pathlib import Path

from compliance.errors import UnreadableFile
from compliance.logs.blocks import BLOCK_BYTES, MAX_LINE_BYTES
from compliance.logs.lines import unreadable
from compliance.logs.token_counts import CountsSeen

_OBJECT = re.compile(rb"\{[^{}]*\}")
SEPARATORS = b" \t\r\n,"
TRUNCATED = "the log is truncated; give the whole log that was kept aside"
ELLIPSIS = b"..."
_SHORT = 64


def is_ellipsis(line: bytes) -> bool:
    """Whether a line stands for what was cut out of a log."""
    return len(line) < _SHORT and line.strip() == ELLIPSIS


class _Place(Enum):
    """Where the scan stands: before, in or after the array."""

    BEFORE = 0
    INSIDE = 1
    AFTER = 2


class AccuracyScan:
    """The scan's state: `digest` and `bytes` cover what was read; `truncated`: the ellipsis was met, or no end.

    `too_long`: a line over the limit was met; of it a part at a time is held. `counts` takes each line as it is read.
    """

    def __init__(self, path: Path, counts: CountsSeen | None = None) -> None:
        self.path = path
        self._counts = counts
        self._number = 0
        self.digest = hashlib.sha256()
        self.bytes = 0
        self.truncated = False
        self.too_long = False
        self._place = _Place.BEFORE
        self._lines = self._hashed()

    def objects(self) -> Iterator[tuple[int, bytes]]:
        """The entries with the line each ends on. Raises UnreadableFile at the first byte that belongs to none."""
        pending: list[bytes] = []
        number = held = 0
        for number, line in enumerate(self._lines, start=1):
            if self.too_long:
                reason = f"the line is longer than {MAX_LINE_BYTES >> 20} MiB and was passed over; copy the log anew"
                raise UnreadableFile(self.path, reason, number)
            if self.truncated:
                raise UnreadableFile(self.path, TRUNCATED, number)
            pending.append(line)
            held += len(line)
            if held > MAX_LINE_BYTES:
                raise UnreadableFile(self.path, "an entry has no end; copy the log anew", number)
            if len(pending) > 1 and b"}" not in line:
                continue
            text = b"".join(pending)
            position = 0
            for match in _OBJECT.finditer(text):
                self._between(text[position : match.start()], number)
                if self._place is not _Place.INSIDE:
                    raise UnreadableFile(self.path, "an entry stands outside the array; copy the log anew", number)
                yield number, match.group()
                position = match.end()
            before, brace, _ = text[position:].partition(b"{")
            self._between(before, number)
            pending = [text[position + len(before) :]] if brace else []
            held = sum(map(len, pending))
        if self.bytes == 0:
            raise UnreadableFile(self.path, "the file is empty; copy the one LoadGen wrote")
        if pending or self._place is not _Place.AFTER:
            self.truncated = True
            raise UnreadableFile(self.path, "the log is cut: it does not end with ]; copy the whole log", number)

    def drain(self) -> None:
        """Reads what is left of the file, for its hash and size."""
        for _ in self._lines:
            pass

    def _hashed(self) -> Iterator[bytes]:
        """The lines, each counted and hashed; of one over the limit nothing is kept."""
        parts: list[bytes] = []
        held = 0
        try:
            with self.path.open("rb") as stream:
                while piece := stream.readline(BLOCK_BYTES):
                    self.digest.update(piece)
                    self.bytes += len(piece)
                    held += len(piece)
                    parts.append(piece)
                    if held > MAX_LINE_BYTES:
                        self.too_long = True
                        parts.clear()
                    if piece.endswith(b"\n"):
                        yield self._line(parts)
                        parts, held = [], 0
        except OSError as error:
            raise unreadable(self.path, error) from error
        if held:
            yield self._line(parts)

    def _line(self, parts: list[bytes]) -> bytes:
        line = parts[0] if len(parts) == 1 else b"".join(parts)
        self.truncated |= is_ellipsis(line)
        self._number += 1
        if self._counts is not None:
            self._counts.take(line, self._number)
        return line

    def _between(self, text: bytes, number: int) -> None:
        """Takes what stands between two entries: separators, and the array's brackets."""
        for token in text.translate(None, SEPARATORS):
            if token == ord("[") and self._place is _Place.BEFORE:
                self._place = _Place.INSIDE
            elif token == ord("]") and self._place is _Place.INSIDE:
                self._place = _Place.AFTER
            else:
                reason = f"byte {token:#04x} belongs to no entry of an accuracy log; copy the log anew"
                raise UnreadableFile(self.path, reason, number)
