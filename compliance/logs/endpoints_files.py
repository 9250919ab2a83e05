"""JSON of an endpoints run: read within bounds of size and depth, with the members' lines."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from compliance.errors import UnreadableFile
from compliance.logs.documents import Document, DocumentProblem, JsonValue, pointer_of, read_document
from compliance.logs.lines import BOM, read_bytes, unreadable

JSON_LIMIT_BYTES = 2 * 1024 * 1024
"""Most bytes of a JSON file; published ones have a few thousand."""
LINES_DEPTH = 5
_MOST_LINES = 20_000
NAME_CHARACTERS = 200
"""Longer names of members are cut in pointers."""
_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[{}\[\],:]|\n', re.DOTALL)


@dataclass(frozen=True, slots=True)
class Loaded:
    """A file's outermost object. `lines` maps JSON pointers (RFC 6901) to 1-based lines; `problems` were read over."""

    path: Path
    members: Mapping[str, JsonValue]
    lines: Mapping[str, int]
    problems: tuple[DocumentProblem, ...]


def load_json(path: Path) -> Loaded:
    """A JSON object with the lines of its members. Raises UnreadableFile, with the line where known."""
    bounded(path, JSON_LIMIT_BYTES)
    document: Document = read_document(path)
    text = read_bytes(path).removeprefix(BOM).decode("utf-8", "replace")
    return Loaded(path, document.members, dict(_member_lines(text)), document.problems)


def bounded(path: Path, limit_bytes: int) -> None:
    """Raises UnreadableFile for a file of more bytes, and for one that is not there."""
    try:
        size_bytes = path.stat().st_size
    except OSError as error:
        raise unreadable(path, error) from error
    if size_bytes > limit_bytes:
        reason = f"{size_bytes} bytes, where at most {limit_bytes} are read; keep logs and histograms out of it"
        raise UnreadableFile(path, reason)


@dataclass(slots=True)
class _Frame:
    """An object or array that is open: its pointer, and the member at hand."""

    pointer: str
    array: bool
    member: str = ""
    index: int = 0

    @property
    def here(self) -> str:
        return f"{self.pointer}/{self.index}" if self.array else self.member


def _member_lines(text: str) -> Iterator[tuple[str, int]]:
    """(pointer, line) of members and of objects in arrays, down to five levels. The text is JSON or nearly."""
    stack: list[_Frame] = []
    line, given, name = 1, 0, ""
    for match in _TOKEN.finditer(text):
        mark = match.group()
        if given > _MOST_LINES:
            return
        if mark in {"{", "["}:
            pointer = stack[-1].here if stack else ""
            if stack and stack[-1].array and len(stack) <= LINES_DEPTH:
                given += 1
                yield pointer, line
            stack.append(_Frame(pointer if len(stack) <= LINES_DEPTH else "", mark == "["))
        elif mark in {"}", "]"}:
            del stack[-1:]
        elif mark == "," and stack:
            stack[-1].index += 1
        elif mark == ":" and stack:
            shallow = len(stack) <= LINES_DEPTH
            stack[-1].member = f"{stack[-1].pointer}{name}" if shallow else ""
            if shallow:
                given += 1
                yield stack[-1].member, line
        elif mark[0] == '"':
            name = pointer_of(mark[1:-1][:NAME_CHARACTERS])
        line += mark.count("\n")
