"""AUD-: what the verify_*.txt of the compliance tests say, and the scores of TEST01 (compliance_check.py:197-479)."""

from collections.abc import Iterator

from compliance.audits.test01 import allowed_delta_percent, delta_percent
from compliance.checks.audits import (
    AUDIT_NEEDS,
    PERFORMANCE_AUDITS,
    VERIFY_ACCURACY,
    VERIFY_LENGTH,
    VERIFY_PERFORMANCE,
    audit_run,
    file_difference,
)
from compliance.checks.facts import ACCURACY_LOG, amount, benchmark_of, graded, result_of
from compliance.checks.model import Finding, Scope, Skip, Subject
from compliance.checks.registry import check
from compliance.logs.accuracy_txt import Score
from compliance.logs.lines import split_lines
from compliance.logs.verdicts import VerifyText
from compliance.records import AuditRun
from compliance.vocabulary import AuditId, Severity

_BASELINE, _COMPLIANCE = "baseline_accuracy.txt", "compliance_accuracy.txt"
_SCORE_FILES = (ACCURACY_LOG, "accuracy.txt", _BASELINE, _COMPLIANCE)
_TEST06_LINES = (
    ("First token", ("True", "Skipped")),
    ("EOS", ("True",)),
    ("Sample length", ("True",)),
)


@check(
    "AUD-003",
    "TEST06 passed",
    "compliance_check.py:323",
    Scope.RESULT,
    AUDIT_NEEDS,
    fix="Mend what the line names: report the very first token, end answers in one EOS, count the tokens sent.",
)
def test06(subject: Subject) -> Iterator[Finding | Skip]:
    """verify_accuracy.txt says True for first token (or Skipped), EOS and sample length."""
    run = audit_run(subject, AuditId.TEST06)
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
            yield Finding(f"{run.folder}/{VERIFY_ACCURACY}", " or ".join(wanted), found, line=line)


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
    AUDIT_NEEDS,
    fix="Find why accuracy falls in performance mode (other code path, cut answers); repeat TEST07.",
)
def test07(subject: Subject) -> Iterator[Finding | Skip]:
    """verify_accuracy.txt of TEST07 holds TEST PASS."""
    run = audit_run(subject, AuditId.TEST07)
    yield from _test_pass(run, run.verify_accuracy if run else None, VERIFY_ACCURACY)


@check(
    "AUD-005",
    "TEST09 passed",
    "compliance_check.py:340-376",
    Scope.RESULT,
    AUDIT_NEEDS,
    fix="Find why answers differ in length in performance mode (reasoning effort, max_new_tokens); repeat TEST09.",
)
def test09(subject: Subject) -> Iterator[Finding | Skip]:
    """verify_output_len.txt of TEST09 holds TEST PASS."""
    run = audit_run(subject, AuditId.TEST09)
    yield from _test_pass(run, run.verify_output_len if run else None, VERIFY_LENGTH)


@check(
    "AUD-011",
    "TEST01's answers, or their scores, are the accuracy run's",
    "compliance_check.py:231-322; configuration.py:215-225",
    Scope.RESULT,
    AUDIT_NEEDS,
    fix="Find why answers differ in performance mode; where they may differ from run to run, submit the scores of both"
    " (create_accuracy_baseline.sh), else mend it and repeat TEST01.",
)
def test01(subject: Subject) -> Iterator[Finding | Skip]:
    """verify_accuracy.txt of TEST01 has a line TEST PASS, or the scores on both runs' answers agree.

    For the latter the accuracy folder holds the log, accuracy.txt, baseline_accuracy.txt and compliance_accuracy.txt
    and nothing else, and no metric differs by more than 1 % (0.1 % for benchmarks held to 99.9 %; some metrics have
    their own).
    """
    run = audit_run(subject, AuditId.TEST01)
    if run is None or (run.verify_accuracy is None and VERIFY_ACCURACY not in run.files):
        yield Skip("no TEST01 verdict to read (AUD-001, AUD-002), or not asked for")
        return
    if run.verify_accuracy is not None and run.verify_accuracy.test_pass_line is not None:
        return
    lacking, extra = file_difference(subject, run.accuracy_files, _SCORE_FILES)
    if lacking or extra:
        said = _said(run.verify_accuracy)
        found = ", ".join([said, *(f"no {name}" for name in lacking), *(f"also {name}" for name in extra)])
        yield Finding(f"{run.folder}/accuracy", f"TEST PASS, or both scores: {', '.join(_SCORE_FILES)}", found)
        return
    for target in benchmark_of(subject).targets(result_of(subject).scenario):
        if target.minimum is not None:
            yield from _scores_differ(subject, run, target.metric)


