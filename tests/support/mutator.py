"""Files broken byte by byte, from a seed: what a bad disk, a wrong editor or ill will makes of a submission."""

import random
from pathlib import Path

_PIECES = (
    b"",
    b"\x00",
    b"\xff\xfe",
    b"\xef\xbb\xbf",
    b"\r\n",
    b"\n\n",
    b"{",
    b"}",
    b"[[[[",
    b'"',
    b"\\",
    b"\\u12",
    b"nan",
    b"-inf",
    b"1e999",
    b"-1",
    b"0",
    b"18446744073709551616",
    b"9" * 5000,
    b"null",
    b"true",
    b'""',
    b"[]",
    b"{}",
    b":::MLLOG ",
    b":::MLLOG {}\n",
    b"\x1b[31m",
    "\u202e\u0000".encode(),
    b"*.*.x = y # z\n",
    b"{'rouge1': 1, 'rouge1': np.float64(nan)}\n",
    b"hash=\n",
    b"...\n",
)


def mutate(data: bytes, chance: random.Random) -> bytes:
    """The bytes with one to four faults: bytes changed, pieces put in, cut out, doubled, swapped, or the end cut off."""
    for _ in range(chance.randint(1, 4)):
        data = chance.choice(_FAULTS)(data, chance)
    return data


def _span(data: bytes, chance: random.Random) -> tuple[int, int]:
    start = chance.randint(0, len(data))
    return start, min(len(data), start + chance.choice((1, 2, 8, 60, 400)))


def _flip(data: bytes, chance: random.Random) -> bytes:
    if not data:
        return data
    at = chance.randrange(len(data))
    return data[:at] + bytes([data[at] ^ (1 << chance.randrange(8))]) + data[at + 1 :]


def _insert(data: bytes, chance: random.Random) -> bytes:
    at = chance.randint(0, len(data))
    return data[:at] + chance.choice(_PIECES) + data[at:]


def _replace(data: bytes, chance: random.Random) -> bytes:
    start, end = _span(data, chance)
    return data[:start] + chance.choice(_PIECES) + data[end:]


def _double(data: bytes, chance: random.Random) -> bytes:
    start, end = _span(data, chance)
    return data[:end] + data[start:end] * chance.choice((1, 1, 50)) + data[end:]


def _cut(data: bytes, chance: random.Random) -> bytes:
    return data[: chance.randint(0, len(data))]


def _value(data: bytes, chance: random.Random) -> bytes:
    """What follows a colon or an equals sign becomes something else."""
    places = [at for at, byte in enumerate(data) if byte in b":="]
    if not places:
        return _insert(data, chance)
    at = chance.choice(places) + 1
    end = next((index for index in range(at, len(data)) if data[index] in b",\n}"), len(data))
    return data[:at] + b" " + chance.choice(_PIECES) + data[end:]


def _swap(data: bytes, chance: random.Random) -> bytes:
    lines = data.splitlines(keepends=True)
    chance.shuffle(lines)
    return b"".join(lines)


_FAULTS = (_flip, _insert, _replace, _double, _cut, _value, _value, _swap)


class Mutator:
    """Breaks one or two files of a written tree at a time, and mends them again."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.files = sorted(path for path in root.rglob("*") if path.is_file() and path.stat().st_size)
        self.whole = {path: path.read_bytes() for path in self.files}

    def break_one(self, seed: int) -> tuple[Path, ...]:
        """Break files as the seed has it; which ones."""
        chance = random.Random(seed)  # noqa: S311 - repeatable on purpose
        chosen = tuple(chance.sample(self.files, chance.choice((1, 1, 2))))
        for path in chosen:
            path.write_bytes(mutate(self.whole[path], chance))
        return chosen

    def mend(self, broken: tuple[Path, ...]) -> None:
        for path in broken:
            path.write_bytes(self.whole[path])
