"""Lines and text of a file, read so that a wrong byte is a problem and never an exception."""

from pathlib import Path

from compliance.errors import UnreadableFile

BOM = b"\xef\xbb\xbf"


def read_bytes(path: Path) -> bytes:
    """The whole file. Raises UnreadableFile when it cannot be read or holds nothing but white space."""
    try:
        data = path.read_bytes()
    except OSError as error:
        raise unreadable(path, error) from error
    if not data.strip():
        raise UnreadableFile(path, "the file is empty; copy the one the run wrote")
    return data


def read_text(path: Path) -> str:
    """The whole file as text: UTF-8 with or without BOM, else byte by byte as Latin-1. Raises UnreadableFile."""
    data = read_bytes(path).removeprefix(BOM)
    try:
        return data.decode()
    except UnicodeDecodeError:
        return data.decode("latin-1")


def split_lines(text: str) -> list[str]:
    """The lines of a text, split at LF, CRLF and CR as Python's text mode does, and nowhere else."""
    return text.replace("\r\n", "\n").replace("\r", "\n").split("\n")


def unreadable(path: Path, error: OSError) -> UnreadableFile:
    """The operating system's refusal in a user's words."""
    if isinstance(error, FileNotFoundError):
        return UnreadableFile(path, "the file is missing; add it")
    if isinstance(error, IsADirectoryError):
        return UnreadableFile(path, "this is a folder where a file is wanted; replace it by the file")
    return UnreadableFile(path, f"cannot be read ({error.strerror or error}); check its permissions")
