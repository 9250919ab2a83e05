"""Lines and text of a file, read so that a wrong byte is a problem and never an exception."""

import os
from pathlib import Path

from compliance.errors import UnreadableFile

BOM = b"\xef\xbb\xbf"
MAX_FILE_BYTES = 16 << 20
"""The most that a file which is read whole may hold: many times the largest that any script writes."""
_STEP_BYTES = 4096


def read_bytes(path: Path) -> bytes:
    """The whole file. Raises UnreadableFile when it cannot be read, is too large or holds nothing but white space."""
    data = read_at_most(path, MAX_FILE_BYTES + 1)
    if len(data) > MAX_FILE_BYTES:
        raise UnreadableFile(path, f"more than {MAX_FILE_BYTES} bytes, too many for such a file; copy the right one")
    if not data.strip():
        raise UnreadableFile(path, "the file is empty; copy the one the run wrote")
    return data


def read_at_most(path: Path, most: int) -> bytes:
    """The whole file, of a longer one the first `most` bytes. Raises UnreadableFile when it cannot be read."""
    try:
        # Most files of a tree are small: a stream around each takes as long to make as to read.
        source = os.open(path, os.O_RDONLY | getattr(os, "O_BINARY", 0))
        try:
            return _until_end(source, most, os.fstat(source).st_size)
        finally:
            os.close(source)
    except OSError as error:
        raise unreadable(path, error) from error


def _until_end(source: int, most: int, size: int) -> bytes:
    """Reads in steps of what the file seems to hold: room for more takes long to get."""
    parts: list[bytes] = []
    while most > 0 and (part := os.read(source, min(most, max(size, 0) + 1))):
        parts.append(part)
        most -= len(part)
        size = max(size - len(part), _STEP_BYTES)
    return parts[0] if len(parts) == 1 else b"".join(parts)


def read_text(path: Path) -> str:
    """The whole file as text: UTF-8 with or without BOM, else byte by byte as Latin-1. Raises UnreadableFile."""
    return decoded(read_bytes(path))[0]


def decoded(data: bytes) -> tuple[str, bool]:
    """Bytes as text, and whether they are UTF-8; what is not is taken byte by byte as Latin-1. A BOM is left out."""
    data = data.removeprefix(BOM)
    try:
        return data.decode(), True
    except UnicodeDecodeError:
        return data.decode("latin-1"), False


def split_lines(text: str) -> list[str]:
    """The lines of a text, split at LF, CRLF and CR as Python's text mode does, and nowhere else."""
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    return text.split("\n")


def unreadable(path: Path, error: OSError) -> UnreadableFile:
    """The operating system's refusal in a user's words."""
    if isinstance(error, FileNotFoundError):
        return UnreadableFile(path, "the file is missing; add it")
    if isinstance(error, IsADirectoryError):
        return UnreadableFile(path, "this is a folder where a file is wanted; replace it by the file")
    return UnreadableFile(path, f"cannot be read ({error.strerror or error}); check its permissions")
