"""A file in blocks of whole lines, so that a log of any size is read in a bounded space."""

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from compliance.logs.lines import unreadable

MAX_LINE_BYTES = 64 << 20
"""A line longer than this is never held: of it only the beginning is given."""

BLOCK_BYTES = 1 << 20
_HEAD_BYTES = 4096


@dataclass(frozen=True, slots=True)
class Block:
    """Whole lines of a file with their line ends; only the file's last line may lack one.

    `too_long`: `text` is the beginning of a single line over the limit, whose rest was passed over.
    """

    text: bytes
    too_long: bool = False


def iter_blocks(path: Path, limit: int = MAX_LINE_BYTES) -> Iterator[Block]:
    """The file's lines, about a mebibyte at a time. `limit` is at least that of a block.

    Raises UnreadableFile when the file cannot be opened or read.
    """
    try:
        with path.open("rb", buffering=0) as stream:
            line = _Unfinished(limit)
            # No more room than the file needs: room for a whole block takes longer to get than most logs to read.
            left = os.fstat(stream.fileno()).st_size
            while chunk := stream.read(max(1, min(BLOCK_BYTES, left + 1))):
                left -= len(chunk)
                end = chunk.rfind(b"\n") + 1
                if end == 0:
                    line.add(chunk)
                    continue
                start = chunk.find(b"\n") + 1
                if line.bytes + start > limit:
                    line.add(chunk[:start])
                    yield line.block()
                else:
                    start = 0
                if start < end:
                    yield Block(line.joined(chunk[start:end]))
                line = _Unfinished(limit)
                line.add(chunk[end:])
            if line.bytes:
                yield line.block()
    except OSError as error:
        raise unreadable(path, error) from error


class _Unfinished:
    """A line whose end is not read yet; beyond the limit only its beginning is kept."""

    def __init__(self, limit: int) -> None:
        self.bytes = 0
        self._limit = limit
        self._parts: list[bytes] = []

    def add(self, part: bytes) -> None:
        self.bytes += len(part)
        if self.bytes <= self._limit:
            self._parts.append(part)
        elif self._parts:
            del self._parts[1:]
            self._parts[0] = self._parts[0][:_HEAD_BYTES]
        else:
            self._parts = [part[:_HEAD_BYTES]]

    def joined(self, rest: bytes) -> bytes:
        return b"".join((*self._parts, rest)) if self._parts else rest

    def block(self) -> Block:
        return Block(b"".join(self._parts), too_long=self.bytes > self._limit)
