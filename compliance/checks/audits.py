"""AUD-: the compliance tests a closed or network result must carry (compliance_check.py; compliance/README.md)."""

from collections.abc import Iterator

from compliance.audits.test06 import verify
from compliance.checks.facts import ACCURACY_LOG, DETAIL, about, benchmark_of, graded, missing, result_of, strictly
from compliance.checks.model import Finding, Scope, Skip, Subject
from compliance.checks.registry import check
from compliance.errors import UnreadableFile
from compliance.logs.accuracy import iter_accuracy
from compliance.logs.verdicts import VerifyText
from compliance.records import AuditRun
from compliance.vocabulary import AuditId, Severity

_NEEDS = ("loadgen", "benchmark", "closed")
_VERIFY_FILES = {
    AuditId.TEST01: "verify_accuracy.txt",
    AuditId.TEST06: "verify_accuracy.txt",
    AuditId.TEST07: "verify_accuracy.txt",
    AuditId.TEST08: "verify_accuracy.txt",
    AuditId.TEST09: "verify_output_len.txt",
}
_RUN_IT = "Run the audit for this scenario (`weighbridge run --only audit`) and copy its folder."
_TEST06_LINES = (
    ("First token", ("True", "Skipped")),
    ("EOS", ("True",)),
    ("Sample length", ("True",)),
)


def _folder(subject: Subject, audit: AuditId) -> str:
    result = result_of(subject)
    return subject.round.layout.audit_dir.format(
        division=result.division.value,
        submitter=result.submitter,
        system=result.system,
        benchmark=result.benchmark,
        scenario=result.scenario_dir,
        audit=audit.value,
    )


def _run(subject: Subject, audit: AuditId) -> AuditRun | None:
    """The audit's folder, None where it is not asked for or not there."""
    return result_of(subject).audits.get(audit) if audit in benchmark_of(subject).audits else None


@check(
    "AUD-001",
    "every required audit is there",
    "compliance_check.py:140; constants.py:1358-1388",
    Scope.RESULT,
    _NEEDS,
    fix=_RUN_IT,
)
def folders(subject: Subject) -> Iterator[Finding | Skip]:
    """A folder TESTxx for each audit of the benchmark, per scenario, Interactive included."""
    for audit in benchmark_of(subject).audits:
        if audit not in result_of(subject).audits:
            yield Finding(_folder(subject, audit), f"the {audit.value} folder", "no such folder")


@check(
    "AUD-002", "every audit's verdict can be read", "compliance_check.py:147, 162", Scope.RESULT, _NEEDS, fix=_RUN_IT
)
def verdict_files(subject: Subject) -> Iterator[Finding | Skip]:
    """verify_accuracy.txt (TEST09: verify_output_len.txt) of each audit that has a folder exists and can be read."""
    for audit, name in _VERIFY_FILES.items():
        run = _run(subject, audit)
        if run is not None and (run.verify_output_len if audit is AuditId.TEST09 else run.verify_accuracy) is None:
            yield missing(subject, f"{run.folder}/{name}", "what the audit's verification printed")


@check(
    "AUD-003",
    "TEST06 passed",
    "compliance_check.py:323",
    Scope.RESULT,
    _NEEDS,
    fix="Mend what the line names: report the very first token, end answers in one EOS, count the tokens sent.",
)
def test06(subject: Subject) -> Iterator[Finding | Skip]:
    """verify_accuracy.txt says True for first token (or Skipped), EOS and sample length."""
    run = _run(subject, AuditId.TEST06)
    if run is None or run.verify_accuracy is None:
        yield Skip("no TEST06 verdict to read (AUD-001, AUD-002), or not asked for")
        return
    lines = {line.strip() for line in run.verify_accuracy.text.splitlines()}
    for name, accepted in _TEST06_LINES:
        wanted = [f"{name} check pass: {word}" for word in accepted]
        if not lines.intersection(wanted):
            said = run.verify_accuracy.passed.get(name)
            found = f"{name} check pass: {said}" if said else f"no line about {name.lower()}"
            line = run.verify_accuracy.lines_by_name.get(name)
            yield Finding(f"{run.folder}/verify_accuracy.txt", " or ".join(wanted), found, line=line)


def _test_pass(run: AuditRun | None, text: VerifyText | None, name: str) -> Iterator[Finding | Skip]:
    if run is None or text is None:
        yield Skip("no verdict to read (AUD-001, AUD-002), or not asked for")
    elif not text.test_pass:
        failed = next((line.strip() for line in text.text.splitlines() if "TEST FAIL" in line), None)
        yield Finding(f"{run.folder}/{name}", "TEST PASS", failed or "no such line")


@check(
    "AUD-004",
    "TEST07 passed",
    "compliance_check.py:340-376",
    Scope.RESULT,
    _NEEDS,
    fix="Find why accuracy falls in performance mode (other code path, cut answers); repeat TEST07.",
)
def test07(subject: Subject) -> Iterator[Finding | Skip]:
    """verify_accuracy.txt of TEST07 holds TEST PASS."""
    run = _run(subject, AuditId.TEST07)
    yield from _test_pass(run, run.verify_accuracy if run else None, "verify_accuracy.txt")


