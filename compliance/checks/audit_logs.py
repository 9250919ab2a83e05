"""AUD-: the logs of the compliance tests verified anew: a verdict over a log that shows otherwise is none."""

from collections.abc import Iterator
from dataclasses import replace

from compliance.audits import test01, test04, test06, test07, test09
from compliance.audits.scores import RunScore, compared, read_score
from compliance.checks.audits import (
    AUDIT_NEEDS,
    VERIFY_ACCURACY,
    VERIFY_LENGTH,
    VERIFY_PERFORMANCE,
    audit_run,
)
from compliance.checks.facts import ACCURACY_LOG, amount, benchmark_of, place, result_of, strictly
from compliance.checks.model import Finding, Scope, Skip, Subject
from compliance.checks.registry import check
from compliance.errors import UnreadableFile
from compliance.logs.accuracy import AccuracyLog, iter_accuracy
from compliance.records import AuditRun
from compliance.vocabulary import AuditId, Severity


def _whole(log: AccuracyLog | None) -> AccuracyLog | None:
    """The log if all of it is there and it holds something."""
    return None if log is None or log.truncated or not log.entries else log


@check(
    "AUD-006",
    "TEST06's log shows what its verdict says",
    "compliance/TEST06/run_verification.py:67-147; weighbridge: the log is read again",
    Scope.RESULT,
    AUDIT_NEEDS,
    fix="Verify again with the model's real EOS ids as numbers (`weighbridge audit`), mend the SUT and repeat TEST06.",
)
def test06_again(subject: Subject) -> Iterator[Finding | Skip]:
    """Where TEST06's accuracy log is whole, its answers are tested anew: a True over a log that shows otherwise fails.

    The upstream script compares EOS ids given on its command line as text, which never match.
    """
    run = audit_run(subject, AuditId.TEST06)
    scenario = result_of(subject).scenario
    log = _whole(run.accuracy) if run else None
    if run is None or run.verify_accuracy is None or scenario is None or log is None:
        yield Skip("no whole TEST06 log and verdict at hand")
        return
    try:
        eos = frozenset(benchmark_of(subject).generation.eos_token_ids)
        verdict = test06.verify(iter_accuracy(log.path), scenario, eos)
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
    "AUD-016",
    "TEST01's log shows what its verdict says",
    "compliance/TEST01/verify_accuracy.py; weighbridge: the logs are read again",
    Scope.RESULT,
    AUDIT_NEEDS,
    fix="Verify again with both runs' own logs; mend what makes answers differ in performance mode and repeat TEST01.",
)
def test01_again(subject: Subject) -> Iterator[Finding | Skip]:
    """Where the accuracy run's log and TEST01's are whole, a TEST PASS over answers that differ fails.

    Answers are compared by their first byte: what differs there differs in every data type the script can be told.
    """
    run = audit_run(subject, AuditId.TEST01)
    if run is None or run.verify_accuracy is None or run.verify_accuracy.test_pass_line is None:
        yield Skip("no TEST PASS of TEST01 to test")
        return
    reference, log = _whole(result_of(subject).accuracy.accuracy), _whole(run.accuracy)
    if reference is None or log is None:
        yield Skip("the accuracy run's log or TEST01's is truncated: its answers cannot be compared any more")
        return
    try:
        verdict = test01.verify(iter_accuracy(reference.path), iter_accuracy(log.path))
    except UnreadableFile as error:
        yield Skip(f"an accuracy log cannot be read: {error.reason}")
        return
    if verdict.passed:
        return
    fault = verdict.faults[0] if verdict.faults else None
    found = f"{verdict.mismatched} of {verdict.matched} answers differ" if verdict.matched else "no sample in common"
    yield strictly(
        Finding(
            f"{run.folder}/accuracy/{ACCURACY_LOG}",
            "the accuracy run's answers, as verify_accuracy.txt says",
            found,
            message=f"first: sample {fault.qsl_idx}" if fault else "",
            line=fault.line if fault else None,
        )
    )


def _scores(subject: Subject, run: AuditRun | None) -> tuple[RunScore, RunScore] | None:
    """The scores of the performance run and of an audit's where verify_performance.txt says they agree."""
    reference = result_of(subject).performance.detail
    if run is None or reference is None or run.run.detail is None:
        return None
    if run.verify_performance is None or not run.verify_performance.test_pass:
        return None
    scores = read_score(reference), read_score(run.run.detail)
    return None if scores[0] is None or scores[1] is None else (scores[0], scores[1])


def _off(run: AuditRun, scores: tuple[RunScore, RunScore], expected: str, message: str) -> Finding:
    """The audit's score is not what its verdict says; a warning where that is about another performance run."""
    reference, score = scores
    where, line = place(run.run, score.key)
    found = f"{score.key} = {amount(score.value)}"
    other = compared(run.verify_performance, reference) if run.verify_performance else None
    if other is not None:
        message += f"; the verdict compared with a run of {amount(other)}, this one's is {amount(reference.value)}"
    finding = Finding(where, f"{expected}, as {VERIFY_PERFORMANCE} says", found, message=message, line=line)
    return strictly(finding, Severity.ERROR if other is None else Severity.WARNING)


