"""The messages between the LoadGen process and its workers, as records; `sut.wire` puts them into frames and back.

Tasks are begin, submit and end; events are hello, events, heartbeat and goodbye. All carry the epoch, the number of the
LoadGen test: a message of another epoch is stale and its ids are dangling pointers (F4 in harness/README.md).
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise
from typing import NamedTuple, TypeAlias

import numpy as np

from sut.protocol import TokenIds

NO_HEAD = -1


@dataclass(frozen=True, slots=True)
class Begin:
    """A LoadGen test begins. The worker answers with `Hello` once its engine is ready for it."""

    epoch: int
    first_tokens: bool
    scenario: str


class Submit(NamedTuple):
    """Samples to answer: `ids` (LoadGen's, uint64) and `indices` (of the dataset, uint32), one to one."""

    epoch: int
    ids: Sequence[int]
    indices: Sequence[int]


@dataclass(frozen=True, slots=True)
class End:
    """The test is over. The worker answers with `Goodbye`."""

    epoch: int


@dataclass(frozen=True, slots=True)
class Hello:
    """A worker is ready for the test of this epoch and wants `window` samples in flight."""

    epoch: int
    worker: int
    window: int


class Events(NamedTuple):
    """Answers of one worker. Its token ids stay where they came in, in `body`.

    The ids of all final answers lie one after another from byte `tokens_at` of `body`, int32; `counts[i]` of them
    belong to `final_ids[i]`, and the first of these is `heads[i]` (NO_HEAD for an answer without tokens). The
    `first_tokens` lie from byte `first_tokens_at`. First tokens of a frame come before its finals; `failures` pairs a
    sample id with the reason. A tuple, since one is made per frame and frames come by the thousand.
    """

    epoch: int
    worker: int
    first_ids: Sequence[int]
    first_tokens: Sequence[int]
    final_ids: Sequence[int]
    counts: Sequence[int]
    heads: Sequence[int]
    failures: tuple[tuple[int, str], ...]
    body: memoryview
    first_tokens_at: int
    tokens_at: int

    @property
    def tokens(self) -> TokenIds:
        """The ids of all final answers, one after another: a view into the frame."""
        return np.frombuffer(self.body, "<i4", sum(self.counts), self.tokens_at)

    @property
    def address(self) -> int:
        """Where `body` lies in memory, for who hands token ids on without a copy; it must be kept alive for that."""
        address: int = np.frombuffer(self.body, np.uint8).__array_interface__["data"][0]
        return address

    def finals(self) -> Iterator[tuple[int, TokenIds]]:
        """Each final answer as (sample id, its token ids); the ids are views into the frame."""
        tokens, bounds = self.tokens, accumulate(self.counts, initial=0)
        for sample_id, (begin, end) in zip(self.final_ids, pairwise(bounds), strict=True):
            yield sample_id, tokens[begin:end]


@dataclass(frozen=True, slots=True)
class Heartbeat:
    """A sign of life: samples in flight in the worker, and how late its I/O loop woke at worst since the last one."""

    epoch: int
    worker: int
    in_flight: int
    lag_ns: int


@dataclass(frozen=True, slots=True)
class Goodbye:
    """The worker has ended the test of this epoch and holds nothing of it."""

    epoch: int
    worker: int


Message: TypeAlias = Begin | Submit | End | Hello | Events | Heartbeat | Goodbye
