"""Where a sample can be, what may be done with its answer, and what is written of one that got none."""

from dataclasses import dataclass
from enum import IntEnum


class State(IntEnum):
    """Where a sample is."""

    ISSUED = 0
    SENT = 1
    FIRST = 2
    DONE = 3
    FAILED = 4


class Verdict(IntEnum):
    """What the completion thread does with a final answer."""

    DROP = 0
    FORWARD = 1
    FORWARD_WITH_FIRST = 2


@dataclass(frozen=True, slots=True)
class Unanswered:
    """A sample without an answer: one line of failed_queries.jsonl. `id` is decimal text, for it exceeds 2^53."""

    id: str
    index: int
    worker: int | None
    state: str
    reason: str
