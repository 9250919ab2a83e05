"""The outbox of a worker: engine threads put answers in, the I/O thread takes whole frames out.

Answers are coalesced without any added wait: the first answer after a drain wakes the I/O thread, and whatever has
gathered until it drains goes out as one frame. Every item carries the epoch it was put in under, so that what an engine
answers after its test is over is dropped here and never reaches the ids of the next test.
"""

import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from typing import TypeAlias

import numpy as np

from sut import wire
from sut.protocol import TokenIds

MAX_EVENTS_PER_FRAME = 4096

_First: TypeAlias = tuple[int, int]
_Final: TypeAlias = tuple[int, TokenIds]
_Failure: TypeAlias = tuple[int, str]
# epoch, sample id, then the payload, whose type tells the event: int first token, array final, str failure; raw bytes
# are a ready frame (hello, goodbye) that keeps its place among the answers.
_Item: TypeAlias = tuple[int, int, int | TokenIds | str | bytes]


class Outbox:
    """An `EventSink` that any thread may call; `wake` is called when a drain is due and must not block."""

    def __init__(self, worker: int, wake: Callable[[], None]) -> None:
        self._worker = worker
        self._wake = wake
        self._items: deque[_Item] = deque()
        self._epoch: int | None = None
        self._in_flight: set[int] = set()
        self._signalled = False
        self._signal_lock = threading.Lock()

    @property
    def in_flight(self) -> int:
        """Samples submitted to the engine in this test and not yet answered."""
        return len(self._in_flight)

    def open(self, epoch: int) -> None:
        """A test begins: answers count for `epoch` from here on."""
        self._in_flight.clear()
        self._epoch = epoch

    def close(self) -> None:
        """The test is over: what is answered from here on is dropped."""
        self._epoch = None
        self._in_flight.clear()

    def submitted(self, ids: Iterable[int]) -> None:
        """These samples go to the engine now."""
        self._in_flight.update(ids)

    def first_token(self, sample_id: int, token: int) -> None:
        self._put(sample_id, int(token))

    def final(self, sample_id: int, tokens: TokenIds) -> None:
        """All ids of an answer. Anything but a flat int32 array turns the sample into a failed one."""
        self._in_flight.discard(sample_id)
        self._put(sample_id, tokens if _is_token_ids(tokens) else _wrong_answer(tokens))

    def failed(self, sample_id: int, reason: str) -> None:
        self._in_flight.discard(sample_id)
        self._put(sample_id, str(reason))

    def fail_all(self, reason: str) -> None:
        """Report every sample still in flight as failed."""
        for sample_id in tuple(self._in_flight):
            self.failed(sample_id, reason)

    def put_frame(self, frame: bytes) -> None:
        """Send a ready frame after the answers put so far. It needs no open test."""
        self._items.append((-1, 0, frame))
        self._signal()

    def drain(self) -> Iterator[bytes]:
        """The frames that are due. Only the I/O thread calls this, once per wake."""
        # Reset before reading: an item put from here on either is read below or signals again.
        self._signalled = False
        batch = _Batch(self._worker)
        for _ in range(len(self._items)):
            epoch, sample_id, payload = self._items.popleft()
            if isinstance(payload, bytes):
                yield from batch.flush()
                yield payload
            else:
                if batch.must_flush_before(epoch, sample_id, payload):
                    yield from batch.flush()
                batch.add(epoch, sample_id, payload)
        yield from batch.flush()

    def _put(self, sample_id: int, payload: int | TokenIds | str) -> None:
        epoch = self._epoch
        if epoch is None:
            return
        self._items.append((epoch, sample_id, payload))
        if not self._signalled:
            self._signal()

    def _signal(self) -> None:
        with self._signal_lock:
            if not self._signalled:
                self._signalled = True
                self._wake()


def _is_token_ids(answer: object) -> bool:
    return isinstance(answer, np.ndarray) and answer.dtype == np.int32 and answer.ndim == 1


def _wrong_answer(answer: object) -> str:
    kind = type(answer).__name__
    if isinstance(answer, np.ndarray):
        kind = f"an array of {answer.dtype} with {answer.ndim} dimensions"
    return f"the engine answered with {kind}; the protocol asks for a flat int32 array"


class _Batch:
    """The events of one frame in the making."""

    def __init__(self, worker: int) -> None:
        self._worker = worker
        self._clear()

    def must_flush_before(self, epoch: int, sample_id: int, payload: int | TokenIds | str) -> bool:
        """Whether the item must not share the frame: another epoch, a full frame, or a first token after its final.

        A frame holds first tokens before finals; in one frame that engine fault would look like the right order.
        """
        if self._size == 0:
            return False
        late_first = isinstance(payload, int) and sample_id in self._finished
        return late_first or epoch != self._epoch or self._size >= MAX_EVENTS_PER_FRAME

    def add(self, epoch: int, sample_id: int, payload: int | TokenIds | str) -> None:
        self._epoch = epoch
        self._size += 1
        if isinstance(payload, int):
            self._firsts.append((sample_id, payload))
        elif isinstance(payload, str):
            self._failures.append((sample_id, payload))
        else:
            self._finals.append((sample_id, payload))
            self._finished.add(sample_id)

    def flush(self) -> Iterator[bytes]:
        if self._size:
            yield wire.encode_events(self._epoch, self._worker, self._firsts, self._finals, self._failures)
            self._clear()

    def _clear(self) -> None:
        self._epoch = 0
        self._size = 0
        self._firsts: list[_First] = []
        self._finals: list[_Final] = []
        self._failures: list[_Failure] = []
        self._finished: set[int] = set()
