"""What the checks of endpoints runs share: their files, the lines of members, findings about them."""

from collections.abc import Iterator

from compliance.checks.facts import graded, is_open, result_of
from compliance.checks.model import Finding, Subject
from compliance.logs.documents import JsonValue
from compliance.logs.endpoints import ACCURACY_NAME, SUMMARY_NAME
from compliance.logs.endpoints_records import (
    EndpointsAccuracy,
    EndpointsConfig,
    EndpointsForm,
    EndpointsRun,
    EndpointsSummary,
)
from compliance.vocabulary import Severity

CONFIG, SUMMARY, ACCURACY = "config", "summary", "accuracy"
NEEDS_CONFIG = ("endpoints", "endpoints_config")
NEEDS_SUMMARY = ("endpoints", "endpoints_config", "endpoints_summary")
NEEDS_ACCURACY = ("endpoints", "endpoints_config", "endpoints_accuracy")


def run_of(subject: Subject) -> EndpointsRun:
    """The endpoints run of a subject; a check that calls this needs "endpoints". Raises LookupError without."""
    run = result_of(subject).endpoints
    if run is None:
        raise LookupError("no endpoints run; the check must need 'endpoints'")
    return run


def config_of(subject: Subject) -> EndpointsConfig:
    """config.yaml; needs "endpoints_config". Raises LookupError without."""
    config = run_of(subject).config
    if config is None:
        raise LookupError("no config.yaml; the check must need 'endpoints_config'")
    return config


def summary_of(subject: Subject) -> EndpointsSummary:
    """result_summary.json; needs "endpoints_summary". Raises LookupError without."""
    summary = run_of(subject).summary
    if summary is None:
        raise LookupError("no result_summary.json; the check must need 'endpoints_summary'")
    return summary


def accuracy_of(subject: Subject) -> EndpointsAccuracy:
    """accuracy_results.json; needs "endpoints_accuracy". Raises LookupError without."""
    accuracy = run_of(subject).accuracy
    if accuracy is None:
        raise LookupError("no accuracy_results.json; the check must need 'endpoints_accuracy'")
    return accuracy


def path_of(run: EndpointsRun, part: str) -> str:
    """Path of one of a run's three files, relative to the tree."""
    return {
        CONFIG: run.config_path,
        SUMMARY: f"{run.folder}/{SUMMARY_NAME}",
        ACCURACY: f"{run.folder}/{ACCURACY_NAME}",
    }[part]


def form_of(run: EndpointsRun, part: str) -> EndpointsForm | None:
    """How one of a run's three files is written, None where it could not be read."""
    files = {CONFIG: run.config, SUMMARY: run.summary, ACCURACY: run.accuracy}
    held = files[part]
    return held.form if held else None


def at(run: EndpointsRun, part: str, pointer: str, expected: str, found: str, message: str = "") -> Finding:
    """A finding about a member of one of a run's files, with the line of it or of what would hold it."""
    form = form_of(run, part)
    lines = form.lines if form else {}
    near = pointer
    while near and near not in lines:
        near = near.rpartition("/")[0]
    where = path_of(run, part)
    return Finding(where, expected, found, message=message, line=lines.get(near), pointer=near or None)


def said(name: str, value: JsonValue) -> str:
    """A member as the file has it, or that it is not there."""
    return f"no {name}" if value is None else f"{name} = {str(value)[:80]}"


def by_division(finding: Finding, subject: Subject, *, official: bool, strict: bool) -> Iterator[Finding]:
    """The finding as an error where a profile has one; the open division's numbers bind nobody in strict: a warning."""
    weight = Severity.WARNING if is_open(subject) else Severity.ERROR
    if official or strict:
        yield from graded(finding, official=Severity.ERROR if official else None, strict=weight if strict else None)


def exactly(finding: Finding, *, official: bool, strict: bool) -> Iterator[Finding]:
    """The finding as an error of the profiles that have one."""
    if official or strict:
        chosen = (Severity.ERROR if official else None, Severity.ERROR if strict else None)
        yield from graded(finding, official=chosen[0], strict=chosen[1])
