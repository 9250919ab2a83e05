"""references.jsonl of a data set folder: what the answers are compared with. Read here only, never by an engine."""

from pathlib import Path

import msgspec

from harness.errors import EvaluationError

FILE_NAME = "references.jsonl"


class Reference(msgspec.Struct, frozen=True):
    """One row: the reference text of a sample, and its answer and choices where it is a question with choices."""

    index: int
    reference: str = ""
    answer: str = ""
    choices: tuple[str, ...] = ()


def read_references(dataset: Path) -> tuple[Reference, ...]:
    """The rows in order of sample index.

    Raises EvaluationError when the file is missing, has a bad row, or does not hold each index from 0 on exactly once.
    """
    path = dataset / FILE_NAME
    try:
        lines = path.read_bytes().splitlines()
    except OSError as error:
        raise EvaluationError(
            f"{path}: {error.strerror}; accuracy needs the references beside the prompts: convert the data set again"
        ) from error
    rows = [_row(path, number, line) for number, line in enumerate(lines, start=1) if line.strip()]
    rows.sort(key=lambda row: row.index)
    if not rows or [row.index for row in rows] != list(range(len(rows))):
        raise EvaluationError(f"{path}: does not hold each index from 0 on exactly once; convert the data set again")
    return tuple(rows)


def _row(path: Path, number: int, line: bytes) -> Reference:
    try:
        return msgspec.json.decode(line, type=Reference)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise EvaluationError(f"{path}:{number}: no reference row ({error}); convert the data set again") from error
