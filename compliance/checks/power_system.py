"""PWR-: what is asked of a system whose power was measured: its nameplate, its description, the analyser's settings."""

from collections.abc import Iterator
from pathlib import PurePosixPath

from compliance.checks.facts import graded, result_of, strictly, system_of
from compliance.checks.model import Finding, Scope, Skip, Subject
from compliance.checks.power_facts import power_of, shown
from compliance.checks.registry import check
from compliance.discovery.power import nameplate_path
from compliance.logs.documents import pointer_of
from compliance.logs.power.nameplate import Nameplate
from compliance.rulebook.power import load_power_rules
from compliance.vocabulary import Severity

_WRITE_NAMEPLATE = (
    "Write systems/<system>_power.yaml: under a label for each component a list PSUs, each with PowerCapacityWatts, and"
    " Min PSUs Needed; or system_power_capacity in the description."
)


def _nameplate_path(subject: Subject) -> str | None:
    submitter, system = subject.submitter, system_of(subject)
    names = {
        "division": submitter.division.value if submitter else "",
        "submitter": submitter.name if submitter else "",
        "system": system.name,
    }
    return nameplate_path(subject.round, names)


@check(
    "PWR-030",
    "the nameplate file is YAML",
    "loader.py:302-309",
    Scope.SYSTEM,
    fix=_WRITE_NAMEPLATE,
)
def nameplate_file(subject: Subject) -> Iterator[Finding | Skip]:
    """systems/<system>_power.yaml, where there is one, can be read as YAML.

    The official checker crashes on one that cannot, whether or not power was measured; in strict it is then a warning.
    """
    path = _nameplate_path(subject)
    if path is None:
        yield Skip(f"round {subject.round.name} knows no nameplate files")
        return
    measured = any(result.power for result in system_of(subject).results)
    for noted in system_of(subject).unreadable:
        if noted.path == path:
            finding = Finding(path, "a YAML file", noted.reason, line=noted.line)
            strict = Severity.ERROR if measured else Severity.WARNING
            yield from graded(finding, official=Severity.ERROR, strict=strict)


@check(
    "PWR-031",
    "the design power is known",
    "system_check.py:226-313",
    Scope.RESULT,
    ("power", "description"),
    fix=_WRITE_NAMEPLATE,
)
def design_power(subject: Subject) -> Iterator[Finding | Skip]:
    """A measured system's design power is in its description or adds up from its nameplate file.

    A missing file is a warning, as officially; one that says nothing or does not add up is an error. That the sum is
    above 0 W, and system_power_capacity a number above 0, is asked in strict alone.
    """
    system, path = system_of(subject), _nameplate_path(subject)
    if path is None:
        yield Skip(f"round {subject.round.name} asks for no nameplate")
        return
    field = load_power_rules().nameplate_field
    members = system.description.members if system.description else {}
    if field in members:
        value = members[field]
        if isinstance(value, bool) or not isinstance(value, int | float) or not value > 0:
            line = system.description.line(field) if system.description else None
            found, pointer = f'"{field}": {shown(value)}', pointer_of(field)
            finding = Finding(system.path, "a number of watts above 0", found, line=line, pointer=pointer)
            yield strictly(finding, Severity.WARNING)
    elif system.nameplate is not None:
        yield from _adds_up(path, system.nameplate)
    elif any(noted.path == path for noted in system.unreadable):
        yield Skip("the nameplate file cannot be read (PWR-030)")
    else:
        finding = Finding(path, "the system's nameplate file", "no such file")
        yield from graded(finding, official=Severity.WARNING, strict=Severity.WARNING)


def _adds_up(path: str, nameplate: Nameplate) -> Iterator[Finding]:
    expected = "power supplies whose capacities add up"
    if nameplate.design_power_watts is None:
        yield Finding(path, expected, nameplate.problem)
    elif not nameplate.design_power_watts > 0:
        found = f"{nameplate.design_power_watts} W from {nameplate.components} components"
        yield strictly(Finding(path, f"{expected} to more than 0 W", found))


@check(
    "PWR-032",
    "the description says what draws power",
    "old:3377-3398",
    Scope.RESULT,
    ("power", "description"),
    fix='Add the field; where it does not apply write "N/A".',
)
def power_fields(subject: Subject) -> Iterator[Finding | Skip]:
    """The system description holds every field asked of measured systems; the new official checker does not ask."""
    system = system_of(subject)
    members = system.description.members if system.description else {}
    for field in load_power_rules().system_fields:
        if field not in members:
            yield strictly(Finding(system.path, f'the field "{field}"', f'no "{field}"', pointer=""))


@check(
    "PWR-033",
    "the analyser's settings are there",
    "old:3435-3473",
    Scope.RESULT,
    ("power",),
    fix="Put analyzer_table.md and power_settings.md beside the measurements file, or up to three folders above it.",
)
def measure_files(subject: Subject) -> Iterator[Finding | Skip]:
    """analyzer_table.* and power_settings.*, not empty, stand beside the measurements or up to three folders above."""
    files = power_of(subject).measure_files
    for prefix in load_power_rules().measure_prefixes:
        found = {path: size for path, size in files.items() if PurePosixPath(path).name.startswith(prefix)}
        if not found:
            yield strictly(Finding(result_of(subject).path, f"a file {prefix}.*", "no such file"))
        elif not any(found.values()):
            yield strictly(Finding(next(iter(found)), "what the analyser was set to", "an empty file"))
