"""PWR-: a power submission: its files, its window, its samples and its metric. Asked where performance/power exists."""

from collections.abc import Iterator

from compliance.checks.facts import DETAIL, about, graded, missing, result_of, why_unreadable
from compliance.checks.model import Finding, Scope, Skip, Subject
from compliance.checks.power_facts import MEASURE_AGAIN, MOST_FINDINGS, phases_of, power_of, testing_duration_drop
from compliance.checks.registry import check
from compliance.discovery.power import logged_window
from compliance.logs.power.run import CLIENT, SERVER, SPL, PowerPhase
from compliance.logs.power.session import Session
from compliance.logs.power.window import PowerMark, PowerWindow
from compliance.metrics.power import query_count
from compliance.rulebook.power import load_power_rules
from compliance.vocabulary import Scenario, Severity

_POWER = ("power",)
_COPY = "Copy exactly the files that the power workflow wrote; notes belong into README.md or documentation/."
_MARKS = ("power_begin", "power_end")
_ACCURACY = "mlperf_log_accuracy.json"


def _listed(folder: str, files: tuple[str, ...], required: tuple[str, ...], optional: set[str]) -> Iterator[Finding]:
    for name in required:
        if name not in files:
            yield Finding(f"{folder}/{name}", f"the file {name}", "no such file")
    for name in files:
        if name not in required and name not in optional:
            yield Finding(f"{folder}/{name}", f"only {', '.join(required)}", f'a file "{name}"')


@check("PWR-001", "both runs hold their files", "power_check.py:89-109", Scope.RESULT, _POWER, fix=_COPY)
def run_files(subject: Subject) -> Iterator[Finding | Skip]:
    """run_1 and ranging each hold exactly the detail log, the summary and spl.txt; optional files are let through."""
    layout = subject.round.layout
    required = (*layout.required_performance_files, *load_power_rules().run_files)
    for _, phase in phases_of(power_of(subject)):
        yield from _listed(phase.folder, phase.files, required, set(layout.optional_run_files))


@check("PWR-002", "power/ holds its files", "power_check.py:110-116", Scope.RESULT, _POWER, fix=_COPY)
def power_files(subject: Subject) -> Iterator[Finding | Skip]:
    """performance/power holds exactly client.json, client.log, ptd_logs.txt, server.json and server.log."""
    power = power_of(subject)
    optional = set(subject.round.layout.optional_run_files) - {_ACCURACY}
    yield from _listed(power.folder, power.files, load_power_rules().power_files, optional)


@check(
    "PWR-003",
    "both sessions can be read",
    "power_checker.py:137-159",
    Scope.RESULT,
    _POWER,
    fix="Copy client.json and server.json as the power workflow wrote them; do not edit them.",
)
def session_files(subject: Subject) -> Iterator[Finding | Skip]:
    """client.json and server.json are plain JSON objects with the members that a session has."""
    power = power_of(subject)
    for name, session in ((CLIENT, power.client), (SERVER, power.server)):
        path = f"{power.folder}/{name}"
        if session is not None:
            yield from _session_form(path, session)
        elif why_unreadable(subject, path):
            yield missing(subject, path, "a session as a JSON object")


def _session_form(path: str, session: Session) -> Iterator[Finding]:
    for member in session.missing:
        yield Finding(path, f'a member "{member}"', f'no "{member}"', pointer="")
    for problem in session.document.problems[:MOST_FINDINGS]:
        official = None if problem.official else Severity.ERROR
        finding = Finding(path, "plain JSON", problem.reason, line=problem.line)
        yield from graded(finding, official=official, strict=Severity.WARNING)


@check(
    "PWR-004",
    "the detail logs say when power counts",
    "power_check.py:165-174; power_checker.py:300-330",
    Scope.RESULT,
    _POWER,
    fix="LoadGen logs both times itself; copy the detail log of the measured run, and of the ranging run, unchanged.",
)
def window_marks(subject: Subject) -> Iterator[Finding | Skip]:
    """power_begin and power_end stand in both detail logs as mm-dd-yyyy HH:MM:SS.mmm."""
    power = power_of(subject)
    whole = True
    for _, phase in phases_of(power):
        for finding in _phase_marks(subject, phase):
            whole = False
            yield finding
    run = result_of(subject).performance
    if whole and run.detail is not None and logged_window(run.detail) is None:
        yield about(run, _MARKS[0], "power_begin and power_end, each nothing but a time")


