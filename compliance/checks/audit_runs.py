"""AUD-: the performance runs of the compliance tests, judged like the result's own (compliance_check.py:172-195)."""

from collections.abc import Iterator
from dataclasses import replace

from compliance.checks.audits import AUDIT_NEEDS, PERFORMANCE_AUDITS, audit_run
from compliance.checks.facts import DETAIL, about, graded, is_open, missing, result_of, strictly, unmet
from compliance.checks.model import Check, Finding, Scope, Skip, Subject
from compliance.checks.registry import all_checks, check
from compliance.records import RunLogs
from compliance.vocabulary import AuditId, Profile, Severity

_SEEDS = ("PERF-002", "PERF-003", "PERF-004")
_LINES = ("LOG-003", "LOG-004", "LOG-006", "LOG-010")
_SIZES = ("PERF-001", "PERF-005", "PERF-006", "PERF-007", "PERF-008", "PERF-010", "PERF-012", "PERF-013", "PERF-016")
_LATENCIES = (
    "LAT-001",
    "LAT-002",
    "LAT-003",
    "LAT-005",
    "LAT-006",
    "LAT-007",
    "LAT-008",
    "LAT-009",
    "LAT-010",
    "LAT-011",
)
_REST = ("PERF-009", "PERF-011", "LAT-004", "SCN-005")
RUN_CHECKS = frozenset((*_SEEDS, *_LINES, *_SIZES, *_LATENCIES, *_REST))
"""The checks of a performance run that bear on an audit's too."""
_GROUPS = {
    AuditId.TEST07: RUN_CHECKS.difference(_SIZES, _LATENCIES),
    AuditId.TEST08: RUN_CHECKS,
    AuditId.TEST09: RUN_CHECKS.difference(_SIZES, _LATENCIES),
}
"""TEST07 and TEST09 set duration, number and order of queries themselves; TEST08 only logs more."""
_READABLE = frozenset(("LOG-003",))
_NO_LOGS = RunLogs("", (), None, None, None)
_SETTING = {
    AuditId.TEST01: "effective_accuracy_log_sampling_target",
    AuditId.TEST04: "effective_performance_issue_same",
    AuditId.TEST07: "effective_accuracy_log_sampling_target",
    AuditId.TEST08: "effective_accuracy_log_sampling_target",
    AuditId.TEST09: "effective_accuracy_log_sampling_target",
}
"""What each audit's audit.config switches on; without it the run is an ordinary one."""


def inner_findings(subject: Subject, run: RunLogs, ids: frozenset[str]) -> Iterator[tuple[Check, Finding]]:
    """What the named checks find when the audit's run stands in the performance run's place."""
    own = replace(subject, result=replace(result_of(subject), performance=run, accuracy=_NO_LOGS))
    for inner in all_checks():
        if inner.id in ids and unmet(own, inner.needs) is None:
            found = (item for item in inner.function(own) if isinstance(item, Finding))
            yield from ((inner, finding) for finding in found)


def _named(inner: Check, finding: Finding) -> Finding:
    """The finding with the inner check's id before its message, and that check's remedy.

    LoadGen errors are a warning here: the audits' scripts warn about them, too.
    """
    severity = Severity.WARNING if inner.id == "LOG-004" else finding.severity
    parts = [f"{inner.id}: {inner.title}", finding.message]
    return replace(
        finding, message="; ".join(part for part in parts if part), fix=finding.fix or inner.fix, severity=severity
    )


