"""LOG-: LoadGen's files are there, are whole, and say what they should."""

from collections.abc import Iterator

from compliance.checks.facts import DETAIL, SUMMARY, about, fits_folder, graded, missing, result_of, strictly
from compliance.checks.facts import INFERABLE as _INFERABLE
from compliance.checks.facts import scenario_of_log as _scenario_of_log
from compliance.checks.hints import fix_of_error
from compliance.checks.model import Finding, Scope, Skip, Subject
from compliance.checks.registry import check
from compliance.logs.detail import DetailLog, LogRecord
from compliance.records import RunLogs
from compliance.vocabulary import Mode, Severity

_COPY = "Copy the log of the finished run anew, byte for byte; a run that did not finish has to be repeated."
_REPEAT = "See what LoadGen complains of, mend it and repeat the run."
_SUBMISSION = "SubmissionRun"
_SHOWN = 5


def _there(subject: Subject, run: RunLogs) -> Iterator[Finding]:
    if run.detail is None:
        yield missing(subject, f"{run.folder}/{DETAIL}", "a detail log as LoadGen writes it")


@check(
    "LOG-001",
    "the performance detail log can be read",
    "performance_check.py:100; loadgen_parser.py:37-60",
    Scope.RESULT,
    ("loadgen",),
    fix=_COPY,
)
def performance_detail(subject: Subject) -> Iterator[Finding | Skip]:
    """performance/run_1/mlperf_log_detail.txt exists and can be read; the official checker crashes without it."""
    yield from _there(subject, result_of(subject).performance)


@check(
    "LOG-002", "the accuracy detail log can be read", "loadgen_parser.py:37-60", Scope.RESULT, ("loadgen",), fix=_COPY
)
def accuracy_detail(subject: Subject) -> Iterator[Finding | Skip]:
    """accuracy/mlperf_log_detail.txt exists and can be read; the official checker crashes without it."""
    yield from _there(subject, result_of(subject).accuracy)


@check(
    "LOG-003",
    "every line of the detail logs is as LoadGen writes it",
    "loadgen_parser.py:37-60; loadgen/logging.h:706-743",
    Scope.RESULT,
    ("loadgen",),
    fix="Copy the log anew; let no editor touch it, and keep quotes and line breaks out of the SUT's name.",
)
def whole_lines(subject: Subject) -> Iterator[Finding | Skip]:
    """Both detail logs begin with a marker and every marker line is one JSON record.

    The official checker skips lines without the marker and stops at a marker line it cannot read. In strict a
    line whose record can be read all the same is a warning, one that cannot be read an error.
    """
    result = result_of(subject)
    for run in (result.performance, result.accuracy):
        if run.detail is not None:
            yield from _broken_lines(run, run.detail)


def _broken_lines(run: RunLogs, detail: DetailLog) -> Iterator[Finding]:
    where = f"{run.folder}/{DETAIL}"
    if not detail.valid_first_line:
        finding = Finding(where, "a first line that begins with :::MLLOG", "another first line", line=1)
        yield from graded(finding, official=Severity.ERROR, strict=Severity.WARNING)
    for problem in detail.problems[:_SHOWN]:
        rest = detail.problem_count - _SHOWN
        message = f"and {rest} more such lines" if rest > 0 and problem is detail.problems[_SHOWN - 1] else ""
        finding = Finding(where, "one JSON record after the marker", problem.reason, line=problem.line, message=message)
        official = None if problem.official else Severity.ERROR
        strict = Severity.WARNING if problem.recovered else Severity.ERROR
        yield from graded(finding, official=official, strict=strict)


AUDIT_CONFIG = "audit.config"


