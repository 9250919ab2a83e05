"""Which worker gets the next samples: pure functions on exact local counters.

Server and Interactive push every query at once to the worker that `choose_server` names. Offline keeps one queue,
longest prompts first, from which `pull_quota` lets each worker fill its window.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from types import MappingProxyType

import numpy as np
import numpy.typing as npt

from sut.errors import BadSettings


@dataclass(slots=True)
class WorkerLoad:
    """What the dispatcher has counted of one worker: it counts in place, the policies only read.

    `outstanding_tokens` are the prompt tokens of its samples without a first token plus the output tokens still
    expected; `sent_samples` counts all samples of the test it was ever given.
    """

    index: int
    window: int
    in_flight_samples: int
    outstanding_tokens: int
    sent_samples: int = 0


def _round_robin(load: WorkerLoad) -> tuple[int, ...]:
    return (load.sent_samples, load.index)


def _least_requests(load: WorkerLoad) -> tuple[int, ...]:
    return (_full(load), load.in_flight_samples, load.outstanding_tokens, load.sent_samples, load.index)


def _least_outstanding_tokens(load: WorkerLoad) -> tuple[int, ...]:
    return (_full(load), load.outstanding_tokens, load.in_flight_samples, load.sent_samples, load.index)


def _full(load: WorkerLoad) -> int:
    # A sample beyond the window waits inside the engine, however few tokens stand before it.
    return int(load.in_flight_samples >= load.window)


_KEYS: Mapping[str, Callable[[WorkerLoad], tuple[int, ...]]] = MappingProxyType(
    {
        "round_robin": _round_robin,
        "least_requests": _least_requests,
        "least_outstanding_tokens": _least_outstanding_tokens,
    }
)

POLICIES = tuple(_KEYS)


def choose_server(loads: Sequence[WorkerLoad], policy: str) -> int:
    """The `index` of the worker that gets the next query. Workers below their window come before full ones.

    `round_robin` gives each worker the same number; `least_requests` and `least_outstanding_tokens` take the least
    loaded. Ties go to the worker that was given the fewest samples, so that a nearly idle run is shared out evenly,
    then to the lowest index. Raises BadSettings for an unknown policy or when there is no worker.
    """
    key = _KEYS.get(policy)
    if key is None:
        near = get_close_matches(policy, POLICIES, n=1)
        hint = f"did you mean {near[0]!r}?" if near else "take one of " + ", ".join(POLICIES)
        raise BadSettings((f"unknown dispatch policy {policy!r}; {hint}",))
    if not loads:
        raise BadSettings(("no worker to dispatch to; start at least one",))
    if len(loads) == 1:
        return loads[0].index
    return min(loads, key=key).index


def offline_order(lengths: npt.NDArray[np.int32], indices: npt.ArrayLike) -> npt.NDArray[np.int64]:
    """Positions into `indices` (dataset indices of the query's samples), longest prompt first, stable.

    Long samples first keep the end of the run short: the metric divides by the slowest worker's time.
    """
    chosen = lengths[np.asarray(indices, dtype=np.int64)]
    return np.argsort(-chosen.astype(np.int64), kind="stable")


def pull_quota(load: WorkerLoad, remaining: int, workers: int, in_flight_total: int | None = None) -> int:
    """How many of the `remaining` queued samples this worker gets now: its free window, at most its fair share.

    The fair share is an equal part of all unfinished samples less what the worker holds, so that windows shrink near
    the end and no worker hoards. `in_flight_total` counts the samples in flight in all workers; None takes the others
    to hold as many as this one. A worker that holds nothing gets at least one sample while there is one.
    """
    if remaining <= 0:
        return 0
    held = load.in_flight_samples
    total = held * workers if in_flight_total is None else in_flight_total
    share = -(-(remaining + total) // max(workers, 1)) - held
    return max(0, min(load.window - held, max(share, int(held == 0)), remaining))
