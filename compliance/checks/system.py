"""SYS-: the system description (submission_rules.adoc:443-512). A fault here turns down every result of the system."""

import re
from collections.abc import Iterator

from compliance.checks.facts import as_json, graded, missing, strictly, system_of
from compliance.checks.model import Finding, Scope, Skip, Subject
from compliance.checks.registry import check
from compliance.logs.documents import Document, JsonValue, pointer_of
from compliance.rulebook.system_schema import SYSTEM_TYPES
from compliance.vocabulary import Division, Severity

_PLACEHOLDER = re.compile(
    r"\b(?:tbd|todo|fixme|xxx+|to be (?:determined|filled|done)|changeme|lorem ipsum)\b|<[^<>]+>|\?{3,}", re.IGNORECASE
)
_NEEDS = ("description",)
_INTEGERS = ("number_of_nodes", "accelerators_per_node")


def placeholder(value: JsonValue) -> str | None:
    """The word of a value that says it was never filled in (TBD, TODO, xxx, ???, <name>), None when there is none."""
    match = _PLACEHOLDER.search(value) if isinstance(value, str) else None
    return match[0] if match else None


def _path(subject: Subject) -> str:
    return system_of(subject).path


def description_of(subject: Subject) -> Document:
    """The system's description; a check that calls this needs "description". Raises LookupError without."""
    description = system_of(subject).description
    if description is None:
        raise LookupError("this check must need 'description'")
    return description


def at_field(subject: Subject, field: str, expected: str, *, found: str | None = None, message: str = "") -> Finding:
    """A finding about one field of the description, at its line; one that is absent is shown as such."""
    document = description_of(subject)
    present = field in document.members
    shown = found or (f'"{field}": {as_json(document.members[field])}' if present else f'no "{field}"')
    pointer = pointer_of(field)
    line = document.lines.get(pointer)
    return Finding(_path(subject), expected, shown, message=message, line=line, pointer=pointer if present else "")


def _lowered(document: Document, field: str) -> str | None:
    value = document.members.get(field)
    return value.lower() if isinstance(value, str) else None


@check(
    "SYS-001",
    "the system description can be read",
    "system_check.py:66; loader.py:299-301",
    Scope.SYSTEM,
    fix="Write systems/<system>.json under exactly the results folder's name (`weighbridge systems capture`).",
)
def description(subject: Subject) -> Iterator[Finding | Skip]:
    """systems/<system>.json exists and is a JSON object; the official checker crashes without it."""
    if system_of(subject).description is None:
        yield missing(subject, _path(subject), "the system's description as a JSON object")


@check(
    "SYS-002",
    "the description is plain JSON",
    "loader.py:299-301",
    Scope.SYSTEM,
    _NEEDS,
    fix="Save it as plain JSON: UTF-8 without BOM, no trailing commas, each key once.",
)
def plain_json(subject: Subject) -> Iterator[Finding | Skip]:
    """The description needs no repair to be read. The official checker crashes on some of what is repaired here."""
    for problem in description_of(subject).problems:
        finding = Finding(_path(subject), "plain JSON", problem.reason, line=problem.line)
        official = None if problem.official else Severity.ERROR
        yield from graded(finding, official=official, strict=Severity.WARNING)


@check(
    "SYS-003",
    "the availability is known",
    "system_check.py:80",
    Scope.SYSTEM,
    _NEEDS,
    fix="Set status to available, preview or rdi.",
)
def availability(subject: Subject) -> Iterator[Finding | Skip]:
    """status, in any case, is one of the round's availability values."""
    if _lowered(description_of(subject), "status") not in subject.round.availability:
        yield at_field(subject, "status", f"status is one of {', '.join(subject.round.availability)}")


@check(
    "SYS-004",
    "the system type is known",
    "system_check.py:97; loader.py:247",
    Scope.SYSTEM,
    _NEEDS,
    fix="Write system_type exactly so: it selects the scenarios that are asked for.",
)
def system_type(subject: Subject) -> Iterator[Finding | Skip]:
    """system_type is exactly one of datacenter, edge, "datacenter,edge", "edge,datacenter"."""
    if description_of(subject).members.get("system_type") not in SYSTEM_TYPES:
        yield at_field(subject, "system_type", f"system_type is one of {'; '.join(SYSTEM_TYPES)}")


