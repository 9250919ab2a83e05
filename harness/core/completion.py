"""T3, the completion thread: the only one that reports to LoadGen, first tokens and answers alike.

Two threads would report them in the wrong order, which LoadGen takes for an error or dies of (F5). Token ids are not
copied: what is handed to LoadGen are addresses inside the received frame, which lives until the call returns.
"""

import time
from typing import Protocol

import zmq

from harness.core.ledger import Ledger
from harness.core.sockets import Context, bind
from harness.core.spec import RunSpec
from harness.core.state import Bell, Credit, Inbox, RunState
from sut.errors import WireError
from sut.messages import Events, Goodbye, Heartbeat, Hello
from sut.wire import decode

_POLL_MS = 100
_TOKEN_BYTES = 4


class Reporter(Protocol):
    """LoadGen's completing side: `first` and `final` gather reports, `flush` hands them over, firsts first."""

    def first(self, sample_id: int, address: int) -> None: ...

    def final(self, sample_id: int, address: int, token_count: int) -> None: ...

    def flush(self) -> None: ...


class Completion:
    """The thread's body is `run`; everything else is called from it."""

    def __init__(
        self, spec: RunSpec, ledger: Ledger, state: RunState, inbox: Inbox, reporter: Reporter, context: Context
    ) -> None:
        self._spec = spec
        self._ledger = ledger
        self._state = state
        self._inbox = inbox
        self._reporter = reporter
        self._context = context
        # Offline refills windows as answers come; elsewhere the counts are read when the next query is routed.
        self._address = 0
        self._ring = spec.loadgen.scenario == "Offline"

    def run(self) -> None:
        """The thread: receives until the main thread says stop."""
        bell = self._inbox.bell()
        try:
            self._receive(bell)
        except zmq.ZMQError as error:
            self._state.fail("config", f"{self._spec.events} cannot be bound: {error}; is another run using it?")
        except Exception as error:  # noqa: BLE001 a thread's last words go to the outcome
            self._state.fail("internal", f"the completion thread failed: {type(error).__name__}: {error}")
        finally:
            bell.close()

    def _receive(self, bell: Bell) -> None:
        socket = bind(self._context, zmq.PULL, self._spec.events, self._spec.curve)
        socket.setsockopt(zmq.RCVTIMEO, _POLL_MS)
        try:
            while not self._state.stopping:
                try:
                    frame = socket.recv()
                except zmq.Again:
                    continue
                self._take(frame, bell)
        finally:
            socket.close(0)

    def _take(self, frame: bytes, bell: Bell) -> None:
        try:
            message = decode(frame)
        except WireError as error:
            self._state.fail("worker_failed", f"a worker sent a frame that cannot be read: {error}")
            return
        if message.epoch != self._spec.epoch:
            self._state.stale_frames += 1
            return
        worker = getattr(message, "worker", -1)
        if not 0 <= worker < len(self._spec.workers):
            self._breach(f"a {type(message).__name__} frame came from worker {worker}, which is none of this test")
            return
        self._state.heard(worker)
        if isinstance(message, Events):
            self._events(message, bell)
        elif isinstance(message, Heartbeat):
            self._state.worker_lag_ns[worker] = max(self._state.worker_lag_ns[worker], message.lag_ns)
        elif isinstance(message, Hello):
            self._state.hellos.add(worker)
            self._state.wake()
        elif isinstance(message, Goodbye):
            self._state.goodbyes.add(worker)
            self._state.wake()

    def _events(self, events: Events, bell: Bell) -> None:
        """One frame of answers: the ledger judges each, LoadGen hears of the good ones, the dispatcher gets credits."""
        ledger = self._ledger
        self._address = events.address
        firsts = self._firsts(events)
        finals = self._finals(events)
        if not self._state.finished:
            self._reporter.flush()
        for sample_id, reason in events.failures:
            if ledger.fail(sample_id, reason, events.worker, time.monotonic_ns()):
                index = ledger.index_of(ledger.slot_of(sample_id))
                self._state.fail(
                    "worker_failed",
                    f"worker {events.worker} could not answer sample {sample_id} (index {index}): {reason}",
                )
        if ledger.fault:
            self._state.fail("ledger", ledger.fault)
        if firsts or finals:
            bell.credit(Credit(events.worker, firsts, finals), ring=self._ring)

    def _firsts(self, events: Events) -> list[int]:
        if not (ids := events.first_ids):
            return []
        slots = self._ledger.firsts(ids, events.first_tokens, events.worker, time.monotonic_ns())
        address, report = self._address + events.first_tokens_at, self._reporter.first
        for sample_id, slot in zip(ids, slots, strict=True):
            if slot >= 0:
                report(sample_id, address)
            address += _TOKEN_BYTES
        return [slot for slot in slots if slot >= 0] if -1 in slots else slots

    def _finals(self, events: Events) -> list[int]:
        if not (ids := events.final_ids):
            return []
        counts = events.counts
        slots, with_first = self._ledger.finals(ids, events.heads, counts, events.worker, time.monotonic_ns())
        address, reporter = self._address + events.tokens_at, self._reporter
        for place, (sample_id, slot, count) in enumerate(zip(ids, slots, counts, strict=True)):
            if slot >= 0:
                if place in with_first:
                    reporter.first(sample_id, address)
                reporter.final(sample_id, address, count)
            address += _TOKEN_BYTES * count
        return [slot for slot in slots if slot >= 0] if -1 in slots else slots

    def _breach(self, what: str) -> None:
        self._ledger.breach(what)
        self._state.fail("ledger", what)
