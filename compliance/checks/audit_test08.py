"""AUD-: TEST08's verdict held against the numbers it printed and, where they are whole, against both logs."""

from collections.abc import Callable, Iterator

from compliance.audits import test08
from compliance.audits.stated import Stated
from compliance.checks.audits import AUDIT_NEEDS, VERIFY_ACCURACY, audit_run
from compliance.checks.facts import ACCURACY_LOG, amount, result_of, strictly
from compliance.checks.model import Finding, Scope, Skip, Subject
from compliance.checks.registry import check
from compliance.errors import UnreadableFile
from compliance.logs.accuracy import AccuracyLog, iter_accuracy
from compliance.records import AuditRun
from compliance.vocabulary import AuditId

_Wanted = tuple[str, Stated | None, str, Callable[[float], bool]]
"""A printed number: its name, what was printed, what it must be in words, and whether it is."""


@check(
    "AUD-022",
    "TEST08 shows what its verdict says",
    "compliance/TEST08/run_verification.py; weighbridge: the logs and the printed numbers are read again",
    Scope.RESULT,
    AUDIT_NEEDS,
    fix="Verify again with the whole logs of both runs and the script's own tolerance; repeat TEST08 if it fails.",
)
def test08_again(subject: Subject) -> Iterator[Finding | Skip]:
    """TEST PASS of TEST08 stands over numbers, and over logs, that show it.

    Printed: at least one answer matched, none unmatched, none with another entropy, at a tolerance of 0.1 % or less,
    and as many answers as its log holds. Where both its log and the accuracy run's are whole, the entropies are
    computed anew.
    """
    run = audit_run(subject, AuditId.TEST08)
    if run is None or run.verify_accuracy is None or run.verify_accuracy.test_pass_line is None:
        yield Skip("no TEST PASS of TEST08 to test")
        return
    yield from _printed(run, test08.read_text(run.verify_accuracy))
    reference, log = result_of(subject).accuracy.accuracy, run.accuracy
    if not _whole(reference) or not _whole(log) or reference is None or log is None:
        yield Skip("the accuracy run's log or TEST08's is truncated: their answers cannot be compared any more")
        return
    try:
        verdict = test08.verify(iter_accuracy(reference.path), iter_accuracy(log.path))
    except (UnreadableFile, test08.NotPaired) as error:
        yield Skip(f"the two logs cannot be compared: {error}")
        return
    if not verdict.passed:
        faults = f"{verdict.unmatched} unmatched, {verdict.mismatched} of {verdict.matched} with another entropy"
        first = next(iter(verdict.faults), None)
        message = "" if first is None else f"first: timestamp {first.key[0]}, query {first.key[1]}"
        where = f"{run.folder}/accuracy/{ACCURACY_LOG}"
        expected = f"the accuracy run's predictions, as {VERIFY_ACCURACY} says"
        yield strictly(Finding(where, expected, f"of {verdict.entries} answers {faults}", message=message))


def _whole(log: AccuracyLog | None) -> bool:
    return log is not None and not log.truncated and bool(log.entries)


def _printed(run: AuditRun, text: test08.Test08Text) -> Iterator[Finding]:
    where = f"{run.folder}/{VERIFY_ACCURACY}"
    logged = run.accuracy.entries if run.accuracy is not None and _whole(run.accuracy) else None
    wanted: tuple[_Wanted, ...] = (
        ("num_matched", text.matched, "> 0", lambda value: value > 0),
        ("num_unmatched", text.unmatched, "= 0", lambda value: value == 0),
        ("num_ne_mismatch", text.mismatched, "= 0", lambda value: value == 0),
        (
            "tolerance",
            text.tolerance_percent,
            f"<= {test08.TOLERANCE_PERCENT} %",
            lambda value: value <= test08.TOLERANCE_PERCENT,
        ),
        ("num_perf_log_entries", text.logged, f"= {logged}, as in its log", lambda value: value == (logged or value)),
    )
    for name, said, expected, holds in wanted:
        if said is not None and not holds(said.value):
            found = f"{name} = {amount(said.value)}"
            yield strictly(Finding(where, f"{name} {expected}", found, line=said.line))
