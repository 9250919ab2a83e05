"""The rows of a source file: JSON lines, or one JSON list. Nothing that runs code when read (pickle) is opened."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import msgspec

from sut.errors import BadDataset

Row = Mapping[str, object]

PICKLE_SUFFIXES = (".pkl", ".pickle")
PICKLE_FIRST_BYTE = b"\x80"  # the PROTO opcode of pickle protocols 2 and above
GZIP_MAGIC, PARQUET_MAGIC = b"\x1f\x8b", b"PAR1"
MAX_SHOWN = 20


@dataclass(frozen=True, slots=True)
class Rows:
    """The rows of a source that are objects, the number of each in the file, and what is wrong with the others.

    `word` says what is numbered: lines of the file, blank ones counted, or the rows of one JSON list; both from 1.
    """

    rows: tuple[Row, ...]
    numbers: tuple[int, ...]
    word: str
    problems: tuple[tuple[int, str], ...]

    def raise_problems(self, source: Path, more: Sequence[tuple[int, str]] = ()) -> None:
        """Raise BadDataset with every bad row, these and `more`, in the order of the file; none is fine."""
        found = sorted((*self.problems, *more))
        if not found:
            return
        lines = [f"{source}: {self.word} {number}: {problem}" for number, problem in found[:MAX_SHOWN]]
        if len(found) > MAX_SHOWN:
            lines.append(f"{source}: {len(found) - MAX_SHOWN} more problems like these")
        end = f"{source}: nothing was written; correct these {self.word}s and convert again"
        raise BadDataset("\n".join((*lines, end)))


def read_rows(source: Path) -> Rows:
    """The objects of `source` in order, one per sample, and what in it is none.

    Raises BadDataset when the file cannot be read as rows at all, or holds no row.
    """
    try:
        data = source.read_bytes()
    except OSError as error:
        raise BadDataset(f"{source} cannot be read: {error.strerror}; name a JSON or JSONL file") from None
    _refuse_other_forms(source, data)
    text = data.removeprefix(b"\xef\xbb\xbf")
    is_list = text.lstrip().startswith(b"[")
    found, problems = _list(source, text) if is_list else _lines(text)
    problems += [
        (number, f"is of type {type(row).__name__}, not an object with named fields")
        for number, row in found
        if not isinstance(row, dict)
    ]
    if not found and not problems:
        raise BadDataset(f"{source} has no rows; a row is a JSON object, one a line or in a list")
    objects = [(number, row) for number, row in found if isinstance(row, dict)]
    numbers, rows = tuple(number for number, _ in objects), tuple(row for _, row in objects)
    read = Rows(rows, numbers, "row" if is_list else "line", tuple(problems))
    if not rows:
        read.raise_problems(source)
    return read


def _refuse_other_forms(source: Path, data: bytes) -> None:
    if source.suffix in PICKLE_SUFFIXES or data.startswith(PICKLE_FIRST_BYTE):
        raise BadDataset(
            f"{source} is a pickle, which runs code of its maker when it is read; convert it to JSONL first where you "
            "trust it: python -c 'import pandas; "
            f'pandas.read_pickle("{source.name}").to_json("{source.stem}.jsonl", orient="records", lines=True)\''
        )
    if data.startswith(PARQUET_MAGIC):
        raise BadDataset(f"{source} is a Parquet file; convert it to JSONL first, for example with pandas")
    if data.startswith(GZIP_MAGIC):
        raise BadDataset(f"{source} is compressed; unpack it first (gunzip)")


def _list(source: Path, data: bytes) -> tuple[list[tuple[int, object]], list[tuple[int, str]]]:
    try:
        return list(enumerate(msgspec.json.decode(data, type=list[object]), start=1)), []
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise BadDataset(f"{source}: no JSON list ({error}); correct the file") from None


def _lines(data: bytes) -> tuple[list[tuple[int, object]], list[tuple[int, str]]]:
    """One object a line; an empty line holds no row and counts as a line."""
    decoder = msgspec.json.Decoder()
    found: list[tuple[int, object]] = []
    problems: list[tuple[int, str]] = []
    for number, line in enumerate(data.split(b"\n"), start=1):
        if not line.strip():
            continue
        try:
            found.append((number, decoder.decode(line)))
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            problems.append((number, f"not JSON ({error}); a row is one JSON object on one line"))
    return found, problems