@check(
    "AUD-017",
    "the scores of TEST01 and TEST04 show what their verdicts say",
    "compliance/TEST01/verify_performance.py; compliance/TEST04/verify_performance.py; weighbridge: the logs are read"
    " again",
    Scope.RESULT,
    AUDIT_NEEDS,
    fix="Verify again with the logs of this performance run and of this audit; repeat the audit if it fails.",
)
def scores_again(subject: Subject) -> Iterator[Finding | Skip]:
    """Where verify_performance.txt says TEST PASS, the two detail logs say so too.

    Both runs VALID, of one scenario and target latency; TEST01 within 10 % of the performance run both ways, TEST04 not
    10 % faster; 20 % for SingleStream up to 200 us and MultiStream up to 1.6 ms. A warning where the verdict prints the
    reference score of another run, which is then not at hand, and where TEST04 is between 10 and 20 % faster in other
    single and multi streams: its script grants the 20 % to all of them.
    """
    run = audit_run(subject, AuditId.TEST01)
    scores = _scores(subject, run)
    if run is not None and scores is not None:
        reason = test01.verify_score(*scores)
        if reason is not None:
            yield _off(run, scores, "the performance run's score", reason)
    run = audit_run(subject, AuditId.TEST04)
    scores = _scores(subject, run)
    if run is None or scores is None:
        return
    verdict = test04.verify(*scores)
    if not verdict.passed:
        expected = f"less than {verdict.limit:.2f} x the performance run's speed"
        finding = _off(run, scores, expected, verdict.reason or f"{verdict.ratio:.3f} x as fast")
        yield replace(finding, severity=Severity.WARNING) if verdict.script_passes else finding


@check(
    "AUD-018",
    "TEST07 and TEST09 show what their verdicts say",
    "compliance/TEST07/run_verification.py:94-292; compliance/TEST09/run_verification.py:47-435; weighbridge: the log"
    " and the printed numbers are read again",
    Scope.RESULT,
    AUDIT_NEEDS,
    fix="Verify again with the round's audit.config (it holds the bounds); repeat the audit if it fails.",
)
def numbers_again(subject: Subject) -> Iterator[Finding | Skip]:
    """TEST PASS stands over numbers within the round's bounds, whatever bounds the script was given.

    TEST07: the printed accuracy score. TEST09: the mean length of the answers, from its log where that is whole, and as
    printed.
    """
    yield from _test07_score(subject)
    yield from _test09_length(subject)


def _test07_score(subject: Subject) -> Iterator[Finding]:
    run, least = audit_run(subject, AuditId.TEST07), benchmark_of(subject).test07_score
    if run is None or least is None or run.verify_accuracy is None or not run.verify_accuracy.test_pass:
        return
    score = test07.read_text(run.verify_accuracy).score
    if score is not None and score.value < least:
        where, found = f"{run.folder}/{VERIFY_ACCURACY}", f"Accuracy score: {amount(score.value)}"
        yield strictly(Finding(where, f"an accuracy score >= {amount(least)}", found, line=score.line))


def _test09_length(subject: Subject) -> Iterator[Finding]:
    run, bounds = audit_run(subject, AuditId.TEST09), benchmark_of(subject).test09_mean_tokens
    if run is None or bounds is None or run.verify_output_len is None or not run.verify_output_len.test_pass:
        return
    expected = f"{amount(bounds[0])} to {amount(bounds[1], 'tokens')} per answer in the mean"
    printed = test09.read_text(run.verify_output_len).mean_tokens
    if printed is not None and not test09.within(printed.value, bounds):
        found = f"Mean output tokens: {amount(printed.value)}"
        yield strictly(Finding(f"{run.folder}/{VERIFY_LENGTH}", expected, found, line=printed.line))
    log = _whole(run.accuracy)
    try:
        verdict = test09.verify(iter_accuracy(log.path), bounds) if log else None
    except UnreadableFile:
        return
    if verdict is not None and not verdict.passed:
        found = f"{verdict.mean_tokens:.2f} tokens in the mean of {verdict.entries} answers"
        yield strictly(Finding(f"{run.folder}/accuracy/{ACCURACY_LOG}", expected, found))


@check(
    "AUD-019",
    "TEST07 and TEST09 cover their data sets",
    "compliance/TEST09/gpt-oss-120b/audit.config; weighbridge: neither checker nor scripts count the answers",
    Scope.RESULT,
    AUDIT_NEEDS,
    fix="Repeat the audit with its own audit.config: it asks for every sample once and logs every answer.",
)
def every_answer(subject: Subject) -> Iterator[Finding | Skip]:
    """The log of TEST07 and TEST09, where whole, holds an answer for every sample; TEST09's verdict counted as many."""
    for audit, least in benchmark_of(subject).logged_answers.items():
        run = audit_run(subject, audit)
        if run is None:
            continue
        log = _whole(run.accuracy)
        if log is not None and (log.entries or 0) < least:
            where = f"{run.folder}/accuracy/{ACCURACY_LOG}"
            yield strictly(Finding(where, f"at least {least} answers", f"{log.entries} answers"))
        text = run.verify_output_len if audit is AuditId.TEST09 else None
        counted = test09.read_text(text).entries if text else None
        if counted is not None and counted.value < least:
            where, found = f"{run.folder}/{VERIFY_LENGTH}", f"Total samples: {amount(counted.value)}"
            yield strictly(Finding(where, f"at least {least} answers", found, line=counted.line))
