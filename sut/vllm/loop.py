"""The thread that owns an engine: takes requests from an inbox, steps the engine, reports first tokens and answers.

It knows an engine by five calls (`StepEngine`) and nothing of vLLM. It blocks, without polling, only while nothing is
unfinished. When the engine raises, everything in flight or waiting fails and the loop is lost for good.
"""

import queue
import threading
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np

from sut.errors import EngineLost
from sut.protocol import EventSink, TokenIds

FINISHED_WELL = frozenset({"stop", "length"})


@dataclass(frozen=True, slots=True)
class Output:
    """Tokens of one request that are new since its last output; `finish_reason` when they are the last."""

    request_id: str
    tokens: Sequence[int]
    finish_reason: str | None


@dataclass(frozen=True, slots=True)
class Request:
    """One sample to answer. `max_tokens` None: as many as the run allows."""

    sample_id: int
    prompt: TokenIds
    first_token: bool
    max_tokens: int | None = None


class StepEngine(Protocol):
    """An engine that works when it is stepped. All calls come from one thread, `add` raises for a bad request."""

    def add(self, request_id: str, request: Request) -> None: ...

    def unfinished(self) -> bool: ...

    def step(self) -> Iterable[Output]: ...

    def abort(self, request_ids: Sequence[str]) -> None: ...

    def close(self) -> None: ...


@dataclass(slots=True)
class _Flight:
    request: Request
    sink: EventSink
    tokens: list[int] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class _Work:
    requests: Sequence[Request]
    sink: EventSink


@dataclass(frozen=True, slots=True)
class _Drop:
    """Abort what came before."""


class Loop:
    """The thread and its inbox. One thread calls; the sink is called from the loop's own thread."""

    def __init__(self, build: Callable[[], StepEngine]) -> None:
        self._build = build
        self._inbox: queue.SimpleQueue[_Work | _Drop | None] = queue.SimpleQueue()
        self._flights: dict[str, _Flight] = {}
        self._opened = 0
        self._dropped = threading.Event()
        self._lock = threading.Lock()
        self._lost: str | None = None
        self._thread: threading.Thread | None = None

    def start(self) -> None:
        """Build the engine in the loop's thread and wait until it stands. Raises what the building raised."""
        started: queue.SimpleQueue[BaseException | None] = queue.SimpleQueue()
        self._thread = threading.Thread(target=self._own, args=(started,), name="engine-loop", daemon=True)
        self._thread.start()
        error = started.get()
        if error is not None:
            self._thread.join()
            raise error

    def submit(self, requests: Sequence[Request], sink: EventSink) -> None:
        """Enqueue and return. Raises EngineLost when the engine is gone."""
        with self._lock:
            self._check()
            self._inbox.put(_Work(requests, sink))

    def drop(self) -> None:
        """Abort every request submitted before and return: none of them is reported any more, not even as failed.

        Takes at most the engine's current step. Raises EngineLost when the engine is gone.
        """
        with self._lock:
            self._check()
            self._dropped.clear()
            self._inbox.put(_Drop())
        self._dropped.wait()
        self.check()

    def check(self) -> None:
        """Raises EngineLost when the engine is gone."""
        with self._lock:
            self._check()

    def stop(self, timeout_s: float) -> None:
        """End the loop after its current step and close the engine. Idempotent; requests in flight fail."""
        thread, self._thread = self._thread, None
        if thread is not None:
            self._inbox.put(None)
            thread.join(timeout_s)

    def _check(self) -> None:
        if self._lost is not None:
            raise EngineLost(self._lost)

    def _own(self, started: queue.SimpleQueue[BaseException | None]) -> None:
        try:
            engine = self._build()
        except BaseException as error:  # noqa: BLE001  (raised again by start, in the thread that called it)
            self._give_up("the engine did not start")
            started.put(error)
            return
        started.put(None)
        try:
            self._turn(engine)
            self._give_up("the engine was stopped")
        except Exception as error:  # noqa: BLE001  (whatever ends the engine becomes failed samples and EngineLost)
            self._give_up(f"the engine raised {type(error).__name__}: {first_line(error)}; see the worker's log")
        finally:
            engine.close()

    def _turn(self, engine: StepEngine) -> None:
        while self._take(engine):
            if engine.unfinished():
                for output in engine.step():
                    self._report(output)

    def _take(self, engine: StepEngine) -> bool:
        """Add everything that waits; wait for something when the engine is idle. False when told to stop."""
        wait = not engine.unfinished()
        while wait or not self._inbox.empty():
            work = self._inbox.get()
            if work is None:
                return False
            if isinstance(work, _Drop):
                engine.abort(tuple(self._flights))
                self._flights.clear()
                self._dropped.set()
            else:
                for request in work.requests:
                    self._open(engine, request, work.sink)
            wait = not engine.unfinished()
        return True

    def _open(self, engine: StepEngine, request: Request, sink: EventSink) -> None:
        # Ids are never used twice, so a late output of an ended request cannot be taken for another's.
        request_id = f"w{self._opened}"
        self._opened += 1
        self._flights[request_id] = _Flight(request, sink)
        try:
            engine.add(request_id, request)
        except ValueError as error:
            # A request the engine refuses (too long, a token outside the vocabulary) is that sample's failure alone.
            del self._flights[request_id]
            sink.failed(request.sample_id, f"the engine refused the request: {first_line(error)}")

    def _report(self, output: Output) -> None:
        flight = self._flights.get(output.request_id)
        if flight is None:
            return
        sample_id = flight.request.sample_id
        if output.tokens and not flight.tokens and flight.request.first_token:
            flight.sink.first_token(sample_id, int(output.tokens[0]))
        flight.tokens.extend(output.tokens)
        if output.finish_reason is None:
            return
        del self._flights[output.request_id]
        if output.finish_reason in FINISHED_WELL and flight.tokens:
            flight.sink.final(sample_id, np.asarray(flight.tokens, dtype=np.int32))
        else:
            flight.sink.failed(sample_id, f"the engine ended the request with {output.finish_reason!r}")

    def _give_up(self, reason: str) -> None:
        """Nothing will be answered any more: fail what is in flight and what still waits."""
        with self._lock:
            self._lost = reason
        flights, self._flights = self._flights, {}
        for flight in flights.values():
            flight.sink.failed(flight.request.sample_id, reason)
        while not self._inbox.empty():
            work = self._inbox.get()
            if isinstance(work, _Work):
                for request in work.requests:
                    work.sink.failed(request.sample_id, reason)
        self._dropped.set()


def first_line(error: BaseException) -> str:
    """The first line of an error's message, where its reason stands."""
    return next((line.strip() for line in str(error).splitlines() if line.strip()), type(error).__name__)
