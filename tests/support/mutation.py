"""Files broken byte by byte: what a cut, a wrong copy or an editor makes of them, by a seed."""

import random
from collections.abc import Callable, Iterator
from pathlib import Path

from compliance.errors import UnreadableFile
from compliance.logs.accuracy import read_accuracy
from compliance.logs.accuracy_txt import read_accuracy_text
from compliance.logs.detail import read_checked
from compliance.logs.documents import read_document
from compliance.logs.summary import read_summary
from compliance.logs.user_conf import load_conf
from compliance.logs.verdicts import read_verify

READERS: dict[str, Callable[[Path], object]] = {
    "mlperf_log_detail.txt": read_checked,
    "mlperf_log_summary.txt": read_summary,
    "mlperf_log_accuracy.json": read_accuracy,
    "accuracy.txt": read_accuracy_text,
    "verify_accuracy.txt": read_verify,
    "verify_performance.txt": read_verify,
    "verify_output_len.txt": read_verify,
    "measurements.json": read_document,
    "user.conf": load_conf,
}
"""The reader of each file by its name; other JSON files are documents."""

_TOKENS = (
    b"\n", b"\r\n", b"\r", b"\x00", b"\xff\xfe", b"\xef\xbb\xbf", b'"', b"\\", b"{", b"}", b"[", b"]", b",", b":", b"nan",
    b"inf", b"-", b"9" * 40, b"1e999", b"null", b"true", b":::MLLOG ", b":::ENDPTS ", b"[" * 3000, b"\x1b[31m", b"...",
)  # fmt: skip


def reader_of(path: Path) -> Callable[[Path], object] | None:
    """How a file of a tree is read; None for one that is not."""
    return READERS.get(path.name) or (read_document if path.suffix == ".json" else None)


def mutated(data: bytes, source: random.Random) -> bytes:
    """The bytes with one to four faults."""
    for _ in range(source.randint(1, 4)):
        data = source.choice(_FAULTS)(data, source)
    return data


def _flip(data: bytes, source: random.Random) -> bytes:
    if not data:
        return b"\x00"
    at = source.randrange(len(data))
    return data[:at] + bytes([data[at] ^ (1 << source.randrange(8))]) + data[at + 1 :]


def _cut(data: bytes, source: random.Random) -> bytes:
    return data[: source.randint(0, len(data))]


def _take_out(data: bytes, source: random.Random) -> bytes:
    at = source.randint(0, len(data))
    return data[:at] + data[at + source.randint(1, 64) :]


def _insert(data: bytes, source: random.Random) -> bytes:
    at = source.randint(0, len(data))
    return data[:at] + source.choice(_TOKENS) + data[at:]


def _overwrite(data: bytes, source: random.Random) -> bytes:
    at, token = source.randint(0, len(data)), source.choice(_TOKENS)
    return data[:at] + token + data[at + len(token) :]


def _double(data: bytes, source: random.Random) -> bytes:
    at = source.randint(0, len(data))
    part = data[at : at + source.randint(1, 400)]
    return data[:at] + part + data[at:]


def _swap_lines(data: bytes, source: random.Random) -> bytes:
    lines = data.split(b"\n")
    one, other = source.randrange(len(lines)), source.randrange(len(lines))
    lines[one], lines[other] = lines[other], lines[one]
    return b"\n".join(lines)


_FAULTS = (_flip, _cut, _take_out, _insert, _overwrite, _double, _swap_lines)


def outcomes(seeds: list[Path], place: Path, count: int, seed: int = 1) -> Iterator[tuple[Path, object]]:
    """Reads `count` broken copies of the seed files at `place`; yields the seed and what its reader made of the copy.

    An UnreadableFile is such an outcome. Any other exception is the fault that is looked for, and is raised.
    """
    source = random.Random(seed)  # noqa: S311 - repeatable, not secret
    known = [(path, path.read_bytes(), reader) for path in seeds if (reader := reader_of(path)) is not None]
    for _ in range(count):
        path, data, reader = source.choice(known)
        place.write_bytes(mutated(data, source))
        try:
            yield path, reader(place)
        except UnreadableFile as error:
            yield path, error
