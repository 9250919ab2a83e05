"""T2, the dispatcher: takes what LoadGen issued, decides which worker answers it, and owns the sockets to the workers.

Offline: one pool of all samples, longest prompt first, from which each worker's window is topped up as answers come
back. Everything else: each sample goes at once to the worker that the policy names.
"""

import time
from array import array
from collections.abc import Iterable, Sequence

import numpy as np
import numpy.typing as npt
import zmq

from harness.core.ledger import Ledger
from harness.core.sockets import Context, Socket, bind
from harness.core.spec import RunSpec
from harness.core.state import Bell, Credit, Inbox, Issue, RunState
from sut.dispatch.policies import WorkerLoad, choose_server, offline_order, pull_quota
from sut.wire import encode_begin, encode_end, encode_submit

_HANDSHAKE_TICK_MS = 20
_LINGER_MS = 500


class Dispatcher:
    """The thread's body is `run`; everything else is called from it."""

    def __init__(
        self,
        spec: RunSpec,
        ledger: Ledger,
        state: RunState,
        inbox: Inbox,
        lengths: npt.NDArray[np.int32],
        context: Context,
    ) -> None:
        self._spec = spec
        self._ledger = ledger
        self._state = state
        self._inbox = inbox
        # A list: to take one number out of an array costs several times as much.
        self._lengths = lengths
        self._prompt_tokens: list[int] = lengths.tolist()
        self._context = context
        self._offline = spec.loadgen.scenario == "Offline"
        self._loads = [WorkerLoad(place, worker.window, 0, 0) for place, worker in enumerate(spec.workers)]
        self._sockets: list[Socket] = []
        # Slots not yet sent, the next one to send last.
        self._pool: list[int] = []
        # What a slot counts for in its worker's outstanding tokens: the prompt until the first token, the rest later.
        self._prompt_cost = array("i")
        self._output_cost = array("i")
        self._waker: Bell | None = None
        self.issue_lag_ns = array("q")

    def run(self) -> None:
        """The thread: binds, says Begin, dispatches until the test is over, says End."""
        try:
            self._bind()
            self._handshake()
            while not self._state.closing:
                self._inbox.wait(None)
                self._turn()
        except Exception as error:  # noqa: BLE001 a thread's last words go to the outcome
            self._state.fail("internal", f"the dispatcher failed: {type(error).__name__}: {error}")
        finally:
            self._end()

    def ring(self) -> None:
        """Wakes the dispatcher from the main thread, to see that it is to close."""
        self._waker = self._inbox.bell()
        self._waker.ring()

    def take_rest(self) -> None:
        """Enters what LoadGen issued after the dispatcher stopped, for a whole ledger. For the main thread."""
        while self._inbox.issues:
            item = self._inbox.issues.popleft()
            self._ledger.issue(item.ids, item.indices, item.at_ns)

    def _bind(self) -> None:
        for worker in self._spec.workers:
            try:
                self._sockets.append(bind(self._context, zmq.PUSH, worker.tasks, self._spec.curve, _LINGER_MS))
            except zmq.ZMQError as error:
                self._state.fail("config", f"{worker.tasks} cannot be bound: {error}; is another run using it?")
        self._state.bound.set()

    def _handshake(self) -> None:
        """Sends Begin to each worker as soon as it has connected."""
        frame = encode_begin(self._spec.epoch, self._spec.first_tokens, self._spec.loadgen.scenario)
        waiting = list(range(len(self._sockets)))
        while waiting and not self._state.closing:
            waiting = [worker for worker in waiting if not self._sent(worker, frame)]
            if waiting:
                self._inbox.wait(_HANDSHAKE_TICK_MS)

    def _turn(self) -> None:
        """One turn: credits first, since they make room for what follows."""
        while self._inbox.credits:
            self._take_credit(self._inbox.credits.popleft())
        if issues := self._gather():
            self._take_issues(issues)
        if self._offline:
            self._feed()

    def _gather(self) -> list[Issue]:
        """All that LoadGen has issued since the last turn, which then leaves in one frame per worker."""
        waiting = self._inbox.issues
        return [waiting.popleft() for _ in range(len(waiting))]

    def _take_issues(self, issues: Sequence[Issue]) -> None:
        now_ns = time.monotonic_ns()
        slots: list[int] = []
        for at_ns, ids, indices in issues:
            self.issue_lag_ns.append(now_ns - at_ns)
            slots.extend(self._ledger.issue(ids, indices, at_ns))
            self._prompt_cost.extend([self._prompt_tokens[index] for index in indices])
        self._output_cost.extend([self._expected_output()] * len(slots))
        if self._offline:
            self._enter_pool(slots)
            return
        self._route(slots)

    def _enter_pool(self, slots: Iterable[int]) -> None:
        waiting = [*self._pool, *slots]
        order = offline_order(self._lengths, [self._ledger.index_of(slot) for slot in waiting])
        self._pool = [waiting[place] for place in reversed(order.tolist())]

    def _expected_output(self) -> int:
        """Tokens an answer is expected to have: the mean of this test so far, at first the most it may have."""
        done = self._ledger.completed
        return self._ledger.output_tokens // done if done else self._spec.max_new_tokens

    def _route(self, slots: Iterable[int]) -> None:
        """Server and SingleStream: each sample to the worker the policy names, one frame per worker."""
        batches: dict[int, list[int]] = {}
        for slot in slots:
            worker = choose_server(self._loads, self._spec.policy)
            batches.setdefault(worker, []).append(slot)
            self._charge(worker, 1, self._prompt_cost[slot] + self._output_cost[slot])
        for worker, batch in batches.items():
            self._submit(worker, batch)

    def _feed(self) -> None:
        """Offline: tops up the windows; the longest samples are dealt out in turn."""
        remaining = len(self._pool)
        if not remaining:
            return
        in_flight = sum(load.in_flight_samples for load in self._loads)
        quotas = [pull_quota(load, remaining, len(self._loads), in_flight) for load in self._loads]
        batches: list[list[int]] = [[] for _ in quotas]
        while self._pool and any(quotas):
            for worker, quota in enumerate(quotas):
                if quota and self._pool:
                    batches[worker].append(self._pool.pop())
                    quotas[worker] -= 1
        for worker, batch in enumerate(batches):
            if batch:
                tokens = sum(self._prompt_cost[slot] + self._output_cost[slot] for slot in batch)
                self._charge(worker, len(batch), tokens)
                self._submit(worker, batch)

    def _charge(self, worker: int, samples: int, tokens: int) -> None:
        load = self._loads[worker]
        load.in_flight_samples += samples
        load.outstanding_tokens += tokens
        load.sent_samples += samples

    def _submit(self, worker: int, slots: Sequence[int]) -> None:
        self._ledger.sent(slots, worker)
        ids = [self._ledger.id_of(slot) for slot in slots]
        indices = [self._ledger.index_of(slot) for slot in slots]
        if not self._sent(worker, encode_submit(self._spec.epoch, ids, indices)):
            self._state.fail("worker_lost", f"worker {worker} is not connected any more; look at its log")

    def _take_credit(self, credit: Credit) -> None:
        prompts, outputs, load = self._prompt_cost, self._output_cost, self._loads[credit.worker]
        tokens = 0
        for slot in credit.firsts:
            tokens += prompts[slot]
            prompts[slot] = 0
        for slot in credit.finals:
            tokens += prompts[slot] + outputs[slot]
        load.outstanding_tokens -= tokens
        load.in_flight_samples -= len(credit.finals)

    def _sent(self, worker: int, frame: bytes) -> bool:
        """Sends without waiting; False when the worker is not connected."""
        try:
            self._sockets[worker].send(frame, zmq.NOBLOCK)
        except zmq.Again:
            return False
        return True

    def _end(self) -> None:
        """Says End to every worker and closes."""
        for worker, socket in enumerate(self._sockets):
            try:
                self._sent(worker, encode_end(self._spec.epoch))
            except zmq.ZMQError as error:
                self._state.fail("internal", f"the socket to worker {worker} failed: {error}")
            socket.close(_LINGER_MS)
        self._inbox.close()
