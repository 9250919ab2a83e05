"""PWR-: times and power of the two runs: clocks that agree, load inside the phases, testing not far below ranging."""

from collections.abc import Iterator
from itertools import islice

from compliance.checks.facts import DETAIL, graded
from compliance.checks.model import Finding, Scope, Skip, Subject
from compliance.checks.power_facts import (
    MEASURE_AGAIN,
    MOST_FINDINGS,
    at,
    phases_of,
    power_of,
    sessions_of,
    testing_duration_drop,
)
from compliance.checks.registry import check
from compliance.logs.power.run import CLIENT, SERVER, SPL, PowerPhase
from compliance.logs.power.session import Session
from compliance.logs.power.spl import SplLog
from compliance.rulebook.power import load_power_rules
from compliance.vocabulary import Severity

_SESSIONS = ("power", "sessions")
_CLOCKS = "Synchronise both ends with the same NTP server, and measure again."
_PHASES = "a list of phases, each a list that begins with its time in seconds"
_DST_S = 3600
_LOAD_PHASES = 3
_NO_POWER_W = -1.0
_PERCENT = 100
_DECIMALS, _PERCENT_DECIMALS = 5, 2


def _begins(session: Session, mode: str) -> tuple[float, ...] | None:
    return session.ranging_begins_s if mode == "ranging" else session.testing_begins_s


@check("PWR-016", "both clocks agree", "power_checker.py:347-361", Scope.RESULT, _SESSIONS, fix=_CLOCKS)
def phase_times(subject: Subject) -> Iterator[Finding | Skip]:
    """Client and server recorded the same phases, each beginning at most 800 ms apart on the two clocks."""
    client, server = sessions_of(subject)
    tolerance_ms = load_power_rules().phase_tolerance_ms
    for mode in ("ranging", "testing"):
        mine, theirs = _begins(client, mode), _begins(server, mode)
        if mine is None or theirs is None:
            yield at(subject, CLIENT if mine is None else SERVER, "phases", f"{mode}: {_PHASES}", "another form")
        elif len(mine) != len(theirs):
            yield at(subject, CLIENT, "phases", f"{mode}: {len(theirs)} phases, as in {SERVER}", str(len(mine)))
        else:
            yield from islice(_apart(subject, mode, (mine, theirs), tolerance_ms), MOST_FINDINGS)


def _apart(
    subject: Subject, mode: str, begins_s: tuple[tuple[float, ...], tuple[float, ...]], tolerance_ms: int
) -> Iterator[Finding]:
    for number, (mine, theirs) in enumerate(zip(*begins_s, strict=True), start=1):
        difference_s = abs(mine - theirs)
        if not difference_s <= tolerance_ms / 1000:
            expected = f"{mode} phase {number} of both ends at most {tolerance_ms} ms apart"
            yield at(subject, CLIENT, "phases", expected, f"{difference_s * 1000:.0f} ms apart")


@check(
    "PWR-017",
    "LoadGen ran inside the phases",
    "power_checker.py:373-385",
    Scope.RESULT,
    _SESSIONS,
    fix="Put logs and sessions of one measurement there; else synchronise the SUT's clock and measure again.",
)
def load_inside(subject: Subject) -> Iterator[Finding | Skip]:
    """power_begin and power_end of each run lie between the beginnings of the client's second and third phase.

    As officially, an hour's shift of daylight saving time is let through.
    """
    power, (client, _) = power_of(subject), sessions_of(subject)
    for mode, phase in phases_of(power):
        begins = _begins(client, mode)
        times = phase.window.times if phase.window else None
        if begins is None or times is None:
            continue
        if len(begins) < _LOAD_PHASES:
            yield at(subject, CLIENT, "phases", f"{mode}: {_LOAD_PHASES} phases", str(len(begins)))
            continue
        marks = (phase.window.begin, phase.window.end) if phase.window else ()
        for key, time, mark in zip(("power_begin", "power_end"), times, marks, strict=True):
            second_s = time.timestamp()
            if not (_inside(second_s, begins) or _inside(second_s - _DST_S, begins)):
                expected = f"{key} between {begins[1]:.3f} and {begins[2]:.3f} s, the client's {mode} phase"
                line = mark.line if mark else None
                yield Finding(f"{phase.folder}/{DETAIL}", expected, f"{second_s:.3f} s", line=line)


