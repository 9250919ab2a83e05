"""Which rate to try next: doubling, then bisection, then a run of full length. Pure functions of the probes made.

A rate counts as too high when any probe of it was not VALID, and so does every rate above it: verdicts near the limit
are a matter of luck, and the search takes the careful side. What it claims in the end is one run of full length that
LoadGen calls VALID, and the lowest rate above it that was tried and was not.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from harness.search.probe import Probe

# LoadGen's verdict is on one schedule: rates closer than this cannot be told apart by it.
LEAST_TOLERANCE = 0.001
# Below the start divided by this, the system is taken not to serve at all.
FLOOR_DIVISOR = 4096


@dataclass(frozen=True, slots=True)
class Bounds:
    """What the user allows: where to start, how fine, how many probes, and rates never to be exceeded or undercut.

    Rates in queries per second. `tolerance` is the relative width of the last bracket, at least 0.001.
    """

    start_qps: float
    max_qps: float
    tolerance: float = 0.02
    max_probes: int = 40

    @property
    def floor_qps(self) -> float:
        """The lowest rate that is tried."""
        return self.start_qps / FLOOR_DIVISOR


@dataclass(frozen=True, slots=True)
class Ask:
    """Try this rate next, as a short probe or in full."""

    qps: float
    full: bool


@dataclass(frozen=True, slots=True)
class Stop:
    """The search is over: `found_qps` was VALID in full, or None; `lowest_invalid_qps` None where none was found."""

    found_qps: float | None
    lowest_invalid_qps: float | None
    why: str


@dataclass(frozen=True, slots=True)
class Bracket:
    """Between which rates the limit lies: 0 and None stand for nothing known."""

    low_qps: float
    high_qps: float | None


def bracket(probes: Sequence[Probe]) -> Bracket:
    """The highest VALID rate below the lowest that was not."""
    high = min((probe.qps for probe in probes if not probe.valid), default=None)
    low = max((probe.qps for probe in probes if probe.valid and (high is None or probe.qps < high)), default=0.0)
    return Bracket(low, high)


def decide(
    probes: Sequence[Probe], bounds: Bounds, remaining_s: float, duration_s: Callable[[float, bool], float]
) -> Ask | Stop:
    """The next step, given what is left of the time; `duration_s(qps, full)` is how long a test of a rate takes.

    Never asks for a rate of 0, above `bounds.max_qps`, or twice for the same.
    """
    found = bracket(probes)
    confirmed = max(
        (probe.qps for probe in probes if probe.full and probe.valid and probe.qps <= found.low_qps), default=None
    )
    failures = sum(probe.full and not probe.valid for probe in probes)
    if confirmed is not None and (failures or (confirmed == found.low_qps and _narrow(found, bounds))):
        return Stop(confirmed, found.high_qps, _bound(found, bounds))
    if len(probes) >= bounds.max_probes:
        return _give_up(confirmed, found, f"{bounds.max_probes} probes were allowed")
    ask = _next(found, bounds, failures)
    if ask is None:
        return Stop(None, found.high_qps, f"not even {bounds.floor_qps:.4g} QPS is VALID, the least that is tried")
    if not ask.full and found.low_qps and confirmed is None:
        needed_s = duration_s(ask.qps, ask.full) + duration_s(found.low_qps, True)
        if needed_s > remaining_s:
            # The time is better spent on what is known to be VALID than on a narrower bracket.
            ask = Ask(found.low_qps, full=True)
    if duration_s(ask.qps, ask.full) > remaining_s:
        return _give_up(confirmed, found, "the time is over")
    return ask


def _next(found: Bracket, bounds: Bounds, failures: int) -> Ask | None:
    if failures:
        return _step_down(found, bounds, failures)
    if found.high_qps is None:
        return _step_up(found, bounds)
    if not found.low_qps:
        lower = found.high_qps / 2
        return Ask(lower, full=False) if lower >= bounds.floor_qps else None
    if _narrow(found, bounds):
        return Ask(found.low_qps, full=True)
    return Ask((found.low_qps + found.high_qps) / 2, full=False)


def _step_up(found: Bracket, bounds: Bounds) -> Ask:
    """Nothing has failed yet: the start, then twice the last rate, and what the user allows at most in full."""
    if not found.low_qps:
        return Ask(min(bounds.start_qps, bounds.max_qps), full=False)
    if found.low_qps >= bounds.max_qps:
        return Ask(found.low_qps, full=True)
    return Ask(min(2 * found.low_qps, bounds.max_qps), full=False)


def _step_down(found: Bracket, bounds: Bounds, failures: int) -> Ask | None:
    """After a full run that was not VALID only full runs tell: each a larger step below the lowest failure."""
    step = min(0.5, max(bounds.tolerance, LEAST_TOLERANCE) * 2 ** (failures - 1))
    lower = (found.high_qps or 0.0) * (1 - step)
    return Ask(lower, full=True) if lower >= bounds.floor_qps else None


def _narrow(found: Bracket, bounds: Bounds) -> bool:
    if found.high_qps is None:
        return found.low_qps >= bounds.max_qps
    return found.high_qps - found.low_qps <= max(bounds.tolerance, LEAST_TOLERANCE) * found.high_qps


def _bound(found: Bracket, bounds: Bounds) -> str:
    if found.high_qps is None:
        return f"the highest rate allowed, {bounds.max_qps:g} QPS, is VALID"
    return f"{found.high_qps:.6g} QPS is not VALID any more"


def _give_up(confirmed: float | None, found: Bracket, why: str) -> Stop:
    if confirmed is None and found.low_qps:
        why += f"; {found.low_qps:.6g} QPS was VALID in a short probe and is not confirmed"
    return Stop(confirmed, found.high_qps, why)
