"""How long the answers of an accuracy log are: LoadGen's token counts, of a whole log or of what is left of one."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from compliance.logs.blocks import BLOCK_BYTES
from compliance.logs.lines import unreadable

# A count that the truncation cut has no end: what follows a number tells that it is whole.
_COUNT = re.compile(rb'"token_count"\s*:\s*(\d{1,18})\s*[,}]')
_OVERLAP_BYTES = 256


@dataclass(frozen=True, slots=True)
class Extreme:
    """The shortest or longest answer: its number of tokens and the line of the log it stands on (1-based)."""

    tokens: int
    line: int


@dataclass(frozen=True, slots=True)
class TokenCounts:
    """The answers whose token count can be read: how many, the shortest and the longest."""

    answers: int
    shortest: Extreme
    longest: Extreme


def read_token_counts(path: Path) -> TokenCounts | None:
    """The token counts that stand in an accuracy log, whole or truncated; None where none does.

    LoadGen logs them where token latencies are on. Raises UnreadableFile when the file cannot be read.
    """
    answers = 0
    shortest: Extreme | None = None
    longest: Extreme | None = None
    try:
        for text, lines in _pieces(path):
            for match in _COUNT.finditer(text):
                answers, tokens = answers + 1, int(match[1])
                if shortest is None or tokens < shortest.tokens:
                    shortest = Extreme(tokens, lines + text.count(b"\n", 0, match.end()))
                if longest is None or tokens > longest.tokens:
                    longest = Extreme(tokens, lines + text.count(b"\n", 0, match.end()))
    except OSError as error:
        raise unreadable(path, error) from error
    return None if shortest is None or longest is None else TokenCounts(answers, shortest, longest)


def _pieces(path: Path) -> Iterator[tuple[bytes, int]]:
    """The log in pieces that cut no count in two, each with the number of its first line."""
    held, lines = b"", 1
    with path.open("rb") as stream:
        while block := stream.read(BLOCK_BYTES):
            held += block
            # The last count may go on in the next block.
            done = max(held.rfind(b'"token_count"'), len(held) - _OVERLAP_BYTES, 0)
            yield held[:done], lines
            lines += held.count(b"\n", 0, done)
            held = held[done:]
    yield held, lines