def _errors(run: RunLogs) -> Iterator[Finding]:
    """One finding per text of an error, however often it was logged, at its first line."""
    alike: dict[str, list[LogRecord]] = {}
    for record in run.detail.errors if run.detail else ():
        alike.setdefault(f"{record.key}: {record.value}", []).append(record)
    for number, (text, records) in enumerate(alike.items(), start=1):
        if number > _SHOWN:
            return
        notes = [] if len(records) == 1 else [f"{len(records)} times, {_lines(records)}"]
        if not records[0].time_is_meaningful:
            notes.append("the time logged with it is not meaningful: LoadGen's clock did not run yet")
        if number == _SHOWN and len(alike) > _SHOWN:
            notes.append(f"the first {_SHOWN} of {len(alike)} kinds of error are shown")
        if number == 1 and run.detail is not None and run.detail.error_count > len(run.detail.errors):
            notes.append(f"of {run.detail.error_count} errors the first {len(run.detail.errors)} were looked at")
        where, message = f"{run.folder}/{DETAIL}", "; ".join(notes)
        yield Finding(where, "no LoadGen error", text, fix_of_error(text), message, line=records[0].line)


def _lines(records: list[LogRecord]) -> str:
    shown = ", ".join(str(record.line) for record in records[:_SHOWN])
    return f"lines {shown}{', ...' if len(records) > _SHOWN else ''}"


@check(
    "LOG-004",
    "LoadGen reported no error in the performance run",
    "performance_check.py:133; old:2058-2065",
    Scope.RESULT,
    ("loadgen", "performance"),
    fix=_REPEAT,
)
def performance_errors(subject: Subject) -> Iterator[Finding | Skip]:
    """No line of the performance detail log has is_error true. The official checker overlooks them by default."""
    yield from (strictly(finding) for finding in _errors(result_of(subject).performance))


@check(
    "LOG-005",
    "LoadGen reported no error in the accuracy run",
    "accuracy_check.py:254; old:1899-1928",
    Scope.RESULT,
    ("loadgen", "accuracy"),
    fix=_REPEAT,
)
def accuracy_errors(subject: Subject) -> Iterator[Finding | Skip]:
    """No line of the accuracy detail log has is_error true, in every division."""
    yield from _errors(result_of(subject).accuracy)


def _mode(run: RunLogs, mode: Mode) -> Iterator[Finding]:
    key = "effective_test_mode"
    if run.detail is not None and run.detail.value(key) not in {mode.value, _SUBMISSION}:
        yield strictly(about(run, key, f"{key} = {mode.value}"))


@check(
    "LOG-006",
    "the performance log is of a performance run",
    "weighbridge: the official checker does not compare the test mode",
    Scope.RESULT,
    ("loadgen", "performance"),
    fix="Put the performance run's logs under performance/run_1.",
)
def performance_mode(subject: Subject) -> Iterator[Finding | Skip]:
    """effective_test_mode of the performance log is PerformanceOnly (or SubmissionRun)."""
    yield from _mode(result_of(subject).performance, Mode.PERFORMANCE)


@check(
    "LOG-007",
    "the accuracy log is of an accuracy run",
    "weighbridge: the official checker does not compare the test mode",
    Scope.RESULT,
    ("loadgen", "accuracy"),
    fix="Put the accuracy run's logs under accuracy.",
)
def accuracy_mode(subject: Subject) -> Iterator[Finding | Skip]:
    """effective_test_mode of the accuracy log is AccuracyOnly (or SubmissionRun)."""
    yield from _mode(result_of(subject).accuracy, Mode.ACCURACY)


@check(
    "LOG-008",
    "the accuracy run is of this scenario",
    "weighbridge: the official checker does not read the accuracy run's scenario",
    Scope.RESULT,
    ("loadgen", "accuracy"),
    fix="Put the accuracy run of this very scenario under accuracy.",
)
def accuracy_scenario(subject: Subject) -> Iterator[Finding | Skip]:
    """effective_scenario of the accuracy log is the folder's, or one that may be inferred from it."""
    result = result_of(subject)
    measured = _scenario_of_log(result.accuracy)
    if result.scenario is None:
        yield Skip("the folder's name is no scenario (SCN-001)")
    elif not fits_folder(measured, result.scenario) and (measured, result.scenario) not in _INFERABLE:
        key = "effective_scenario"
        yield strictly(about(result.accuracy, key, f"{key} = {result.scenario.loadgen_name}"))