@check(
    "AUD-005",
    "TEST09 passed",
    "compliance_check.py:340-376",
    Scope.RESULT,
    _NEEDS,
    fix="Find why answers differ in length in performance mode (reasoning effort, max_new_tokens); repeat TEST09.",
)
def test09(subject: Subject) -> Iterator[Finding | Skip]:
    """verify_output_len.txt of TEST09 holds TEST PASS."""
    run = _run(subject, AuditId.TEST09)
    yield from _test_pass(run, run.verify_output_len if run else None, "verify_output_len.txt")


@check(
    "AUD-006",
    "TEST06's log shows what its verdict says",
    "compliance/TEST06/run_verification.py:67-147; weighbridge: the log is read again",
    Scope.RESULT,
    _NEEDS,
    fix="Verify again with the model's real EOS ids as numbers (`weighbridge audit`), mend the SUT and repeat TEST06.",
)
def test06_again(subject: Subject) -> Iterator[Finding | Skip]:
    """Where TEST06's accuracy log is whole, its answers are tested anew: a True over a log that shows otherwise fails.

    The upstream script compares EOS ids given on its command line as text, which never match.
    """
    run = _run(subject, AuditId.TEST06)
    scenario = result_of(subject).scenario
    log = run.accuracy if run else None
    if (
        run is None
        or run.verify_accuracy is None
        or scenario is None
        or log is None
        or log.truncated
        or not log.entries
    ):
        yield Skip("no whole TEST06 log and verdict at hand")
        return
    try:
        verdict = verify(iter_accuracy(log.path), scenario, frozenset(benchmark_of(subject).generation.eos_token_ids))
    except UnreadableFile as error:
        yield Skip(f"TEST06's log cannot be read: {error.reason}")
        return
    shown = {"First token": verdict.first_token, "EOS": verdict.eos, "Sample length": verdict.length}
    for name, passes in shown.items():
        if passes is False and run.verify_accuracy.passed.get(name) in {"True", "Skipped"}:
            fault = verdict.faults[0] if verdict.faults else None
            where = f"{run.folder}/accuracy/{ACCURACY_LOG}"
            expected = f"answers for which {name.lower()} passes, as verify_accuracy.txt says"
            found = "answers for which it does not"
            message = f"first: sample {fault.qsl_idx} {fault.reason}" if fault else ""
            yield strictly(Finding(where, expected, found, message=message, line=fault.line if fault else None))


@check(
    "AUD-007",
    "the audits' logs are there and whole",
    "compliance/README.md; weighbridge: the official checker does not look at these logs",
    Scope.RESULT,
    _NEEDS,
    fix="Copy the audit run's accuracy log; TEST06's is not to be truncated.",
)
def audit_logs(subject: Subject) -> Iterator[Finding | Skip]:
    """Each audit that logs answers carries its accuracy log; TEST06's is neither empty nor cut. A warning."""
    for audit in benchmark_of(subject).audits:
        run = _run(subject, audit)
        if run is None or audit is AuditId.TEST04:
            continue
        where = f"{run.folder}/accuracy/{ACCURACY_LOG}"
        found = None
        if run.accuracy is None:
            found = "no such file"
        elif audit is AuditId.TEST06 and run.accuracy.truncated:
            found = "a log that is cut"
        elif run.accuracy.entries == 0 or run.accuracy.bytes == 0:
            found = "an empty log"
        if found:
            yield strictly(Finding(where, "the audit's accuracy log", found), Severity.WARNING)


@check(
    "AUD-008",
    "the audits' performance runs are sound",
    "old:3676-3790",
    Scope.RESULT,
    _NEEDS,
    fix="Repeat the audit with this round's LoadGen and mend what it complains of.",
)
def audit_runs(subject: Subject) -> Iterator[Finding | Skip]:
    """Detail logs of TEST07, TEST08 and TEST09 are there, hold no LoadGen error, have the round's seeds. A warning."""
    seeds = subject.round.seeds
    wanted = {
        "effective_qsl_rng_seed": seeds.qsl,
        "effective_sample_index_rng_seed": seeds.sample_index,
        "effective_schedule_rng_seed": seeds.schedule,
    }
    for audit in (AuditId.TEST07, AuditId.TEST08, AuditId.TEST09):
        run = _run(subject, audit)
        if run is None:
            continue
        detail = run.run.detail
        if detail is None:
            yield strictly(missing(subject, f"{run.run.folder}/{DETAIL}", "the audit's detail log"), Severity.WARNING)
            continue
        for key, seed in wanted.items():
            if detail.value(key) != seed:
                yield strictly(about(run.run, key, f"{key} = {seed}"), Severity.WARNING)
        for record in detail.errors[:1]:
            finding = Finding(f"{run.run.folder}/{DETAIL}", "no LoadGen error", str(record.value), line=record.line)
            yield from graded(finding, official=None, strict=Severity.WARNING)
