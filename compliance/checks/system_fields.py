"""SYS-: the fields of a system description: there, filled in, and none that the round does not know."""

from collections.abc import Iterator
from dataclasses import replace

from compliance.checks.facts import as_json, strictly, system_of
from compliance.checks.hints import near
from compliance.checks.model import Finding, Scope, Skip, Subject
from compliance.checks.registry import check
from compliance.checks.system import at_field, description_of
from compliance.logs.documents import pointer_of
from compliance.vocabulary import Severity

_NEEDS = ("description",)
_NETWORK_FIELDS = "every network field, since is_network is set"


@check(
    "SYS-006",
    "every required field is present",
    "system_check.py:158-168",
    Scope.SYSTEM,
    _NEEDS,
    fix='Add the field; where it does not apply write "N/A".',
)
def required_fields(subject: Subject) -> Iterator[Finding | Skip]:
    """Every field that the round requires is there; with is_network set, the network fields too (even for "false").

    All that lack are one finding, but for those that seem to be there under another name.
    """
    members = description_of(subject).members
    fields = subject.round.system_fields
    known = {*fields.known, *fields.required, *fields.network}
    unknown = [name for name in members if name not in known]
    groups = (("every field that the round requires", fields.required), (_NETWORK_FIELDS, fields.network))
    for expected, names in groups if members.get("is_network") else groups[:1]:
        lacking = [name for name in names if name not in members]
        meant = {name: near(name, unknown) for name in lacking}
        for name, present in meant.items():
            if present is not None:
                yield _misnamed(subject, at_field(subject, name, f'the field "{name}"'), (present, name))
        bare = [name for name, present in meant.items() if present is None]
        if bare:
            found = f"no {', '.join(_quoted(name) for name in bare)}"
            yield Finding(system_of(subject).path, expected, found, pointer="")


def _quoted(name: str) -> str:
    return f'"{name}"'


def _misnamed(subject: Subject, finding: Finding, names: tuple[str, str]) -> Finding:
    """The finding about a missing field that says which field that is there was likely meant, and where."""
    present, wanted = names
    message = f'"{present}" is there: did you mean "{wanted}"?'
    line = description_of(subject).line(present)
    fix = f'Rename "{present}" to "{wanted}".'
    return replace(finding, message=message, fix=fix, line=line, pointer=pointer_of(present))


@check(
    "SYS-007",
    "every field that must say something does",
    "system_check.py:169-177",
    Scope.SYSTEM,
    _NEEDS,
    fix='Fill it in. For none write the string "0" or "N/A": the number 0, false and "" count as empty.',
)
def meaningful_fields(subject: Subject) -> Iterator[Finding | Skip]:
    """Fields which must say something are not empty, 0, false or null. All that are so are one finding."""
    document = description_of(subject)
    empty = [
        field
        for field in subject.round.system_fields.meaningful
        if field in document.members and not document.members[field]
    ]
    if len(empty) == 1:
        yield at_field(subject, empty[0], f'a meaningful "{empty[0]}"')
    elif empty:
        lines = {field: document.line(field) for field in empty}
        shown = (f"{_quoted(field)}: {as_json(document.members[field])} (line {lines[field]})" for field in empty)
        yield at_field(subject, empty[0], "a meaningful answer in each of these fields", found=", ".join(shown))


@check(
    "SYS-010",
    "no unknown field",
    "old:3354",
    Scope.SYSTEM,
    _NEEDS,
    fix="Correct the field's name or take it out.",
)
def known_fields(subject: Subject) -> Iterator[Finding | Skip]:
    """Every field's name is one that the round knows."""
    fields = subject.round.system_fields
    known = {*fields.known, *fields.required, *fields.network}
    for field in description_of(subject).members:
        if field not in known:
            meant = near(field, known)
            fix = "" if meant is None else f'Did you mean "{meant}"? Rename it, or take it out.'
            yield strictly(replace(at_field(subject, field, "fields the rules know"), fix=fix), Severity.WARNING)
