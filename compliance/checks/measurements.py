"""MEAS-: the files beside a result's logs (measurements_checks.py of the official checker)."""

from collections.abc import Iterator

from compliance.checks.facts import as_json, graded, missing, result_of, strictly
from compliance.checks.hints import near
from compliance.checks.model import Finding, Scope, Skip, Subject
from compliance.checks.registry import check
from compliance.checks.system import placeholder
from compliance.logs.documents import Document, pointer_of
from compliance.records import Result
from compliance.vocabulary import Severity


def _path(subject: Subject, template: str) -> str:
    result = result_of(subject)
    return template.format(
        division=result.division.value,
        submitter=result.submitter,
        system=result.system,
        benchmark=result.benchmark,
        scenario=result.scenario_dir,
        file=f"{result.system}.json",
    )


def conf_path(subject: Subject) -> str:
    """Where the layout puts the result's user.conf."""
    return _path(subject, subject.round.layout.user_conf)


def readme_path(subject: Subject) -> str:
    """Where the layout puts the result's README.md."""
    return _path(subject, subject.round.layout.readme)


def measurements_path(subject: Subject) -> str:
    """Path of the measurements file: as found, readable or not, else where the layout wants it."""
    result, root = result_of(subject), subject.submission.root
    document, template = result.measurements, subject.round.layout.measurements
    if document is not None and document.path.is_relative_to(root):
        return document.path.relative_to(root).as_posix()
    wanted = _path(subject, template)
    if "{file}" not in template:
        return wanted
    folder, _, _ = wanted.rpartition("/")
    unread = (one.path for one in result.unreadable if one.path.rpartition("/")[0] == folder)
    return next((path for path in unread if path.endswith(".json")), wanted)


def _document(result: Result) -> Document:
    if result.measurements is None:
        raise LookupError("this check must need 'measurements'")
    return result.measurements


@check(
    "MEAS-001",
    "the measurements file can be read",
    "measurements_checks.py:68; loader.py:146-188",
    Scope.RESULT,
    fix="Write measurements.json; `weighbridge explain MEAS-004` names its fields (`weighbridge package` writes it).",
)
def measurements(subject: Subject) -> Iterator[Finding | Skip]:
    """The measurements file of the result exists and is a JSON object."""
    if result_of(subject).measurements is None:
        yield missing(subject, measurements_path(subject), "measurements as a JSON object")


def _filled(subject: Subject, template: str, size_bytes: int | None) -> Iterator[Finding]:
    if not size_bytes:
        found = "no such file" if size_bytes is None else "an empty file"
        yield Finding(_path(subject, template), "a file with content", found)


@check(
    "MEAS-002",
    "user.conf is there",
    "measurements_checks.py:96",
    Scope.RESULT,
    ("loadgen",),
    fix="Copy the user.conf of the performance run.",
)
def user_conf(subject: Subject) -> Iterator[Finding | Skip]:
    """user.conf stands beside the measurements file and is not empty."""
    yield from _filled(subject, subject.round.layout.user_conf, result_of(subject).user_conf_bytes)


@check(
    "MEAS-003",
    "README.md is there",
    "measurements_checks.py:96",
    Scope.RESULT,
    fix="Write a README.md that says how to repeat the run: command, flags, versions.",
)
def readme(subject: Subject) -> Iterator[Finding | Skip]:
    """README.md stands beside the measurements file and is not empty."""
    yield from _filled(subject, subject.round.layout.readme, result_of(subject).readme_bytes)


@check(
    "MEAS-004",
    "the measurements say what they must",
    "measurements_checks.py:124",
    Scope.RESULT,
    ("measurements",),
    fix='Fill the field in; for retraining write "No", since false and "" count as empty.',
)
def fields(subject: Subject) -> Iterator[Finding | Skip]:
    """The five fields are there and not empty, false or 0.

    They are input_data_types, retraining, starting_weights_filename, weight_data_types and weight_transformations.
    """
    document = _document(result_of(subject))
    for field in subject.round.measurements_fields:
        if not document.members.get(field):
            pointer = pointer_of(field)
            present = field in document.members
            found = f'"{field}": {as_json(document.members[field])}' if present else f'no "{field}"'
            others = [name for name in document.members if name not in subject.round.measurements_fields]
            meant = None if present else near(field, others)
            message = "" if meant is None else f'"{meant}" is there: did you mean "{field}"?'
            yield Finding(
                measurements_path(subject),
                f'a meaningful "{field}"',
                found,
                fix="" if meant is None else f'Rename "{meant}" to "{field}".',
                message=message,
                line=document.lines.get(pointer) if meant is None else document.line(meant),
                pointer=pointer if present else "" if meant is None else pointer_of(meant),
            )


@check(
    "MEAS-005",
    "the measurements are plain JSON",
    "loader.py:207-219",
    Scope.RESULT,
    ("measurements",),
    fix="Save it as plain JSON: UTF-8 without BOM, no trailing commas, each key once.",
)
def plain_json(subject: Subject) -> Iterator[Finding | Skip]:
    """The measurements need no repair to be read. The official checker crashes on some of what is repaired here."""
    for problem in _document(result_of(subject)).problems:
        finding = Finding(measurements_path(subject), "plain JSON", problem.reason, line=problem.line)
        official = None if problem.official else Severity.ERROR
        yield from graded(finding, official=official, strict=Severity.WARNING)


@check(
    "MEAS-006",
    "no placeholder was left in the measurements",
    "measurements_checks.py:124; submission_rules.adoc:514-530",
    Scope.RESULT,
    ("measurements",),
    fix="Write what was used.",
)
def placeholders(subject: Subject) -> Iterator[Finding | Skip]:
    """No value of the measurements is or holds TBD, TODO, xxx, ??? or <name>."""
    document = _document(result_of(subject))
    for field, value in document.members.items():
        if placeholder(value) is not None:
            pointer = pointer_of(field)
            line = document.lines.get(pointer)
            finding = Finding(
                measurements_path(subject),
                f'"{field}" filled in',
                f'"{field}": {as_json(value)}',
                line=line,
                pointer=pointer,
            )
            yield strictly(finding, Severity.WARNING)
