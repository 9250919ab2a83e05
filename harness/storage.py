"""Files that are whole or absent: atomic writes, hashes, and records as JSON."""

import contextlib
import hashlib
import os
import secrets
from pathlib import Path
from typing import TypeVar

import msgspec

from harness.errors import StorageError

Record = TypeVar("Record")
_BLOCK_BYTES = 1 << 20


def write_atomic(path: Path, data: str | bytes) -> None:
    """Writes a file that is either whole or not there: temporary file beside it, fsync, os.replace.

    Raises StorageError when the folder is missing or the disk is full; nothing is left behind then.
    """
    content = data.encode() if isinstance(data, str) else data
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
    try:
        with temporary.open("xb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
        _sync_folder(path.parent)
    except OSError as error:
        with contextlib.suppress(OSError):
            temporary.unlink(missing_ok=True)
        raise StorageError(
            f"{path} cannot be written: {error.strerror}; free space or choose another folder"
        ) from error


def sha256_file(path: Path) -> str:
    """SHA-256 of a file's bytes as 64 hex digits. Raises StorageError when it cannot be read."""
    digest = hashlib.sha256()
    try:
        with path.open("rb") as file:
            while block := file.read(_BLOCK_BYTES):
                digest.update(block)
    except OSError as error:
        raise StorageError(f"{path} cannot be read: {error.strerror}; restore the file") from error
    return digest.hexdigest()


def manifest(folder: Path, *, exclude: frozenset[str] = frozenset()) -> dict[str, str]:
    """SHA-256 by path relative to the folder, sorted, with forward slashes; links and `exclude`d paths are left out."""
    files = sorted(path for path in folder.rglob("*") if path.is_file() and not path.is_symlink())
    names = {path.relative_to(folder).as_posix(): path for path in files}
    return {name: sha256_file(path) for name, path in names.items() if name not in exclude}


def encode_record(record: object) -> bytes:
    """A record (dataclass) as JSON with an indentation of two, ending in a newline."""
    return msgspec.json.format(msgspec.json.encode(record), indent=2) + b"\n"


def decode_record(data: bytes | str, kind: type[Record]) -> Record:
    """The record that `encode_record` wrote. Raises StorageError when the JSON is not one of that kind."""
    try:
        return msgspec.json.decode(data, type=kind)
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise StorageError(f"not a {kind.__name__}: {error}; make the file anew") from error


def write_record(path: Path, record: object) -> None:
    """Writes a record as JSON, atomically. Raises StorageError."""
    write_atomic(path, encode_record(record))


def read_record(path: Path, kind: type[Record]) -> Record:
    """Reads a record that `write_record` wrote. Raises StorageError when it is missing or of another form."""
    try:
        data = path.read_bytes()
    except OSError as error:
        raise StorageError(f"{path} cannot be read: {error.strerror}; make the run again") from error
    try:
        return decode_record(data, kind)
    except StorageError as error:
        raise StorageError(f"{path}: {error}") from error


def _sync_folder(folder: Path) -> None:
    """Makes a rename durable where the file system can."""
    with contextlib.suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
