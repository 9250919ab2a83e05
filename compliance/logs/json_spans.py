"""Where things stand in a JSON text: the parser of the standard library keeps no lines."""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass

_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[{}\[\],:]|\n', re.DOTALL)


@dataclass(frozen=True, slots=True)
class Member:
    """A member of the outermost object and the 1-based line its name stands on."""

    name: str
    line: int


@dataclass(frozen=True, slots=True)
class _Token:
    text: str
    start: int
    line: int


def first_level(text: str) -> tuple[Member, ...]:
    """The members of the outermost object in order, duplicates included. The text is JSON."""
    members: list[Member] = []
    depth = 0
    name: _Token | None = None
    for token in _tokens(text):
        if token.text in "{[":
            depth += 1
        elif token.text in "}]":
            depth -= 1
        elif token.text == ":" and depth == 1 and name is not None:
            members.append(Member(str(json.loads(name.text, strict=False)), name.line))
        name = token if token.text[0] == '"' else None
    return tuple(members)


def without_trailing_commas(text: str) -> tuple[str, tuple[int, ...]]:
    """The text with each comma before a closing bracket made a blank, and the lines of those commas."""
    blanks: list[_Token] = []
    comma: _Token | None = None
    end = 0
    for token in _tokens(text):
        if token.text in "}]" and comma is not None and not text[end : token.start].strip():
            blanks.append(comma)
        comma = token if token.text == "," else None
        end = token.start + len(token.text)
    parts: list[str] = []
    position = 0
    for blank in blanks:
        parts += [text[position : blank.start], " "]
        position = blank.start + 1
    return "".join((*parts, text[position:])), tuple(blank.line for blank in blanks)


def _tokens(text: str) -> Iterator[_Token]:
    """Strings and punctuation with their lines; numbers, literals and white space are passed over."""
    line = 1
    for match in _TOKEN.finditer(text):
        piece = match.group()
        if piece != "\n":
            yield _Token(piece, match.start(), line)
        line += piece.count("\n")
