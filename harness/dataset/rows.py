"""The rows of a source file: JSON lines, or one JSON list. Nothing that runs code when read (pickle) is opened."""

from collections.abc import Mapping
from pathlib import Path

import msgspec

from sut.errors import BadDataset

Row = Mapping[str, object]

PICKLE_SUFFIXES = (".pkl", ".pickle")
PICKLE_FIRST_BYTE = b"\x80"  # the PROTO opcode of pickle protocols 2 and above
GZIP_MAGIC, PARQUET_MAGIC = b"\x1f\x8b", b"PAR1"
MAX_SHOWN = 20


def read_rows(source: Path) -> tuple[Row, ...]:
    """The objects of `source` in order, one per sample. Raises BadDataset with every row that is none."""
    try:
        data = source.read_bytes()
    except OSError as error:
        raise BadDataset(f"{source} cannot be read: {error.strerror}; name a JSON or JSONL file") from None
    _refuse_other_forms(source, data)
    stripped = data.removeprefix(b"\xef\xbb\xbf").lstrip()
    found, problems = _list(source, stripped) if stripped.startswith(b"[") else _lines(stripped)
    problems += [
        f"row {number}: is a {type(row).__name__}, not an object with named fields"
        for number, row in enumerate(found, start=1)
        if row is not None and not isinstance(row, dict)
    ]
    raise_problems(source, problems)
    if not found:
        raise BadDataset(f"{source} has no rows; a row is a JSON object, one a line or in a list")
    return tuple(row for row in found if isinstance(row, dict))


def raise_problems(source: Path, problems: list[str]) -> None:
    """Raise BadDataset with one line per problem, the first ones in full and the rest as a count; none is fine."""
    if not problems:
        return
    lines = [f"{source}: {problem}" for problem in problems[:MAX_SHOWN]]
    if len(problems) > MAX_SHOWN:
        lines.append(f"{source}: {len(problems) - MAX_SHOWN} more problems like these")
    raise BadDataset("\n".join((*lines, f"{source}: nothing was written; correct these rows and convert again")))


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


def _list(source: Path, data: bytes) -> tuple[list[object], list[str]]:
    try:
        return msgspec.json.decode(data, type=list[object]), []
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise BadDataset(f"{source}: no JSON list ({error}); correct the file") from None


def _lines(data: bytes) -> tuple[list[object], list[str]]:
    """One object a line; an empty line holds no row. A line that cannot be read keeps its number as None."""
    decoder = msgspec.json.Decoder()
    found: list[object] = []
    problems: list[str] = []
    for line in data.split(b"\n"):
        if not line.strip():
            continue
        try:
            found.append(decoder.decode(line))
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            found.append(None)
            problems.append(f"row {len(found)}: not JSON ({error}); a row is one JSON object on one line")
    return found, problems