@check(
    "AUD-014",
    "the performance runs of TEST01 and TEST04 keep the rules of one",
    "compliance_check.py:172-195; performance_check.py:100-604",
    Scope.RESULT,
    AUDIT_NEEDS,
    fix="Repeat the audit with the settings of the performance run and the audit's own audit.config.",
)
def performance_group(subject: Subject) -> Iterator[Finding | Skip]:
    """The detail log of TEST01 and TEST04 passes the checks of a performance run, with their weights.

    Those of settings, seeds, latencies, scenario and metric (PERF, LAT, SCN-005) and of the log itself (LOG); the
    finding names the check it comes from. LoadGen errors are a warning.
    """
    runs = [run.run for audit in PERFORMANCE_AUDITS if (run := audit_run(subject, audit)) and run.run.detail]
    if not runs:
        yield Skip("no detail log of TEST01 or TEST04 to read (AUD-001, AUD-009), or not asked for")
    for logs in runs:
        for inner, finding in inner_findings(subject, logs, RUN_CHECKS):
            yield _named(inner, finding)


@check(
    "AUD-008",
    "the performance runs of TEST07, TEST08 and TEST09 are sound",
    "old:3676-3790",
    Scope.RESULT,
    AUDIT_NEEDS,
    fix="Repeat the audit with this round's LoadGen and mend what it complains of.",
)
def other_runs(subject: Subject) -> Iterator[Finding | Skip]:
    """Detail logs of TEST07, TEST08 and TEST09 are there and pass the checks of a performance run. A warning.

    Left out are those of what TEST07 and TEST09 set themselves: duration, queries, their order, and latencies. The
    official checker does not open these logs.
    """
    for audit, ids in _GROUPS.items():
        run = audit_run(subject, audit)
        if run is None:
            continue
        if run.run.detail is None:
            yield strictly(missing(subject, f"{run.run.folder}/{DETAIL}", "the audit's detail log"), Severity.WARNING)
            continue
        for inner, finding in inner_findings(subject, run.run, ids):
            if finding.severity is not Severity.INFO:
                yield strictly(_named(inner, finding), Severity.WARNING)


@check(
    "AUD-015",
    "each audit ran under its own settings",
    "compliance/TEST04/audit.config; weighbridge: the official checker does not compare an audit's settings",
    Scope.RESULT,
    AUDIT_NEEDS,
    fix="Put the audit's audit.config where the SUT is started, under LoadGen's name for it, and repeat the audit.",
)
def settings(subject: Subject) -> Iterator[Finding | Skip]:
    """TEST04's run issued one and the same sample, the other audits' runs logged answers."""
    for audit, key in _SETTING.items():
        run = audit_run(subject, audit)
        if run is not None and run.run.detail is not None and not run.run.detail.value(key):
            yield strictly(about(run.run, key, f"{key} {'= true' if audit is AuditId.TEST04 else '> 0'}"))


@check(
    "AUD-020",
    "audits that nobody asks for can be read, too",
    "loader.py:477-494; loadgen_parser.py:37-60",
    Scope.RESULT,
    ("loadgen",),
    fix="Take the folder out, or copy its detail log anew.",
)
def idle_logs(subject: Subject) -> Iterator[Finding | Skip]:
    """A detail log of TEST01 or TEST04 that is there is whole, whether the benchmark and division ask for it or not.

    The official checker reads both wherever they stand, and stops at one it cannot read. A warning in strict.
    """
    asked = () if is_open(subject) or subject.benchmark is None else subject.benchmark.audits
    for audit, run in result_of(subject).audits.items():
        if audit in asked or audit not in PERFORMANCE_AUDITS:
            continue
        found = [finding for _, finding in inner_findings(subject, run.run, _READABLE) if _stops(finding)]
        where = f"{run.run.folder}/{DETAIL}"
        if run.run.detail is None and _has_bytes(subject, where):
            found.append(missing(subject, where, "a detail log as LoadGen writes it"))
        for finding in found:
            yield from graded(finding, official=Severity.ERROR, strict=Severity.WARNING)


def _stops(finding: Finding) -> bool:
    return finding.severity is Severity.ERROR and Profile.OFFICIAL in finding.profiles


def _has_bytes(subject: Subject, path: str) -> bool:
    return any(entry.path == path and entry.bytes > 0 for entry in subject.submission.files)
