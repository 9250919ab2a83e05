"""Where each file of a submission goes: records of runs and the round's layout make a list of placements. Pure."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path

from compliance.errors import RenderError
from compliance.rulebook.model import Layout
from compliance.vocabulary import AuditId, Division, Scenario

ACCURACY_LOG = "mlperf_log_accuracy.json"
ACCURACY_TEXT = "accuracy.txt"
TRACE = "mlperf_log_trace.json"
RUN_LOGS = ("mlperf_log_detail.txt", "mlperf_log_summary.txt")
# Audits whose accuracy log is cut like a result's; TEST06's verdict is recomputed from the whole log.
TRUNCATED_AUDITS = frozenset({AuditId.TEST01, AuditId.TEST07, AuditId.TEST09})
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._+-]*")


class Action(StrEnum):
    """What is done to make a file of the tree."""

    COPY = "copy"
    TRUNCATE = "truncate"
    HASH = "hash"
    TEMPLATE = "template"


@dataclass(frozen=True, slots=True)
class Placement:
    """One file of the tree: `target` is its path relative to the root, the rest says what it is made from.

    COPY and TRUNCATE read `source`. HASH copies `source` (or starts empty) and sees that it ends in the `hash=` line of
    the whole accuracy log `log`. TEMPLATE fills `template` with `context`. `sha256` is what the source must still have.
    """

    target: str
    action: Action
    source: Path | None = None
    log: Path | None = None
    template: str = ""
    context: Mapping[str, object] = field(default_factory=dict)
    sha256: str | None = None


@dataclass(frozen=True, slots=True)
class StepFiles:
    """One run's folder and the SHA-256 of the files it held when the run ended, by name ("" where not recorded)."""

    folder: Path
    sha256: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class ResultFiles:
    """What one results folder is made from. `measurements` are the members of measurements.json."""

    benchmark: str
    scenario: Scenario
    performance: StepFiles
    accuracy: StepFiles
    audits: Mapping[AuditId, StepFiles]
    measurements: Mapping[str, object]
    user_conf: Mapping[str, object]
    readme: Mapping[str, object]


@dataclass(frozen=True, slots=True)
class TreeInput:
    """One submitter's tree. `pages` maps a path below documentation/ or src/ to its template and context."""

    division: Division
    submitter: str
    system: str
    system_description: Mapping[str, object]
    results: tuple[ResultFiles, ...]
    source_pages: Mapping[str, tuple[str, Mapping[str, object]]]
    documentation_pages: Mapping[str, tuple[str, Mapping[str, object]]]
    model_mapping: Mapping[str, str]


def place(tree: TreeInput, layout: Layout, audits: tuple[AuditId, ...]) -> tuple[Placement, ...]:
    """Every file of the tree, in the order of its paths. `audits` are those the benchmark needs for each scenario.

    Raises RenderError with every problem: names that cannot be folder names, audits that were not run.
    """
    problems = (*_name_problems(tree), *_audit_problems(tree, audits))
    if problems:
        raise RenderError(tuple(problems))
    names = {"division": tree.division.value, "submitter": tree.submitter, "system": tree.system}
    placements = [*_submitter_placements(tree, layout, names)]
    for result in tree.results:
        placements += _result_placements(result, layout, names)
    return tuple(sorted(placements, key=lambda placement: placement.target))


def _name_problems(tree: TreeInput) -> Iterator[str]:
    names = {"submitter": tree.submitter, "system": tree.system}
    names |= {f"benchmark of {r.scenario}": r.benchmark for r in tree.results}
    for what, name in names.items():
        if _NAME.fullmatch(name) is None or ".." in name:
            yield f"{what} {name!r} cannot name a folder: use letters, digits and . _ + - only, without '..' or blanks"