@check(
    "LOG-009",
    "the log holds one test",
    "loadgen_parser.py:69-82",
    Scope.RESULT,
    ("loadgen", "performance"),
    fix="Keep the log of one run; two logs in one file make every reader take the first value of each key.",
)
def one_test(subject: Subject) -> Iterator[Finding | Skip]:
    """result_validity and effective_scenario stand once in the performance log."""
    run = result_of(subject).performance
    for key in ("effective_scenario", "result_validity"):
        times = run.detail.repeated.get(key, 1) if run.detail else 1
        if times > 1:
            found = f"{key} stands {times} times; the first counts"
            yield strictly(about(run, key, f"{key} once", found=found), Severity.WARNING)


@check(
    "LOG-010",
    "summary and detail log agree",
    "weighbridge: both logs are written by one run",
    Scope.RESULT,
    ("loadgen", "performance"),
    fix="Put the summary and the detail log of one and the same run side by side.",
)
def summary_agrees(subject: Subject) -> Iterator[Finding | Skip]:
    """The summary's "Result is" and scenario are those of the detail log."""
    run = result_of(subject).performance
    if run.summary is None or run.detail is None:
        yield Skip("no readable summary log")
        return
    where = f"{run.folder}/{SUMMARY}"
    validity, scenario = run.detail.value("result_validity"), run.detail.value("effective_scenario")
    said = {True: "VALID", False: "INVALID"}.get(run.summary.valid) if run.summary.valid is not None else None
    if said is not None and validity is not None and said != validity:
        yield strictly(Finding(where, f"Result is : {validity}, as in the detail log", f"Result is : {said}"))
    named = run.summary.fields.get("Scenario")
    if named is not None and named != scenario:
        yield strictly(Finding(where, f"Scenario : {scenario}, as in the detail log", f"Scenario : {named}"))


@check(
    "LOG-011",
    "the LoadGen release is the round's",
    "inference_rules.adoc:462",
    Scope.RESULT,
    ("loadgen", "performance"),
    fix="Run with a LoadGen release of this round, the same one for all runs.",
)
def loadgen_release(subject: Subject) -> Iterator[Finding | Skip]:
    """loadgen_version is among the round's releases, and the same in the performance and the accuracy log."""
    result = result_of(subject)
    key = "loadgen_version"
    release = _release(result.performance)
    if not subject.round.admits_loadgen(release):
        expected = f"{key} among {', '.join(subject.round.loadgen_versions)}"
        yield strictly(about(result.performance, key, expected), Severity.WARNING)
    other = _release(result.accuracy)
    if result.accuracy.detail is not None and other != release:
        yield strictly(about(result.accuracy, key, f"{key} = {release}, as in the performance run"), Severity.WARNING)


def _release(run: RunLogs) -> str:
    value = run.detail.value("loadgen_version") if run.detail else None
    return str(value).split("@", maxsplit=1)[0].strip()


@check(
    "LOG-012",
    "the performance run used no audit's settings",
    "loadgen/loadgen.cc:1230-1250; weighbridge: the official checker does not look for an audit's settings",
    Scope.RESULT,
    ("loadgen", "performance"),
    fix="Take the audit.config away and repeat the performance run.",
)
def no_audit_settings(subject: Subject) -> Iterator[Finding | Skip]:
    """performance_issue_unique, _same and accuracy_log_sampling_target are off; no audit.config stands beside the log.

    LoadGen takes one from its working folder without being asked.
    """
    run = result_of(subject).performance
    if AUDIT_CONFIG in run.files:
        yield strictly(Finding(f"{run.folder}/{AUDIT_CONFIG}", "no audit.config in a performance run", "the file"))
    for setting in ("performance_issue_unique", "performance_issue_same", "accuracy_log_sampling_target"):
        key = f"effective_{setting}"
        value = run.detail.value(key) if run.detail else None
        if value:
            off = "0" if setting.endswith("target") else "false"
            yield strictly(about(run, key, f"{key} = {off}"))