def _scores_differ(subject: Subject, run: AuditRun, metric: str) -> Iterator[Finding]:
    """The last score of each file counts; a score in a form that the official checker cannot read is zero to it."""
    rules = benchmark_of(subject)
    allowed = allowed_delta_percent(rules.name, rules.test01_delta_percent, metric)
    files = [run.accuracy_texts.get(name) for name in (_BASELINE, _COMPLIANCE)]
    official = _delta([text.official(metric) if text else () for text in files])
    written = [text.written(metric) if text else () for text in files]
    strict = _delta(written)
    lost = official is None or official > allowed
    differs = strict is None or strict > allowed
    if not lost and not differs:
        return
    shown = [f"{scores[-1].value:.10g}" if scores else "none" for scores in written]
    where = f"{run.folder}/accuracy/{_COMPLIANCE}"
    expected = f"{metric} within {amount(allowed, '%')} of the baseline's"
    found = f"{metric} = {shown[1]}, the baseline's {shown[0]}"
    message = "a score in a form the checker cannot read" if strict is None or not differs else f"{strict:.4g} % off"
    line = written[1][-1].line if written[1] else None
    finding = Finding(where, expected, found, message=message, line=line)
    lenient = Severity.ERROR if differs else Severity.WARNING
    yield from graded(finding, official=Severity.ERROR if lost else None, strict=lenient)


def _delta(files: list[tuple[Score, ...]]) -> float | None:
    baseline, compliance = (scores[-1].value if scores else 0.0 for scores in files)
    return delta_percent(baseline, compliance)


def _said(text: VerifyText | None) -> str:
    """What a verdict file says in place of a line TEST PASS."""
    lines = split_lines(text.text) if text else []
    return next((line.strip() for line in lines if "TEST FAIL" in line), "no line TEST PASS")


@check(
    "AUD-012",
    "TEST08 passed",
    "compliance_check.py:377-397",
    Scope.RESULT,
    AUDIT_NEEDS,
    fix="Find why predictions differ in performance mode; repeat TEST08 and save what its verification prints.",
)
def test08(subject: Subject) -> Iterator[Finding | Skip]:
    """verify_accuracy.txt of TEST08 has a line that is TEST PASS and nothing else."""
    run = audit_run(subject, AuditId.TEST08)
    if run is None or run.verify_accuracy is None:
        yield Skip("no TEST08 verdict to read (AUD-001, AUD-002), or not asked for")
    elif run.verify_accuracy.test_pass_line is None:
        yield Finding(f"{run.folder}/{VERIFY_ACCURACY}", "a line TEST PASS", _said(run.verify_accuracy))


@check(
    "AUD-013",
    "TEST01 and TEST04 passed in performance",
    "compliance_check.py:462-479",
    Scope.RESULT,
    AUDIT_NEEDS,
    fix="TEST01: find what slows logging runs down or speeds them up. TEST04: switch caches of answers off. Repeat it.",
)
def performance_verdicts(subject: Subject) -> Iterator[Finding | Skip]:
    """verify_performance.txt of TEST01 and TEST04 holds TEST PASS."""
    runs = [run for audit in PERFORMANCE_AUDITS if (run := audit_run(subject, audit)) is not None]
    if not runs:
        yield Skip("no verdict to read (AUD-001, AUD-002), or not asked for")
    for run in runs:
        yield from _test_pass(run, run.verify_performance, VERIFY_PERFORMANCE)
