"""AUD-: the folders and files of the compliance tests a closed or network result must carry (compliance_check.py)."""

from collections.abc import Iterator

from compliance.checks.facts import ACCURACY_LOG, DETAIL, SUMMARY, benchmark_of, graded, missing, result_of, strictly
from compliance.checks.model import Finding, Scope, Skip, Subject
from compliance.checks.registry import check
from compliance.logs.verdicts import VerifyText
from compliance.records import AuditRun
from compliance.vocabulary import AuditId, Severity

AUDIT_NEEDS = ("loadgen", "benchmark", "closed")
VERIFY_ACCURACY, VERIFY_LENGTH, VERIFY_PERFORMANCE = (
    "verify_accuracy.txt",
    "verify_output_len.txt",
    "verify_performance.txt",
)
PERFORMANCE_AUDITS = (AuditId.TEST01, AuditId.TEST04)
"""The audits whose performance run the official checker judges like the result's own."""
_VERIFY_FILES = (
    (AuditId.TEST01, VERIFY_ACCURACY),
    (AuditId.TEST01, VERIFY_PERFORMANCE),
    (AuditId.TEST04, VERIFY_PERFORMANCE),
    (AuditId.TEST06, VERIFY_ACCURACY),
    (AuditId.TEST07, VERIFY_ACCURACY),
    (AuditId.TEST08, VERIFY_ACCURACY),
    (AuditId.TEST09, VERIFY_LENGTH),
)
_AS_UTF8 = "Save it as UTF-8 (in PowerShell: `... | Out-File -Encoding utf8NoBOM FILE`)."
_RUN_IT = "Run the audit for this scenario (`weighbridge run CAMPAIGN --only SCENARIO/TESTxx`); copy its folder."


def audit_folder(subject: Subject, audit: AuditId) -> str:
    """Where the layout puts an audit of the subject's result."""
    result = result_of(subject)
    return subject.round.layout.audit_dir.format(
        division=result.division.value,
        submitter=result.submitter,
        system=result.system,
        benchmark=result.benchmark,
        scenario=result.scenario_dir,
        audit=audit.value,
    )


def audit_run(subject: Subject, audit: AuditId) -> AuditRun | None:
    """The audit's folder, None where it is not asked for or not there."""
    return result_of(subject).audits.get(audit) if audit in benchmark_of(subject).audits else None


def verify_text(run: AuditRun, name: str) -> VerifyText | None:
    """One of the audit's verdict files, None where it cannot be read."""
    texts = {
        VERIFY_ACCURACY: run.verify_accuracy,
        VERIFY_LENGTH: run.verify_output_len,
        VERIFY_PERFORMANCE: run.verify_performance,
    }
    return texts[name]


@check(
    "AUD-001",
    "every required audit is there",
    "compliance_check.py:140; constants.py:1358-1388",
    Scope.RESULT,
    AUDIT_NEEDS,
    fix=_RUN_IT,
)
def folders(subject: Subject) -> Iterator[Finding | Skip]:
    """A folder TESTxx for each audit of the benchmark, per scenario, Interactive included."""
    for audit in benchmark_of(subject).audits:
        if audit not in result_of(subject).audits:
            yield Finding(audit_folder(subject, audit), f"the {audit.value} folder", "no such folder")


@check(
    "AUD-002",
    "every audit's verdict can be read",
    "compliance_check.py:147, 152, 162",
    Scope.RESULT,
    AUDIT_NEEDS,
    fix=_RUN_IT,
)
def verdict_files(subject: Subject) -> Iterator[Finding | Skip]:
    """What each audit that has a folder was verified with exists and can be read.

    verify_accuracy.txt of TEST01, 06, 07 and 08, verify_performance.txt of TEST01 and 04, verify_output_len.txt of
    TEST09. Of TEST01 the official checker takes an empty verify_accuracy.txt, and looks at its scores (AUD-011). It
    stops at a file that is not UTF-8, as PowerShell's redirection writes it: a warning in strict.
    """
    for audit, name in _VERIFY_FILES:
        run = audit_run(subject, audit)
        text = verify_text(run, name) if run else None
        if run is not None and text is not None and not text.utf8:
            finding = Finding(f"{run.folder}/{name}", "text in UTF-8", "bytes that are not UTF-8", _AS_UTF8)
            yield from graded(finding, official=Severity.ERROR, strict=Severity.WARNING)
        if run is None or text is not None:
            continue
        taken = audit is AuditId.TEST01 and name == VERIFY_ACCURACY and name in run.files
        finding = missing(subject, f"{run.folder}/{name}", "what the audit's verification printed")
        yield from graded(finding, official=None if taken else Severity.ERROR, strict=Severity.ERROR)