def _audit_problems(tree: TreeInput, audits: tuple[AuditId, ...]) -> Iterator[str]:
    if tree.division is Division.OPEN:
        return
    for result in tree.results:
        for audit in audits:
            if audit not in result.audits:
                command = f"weighbridge run CAMPAIGN --only {result.scenario}/{audit}"
                yield f"{result.benchmark} {result.scenario}: {audit} was not run; run `{command}`"


def _submitter_placements(tree: TreeInput, layout: Layout, names: Mapping[str, str]) -> Iterator[Placement]:
    yield _template(layout.system.format(**names), "system.json.j2", {"document": tree.system_description})
    for folder, pages in (
        (layout.source_dir, tree.source_pages),
        (layout.documentation_dir, tree.documentation_pages),
    ):
        for path, (template, context) in pages.items():
            yield _template(f"{folder.format(**names)}/{path}", template, context)
    if tree.division is Division.OPEN and tree.model_mapping:
        yield _template(layout.model_mapping.format(**names), "model_mapping.json.j2", {"document": tree.model_mapping})


def _result_placements(result: ResultFiles, layout: Layout, names: Mapping[str, str]) -> Iterator[Placement]:
    names = {**names, "benchmark": result.benchmark, "scenario": result.scenario.value}
    yield _template(layout.measurements.format(**names), "measurements.json.j2", {"document": result.measurements})
    yield _template(layout.user_conf.format(**names), "user.conf.j2", result.user_conf)
    yield _template(layout.readme.format(**names), "result_README.md.j2", result.readme)
    performance = layout.performance_dir.format(**names)
    optional = tuple(name for name in layout.optional_run_files if _wanted(name, result.performance))
    for name in dict.fromkeys((*layout.required_performance_files, *optional)):
        yield _copy(f"{performance}/{name}", result.performance, name)
    accuracy = layout.accuracy_dir.format(**names)
    for name in layout.required_accuracy_files:
        yield _scored(f"{accuracy}/{name}", result.accuracy, name)
    for audit, step in result.audits.items():
        folder = layout.audit_dir.format(**names, audit=audit.value)
        # Where the layout demands no run logs, they show all the same that the audit was run.
        shown = tuple(f"performance/run_1/{name}" for name in RUN_LOGS if name in step.sha256)
        for path in dict.fromkeys((*layout.audit_files.get(audit, ()), *shown)):
            yield _audit(f"{folder}/{path}", step, path, audit)


def _wanted(name: str, step: StepFiles) -> bool:
    """An optional file is taken when it is there, but for LoadGen's trace (gigabytes) and hidden files."""
    return name in step.sha256 and not name.startswith(".") and name != TRACE


def _scored(target: str, step: StepFiles, name: str) -> Placement:
    """A file of an accuracy folder: its log is cut, its text carries the hash of the whole log."""
    source = step.folder / name
    if name == ACCURACY_LOG:
        return Placement(target, Action.TRUNCATE, source, sha256=step.sha256.get(name) or None)
    if name == ACCURACY_TEXT:
        return Placement(target, Action.HASH, source, log=step.folder / ACCURACY_LOG)
    return _copy(target, step, name)


def _audit(target: str, step: StepFiles, path: str, audit: AuditId) -> Placement:
    name = path.rpartition("/")[2]
    if audit in TRUNCATED_AUDITS and name == ACCURACY_LOG:
        return Placement(target, Action.TRUNCATE, step.folder / name, sha256=step.sha256.get(name) or None)
    if audit in TRUNCATED_AUDITS and name == ACCURACY_TEXT:
        source = step.folder / name if name in step.sha256 else None
        return Placement(target, Action.HASH, source, log=step.folder / ACCURACY_LOG)
    return _copy(target, step, name)


def _copy(target: str, step: StepFiles, name: str) -> Placement:
    return Placement(target, Action.COPY, step.folder / name, sha256=step.sha256.get(name) or None)


def _template(target: str, template: str, context: Mapping[str, object]) -> Placement:
    return Placement(target, Action.TEMPLATE, template=template, context=context)