def _phase_marks(subject: Subject, phase: PowerPhase) -> Iterator[Finding]:
    path = f"{phase.folder}/{DETAIL}"
    if phase.window is None:
        if DETAIL in phase.files:
            yield missing(subject, path, "a readable detail log")
        return
    for key, mark, other in _pairs(phase.window):
        if mark is not None and mark.time is None:
            yield Finding(path, f"{key} as mm-dd-yyyy HH:MM:SS.mmm", "no such time in the line", line=mark.line)
        elif mark is None and (other is None or other.time is not None):
            yield Finding(path, f"{key} as mm-dd-yyyy HH:MM:SS.mmm", f"no {key} in the log")


def _pairs(window: PowerWindow) -> Iterator[tuple[str, PowerMark | None, PowerMark | None]]:
    yield _MARKS[0], window.begin, window.end
    yield _MARKS[1], window.end, window.begin


@check(
    "PWR-005",
    "every power sample can be read",
    "power_check.py:182-195; power_checker.py:432-446",
    Scope.RESULT,
    _POWER,
    fix=MEASURE_AGAIN,
)
def samples_readable(subject: Subject) -> Iterator[Finding | Skip]:
    """Each line of spl.txt that begins with Time has a time and, where it counts, watts and a power factor.

    The official checker stops before the averages, and so looks at fewer lines, where the testing run lasts less than
    half as long as the ranging run.
    """
    power = power_of(subject)
    stops_early = (testing_duration_drop(power) or 0) * 100 > load_power_rules().duration_drop_percent
    for mode, phase in phases_of(power):
        path = f"{phase.folder}/{SPL}"
        if phase.samples is None:
            if SPL in phase.files:
                yield missing(subject, path, "readable power samples")
        elif phase.samples.fault is not None:
            fault = phase.samples.fault
            unseen = stops_early and (mode == "ranging" or fault.power_factor)
            finding = Finding(path, "Time,T,Watts,W,Volts,V,Amps,A,PF,F,Mark,M", fault.reason, line=fault.line)
            yield from graded(finding, official=None if unseen else Severity.ERROR, strict=Severity.ERROR)


@check(
    "PWR-006",
    "power was sampled during the run",
    "power_check.py:196-203",
    Scope.RESULT,
    _POWER,
    fix="Compare the clocks of PTDaemon's machine and of the SUT (NTP), and measure again.",
)
def sampled(subject: Subject) -> Iterator[Finding | Skip]:
    """At least one sample above 0 W lies strictly between power_begin and power_end of the testing run."""
    power = power_of(subject)
    if power.metered is None:
        yield Skip("no readable samples or window of the testing run (PWR-001, PWR-004, PWR-005)")
        return
    if power.metered.within == 0:
        path = f"{power.testing.folder}/{SPL}"
        times = logged_window(result_of(subject).performance.detail)
        expected = "a sample above 0 W between power_begin and power_end"
        if times is not None:
            expected += f", {times[0]:%m-%d-%Y %H:%M:%S} and {times[1]:%m-%d-%Y %H:%M:%S}"
        found = f"none of {power.metered.samples} samples"
        yield Finding(path, expected, found, line=power.metered.line)


@check(
    "PWR-007",
    "the energy per query can be told",
    "power_check.py:207-241",
    Scope.RESULT,
    ("power", "performance"),
    fix="LoadGen logs result_query_count when a test ends; repeat the run to its end.",
)
def energy_per_query(subject: Subject) -> Iterator[Finding | Skip]:
    """In SingleStream and MultiStream result_query_count, which energy is divided by, is a number above 0."""
    result = result_of(subject)
    if result.scenario not in {Scenario.SINGLE_STREAM, Scenario.MULTI_STREAM}:
        yield Skip("the power metric of this scenario is the mean power")
        return
    count = query_count(result)
    if count is None or count <= 0:
        finding = about(result.performance, "result_query_count", "result_query_count above 0")
        yield from graded(finding, official=None if count else Severity.ERROR, strict=Severity.ERROR)