@check(
    "SYS-005",
    "is_network fits the division",
    "performance_check.py:405-422; system_check.py:121",
    Scope.SYSTEM,
    _NEEDS,
    fix='Write "true" in the network division; leave is_network out in closed.',
)
def network(subject: Subject) -> Iterator[Finding | Skip]:
    """is_network is "true" in network and absent or not "true" in closed. It must be a string.

    The official checker dies on a JSON boolean; strict reads one, and warns.
    """
    value = description_of(subject).members.get("is_network")
    division = subject.submitter.division if subject.submitter else None
    wanted = {Division.NETWORK: True, Division.CLOSED: False}.get(division) if division else None
    if value is not None and not isinstance(value, str):
        fits = wanted is None or (value is True) is wanted
        finding = at_field(subject, "is_network", 'is_network as a string ("true") or left out')
        yield from graded(finding, official=Severity.ERROR, strict=Severity.WARNING if fits else Severity.ERROR)
    elif wanted is not None and (str(value).lower() == "true") is not wanted:
        yield at_field(
            subject, "is_network", f'is_network is {"" if wanted else "not "}"true" in the {division} division'
        )


def _same_as_folder(subject: Subject, field: str, folder: str) -> Iterator[Finding]:
    if _lowered(description_of(subject), field) != folder.lower():
        yield at_field(subject, field, f'"{field}": "{folder}", as the folder is called')


@check(
    "SYS-008", "the submitter is the folder's", "system_check.py:188", Scope.SYSTEM, _NEEDS, fix="Make the two agree."
)
def submitter(subject: Subject) -> Iterator[Finding | Skip]:
    """The submitter equals the submitter's folder, in any case."""
    if subject.submitter is not None:
        yield from _same_as_folder(subject, "submitter", subject.submitter.name)


@check(
    "SYS-009", "the division is the folder's", "system_check.py:207", Scope.SYSTEM, _NEEDS, fix="Make the two agree."
)
def division(subject: Subject) -> Iterator[Finding | Skip]:
    """The division equals the division's folder, in any case."""
    if subject.submitter is not None:
        yield from _same_as_folder(subject, "division", subject.submitter.division.value)


@check(
    "SYS-011",
    "no placeholder was left",
    "system_check.py:169-177; submission_rules.adoc:443-512",
    Scope.SYSTEM,
    _NEEDS,
    fix='Write what the system has, or "N/A".',
)
def placeholders(subject: Subject) -> Iterator[Finding | Skip]:
    """No value is or holds TBD, TODO, xxx, ??? or <name>: an error where that is the whole of a meaningful field."""
    meaningful = subject.round.system_fields.meaningful
    for field, value in description_of(subject).members.items():
        word = placeholder(value)
        if word is not None:
            whole = field in meaningful and str(value).strip() == word
            severity = Severity.ERROR if whole else Severity.WARNING
            yield strictly(at_field(subject, field, f'"{field}" filled in'), severity)


@check(
    "SYS-012",
    "the counts are whole numbers",
    "constants.py:1833-1942; results.py:28-60",
    Scope.SYSTEM,
    _NEEDS,
    fix='Write a plain number ("8", not "8x"); the results table multiplies nodes by accelerators.',
)
def whole_counts(subject: Subject) -> Iterator[Finding | Skip]:
    """number_of_nodes and accelerators_per_node are integers; else the official checker loses all results."""
    members = description_of(subject).members
    for field in _INTEGERS:
        value = members.get(field)
        if value and not _whole(value):
            finding = at_field(subject, field, f'"{field}" as a whole number')
            yield from graded(finding, official=Severity.ERROR, strict=Severity.WARNING)


@check(
    "SYS-013",
    "the processor count is a whole number",
    "constants.py:1833-1942; generate_final_report.py",
    Scope.SYSTEM,
    _NEEDS,
    fix="Write a plain number; the official report tool crashes on anything else.",
)
def whole_processors(subject: Subject) -> Iterator[Finding | Skip]:
    """host_processors_per_node can be taken as an integer."""
    value = description_of(subject).members.get("host_processors_per_node")
    if value and not _whole(value):
        finding = at_field(subject, "host_processors_per_node", '"host_processors_per_node" as a whole number')
        yield strictly(finding, Severity.WARNING)


def _whole(value: JsonValue) -> bool:
    if not isinstance(value, str | int | float):
        return False
    try:
        int(value)
    except (ValueError, OverflowError):
        return False
    return True
