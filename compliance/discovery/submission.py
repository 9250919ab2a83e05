"""Walks a submission tree by the round's layout into records."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path

from compliance.discovery.files import Reading, Tree, fill, folder_of, matching, shown
from compliance.discovery.power import find_nameplate
from compliance.discovery.results import Place, find_result
from compliance.discovery.walk import PATH, Walked, walk
from compliance.errors import UnreadableFile
from compliance.logs.documents import Document, read_document
from compliance.records import Result, Submission, SubmitterEntry, SystemEntry, TreeFile
from compliance.rulebook.model import Layout, Round
from compliance.submission.manifest import differences, manifest_path
from compliance.vocabulary import Division

_CALIBRATION = "calibration"
CACHE_DIR = "__pycache__"
"""What Python leaves beside code; never a submitter."""


@dataclass(frozen=True, slots=True)
class Outline:
    """A tree before its systems are read: `submission` has submitters without systems, and none of the systems' files.

    `systems` names each system with its submitter's place in `submission.submitters`, in order.
    """

    tree: Tree
    submission: Submission
    systems: tuple[tuple[int, str], ...]


def discover(root: Path, round_: Round, submitter: str | None = None) -> Submission:
    """Reads a submission tree: each file once, each refusal kept as an Unreadable and never raised.

    `submitter` limits the reading to the folders of that name, case-sensitively. Top-level folders other than closed,
    open and network hold no submitters and stand only in `files`. Raises UnreadableFile when `root` is no folder.
    """
    outlined = outline(root, round_, submitter)
    found: dict[int, list[SystemEntry]] = {}
    parts: list[Walked] = []
    for at, name in outlined.systems:
        entry = outlined.submission.submitters[at]
        parts.append(walk_system(outlined.tree, round_, entry, name))
        found.setdefault(at, []).append(find_system(outlined.tree, round_, entry, name))
    return with_systems(with_parts(outlined.submission, parts), found)


def with_parts(submission: Submission, parts: Iterable[Walked]) -> Submission:
    """The tree with what was walked of it besides."""
    parts = tuple(parts)
    return replace(
        submission,
        files=tuple(sorted(chain(submission.files, *(part.files for part in parts)), key=PATH)),
        empty_folders=tuple(sorted(chain(submission.empty_folders, *(part.empty for part in parts)))),
        unreadable=tuple(sorted(chain(submission.unreadable, *(part.refused for part in parts)), key=PATH)),
    )


def with_systems(submission: Submission, systems: Mapping[int, Sequence[SystemEntry]]) -> Submission:
    """The tree with the systems of each submitter, by its place among them."""
    submitters = (replace(one, systems=tuple(systems.get(at, ()))) for at, one in enumerate(submission.submitters))
    return replace(submission, submitters=tuple(submitters))


def outline(root: Path, round_: Round, submitter: str | None = None) -> Outline:
    """Walks a tree and reads what its submitters have in common, as `discover` does, but no system."""
    tree = Tree.at(root)
    entries: list[SubmitterEntry] = []
    systems: list[tuple[int, str]] = []
    left_out: dict[str, str] = {}
    beyond: set[str] = set()
    for division, name in _submitters(tree, round_.layout):
        path = fill(round_.layout.submitter, {"division": division.value, "submitter": name})
        if submitter not in {None, name}:
            left_out[path] = name
            continue
        entry, names = _submitter(tree, round_, division, name)
        systems.extend((len(entries), system) for system in names)
        beyond.update(folder for system in names for folder in _folders(tree, round_.layout, entry, system))
        entries.append(entry)
    walked = walk(tree, beyond={*beyond, *left_out})
    submission = Submission(
        root=root,
        round_name=round_.name,
        submitters=tuple(entries),
        files=walked.files,
        empty_folders=walked.empty,
        unreadable=walked.refused,
        left_out=tuple(dict.fromkeys(left_out.values())),
        differences=tuple(one for one in _since_packaging(root) if not _under(one[0], left_out)),
    )
    return Outline(tree, submission, tuple(systems))


def walk_system(tree: Tree, round_: Round, submitter: SubmitterEntry, name: str) -> Walked:
    """The folders of one system and what lies in them, wherever the layout puts them; links are the submitter's."""
    own = _folders(tree, round_.layout, submitter, name)
    walked = walk(tree, own)
    itself = (TreeFile(shown(folder), "dir", 0) for folder in own)
    return replace(walked, files=tuple(sorted((*itself, *walked.files), key=PATH)))


def _folders(tree: Tree, layout: Layout, submitter: SubmitterEntry, name: str) -> tuple[str, ...]:
    """The folders of one system that are there by the layout and no links, each once."""
    names = {"division": submitter.division.value, "submitter": submitter.name}
    templates = (layout.scenario_dir, layout.measurements, layout.audit_dir, layout.user_conf)
    above = {fill(folder_of(template, "system"), names) for template in templates}
    return tuple(folder for folder in (f"{one}/{name}" for one in sorted(above)) if tree.is_own(folder))


