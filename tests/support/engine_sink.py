"""A sink that keeps what an engine reports, in order, and waits for answers."""

import queue

from sut.protocol import SutFacts, TokenIds

WAIT_S = 240
"""Longer than any single test's work on a busy machine; a lost answer fails the test then."""


class Recorder:
    """sut.protocol.EventSink that remembers."""

    facts: SutFacts

    def __init__(self) -> None:
        self.events: list[tuple[str, int, object]] = []
        self._ended: queue.SimpleQueue[int] = queue.SimpleQueue()

    def first_token(self, sample_id: int, token: int) -> None:
        self.events.append(("first", sample_id, token))

    def final(self, sample_id: int, tokens: TokenIds) -> None:
        assert tokens.dtype == "int32"
        self.events.append(("final", sample_id, tokens.tolist()))
        self._ended.put(sample_id)

    def failed(self, sample_id: int, reason: str) -> None:
        self.events.append(("failed", sample_id, reason))
        self._ended.put(sample_id)

    def wait(self, count: int) -> None:
        """Until `count` more samples ended."""
        for _ in range(count):
            self._ended.get(timeout=WAIT_S)

    def take(self) -> list[tuple[str, int, object]]:
        """The events since the last call."""
        events, self.events = self.events, []
        return events

    def of(self, sample_id: int) -> list[tuple[str, object]]:
        """What was reported of one sample."""
        return [(kind, value) for kind, found, value in self.events if found == sample_id]
