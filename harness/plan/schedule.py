"""LoadGen's schedule of Server queries, computed beforehand: how many there are and when the last one is due.

LoadGen draws the times between queries from one exponential distribution, by the schedule seed of the round
(loadgen/loadgen.cc:199-207, 294-297, 345-415): `std::mt19937` and libstdc++'s `std::exponential_distribution`. It
issues every query it has generated, whatever the system does, so the count is known before the run, to the query.
"""

from collections.abc import Iterator
from typing import Any, cast

import numpy as np
import numpy.typing as npt

# Beyond this the times are not computed one by one: they take seconds, and a hundredth of a per cent is near enough.
EXACT_QUERIES = 5_000_000
_BLOCK = 1 << 17
_NS = 1e9
_SEED_BITS = 32


def server_queries(
    seed: int, qps: float, duration_ms: int, least: int, whole_passes_of: int | None
) -> tuple[int, float] | None:
    """How many queries LoadGen schedules, and the second in which the last is due.

    It schedules until the last is due at `duration_ms` or later and there are `least`. With `whole_passes_of` a dataset
    (equal issue) `least` is padded to whole passes, and a pass is added as long as the duration is not reached. None
    for schedules too long to be computed.
    """
    if max(least, qps * duration_ms / 1000) > EXACT_QUERIES:
        return None
    duration_ns = duration_ms * 1_000_000
    step = whole_passes_of or 1
    wanted = -(-max(least, 1) // step) * step
    before = 0
    for times_ns in _times(seed, qps):
        first = max(wanted - before - 1, 0)
        # Only every whole pass may be the end.
        first += -(first - (wanted - 1 - before)) % step
        ends = times_ns[first::step]
        late = np.flatnonzero(ends >= duration_ns)
        if len(late):
            place = first + int(late[0]) * step
            return before + place + 1, float(times_ns[place]) / _NS
        before += len(times_ns)
    return None


def _times(seed: int, qps: float) -> Iterator[npt.NDArray[np.int64]]:
    """When each query is due, in ns from the start, block by block; the first at 0."""
    generator = _mt19937(seed)
    due_ns = 0
    while True:
        raw = generator.random_raw(2 * _BLOCK).astype(np.float64)
        # libstdc++'s generate_canonical takes two draws for one number in [0, 1), the lower half first.
        uniform = (raw[::2] + raw[1::2] * 2.0**32) / 2.0**64
        uniform = np.minimum(uniform, np.nextafter(1.0, 0.0))
        gaps_ns = (-np.log(1.0 - uniform) / qps * _NS).astype(np.int64)
        after_ns = due_ns + np.cumsum(gaps_ns)
        yield np.concatenate(([due_ns], after_ns[:-1]))
        due_ns = int(after_ns[-1])


def _mt19937(seed: int) -> np.random.MT19937:
    """`std::mt19937(seed)`: the 32-bit generator takes the low bits of the round's 64-bit seed."""
    # The only seeding of numpy's that is C++'s.
    seeded = np.random.RandomState(seed % 2**_SEED_BITS)
    generator = np.random.MT19937()
    generator.state = cast("Any", seeded.get_state(legacy=False))
    return generator
