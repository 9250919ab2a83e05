"""AUD-1xx: the compliance tests of endpoints runs (compliance_check.py:502-560)."""

from collections.abc import Iterator, Mapping

from compliance.checks.endpoints_facts import NEEDS_SUMMARY, SUMMARY, at, by_division, run_of, said
from compliance.checks.facts import amount, benchmark_of, is_open, missing, number_in
from compliance.checks.model import Finding, Scope, Skip, Subject
from compliance.checks.registry import check
from compliance.logs.endpoints_official import MEAN_TOKENS
from compliance.logs.endpoints_records import EndpointsAudit
from compliance.vocabulary import AuditId

NAMES: Mapping[AuditId, str] = {
    AuditId.TEST01: "accuracy_in_performance_test",
    AuditId.TEST04: "output_caching_test",
    AuditId.TEST06: "consistency_output_test",
    AuditId.TEST07: "accuracy_in_performance_full_test",
    AuditId.TEST08: "accuracy_in_performance_dlrmv3_test",
}
"""What endpoints calls the compliance tests (constants.py:2288-2294). TEST09 is judged from the performance run."""
_TEST09_TOKENS = (1150.38, 1406.02)
"""Least and greatest mean length of answers, whatever the benchmark (constants.py:1503-1504)."""
_NEEDS = ("endpoints", "benchmark")
_RUN_IT = "Run the compliance test for this scenario and copy its audit_<name>.json into audit/."


def _file(audit: AuditId) -> str:
    return f"audit_{NAMES[audit]}.json"


@check(
    "AUD-101",
    "every required audit of the endpoints run is there",
    "compliance_check.py:502-515, 556-563; constants.py:2288",
    Scope.RESULT,
    _NEEDS,
    fix=_RUN_IT,
)
def files(subject: Subject) -> Iterator[Finding | Skip]:
    """audit/audit_<name>.json is there for each audit of the benchmark, in closed and network.

    The official checker misses TEST04's alone, in open too.
    """
    run = run_of(subject)
    for audit in benchmark_of(subject).audits:
        if audit not in NAMES or _file(audit) in run.audit_files:
            continue
        finding = Finding(f"{run.folder}/audit/{_file(audit)}", f"the verdict of {audit.value}", "no such file")
        official = audit is AuditId.TEST04 and benchmark_of(subject).endpoints
        yield from by_division(finding, subject, official=official, strict=not is_open(subject))


@check(
    "AUD-102",
    "the audits of the endpoints run passed",
    "compliance_check.py:515-544",
    Scope.RESULT,
    _NEEDS,
    fix="Mend what the test found and repeat it; submit the file it wrote.",
)
def passed(subject: Subject) -> Iterator[Finding | Skip]:
    """Each audit file that is there can be read, is of its test, and says passed; a warning in strict in open.

    The official checker takes anything but false, 0 and nothing for passed.
    """
    run = run_of(subject)
    for audit in benchmark_of(subject).audits:
        if audit not in NAMES or _file(audit) not in run.audit_files:
            continue
        where, verdict = f"{run.folder}/audit/{_file(audit)}", run.audits.get(_file(audit))
        if verdict is None:
            yield from by_division(missing(subject, where, "a JSON object"), subject, official=True, strict=True)
        else:
            yield from _verdict(subject, where, verdict, NAMES[audit])


def _verdict(subject: Subject, where: str, verdict: EndpointsAudit, name: str) -> Iterator[Finding]:
    form = verdict.form
    for problem in form.problems:
        if not problem.official:
            finding = Finding(where, "plain JSON", problem.reason, line=problem.line)
            yield from by_division(finding, subject, official=True, strict=False)
    pointer = "/passed" if verdict.test == name else "/test"
    value = verdict.passed if verdict.test == name else verdict.test
    expected = "passed = true" if verdict.test == name else f"test = {name}"
    line = form.lines.get(pointer)
    finding = Finding(where, expected, said(pointer[1:], value), line=line, pointer=pointer if line else None)
    wrong = verdict.test != name
    yield from by_division(
        finding, subject, official=wrong or not verdict.passed, strict=wrong or verdict.passed is not True
    )


@check(
    "AUD-103",
    "answers of the endpoints run are of the reference's length",
    "compliance_check.py:546-554; constants.py:1503-1504",
    Scope.RESULT,
    (*NEEDS_SUMMARY, "benchmark"),
    fix="Find why answers differ in length in performance mode (reasoning effort, max_new_tokens); repeat the run.",
)
def answer_lengths(subject: Subject) -> Iterator[Finding | Skip]:
    """TEST09 of an endpoints run: output_sequence_lengths.avg lies within 1150.38 to 1406.02 tokens.

    In every division in official; a warning in strict in open.
    """
    if AuditId.TEST09 not in benchmark_of(subject).audits:
        yield Skip("the benchmark has no TEST09")
        return
    run = run_of(subject)
    value = run.official.performance.get(MEAN_TOKENS)
    number = None if isinstance(value, list | dict | str) else number_in(value)
    least, most = _TEST09_TOKENS
    if number is None or number < least or number > most:
        expected = f"a mean of {amount(least)} to {amount(most)} output tokens"
        finding = at(run, SUMMARY, "/output_sequence_lengths/avg", expected, said("avg", value))
        yield from by_division(finding, subject, official=True, strict=True)
