"""One pass over an accuracy log of any size: its hash, and its entries as the bytes of one JSON object each."""

import hashlib
import re
from collections.abc import Iterator
from enum import Enum
from pathlib import Path

from compliance.errors import UnreadableFile
from compliance.logs.lines import unreadable

_OBJECT = re.compile(rb"\{[^{}]*\}")
_SEPARATORS = b" \t\r\n,"
_ELLIPSIS = b"..."


class _Place(Enum):
    """Where the scan stands: before, in or after the array."""

    BEFORE = 0
    INSIDE = 1
    AFTER = 2


class AccuracyScan:
    """The scan's state: `digest` and `bytes` cover what was read; `truncated`: the ellipsis was met, or no end."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.digest = hashlib.sha256()
        self.bytes = 0
        self.truncated = False
        self._place = _Place.BEFORE
        self._lines = self._hashed()

    def objects(self) -> Iterator[tuple[int, bytes]]:
        """The entries with the line each ends on. Raises UnreadableFile at the first byte that belongs to none."""
        pending: list[bytes] = []
        number = 0
        for number, line in enumerate(self._lines, start=1):
            if self.truncated:
                raise UnreadableFile(self.path, "the log is truncated; give the whole log that was kept aside", number)
            pending.append(line)
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
        try:
            with self.path.open("rb") as stream:
                for line in stream:
                    self.digest.update(line)
                    self.bytes += len(line)
                    self.truncated |= line.strip() == _ELLIPSIS
                    yield line
        except OSError as error:
            raise unreadable(self.path, error) from error

    def _between(self, text: bytes, number: int) -> None:
        """Takes what stands between two entries: separators, and the array's brackets."""
        for token in text.translate(None, _SEPARATORS):
            if token == ord("[") and self._place is _Place.BEFORE:
                self._place = _Place.INSIDE
            elif token == ord("]") and self._place is _Place.INSIDE:
                self._place = _Place.AFTER
            else:
                reason = f"byte {token:#04x} belongs to no entry of an accuracy log; copy the log anew"
                raise UnreadableFile(self.path, reason, number)
