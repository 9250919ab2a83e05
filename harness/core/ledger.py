"""The ledger: every sample of a test by slot, every transition checked.

A sample goes issued -> sent -> (first) -> done. Whatever else happens to it is an anomaly: counted, never forwarded to
LoadGen, and the test fails. Nothing is ever invented to make LoadGen happy; the one thing made up for is a first token
that the engine did not report in time: it is then taken from the head of the final answer, where it stands (F6).

Slots are handed out by the dispatcher thread and marked by the completion thread; every array only ever grows, and each
slot's fields are written by one thread at a time, so that plain assignments under the GIL suffice.
"""

from array import array
from bisect import bisect_right
from collections.abc import Iterator, Sequence

import numpy as np
import numpy.typing as npt

from harness.core.sample_state import State, Unanswered, Verdict
from harness.core.spec import LedgerTotals
from harness.run.record import SAMPLES_DTYPE

NO_WORKER = 0xFFFF
MIN_ANSWER_TOKENS = 2


# Plain ints for the hot path: an IntEnum comparison costs several times as much.
_ISSUED, _SENT, _FIRST, _DONE, _FAILED = (int(state) for state in State)
_DROP, _FORWARD, _FORWARD_WITH_FIRST = (int(verdict) for verdict in Verdict)


class Ledger:
    """All samples of one test. `first_tokens` says whether LoadGen wants the first token of each sample."""

    def __init__(self, worker_count: int, *, first_tokens: bool) -> None:
        self.fault = ""
        self._wants_first = first_tokens
        self._slots: dict[int, int] = {}
        self._ids = array("Q")
        self._index = array("I")
        self._worker = array("H")
        self._state = bytearray()
        self._first_token = array("i")
        self._issued_ns = array("q")
        self._first_ns = array("q")
        self._done_ns = array("q")
        self._tokens = array("I")
        self._reasons: dict[int, str] = {}
        self.completed = self.failed = self.first_count = 0
        self.late_firsts = self.duplicates = self.unknown = self.violations = self.output_tokens = 0
        self.worker_samples = [0] * worker_count
        self.worker_tokens = [0] * worker_count

    @property
    def issued(self) -> int:
        """Samples LoadGen has issued and the dispatcher has taken."""
        return len(self._ids)

    def index_of(self, slot: int) -> int:
        """The dataset index of a slot."""
        return self._index[slot]

    def id_of(self, slot: int) -> int:
        """LoadGen's id of a slot."""
        return self._ids[slot]

    def worker_of(self, slot: int) -> int:
        """The worker a slot was sent to."""
        return self._worker[slot]

    def issue(self, ids: Sequence[int], indices: Sequence[int], now_ns: int) -> range:
        """Takes samples that LoadGen issued; returns their slots. An id still in flight is a violation.

        LoadGen's ids are pointers: within one accuracy test a later set may reuse the id of an answered sample.
        """
        begin, count = len(self._ids), len(ids)
        for slot, sample_id in enumerate(ids, begin):
            earlier = self._slots.get(sample_id)
            if earlier is not None and (earlier >= begin or self._state[earlier] < _DONE):
                self._violation(f"LoadGen issued the id {sample_id} again before it was answered")
            self._slots[sample_id] = slot
        zeros = bytes(8 * count)
        self._state.extend(bytes(count))
        self._index.extend(indices)
        self._worker.extend([NO_WORKER] * count)
        self._first_token.frombytes(bytes(self._first_token.itemsize * count))
        self._tokens.frombytes(bytes(self._tokens.itemsize * count))
        self._issued_ns.extend([now_ns] * count)
        self._first_ns.frombytes(zeros)
        self._done_ns.frombytes(zeros)
        self._ids.extend(ids)
        return range(begin, begin + count)

    def sent(self, slots: Sequence[int], worker: int) -> None:
        """Marks samples as sent to a worker; called before the frame leaves, so that no answer can come earlier."""
        for slot in slots:
            if self._state[slot] != _ISSUED:
                self._violation(f"sample {self._ids[slot]} was to be sent twice")
            self._worker[slot] = worker
            self._state[slot] = _SENT

    def first(self, sample_id: int, token: int, worker: int, now_ns: int) -> bool:
        """Takes a first token; returns whether it goes to LoadGen."""
        slot = self._slot_for(sample_id, worker, "a first token")
        if slot < 0:
            return False
        state = self._state[slot]
        if state != _SENT:
            self._duplicate(sample_id, worker, "a first token", state)
            return False
        if not self._wants_first:
            self._violation(f"worker {worker} sent a first token where the scenario wants none (sample {sample_id})")
            return False
        self._state[slot] = _FIRST
        self._first_token[slot] = token
        self._first_ns[slot] = now_ns
        self.first_count += 1
        return True

    def final(self, sample_id: int, head: int, count: int, worker: int, now_ns: int) -> int:
        """Takes a final answer of `count` token ids that begins with `head`; returns a Verdict.

        An answer of fewer than two tokens is a violation: LoadGen counts it as an error (loadgen/logging.cc:442-454).
        """
        slot = self._slot_for(sample_id, worker, "an answer")
        if slot < 0:
            return _DROP
        state = self._state[slot]
        if state not in (_SENT, _FIRST):
            self._duplicate(sample_id, worker, "an answer", state)
            return _DROP
        if count < MIN_ANSWER_TOKENS:
            self._violation(
                f"worker {worker} answered sample {sample_id} (index {self._index[slot]}) with {count} token(s): "
                f"LoadGen takes fewer than {MIN_ANSWER_TOKENS} for an error; let the engine make at least two"
            )
            return _DROP
        if state == _FIRST and self._first_token[slot] != head:
            self._violation(
                f"worker {worker} reported {self._first_token[slot]} as first token of sample {sample_id}, but its "
                f"answer begins with {head}; the answer must hold all generated ids, the first included"
            )
            return _DROP
        self._state[slot] = _DONE
        self._done_ns[slot] = now_ns
        self._tokens[slot] = count
        self.completed += 1
        self.output_tokens += count
        self.worker_samples[worker] += 1
        self.worker_tokens[worker] += count
        if state == _FIRST or not self._wants_first:
            return _FORWARD
        self._first_ns[slot] = now_ns
        self.first_count += 1
        self.late_firsts += 1
        return _FORWARD_WITH_FIRST

    def firsts(self, ids: Sequence[int], tokens: Sequence[int], worker: int, now_ns: int) -> list[int]:
        """`first` for the first tokens of a frame: the slot of each that goes to LoadGen, -1 for each that does not."""
        slots, get, state, holders = [], self._slots.get, self._state, self._worker
        good = 0
        for sample_id, token in zip(ids, tokens, strict=True):
            slot = get(sample_id, -1)
            if slot >= 0 and state[slot] == _SENT and holders[slot] == worker and self._wants_first:
                state[slot] = _FIRST
                self._first_token[slot] = token
                self._first_ns[slot] = now_ns
                good += 1
            else:
                # Whatever else it is has a name, and the single call gives it.
                slot = slot if self.first(sample_id, token, worker, now_ns) else -1
            slots.append(slot)
        self.first_count += good
        return slots

    def finals(
        self, ids: Sequence[int], heads: Sequence[int], counts: Sequence[int], worker: int, now_ns: int
    ) -> tuple[list[int], set[int]]:
        """`final` for the answers of a frame: the slot of each that goes to LoadGen, -1 for each that does not.

        Also the places in the frame of those whose first token goes along with the answer.
        """
        slots, with_first, get, state, holders = [], set[int](), self._slots.get, self._state, self._worker
        ready = _FIRST if self._wants_first else _SENT
        good = tokens = 0
        for place, (sample_id, head, count) in enumerate(zip(ids, heads, counts, strict=True)):
            slot = get(sample_id, -1)
            if (
                slot >= 0
                and state[slot] == ready
                and holders[slot] == worker
                and count >= MIN_ANSWER_TOKENS
                and (ready == _SENT or self._first_token[slot] == head)
            ):
                state[slot] = _DONE
                self._done_ns[slot] = now_ns
                self._tokens[slot] = count
                good += 1
                tokens += count
            else:
                verdict = self.final(sample_id, head, count, worker, now_ns)
                if verdict == _FORWARD_WITH_FIRST:
                    with_first.add(place)
                slot = slot if verdict != _DROP else -1
            slots.append(slot)
        self.completed += good
        self.output_tokens += tokens
        self.worker_samples[worker] += good
        self.worker_tokens[worker] += tokens
        return slots, with_first

    def fail(self, sample_id: int, reason: str, worker: int, now_ns: int) -> bool:
        """Takes the news that a sample failed; returns whether it was in flight."""
        slot = self._slot_for(sample_id, worker, "a failure")
        if slot < 0:
            return False
        state = self._state[slot]
        if state not in (_SENT, _FIRST):
            self._duplicate(sample_id, worker, "a failure", state)
            return False
        self._state[slot] = _FAILED
        self._done_ns[slot] = now_ns
        self._reasons[slot] = reason
        self.failed += 1
        return True

    def slot_of(self, sample_id: int) -> int:
        """The slot of an id that was issued. Raises KeyError."""
        return self._slots[sample_id]

    def breach(self, what: str) -> None:
        """Counts a violation seen outside the ledger (an unknown worker, a frame of the wrong kind)."""
        self._violation(what)

    def totals(self) -> LedgerTotals:
        """The ledger, added up."""
        return LedgerTotals(
            issued=self.issued,
            first_tokens=self.first_count,
            completed=self.completed,
            failed=self.failed,
            missing=self.issued - self.completed - self.failed,
            duplicates=self.duplicates,
            unknown=self.unknown,
            violations=self.violations,
            output_tokens=self.output_tokens,
            late_first_tokens=self.late_firsts,
        )

    def over_limit(self, now_ns: int, limit_ns: int) -> int:
        """How many samples have, or cannot but have, their first token later than `limit_ns` after their issue."""
        # Slices, not views: an array that is viewed cannot grow, and the dispatcher may be adding to it.
        old = bisect_right(self._issued_ns, now_ns - limit_ns)
        issued = np.frombuffer(self._issued_ns[:old], np.int64)
        firsts = np.frombuffer(self._first_ns[:old], np.int64)
        return int(np.count_nonzero((firsts == 0) | (firsts - issued > limit_ns)))

    def unanswered(self) -> Iterator[Unanswered]:
        """Every sample that has no answer, in the order of issue."""
        for slot in range(self.issued):
            if (state := self._state[slot]) != _DONE:
                worker = self._worker[slot]
                yield Unanswered(
                    id=str(self._ids[slot]),
                    index=self._index[slot],
                    worker=None if worker == NO_WORKER else worker,
                    state=State(state).name.lower(),
                    reason=self._reasons.get(slot, ""),
                )

    def samples(self) -> npt.NDArray[np.void]:
        """One row per issued sample (harness.run.record.SAMPLES_DTYPE), in the order of issue."""
        rows = np.zeros(self.issued, SAMPLES_DTYPE)
        columns = {
            "index": self._index,
            "worker": self._worker,
            "issued_ns": self._issued_ns,
            "first_ns": self._first_ns,
            "done_ns": self._done_ns,
            "output_tokens": self._tokens,
        }
        for name, column in columns.items():
            rows[name] = np.array(column[: self.issued])
        return rows

    def _slot_for(self, sample_id: int, worker: int, what: str) -> int:
        """The slot an event is about, or -1 when the event is an anomaly."""
        slot = self._slots.get(sample_id, -1)
        if slot < 0:
            self.unknown += 1
            self._fault(f"worker {worker} sent {what} for the id {sample_id}, which LoadGen never issued")
            return -1
        if self._worker[slot] != worker:
            self._violation(f"worker {worker} sent {what} for sample {sample_id}, which another worker holds")
            return -1
        return slot

    def _duplicate(self, sample_id: int, worker: int, what: str, state: int) -> None:
        self.duplicates += 1
        self._fault(f"worker {worker} sent {what} for sample {sample_id}, which is already {State(state).name.lower()}")

    def _violation(self, what: str) -> None:
        self.violations += 1
        self._fault(what)

    def _fault(self, what: str) -> None:
        self.fault = self.fault or what
