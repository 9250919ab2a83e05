"""LOG-1xx: the files of an endpoints run are there and can be read (endpoints_parser.py)."""

from collections.abc import Iterator

from compliance.checks.endpoints_facts import ACCURACY, CONFIG, SUMMARY, at, form_of, path_of, run_of
from compliance.checks.facts import graded, missing, strictly
from compliance.checks.model import Finding, Scope, Skip, Subject
from compliance.checks.registry import check
from compliance.vocabulary import Severity

_ENDPOINTS = ("endpoints",)
_COPY = "Copy the file of the finished run anew, byte for byte, to this place."
_SHOWN = 5


def _there(subject: Subject, part: str, expected: str) -> Iterator[Finding]:
    run = run_of(subject)
    if form_of(run, part) is None:
        yield missing(subject, path_of(run, part), expected)


@check(
    "LOG-101",
    "the configuration of the endpoints run can be read",
    "endpoints_parser.py:245-258; loader.py:469",
    Scope.RESULT,
    _ENDPOINTS,
    fix="Copy config.yaml of the finished run into the scenario's folder.",
)
def config_file(subject: Subject) -> Iterator[Finding | Skip]:
    """config.yaml (or config.yml) stands in the results folder and is a YAML mapping of reasonable size.

    Asked where both of LoadGen's detail logs are absent and a file of endpoints is there.
    """
    yield from _there(subject, CONFIG, "the run's configuration as a YAML mapping")


@check(
    "LOG-102",
    "the summary of the endpoints run can be read",
    "endpoints_parser.py:236-243",
    Scope.RESULT,
    _ENDPOINTS,
    fix=_COPY,
)
def summary_file(subject: Subject) -> Iterator[Finding | Skip]:
    """performance/result_summary.json is there and is a JSON object."""
    yield from _there(subject, SUMMARY, "the performance run's summary as a JSON object")


@check(
    "LOG-103",
    "the scores of the endpoints run can be read",
    "endpoints_parser.py:236-243",
    Scope.RESULT,
    _ENDPOINTS,
    fix=_COPY,
)
def accuracy_file(subject: Subject) -> Iterator[Finding | Skip]:
    """accuracy/accuracy_results.json is there and is a JSON object."""
    yield from _there(subject, ACCURACY, "the accuracy run's scores as a JSON object")


@check(
    "LOG-104",
    "the endpoints files are plain JSON and YAML",
    "endpoints_parser.py:236-258",
    Scope.RESULT,
    _ENDPOINTS,
    fix="Save it in UTF-8 without BOM, without trailing commas, each name once.",
)
def plain(subject: Subject) -> Iterator[Finding | Skip]:
    """The files need no repair to be read. The official checker takes one that does for an empty one."""
    run = run_of(subject)
    for part in (CONFIG, SUMMARY, ACCURACY):
        form = form_of(run, part)
        for problem in form.problems[:_SHOWN] if form else ():
            finding = Finding(path_of(run, part), "plain JSON or YAML", problem.reason, line=problem.line)
            official = None if problem.official else Severity.ERROR
            yield from graded(finding, official=official, strict=Severity.WARNING)


@check(
    "LOG-105",
    "the endpoints files hold what their schemas say",
    "endpoints_parser.py:77-93, 184-228; weighbridge: submission_templates/schemas/endpoints-*.schema.json",
    Scope.RESULT,
    _ENDPOINTS,
    fix="Submit the files as mlcommons/endpoints wrote them; correct what was edited.",
)
def schema(subject: Subject) -> Iterator[Finding | Skip]:
    """Members are of the kind that the shipped schemas want: a warning, since each value needed has its own check.

    An error in official where the official checker stops over it (a count that is no number, say).
    """
    run = run_of(subject)
    for part in (CONFIG, SUMMARY, ACCURACY):
        form = form_of(run, part)
        for problem in form.schema[:_SHOWN] if form else ():
            yield strictly(
                at(run, part, problem.pointer, "a member as the schema has it", problem.message), Severity.WARNING
            )
    if run.official.crash:
        finding = Finding(run.folder, "files that the official checker can read", run.official.crash)
        yield from graded(finding, official=Severity.ERROR, strict=Severity.WARNING)