def _inside(time_s: float, begins_s: tuple[float, ...]) -> bool:
    return begins_s[1] < time_s < begins_s[2]


@check(
    "PWR-018",
    "testing draws what ranging drew",
    "power_checker.py:411-472",
    Scope.RESULT,
    ("power",),
    fix=MEASURE_AGAIN,
)
def power_drop(subject: Subject) -> Iterator[Finding | Skip]:
    """The testing run's mean power is less than 5 % below the ranging run's, rounded to a hundredth of a percent.

    The official checker does not get so far where the testing run lasts less than half as long, and takes -1 W for a
    ranging run without samples, which so never passes.
    """
    power, rules = power_of(subject), load_power_rules()
    ranging, testing = power.ranging.samples, power.testing.samples
    windows = (power.ranging.window, power.testing.window)
    if ranging is None or testing is None or not all(window and window.times for window in windows):
        yield Skip("no readable samples or window of one of the runs (PWR-001, PWR-004, PWR-005)")
        return
    if testing.mean_watts is None:
        yield Skip("no sample of the testing run counts (PWR-006)")
        return
    drop = _change_percent(ranging, testing)
    if drop is None or not drop > -rules.power_drop_percent:
        stops_early = (testing_duration_drop(power) or 0) * _PERCENT > rules.duration_drop_percent
        finding = _drop_finding(power.ranging, power.testing, drop)
        yield from graded(finding, official=None if stops_early else Severity.ERROR, strict=Severity.ERROR)


def _change_percent(ranging: SplLog, testing: SplLog) -> float | None:
    """By how many percent the testing run's mean differs from the ranging run's, both rounded as officially."""
    means = (_NO_POWER_W if log.mean_watts is None else log.mean_watts for log in (ranging, testing))
    ranging_w, testing_w = (round(mean, _DECIMALS) for mean in means)
    return round((testing_w / ranging_w - 1) * _PERCENT, _PERCENT_DECIMALS) if ranging_w else None


def _drop_finding(ranging: PowerPhase, testing: PowerPhase, drop: float | None) -> Finding:
    limit = load_power_rules().power_drop_percent
    means = [log.mean_watts if (log := phase.samples) else None for phase in (ranging, testing)]
    before, after = ("no sample" if mean is None else f"{mean:.5g} W" for mean in means)
    by = "" if drop is None or None in means else f" ({drop:+.2f} %)"
    return Finding(f"{testing.folder}/{SPL}", f"less than {limit} % below the ranging run's {before}", f"{after}{by}")


@check(
    "PWR-019",
    "testing lasts as long as ranging",
    "power_checker.py:363-371",
    Scope.RESULT,
    ("power",),
    fix="Run ranging and testing with the same settings, so that they last about as long.",
)
def duration_drop(subject: Subject) -> Iterator[Finding | Skip]:
    """The testing run lasts at least half as long as the ranging run: a warning otherwise, as officially."""
    power, limit = power_of(subject), load_power_rules().duration_drop_percent
    windows = (power.ranging.window, power.testing.window)
    ranging_s, testing_s = (window.duration_s if window else None for window in windows)
    if ranging_s is None or testing_s is None:
        yield Skip("no window of one of the runs (PWR-004)")
        return
    where = f"{power.testing.folder}/{DETAIL}"
    if ranging_s == 0:
        path = f"{power.ranging.folder}/{DETAIL}"
        yield Finding(path, "a ranging run that lasts", "power_begin and power_end at the same time")
        return
    drop = (ranging_s - testing_s) / ranging_s
    if drop > limit / _PERCENT:
        expected = f"at most {limit} % shorter than the ranging run's {ranging_s:.1f} s"
        finding = Finding(where, expected, f"{testing_s:.1f} s ({drop:.1%} shorter)")
        yield from graded(finding, official=Severity.WARNING, strict=Severity.WARNING)