def _since_packaging(root: Path) -> Iterator[tuple[str, str]]:
    """Where the tree is no longer what the manifest beside it says; nothing where there is no manifest."""
    if not manifest_path(root).is_file():
        return
    try:
        for difference in differences(root):
            yield shown(difference.path), difference.what
    except (UnreadableFile, OSError) as error:
        reason = error.reason if isinstance(error, UnreadableFile) else error.strerror
        yield ".", f"cannot be compared with its manifest: {reason}"


def _under(path: str, folders: Iterable[str]) -> bool:
    return any(path == folder or path.startswith(f"{folder}/") for folder in folders)


def _submitters(tree: Tree, layout: Layout) -> Iterator[tuple[Division, str]]:
    for division in Division:
        folder = fill(folder_of(layout.submitter, "submitter"), {"division": division.value})
        for name in tree.dirs(folder):
            if name != CACHE_DIR:
                yield division, name


def _submitter(tree: Tree, round_: Round, division: Division, name: str) -> tuple[SubmitterEntry, tuple[str, ...]]:
    """A submitter without its systems, and their names."""
    layout = round_.layout
    names = {"division": division.value, "submitter": name}
    reading = Reading(tree)
    mapping = None
    if division is Division.OPEN:
        mapping = reading.take(fill(layout.model_mapping, names), read_document, required=False)
    results_dir = fill(folder_of(layout.scenario_dir, "system"), names)
    if tree.kind(results_dir) != "dir":
        reading.note(results_dir, "the folder is missing; put the results there or take the submitter's folder out")
    systems = tree.dirs(results_dir)
    source_dir = fill(layout.source_dir, names)
    entry = SubmitterEntry(
        path=fill(layout.submitter, names),
        division=division,
        name=name,
        systems=(),
        source_dir=source_dir if tree.kind(source_dir) == "dir" else None,
        calibration=_calibration(tree, layout, names),
        model_mapping=mapping,
        orphan_descriptions=_orphans(tree, layout, names, systems),
        unreadable=reading.unreadable,
    )
    return entry, systems


def _calibration(tree: Tree, layout: Layout, names: dict[str, str]) -> str | None:
    """The first file about calibration, at the submitter's root or in its documentation."""
    for folder in (fill(layout.submitter, names), fill(layout.documentation_dir, names)):
        for name in tree.files(folder):
            if _CALIBRATION in name.lower():
                return f"{folder}/{name}"
    return None


def _orphans(tree: Tree, layout: Layout, names: dict[str, str], systems: tuple[str, ...]) -> tuple[str, ...]:
    """The descriptions of systems that have no results."""
    folder = fill(layout.system.rpartition("/")[0], names)
    found = matching(layout.system, "system", tree.files(folder))
    return tuple(f"{folder}/{name}" for name, system in found if system not in systems)


def find_system(tree: Tree, round_: Round, submitter: SubmitterEntry, name: str) -> SystemEntry:
    """Reads one system of a submitter: its description and all its results."""
    layout = round_.layout
    names = {"division": submitter.division.value, "submitter": submitter.name, "system": name}
    reading = Reading(tree)
    path = fill(layout.system, names)
    description = reading.take(path, read_document)
    nameplate = find_nameplate(reading, round_, names)
    results: list[Result] = []
    for benchmark in tree.dirs(fill(folder_of(layout.scenario_dir, "benchmark"), names)):
        results.extend(_results(tree, round_, {**names, "benchmark": benchmark}, submitter.model_mapping))
    return SystemEntry(path, names["system"], description, tuple(results), reading.unreadable, nameplate)


def _results(tree: Tree, round_: Round, names: dict[str, str], mapping: Document | None) -> Iterator[Result]:
    """The results of one benchmark of one system. A benchmark's folder without scenarios yields none."""
    scenarios = tree.dirs(fill(folder_of(round_.layout.scenario_dir, "scenario"), names))
    rules_benchmark = official_name(round_, names["benchmark"], mapping)
    for scenario in scenarios:
        place = Place(Division(names["division"]), names["submitter"], names["system"], names["benchmark"], scenario)
        siblings = tuple(name for name in scenarios if name != scenario)
        yield find_result(tree, round_, place, rules_benchmark, siblings)


def official_name(round_: Round, benchmark: str, mapping: Document | None) -> str | None:
    """The round's benchmark that a folder's name stands for; None when it stands for none.

    By itself, as an alias, by model_mapping.json, or by a part of it (configuration.py:80-109).
    """
    names = [benchmark]
    mapped = None if mapping is None else mapping.text(benchmark)
    if mapped is not None:
        names.append(mapped)
    for name in names:
        if name in round_.benchmarks:
            return name
        for rules in round_.benchmarks.values():
            if name in rules.aliases:
                return rules.name
    return next((known for part, known in round_.guesses.items() if part in benchmark), None)
