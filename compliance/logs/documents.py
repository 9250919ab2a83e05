"""JSON documents of a tree: read leniently, problems kept with their place."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

JsonValue = str | int | float | bool | None | list["JsonValue"] | dict[str, "JsonValue"]


@dataclass(frozen=True, slots=True)
class DocumentProblem:
    """A fault of the file's form that could be read over: BOM, trailing comma, duplicate key."""

    line: int | None
    reason: str


@dataclass(frozen=True, slots=True)
class Document:
    """A JSON object and where its members stand: `lines` maps a JSON pointer of the first level to its line."""

    path: Path
    members: Mapping[str, JsonValue]
    lines: Mapping[str, int]
    problems: tuple[DocumentProblem, ...]
