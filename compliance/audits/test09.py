"""TEST09: in performance mode the answers are as long as the reference's (compliance/TEST09)."""

from collections.abc import Iterable
from dataclasses import dataclass

from compliance.audits.stated import Stated, stated
from compliance.logs.accuracy import AccuracyEntry
from compliance.logs.verdicts import VerifyText

_TOKEN_BYTES = 4


@dataclass(frozen=True, slots=True)
class Test09Verdict:
    """How many answers the log holds and their mean length in tokens, and whether that lies within the bounds."""

    entries: int
    mean_tokens: float
    passed: bool


@dataclass(frozen=True, slots=True)
class Test09Text:
    """What verify_output_len.txt says: answers read, their mean length in tokens; None where it does not say."""

    entries: Stated | None
    mean_tokens: Stated | None


def verify(entries: Iterable[AccuracyEntry], bounds_tokens: tuple[float, float]) -> Test09Verdict:
    """The mean length of the logged answers, which are little-endian int32 tokens; both bounds are included.

    An empty answer counts as one of no tokens; a log without answers passes nothing.
    """
    count, tokens = 0, 0
    for entry in entries:
        count += 1
        tokens += len(entry.data) // _TOKEN_BYTES
    mean = tokens / count if count else 0.0
    return Test09Verdict(count, mean, count > 0 and within(mean, bounds_tokens))


def within(mean_tokens: float, bounds_tokens: tuple[float, float]) -> bool:
    """Whether a mean length lies within the bounds, both included."""
    least, most = bounds_tokens
    return least <= mean_tokens <= most


def read_text(text: VerifyText) -> Test09Text:
    """The counts in what the verification printed."""
    return Test09Text(stated(text, "Total samples"), stated(text, "Mean output tokens"))
