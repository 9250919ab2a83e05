"""JSON documents of a tree: read leniently, problems kept with their place."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import cast

from compliance.errors import UnreadableFile
from compliance.logs.json_spans import Member, first_level, without_trailing_commas
from compliance.logs.lines import BOM, read_bytes

JsonValue = str | int | float | bool | None | list["JsonValue"] | dict[str, "JsonValue"]


@dataclass(frozen=True, slots=True)
class DocumentProblem:
    """A fault of the file's form that could be read over: BOM, trailing comma, duplicate key.

    `official` says whether the official checker reads the document all the same.
    """

    line: int | None
    reason: str
    official: bool = False


class Lines(Mapping[str, int]):
    """The line of each member of the outermost object, by its JSON pointer; looked up in the text when first asked."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._found: dict[str, int] | None = None

    def _all(self) -> dict[str, int]:
        if self._found is None:
            self._found = {pointer_of(member.name): member.line for member in first_level(self._text)}
        return self._found

    def __getitem__(self, pointer: str) -> int:
        """The 1-based line on which the member's name stands, the last one of that name."""
        return self._all()[pointer]

    def __iter__(self) -> Iterator[str]:
        """The pointers, in the order of the text."""
        return iter(self._all())

    def __len__(self) -> int:
        """The number of members."""
        return len(self._all())


@dataclass(frozen=True, slots=True)
class Document:
    """A JSON object and where its members stand: `lines` maps a JSON pointer of the first level to its line."""

    path: Path
    members: Mapping[str, JsonValue]
    lines: Mapping[str, int]
    problems: tuple[DocumentProblem, ...]

    def text(self, name: str) -> str | None:
        """The value of a member when it is a string, None otherwise."""
        value = self.members.get(name)
        return value if isinstance(value, str) else None

    def line(self, name: str) -> int | None:
        """The line of a first-level member, None when it is absent."""
        return self.lines.get(pointer_of(name))


def pointer_of(name: str) -> str:
    """The RFC 6901 JSON pointer of a first-level member."""
    return "/" + name.replace("~", "~0").replace("/", "~1")


def read_document(path: Path) -> Document:
    """Reads a JSON object over a byte order mark, bytes that are not UTF-8, trailing commas and duplicate keys.

    Raises UnreadableFile, with the line where known, when there is no JSON object to read.
    """
    data = read_bytes(path)
    problems: list[DocumentProblem] = []
    if data.startswith(BOM):
        data = data.removeprefix(BOM)
        problems.append(DocumentProblem(1, "the file begins with a byte order mark; save it without"))
    text = _decoded(data, problems)
    value, text, outermost = _parsed(path, text, problems)
    if not isinstance(value, dict):
        reason = f"a JSON object is wanted, this is {_kind(value)}; wrap it in {{ }}"
        raise UnreadableFile(path, reason, 1, parsed=not problems)
    if outermost != len(value):
        problems.extend(_duplicates(first_level(text)))
    ordered = tuple(sorted(problems, key=lambda problem: problem.line or 0))
    return Document(path, cast("dict[str, JsonValue]", value), Lines(text), ordered)


def _decoded(data: bytes, problems: list[DocumentProblem]) -> str:
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        problems.append(DocumentProblem(line, "not UTF-8; read as Latin-1, save it as UTF-8"))
        return data.decode("latin-1")


def _parsed(path: Path, text: str, problems: list[DocumentProblem]) -> tuple[object, str, int]:
    """The value, the text it was read from, and how many members the outermost object has with those named twice.

    Line breaks inside strings are let through.
    """
    try:
        return _loaded(text, strict=True)
    except (ValueError, RecursionError) as error:
        fault = error
    repaired, commas = without_trailing_commas(text)
    try:
        loaded = _loaded(repaired, strict=False)
    except (ValueError, RecursionError):
        if isinstance(fault, json.JSONDecodeError):
            reason = f"not JSON: {fault.msg} at column {fault.colno}; correct it there"
            raise UnreadableFile(path, reason, fault.lineno) from fault
        raise UnreadableFile(path, "not JSON: a number or a nesting too long; correct it") from fault
    problems.extend(DocumentProblem(line, "trailing comma; take it out") for line in commas)
    if not commas and isinstance(fault, json.JSONDecodeError):
        problems.append(DocumentProblem(fault.lineno, f"{fault.msg} at column {fault.colno}; escape it"))
    return loaded


def _loaded(text: str, *, strict: bool) -> tuple[object, str, int]:
    counts = [0]

    def members(pairs: list[tuple[str, object]]) -> dict[str, object]:
        counts[0] = len(pairs)  # of the object that ends last: the outermost
        return dict(pairs)

    value: object = json.loads(text, object_pairs_hook=members, strict=strict)
    return value, text, counts[0]


def _duplicates(members: tuple[Member, ...]) -> Iterator[DocumentProblem]:
    seen: dict[str, int] = {}
    for member in members:
        if member.name in seen:
            reason = f'"{member.name}" stands already in line {seen[member.name]}; the last one counts, keep one'
            yield DocumentProblem(member.line, reason, official=True)
        seen[member.name] = member.line


def _kind(value: object) -> str:
    if isinstance(value, list):
        return "an array"
    return "a string" if isinstance(value, str) else "a single value"
