"""Lines of a terminal: text broken at blanks, long paths at slashes, so that no line is too wide."""

import re
from collections.abc import Iterator

from compliance.report.plain import columns, plain

_PARTS = re.compile(r"[^/]*/+|[^/]+")


def wrapped(text: str, width: int, head: str = "", indent: str = "", most: int | None = None) -> Iterator[str]:
    """The text in lines of at most `width` columns, the first behind `head`, the others behind `indent`.

    Nothing for an empty text. `most` limits the lines; a text that is longer ends in `...`.
    """
    lines = list(_filled(plain(text), width, head, indent))
    if most is not None and len(lines) > most:
        lines = lines[:most]
        lines[-1] = f"{_shortened(lines[-1], width - 4)} ..."
    yield from lines


def _shortened(line: str, room: int) -> str:
    """A line cut behind its last word that fits; within a word where it is one alone."""
    if columns(line) <= room:
        return line
    kept = line[: _fitting(line, room)]
    whole, blank, _ = kept.rpartition(" ")
    return whole if blank and whole.strip() else kept


def _filled(text: str, width: int, head: str, indent: str) -> Iterator[str]:
    line, fresh = head, True
    for part, gap in _units(text, width - columns(indent)):
        added = f"{'' if fresh else gap}{part}"
        if not fresh and columns(line) + columns(added) > width:
            yield line
            line, added = indent, part
        line, fresh = f"{line}{added}", False
    if not fresh:
        yield line


def _units(text: str, room: int) -> Iterator[tuple[str, str]]:
    """What is never broken, each with the blank before it: words, or the parts of a word that no line has room for."""
    for word in text.split():
        gap = " "
        for part in [word] if columns(word) <= room else _parts(word, room):
            yield part, gap
            gap = ""


def _parts(word: str, room: int) -> Iterator[str]:
    for part in _PARTS.findall(word):
        rest = part
        while columns(rest) > room:
            size = _fitting(rest, room)
            yield rest[:size]
            rest = rest[size:]
        if rest:
            yield rest


def _fitting(text: str, room: int) -> int:
    """How many characters fit into so many columns; at least one."""
    size = min(len(text), room)
    while size > 1 and columns(text[:size]) > room:
        size -= 1
    return size
