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
        for match in _COUNT.finditer(text):
            self._answers += 1
            tokens = int(match[1])
            if self._shortest is None or tokens < self._shortest.tokens:
                self._shortest = Extreme(tokens, line + text.count(b"\n", 0, match.start()))
            if self._longest is None or tokens > self._longest.tokens:
                self._longest = Extreme(tokens, line + text.count(b"\n", 0, match.start()))

    def counts(self) -> TokenCounts | None:
        """What was seen so far; None where no line holds a count."""
        if self._shortest is None or self._longest is None:
            return None
        return TokenCounts(self._answers, self._shortest, self._longest)
