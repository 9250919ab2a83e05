"""Writing whole files or none, and their SHA-256."""

import hashlib
import os
import tempfile
from pathlib import Path

_BLOCK_BYTES = 1 << 20


def sha256_file(path: Path) -> str:
    """SHA-256 of a file's bytes, as lower-case hex. Raises OSError when it cannot be read."""
    digest = hashlib.sha256()
    with path.open("rb") as stream:
        while block := stream.read(_BLOCK_BYTES):
            digest.update(block)
    return digest.hexdigest()


def write_atomic(path: Path, data: str | bytes) -> None:
    """Write a file so that readers see the old one or the whole new one. Raises OSError; leaves no partial file."""
    content = data.encode() if isinstance(data, str) else data
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.", suffix=".partial")
    partial = Path(name)
    try:
        with os.fdopen(handle, "wb") as stream:
            stream.write(content)
            stream.flush()
            os.fsync(stream.fileno())
        partial.chmod(0o644)
        partial.replace(path)
    except BaseException:
        partial.unlink(missing_ok=True)
        raise


def sync_file(path: Path) -> None:
    """Make a file's bytes durable before something else relies on them."""
    with path.open("rb") as stream:
        os.fsync(stream.fileno())
