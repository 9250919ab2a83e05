"""Accuracy logs as truncate_accuracy_log.py leaves them: the first and last 4096 bytes, the hash in accuracy.txt."""

import hashlib
import os
from pathlib import Path

from compliance.errors import RenderError
from compliance.submission.storage import write_atomic

LIMIT_BYTES = 10 * 1024
KEPT_BYTES = 4096
SEPARATOR = b"\n\n...\n\n"
TRUNCATED_BYTES = 2 * KEPT_BYTES + len(SEPARATOR)
_BLOCK_BYTES = 1 << 20


def truncate_accuracy_log(source: Path, target: Path, limit_bytes: int = LIMIT_BYTES) -> str:
    """Writes the form of an accuracy log that a submission carries, and returns the SHA-256 of the whole log.

    A log of at most `limit_bytes` (or shorter than what would be left of it) is copied whole; a longer one becomes its
    first and last 4096 bytes around an ellipsis, 8199 bytes. The source is left as it is. Raises RenderError when
    source and target are the same file or the source is truncated already, OSError when a file cannot be read or
    written.
    """
    if target.exists() and source.samefile(target):
        raise RenderError((f"{source}: the whole log would be lost; truncate it into another file",))
    digest = hashlib.sha256()
    with source.open("rb") as stream:
        size = os.fstat(stream.fileno()).st_size
        whole_bytes = max(limit_bytes, TRUNCATED_BYTES)
        head = stream.read(whole_bytes)
        if is_truncated(head, size):
            reason = "truncated already, the hash of the whole log cannot be taken; give the original log"
            raise RenderError((f"{source}: {reason}",))
        digest.update(head)
        while block := stream.read(_BLOCK_BYTES):
            digest.update(block)
        if size <= whole_bytes:
            write_atomic(target, head)
            return digest.hexdigest()
        stream.seek(size - KEPT_BYTES)
        tail = stream.read(KEPT_BYTES)
    write_atomic(target, head[:KEPT_BYTES] + SEPARATOR + tail)
    return digest.hexdigest()


def is_truncated(head: bytes, size: int) -> bool:
    """Whether a file of `size` bytes that begins so is a truncated accuracy log."""
    after = KEPT_BYTES + len(SEPARATOR)
    return size == TRUNCATED_BYTES and head[KEPT_BYTES:after] == SEPARATOR
