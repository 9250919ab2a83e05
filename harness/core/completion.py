"""T3, the completion thread: the only one that reports to LoadGen, first tokens and answers alike.

Two threads would report them in the wrong order, which LoadGen takes for an error or dies of (F5). Token ids are not
copied: what is handed to LoadGen are addresses inside the received frame, which lives until the call returns.
"""

import time
from typing import Protocol

import zmq

from harness.core.ledger import Ledger, Verdict
from harness.core.sockets import Context, bind
from harness.core.spec import RunSpec
from harness.core.state import Bell, Credit, Inbox, RunState
from sut.errors import WireError
from sut.wire import Events, Goodbye, Heartbeat, Hello, decode

_POLL_MS = 100
_TOKEN_BYTES = 4
_DROP, _WITH_FIRST = int(Verdict.DROP), int(Verdict.FORWARD_WITH_FIRST)


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
        try:
            while not self._state.stopping:
                if socket.poll(_POLL_MS):
                    self._drain(socket, bell)
        finally:
            socket.close(0)

    def _drain(self, socket: "zmq.Socket[bytes]", bell: Bell) -> None:
        while not self._state.stopping:
            try:
                frame = socket.recv(zmq.NOBLOCK)
            except zmq.Again:
                return
            self._take(frame, bell)

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
            bell.credit(Credit(firsts, finals))

    def _firsts(self, events: Events) -> list[int]:
        ids: list[int] = events.first_ids.tolist()
        if not ids:
            return ids
        ledger, reporter, now_ns = self._ledger, self._reporter, time.monotonic_ns()
        address = events.first_tokens.__array_interface__["data"][0]
        slots = []
        for sample_id, token in zip(ids, events.first_tokens.tolist(), strict=True):
            if ledger.first(sample_id, token, events.worker, now_ns):
                reporter.first(sample_id, address)
                slots.append(ledger.slot_of(sample_id))
            address += _TOKEN_BYTES
        return slots

    def _finals(self, events: Events) -> list[int]:
        ids: list[int] = events.final_ids.tolist()
        if not ids:
            return ids
        ledger, reporter, now_ns = self._ledger, self._reporter, time.monotonic_ns()
        tokens = events.tokens
        address = tokens.__array_interface__["data"][0]
        slots, begin = [], 0
        for sample_id, count in zip(ids, events.counts.tolist(), strict=True):
            head = int(tokens[begin]) if count else -1
            verdict = ledger.final(sample_id, head, count, events.worker, now_ns)
            if verdict != _DROP:
                if verdict == _WITH_FIRST:
                    reporter.first(sample_id, address)
                reporter.final(sample_id, address, count)
                slots.append(ledger.slot_of(sample_id))
            begin += count
            address += _TOKEN_BYTES * count
        return slots

    def _breach(self, what: str) -> None:
        self._ledger.breach(what)
        self._state.fail("ledger", what)