@check(
    "AUD-007",
    "the audits' accuracy logs are there and whole",
    "compliance/README.md; weighbridge: the official checker does not look at these logs",
    Scope.RESULT,
    AUDIT_NEEDS,
    fix="Copy the audit run's accuracy log; TEST06's is not to be truncated, another only by `weighbridge truncate`.",
)
def accuracy_logs(subject: Subject) -> Iterator[Finding | Skip]:
    """Each audit that logs answers carries its accuracy log, not empty and not cut. A warning.

    All but TEST06's may be truncated as the accuracy run's is (truncate_accuracy_log.py), and are then no longer than
    that.
    """
    for audit in benchmark_of(subject).audits:
        run = audit_run(subject, audit)
        if run is None or audit is AuditId.TEST04:
            continue
        found = _log_fault(run, subject.round.accuracy_log_limit_bytes)
        if found:
            where = f"{run.folder}/accuracy/{ACCURACY_LOG}"
            yield strictly(Finding(where, "the audit's accuracy log", found), Severity.WARNING)


def _log_fault(run: AuditRun, truncated_bytes: int) -> str:
    log = run.accuracy
    if log is None:
        return "no such file"
    if log.truncated and (run.audit is AuditId.TEST06 or log.bytes > truncated_bytes):
        return "a log that is cut"
    if log.entries == 0 or log.bytes == 0:
        return "an empty log"
    return "" if log.truncated else log.problem


@check(
    "AUD-009",
    "the performance logs of TEST01 and TEST04 can be read",
    "compliance_check.py:152, 172; loadgen_parser.py:37-60",
    Scope.RESULT,
    AUDIT_NEEDS,
    fix="Copy performance/run_1 of the audit's run; repeat the audit where it is lost.",
)
def detail_logs(subject: Subject) -> Iterator[Finding | Skip]:
    """performance/run_1/mlperf_log_detail.txt of TEST01 and TEST04 exists and can be read."""
    for audit in PERFORMANCE_AUDITS:
        run = audit_run(subject, audit)
        if run is not None and run.run.detail is None:
            yield missing(subject, f"{run.run.folder}/{DETAIL}", "the audit's detail log")


@check(
    "AUD-010",
    "the performance folders of TEST01 and TEST04 hold their two logs",
    "compliance_check.py:481-499; utils.py:39-44",
    Scope.RESULT,
    AUDIT_NEEDS,
    fix="Keep mlperf_log_detail.txt and mlperf_log_summary.txt there; move everything else away.",
)
def run_files(subject: Subject) -> Iterator[Finding | Skip]:
    """performance/run_1 of TEST01 and TEST04 holds the summary and the detail log and nothing else.

    The accuracy log, the trace, results.json and .gitkeep are tolerated.
    """
    for audit in PERFORMANCE_AUDITS:
        run = audit_run(subject, audit)
        if run is None:
            continue
        lacking, extra = file_difference(subject, run.run.files, (DETAIL, SUMMARY))
        found = [f"no {name}" for name in lacking if name != DETAIL] + [f"also {name}" for name in extra]
        if found:
            yield Finding(run.run.folder, f"{DETAIL} and {SUMMARY}", ", ".join(found))


def file_difference(
    subject: Subject, found: tuple[str, ...], wanted: tuple[str, ...]
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Of a folder's files those that lack and those that are too many; the layout's optional ones are neither."""
    tolerated = (*wanted, *subject.round.layout.optional_run_files)
    lacking = tuple(name for name in wanted if name not in found)
    return lacking, tuple(name for name in found if name not in tolerated)
