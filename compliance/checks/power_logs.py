"""PWR-: ptd_logs.txt, client.log and server.log: what the tools of the measurement complained of."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cache

from compliance.checks.facts import graded, missing, strictly
from compliance.checks.model import Finding, Scope, Skip, Subject
from compliance.checks.power_facts import MEASURE_AGAIN, at, power_of
from compliance.checks.registry import check
from compliance.logs.power.ptd import PtdEvent, PtdKind, PtdLog
from compliance.logs.power.run import CLIENT_LOG, PTD_LOG, SERVER, SERVER_LOG, PowerRun
from compliance.rulebook.power import load_power_rules
from compliance.vocabulary import Severity

_NEEDS = ("power", "sessions", "ptd_log")
_SHOWN = 20
_NO_SPAN = "ptd_logs.txt does not show when ranging began and ended (PWR-025)"

Span = tuple[datetime, datetime]


@dataclass(frozen=True, slots=True)
class _Complaint:
    """A warning or an error of PTDaemon and how much it weighs; None where it does not count in a profile."""

    event: PtdEvent
    official: Severity | None
    strict: Severity | None
    stops: bool = False


def _ptd(power: PowerRun) -> PtdLog:
    if power.ptd_log is None:
        raise LookupError("the PTD log cannot be read; the check must need 'ptd_log'")
    return power.ptd_log


def _ranging(power: PowerRun) -> tuple[PtdEvent, PtdEvent] | None:
    """The lines at which PTDaemon began and completed the ranging run; None unless both are there."""
    name = power.server.name if power.server else None
    mark = f": Go with mark {f'{name}_ranging'!r}"
    began: PtdEvent | None = None
    for event in _ptd(power).of(PtdKind.GO, PtdKind.COMPLETED):
        if event.time is None:
            continue
        if began is None and event.kind is PtdKind.GO and event.text == mark:
            began = event
        elif began is not None and event.kind is PtdKind.COMPLETED:
            return began, event
    return None


def _span(power: PowerRun) -> Span | None:
    lines = _ranging(power)
    return (lines[0].time, lines[1].time) if lines and lines[0].time and lines[1].time else None


@check(
    "PWR-025",
    "the PTD log shows the ranging run",
    "power_checker.py:672-700",
    Scope.RESULT,
    ("power", "sessions"),
    fix=MEASURE_AGAIN,
)
def ranging_marks(subject: Subject) -> Iterator[Finding | Skip]:
    """ptd_logs.txt can be read and holds, with times, the beginning of the session's ranging run and its completion.

    The server's timezone must be a whole number of seconds.
    """
    power = power_of(subject)
    path = f"{power.folder}/{PTD_LOG}"
    if power.server is not None and power.server.timezone_s is None:
        yield at(subject, SERVER, "timezone", "a whole number of seconds", "another form")
    if power.ptd_log is None:
        if PTD_LOG in power.files:
            yield missing(subject, path, "PTDaemon's log")
        return
    lines = _ranging(power)
    impossible = power.ptd_log.impossible_time_line
    if impossible is not None and (lines is None or impossible <= lines[1].line):
        yield Finding(path, "times of the calendar", "a time that is none", line=impossible)
    elif lines is None:
        name = power.server.name if power.server else None
        expected = f"Go with mark {f'{name}_ranging'!r} and Completed test after it"
        yield Finding(path, expected, "not both of them")


@check(
    "PWR-026",
    "uncertainty was checked from the start",
    "power_checker.py:702-725",
    Scope.RESULT,
    _NEEDS,
    fix="Switch PTDaemon's uncertainty check on (-u, or its default) before ranging, and measure again.",
)
def uncertainty(subject: Subject) -> Iterator[Finding | Skip]:
    """PTDaemon says that it checks the uncertainty of the Yokogawa meter, before the ranging run began."""
    power = power_of(subject)
    span = _span(power)
    if span is None:
        yield Skip(_NO_SPAN)
        return
    path, expected = f"{power.folder}/{PTD_LOG}", "uncertainty checking for Yokogawa... activated before ranging"
    event = next(iter(_ptd(power).of(PtdKind.UNCERTAINTY)), None)
    if event is None:
        yield Finding(path, expected, "no such line")
    elif event.time is None or event.time >= span[0]:
        yield Finding(path, expected, "a line without a time" if event.time is None else "afterwards", line=event.line)


def _complaints(power: PowerRun) -> Iterator[_Complaint]:
    """PTDaemon's complaints in order. The official checker stops at the first that counts with it."""
    span, window = _span(power), power.testing.window
    load = window.times if window else None
    if span is None or load is None:
        return
    stopped = False
    for event in _ptd(power).of(PtdKind.WARNING, PtdKind.ERROR):
        weigh = _weighed_error if event.kind is PtdKind.ERROR else _weighed_warning
        complaint = weigh(event, span, load)
        official = None if stopped else complaint.official
        stopped = stopped or complaint.official is not None
        yield _Complaint(event, official, complaint.strict)


