"""How long the answers of an accuracy log are: LoadGen's token counts, of a whole log or of what is left of one."""

import re
from dataclasses import dataclass

# A count that the truncation cut has no end: what follows a number tells that it is whole.
_COUNT = re.compile(rb'"token_count"[ \t]*:[ \t]*(\d{1,18})[ \t]*[,}]')


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


class CountsSeen:
    """The token counts in the lines of a log, whatever else stands there. LoadGen logs them with token latencies on."""

    def __init__(self) -> None:
        self._answers = 0
        self._shortest: Extreme | None = None
        self._longest: Extreme | None = None

    def take(self, text: bytes, line: int) -> None:
        """Takes whole lines, the first of which has this number."""
        found = list(map(int, _COUNT.findall(text)))
        if not found:
            return
        self._answers += len(found)
        least, most = min(found), max(found)
        if self._shortest is None or least < self._shortest.tokens:
            self._shortest = _first(text, least, line)
        if self._longest is None or most > self._longest.tokens:
            self._longest = _first(text, most, line)

    def counts(self) -> TokenCounts | None:
        """What was seen so far; None where no line holds a count."""
        if self._shortest is None or self._longest is None:
            return None
        return TokenCounts(self._answers, self._shortest, self._longest)


def _first(text: bytes, tokens: int, line: int) -> Extreme:
    """The first answer of so many tokens, and its line."""
    at = next(match.start() for match in _COUNT.finditer(text) if int(match[1]) == tokens)
    return Extreme(tokens, line + text.count(b"\n", 0, at))
