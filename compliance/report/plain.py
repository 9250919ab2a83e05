"""What a tree holds, made harmless to print: one function for names, values and messages in every form of a report."""

import json
import re
import unicodedata

_WIDE = frozenset("WF")
_NOT_PRINTED = re.compile(r"[^\x20-\x7e\n]+")


def plain(text: str) -> str:
    r"""The text with every character that does not print as itself escaped as Python does it (`\n`, `\x1b`, `\u202e`).

    That covers line breaks, terminal escapes, characters that turn the direction of writing, invisible ones, and all
    that XML does not admit. Blanks of every width stay, and a backslash stays single: what is harmless is not changed.
    """
    if text.isprintable():
        return text
    return "".join(character if _harmless(character) else _escape(character) for character in text)


def one_line(text: str) -> str:
    """Prose in one line: runs of blanks and line breaks become one blank, the rest is made harmless."""
    return plain(" ".join(text.split()))


def json_text(document: object) -> str:
    """A document as indented JSON whose strings, read back, are unchanged: what does not print is escaped as JSON does.

    Raises ValueError for NaN and the infinities, which JSON has no form for.
    """
    text = json.dumps(document, indent=2, ensure_ascii=False, allow_nan=False)
    return _NOT_PRINTED.sub(lambda match: _json_escapes(match[0]), text)


def _json_escapes(text: str) -> str:
    return "".join(c if c == "\n" or _harmless(c) else json.dumps(c)[1:-1] for c in text)


def columns(text: str) -> int:
    """How many columns of a terminal the text takes: wide characters two, combining ones none."""
    if text.isascii():
        return len(text)
    return sum(_columns(character) for character in text)


def cut(text: str, size: int) -> str:
    """The text in at most so many columns, with `~` at its end where something was taken off."""
    if columns(text) <= size:
        return text
    kept, used = "", 0
    for character in text:
        used += _columns(character)
        if used >= size:
            break
        kept += character
    return f"{kept}~"


def _columns(character: str) -> int:
    if unicodedata.combining(character):
        return 0
    return 2 if unicodedata.east_asian_width(character) in _WIDE else 1


def _harmless(character: str) -> bool:
    return character.isprintable() or unicodedata.category(character) == "Zs"


def _escape(character: str) -> str:
    return character.encode("unicode_escape", "backslashreplace").decode("ascii")
