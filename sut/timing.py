"""A timing model of a continuous-batching engine, in simulated seconds. Pure: no clock, no thread.

The engine works in steps; a step gives every running sequence one token and, while a prompt waits, also works through a
chunk of prompt tokens. The time of a step is

    decode_base_s + decode_per_sequence_s * running + (prefill_chunk_tokens / prefill_tokens_per_s while prefilling)

Between two events (a prompt finished, an answer finished) that time is constant, so the model jumps from event to event
however many tokens lie between. `_progress` counts steps, in fractions: the only clock the sequences need.
"""

import heapq
from collections import deque
from dataclasses import dataclass
from typing import NamedTuple


@dataclass(frozen=True, slots=True)
class Rates:
    """How fast the engine is. `max_num_seqs` bounds the sequences that decode at once."""

    prefill_tokens_per_s: float
    prefill_chunk_tokens: int
    decode_base_s: float
    decode_per_sequence_s: float
    max_num_seqs: int


class StepEvent(NamedTuple):
    """The prompt of `key` is done and its first token is out; or, when `final`, its answer is complete."""

    key: int
    final: bool


class BatchModel:
    """Sequences go in by `add`, events come out of `advance`; times must not decrease."""

    def __init__(self, rates: Rates) -> None:
        self._rates = rates
        self._now_s = 0.0
        self._progress = 0.0
        self._waiting: deque[tuple[int, int, int]] = deque()
        self._prefill_done: float | None = None
        self._running: list[tuple[float, int, int]] = []
        self._admitted = 0

    def __len__(self) -> int:
        """Sequences in the engine, waiting ones included."""
        return len(self._waiting) + len(self._running)

    def add(self, key: int, prompt_tokens: int, output_tokens: int) -> None:
        """A sequence arrives, at the time of the last `advance`. `output_tokens` is at least 1."""
        self._waiting.append((key, prompt_tokens, output_tokens))
        self._admit()

    def next_event_s(self) -> float | None:
        """When the next event comes if nothing arrives before it; None when the engine is idle."""
        target = self._next_target()
        return None if target is None else self._now_s + max(0.0, target - self._progress) * self._step_s()

    def advance(self, now_s: float) -> list[StepEvent]:
        """Everything that happens up to and at `now_s`, in order."""
        events: list[StepEvent] = []
        while (due_s := self.next_event_s()) is not None and due_s <= now_s:
            self._progress = max(self._progress, self._next_target() or 0.0)
            self._now_s = max(self._now_s, due_s)
            events.extend(self._finish_one())
            self._admit()
        if now_s > self._now_s:
            self._progress += (now_s - self._now_s) / self._step_s()
            self._now_s = now_s
        return events

    def _next_target(self) -> float | None:
        targets = [self._running[0][0]] if self._running else []
        if self._prefill_done is not None:
            targets.append(self._prefill_done)
        return min(targets, default=None)

    def _step_s(self) -> float:
        rates = self._rates
        step_s = rates.decode_base_s + rates.decode_per_sequence_s * len(self._running)
        if self._prefill_done is not None:
            step_s += rates.prefill_chunk_tokens / rates.prefill_tokens_per_s
        return step_s

    def _admit(self) -> None:
        if self._prefill_done is None and self._waiting and len(self._running) < self._rates.max_num_seqs:
            self._prefill_done = self._progress + self._waiting[0][1] / self._rates.prefill_chunk_tokens

    def _finish_one(self) -> list[StepEvent]:
        if self._prefill_done is not None and self._prefill_done <= self._progress:
            return self._finish_prefill()
        _, _, key = heapq.heappop(self._running)
        return [StepEvent(key, final=True)]

    def _finish_prefill(self) -> list[StepEvent]:
        key, _, output_tokens = self._waiting.popleft()
        self._prefill_done = None
        if output_tokens <= 1:
            return [StepEvent(key, final=False), StepEvent(key, final=True)]
        # The count breaks ties in order of arrival, whatever the keys are.
        self._admitted += 1
        heapq.heappush(self._running, (self._progress + output_tokens - 1, self._admitted, key))
        return [StepEvent(key, final=False)]