def _weighed_error(event: PtdEvent, span: Span, load: Span) -> _Complaint:
    """An error counts unless it came while ranging; some are let through (power_checker.py:633-652)."""
    del load
    rules = load_power_rules().ptd
    if event.time is None:
        return _Complaint(event, Severity.ERROR, Severity.ERROR)
    if event.text in rules.accepted_errors:
        return _Complaint(event, Severity.WARNING, Severity.WARNING)
    if not span[0] < event.time < span[1]:
        return _Complaint(event, Severity.ERROR, Severity.ERROR)
    if event.text.startswith(rules.ranging_errors):
        return _Complaint(event, None, None)
    return _Complaint(event, Severity.WARNING, Severity.WARNING)


def _weighed_warning(event: PtdEvent, span: Span, load: Span) -> _Complaint:
    """A warning counts under load, and is an error where it is about uncertainty (power_checker.py:653-672).

    The official checker adds the tolerance of 800 ms to times in seconds, and so leaves out 800 s at each end.
    """
    del span
    rules = load_power_rules()
    if event.time is None:
        return _Complaint(event, Severity.ERROR, Severity.WARNING)
    weight = Severity.ERROR if _uncertain().search(event.text) else Severity.WARNING
    official = _within(event.time, load, timedelta(seconds=rules.official_load_margin_s))
    strict = _within(event.time, load, timedelta(milliseconds=rules.phase_tolerance_ms))
    return _Complaint(event, weight if official else None, weight if strict else None)


@cache
def _uncertain() -> re.Pattern[str]:
    before, after = map(re.escape, load_power_rules().ptd.uncertainty)
    return re.compile(rf"{before}\d{{1,9}}.\d{{1,9}}{after}")


def _within(time: datetime, load: Span, margin: timedelta) -> bool:
    return time - load[0] > margin and load[1] - time > margin


def _said(subject: Subject, kind: PtdKind, expected: str) -> Iterator[Finding | Skip]:
    power = power_of(subject)
    if _span(power) is None:
        yield Skip(_NO_SPAN)
        return
    shown = 0
    for complaint in _complaints(power):
        if complaint.event.kind is not kind or (complaint.official is None and shown >= _SHOWN):
            continue
        event = complaint.event
        finding = Finding(f"{power.folder}/{PTD_LOG}", expected, event.text or "an empty text", line=event.line)
        for one in graded(finding, official=complaint.official, strict=complaint.strict):
            shown += 1
            yield one


@check("PWR-027", "PTDaemon saw no error", "power_checker.py:628-652", Scope.RESULT, _NEEDS, fix=MEASURE_AGAIN)
def ptd_errors(subject: Subject) -> Iterator[Finding | Skip]:
    """ptd_logs.txt holds no error but some that are let through, and any while ranging (a warning).

    The official checker looks no further than the first complaint that counts.
    """
    yield from _said(subject, PtdKind.ERROR, "no error outside the ranging run")


@check(
    "PWR-028",
    "PTDaemon did not warn under load",
    "power_checker.py:653-672",
    Scope.RESULT,
    _NEEDS,
    fix="Set ranges that fit the load (range again with the same load), and measure again.",
)
def ptd_warnings(subject: Subject) -> Iterator[Finding | Skip]:
    """No warning between power_begin and power_end; one about an uncertainty above 1 % is an error.

    The official checker leaves out 800 s at each end, where 800 ms are meant, and looks no further than the first
    complaint that counts.
    """
    yield from _said(subject, PtdKind.WARNING, "no warning during the testing run")


@check(
    "PWR-029",
    "both ends went through without an error",
    "weighbridge: a session that logs errors is worth a look",
    Scope.RESULT,
    ("power",),
    fix="Read the log from that line on; where the measurement is in doubt, repeat it.",
)
def session_logs(subject: Subject) -> Iterator[Finding | Skip]:
    """client.log and server.log can be read and hold no line of level ERROR or above. A warning."""
    power = power_of(subject)
    for name, log in ((CLIENT_LOG, power.client_log), (SERVER_LOG, power.server_log)):
        path = f"{power.folder}/{name}"
        if log is None:
            if name in power.files:
                yield strictly(missing(subject, path, "a log that can be read"), Severity.WARNING)
            continue
        for error in log.errors[:_SHOWN]:
            yield strictly(Finding(path, "no error", error.text, line=error.line), Severity.WARNING)
