"""Results copied and moved within a tree: to a low target, to a scenario that may be inferred, to the open division."""

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace

from compliance.discovery.files import fill
from compliance.rulebook.model import Layout
from compliance.submission.draft import Draft, DraftFile, Step, TreePlan
from compliance.submission.edit import Edit
from compliance.submission.layout_paths import ResultKey, benchmarks_in, folders_of
from compliance.submission.leftovers import OPEN, clear_leftovers
from compliance.submission.merge import content, same_bytes
from compliance.vocabulary import Suite

HIGH, LOW = "-99.9", "-99"
Admits = Callable[[ResultKey], bool]


def copy_result(draft: Draft, layout: Layout, old: ResultKey, new: ResultKey, reason: str) -> TreePlan:
    """One benchmark's or scenario's files, with its measurements and audits, under another name too."""
    edit = Edit(draft)
    copy_key(edit, layout, old, new, reason)
    return edit.plan()


def copy_key(edit: Edit, layout: Layout, old: ResultKey, new: ResultKey, reason: str) -> None:
    """As `copy_result`, in a tree that is being changed."""
    pairs = zip(folders_of(old, layout), folders_of(new, layout), strict=True)
    _copy(edit, {source: (target, reason) for source, target in pairs if edit.holds(source)})


def copy_low_targets(draft: Draft, layout: Layout, admits: Admits) -> TreePlan:
    """Every benchmark's -99.9 results as its -99 results; see `copy_low`."""
    edit = Edit(draft)
    copy_low(edit, layout, admits)
    return edit.plan()


def copy_low(edit: Edit, layout: Layout, admits: Admits) -> None:
    """Copies every benchmark's -99.9 results to -99, where `admits` the low one and the tree has none.

    A result that meets the high target meets the low one. The source code goes along where it has a folder of its own.
    """
    folders: dict[str, tuple[str, str]] = {}
    keys = dict.fromkeys(benchmarks_in(edit.results(layout)))
    for high in keys:
        low = replace(high, benchmark=high.benchmark.removesuffix(HIGH) + LOW)
        if not high.benchmark.endswith(HIGH) or low in keys or not admits(low):
            continue
        pairs = zip(folders_of(high, layout), folders_of(low, layout), strict=True)
        folders |= {old: (new, "meets the low target too") for old, new in pairs if edit.holds(old)}
        code = fill(layout.source_dir, high.names)
        source, target = f"{code}/{high.benchmark}", f"{code}/{low.benchmark}"
        if edit.holds(source) and not edit.holds(target):
            folders[source] = target, "source code of the low target"
    _copy(edit, folders)


def _copy(edit: Edit, folders: Mapping[str, tuple[str, str]]) -> None:
    """Folders copied to others, none within another. Files that are there already stay."""
    files = [
        (target + path.removeprefix(source), path)
        for source, (target, _) in folders.items()
        for path in edit.under(source)
    ]
    for target, path in files:
        file = edit.get(path)
        if file is not None:
            edit.add(target, file)
    edit.steps += [Step("copy", source, target, reason) for source, (target, reason) in folders.items()]


@dataclass(frozen=True, slots=True)
class OpenMove:
    """Results to move to open: one benchmark of one system, and those of its scenarios that do not come along."""

    benchmark: ResultKey
    reason: str
    dropped: tuple[str, ...] = ()


def to_open(draft: Draft, layout: Layout, move: OpenMove, *, yielding: bool = False) -> TreePlan:
    """A benchmark's results in open instead of their division; see `move_to_open`."""
    edit = Edit(draft)
    move_to_open(edit, layout, move, yielding=yielding)
    return edit.plan()


def move_to_open(edit: Edit, layout: Layout, move: OpenMove, *, yielding: bool = False) -> None:
    """Moves a benchmark's results to open; the description says so there, and the source code is copied.

    Where open has another file at a path already, that is a problem; when `yielding` open's own stays and the moved one
    is given up, its original kept. A description that cannot be read is a problem: its division cannot be rewritten.
    """
    key = move.benchmark
    moved: dict[str, tuple[str, DraftFile]] = {}
    dropped = tuple(f"{folder}/" for name in move.dropped for folder in folders_of(replace(key, scenario=name), layout))
    for source, target in zip(folders_of(key, layout), folders_of(replace(key, division=OPEN), layout), strict=True):
        for path in edit.under(source):
            if path.startswith(dropped):
                edit.give_up(path)
            else:
                moved[target + path.removeprefix(source)] = path, edit.take(path)
    if moved:
        for path, file in {**_description(edit, layout, key), **_code(edit, layout, key)}.items():
            edit.add(path, file)
    for path, (before, file) in moved.items():
        there = edit.get(path)
        if there is None:
            edit.put(path, file)
        elif not same_bytes(there, file) and yielding:
            edit.removed[before] = file.source
        elif not same_bytes(there, file):
            edit.problems.append(f"{path}: open holds another file there; take one of them out")
    edit.steps += _open_steps(layout, move, moved=bool(moved))
    clear_leftovers(edit, layout, key)


def _open_steps(layout: Layout, move: OpenMove, *, moved: bool) -> tuple[Step, ...]:
    key = move.benchmark
    source, target = folders_of(key, layout)[0], folders_of(replace(key, division=OPEN), layout)[0]
    if not moved:
        return (Step("remove", source, reason=move.reason),)
    dropped = (folders_of(replace(key, scenario=name), layout)[0] for name in move.dropped)
    removed = (Step("remove", folder, reason="its performance is not valid") for folder in dropped)
    return (*removed, Step("move", source, target, move.reason))


def _description(edit: Edit, layout: Layout, key: ResultKey) -> dict[str, DraftFile]:
    path = fill(layout.system, key.names)
    target = fill(layout.system, {**key.names, "division": OPEN})
    file = edit.get(path)
    document = _read(file)
    if file is None or not isinstance(document, dict):
        reason = "no JSON object, so its division cannot be rewritten; describe the system first"
        edit.problems.append(f"{path}: {reason}")
        return {}
    text = json.dumps({**document, "division": OPEN}, indent=2) + "\n"
    return {target: DraftFile(file.source, text.encode())}


def suite_in(draft: Draft, layout: Layout, key: ResultKey) -> Suite | None:
    """The suite that a system's description names; None where it names none or cannot be read."""
    document = _read(draft.files.get(fill(layout.system, key.names)))
    named = document.get("system_type") if isinstance(document, dict) else None
    return next((suite for suite in Suite if named in {suite.value, ",".join(reversed(suite.value.split(",")))}), None)


def _read(file: DraftFile | None) -> object:
    """A file's JSON, None where there is none to be read."""
    try:
        parsed: object = json.loads(content(file).decode("utf-8-sig")) if file else None
    except (OSError, ValueError, RecursionError):
        return None
    return parsed


def _code(edit: Edit, layout: Layout, key: ResultKey) -> Mapping[str, DraftFile]:
    """The source code a benchmark needs: its own folder and what is no other benchmark's."""
    source = fill(layout.source_dir, key.names)
    target = fill(layout.source_dir, {**key.names, "division": OPEN})
    found: dict[str, DraftFile] = {}
    for name in edit.names(source):
        if name != key.benchmark and _has_results(edit, layout, key.submitter, name):
            continue
        for path in (f"{source}/{name}", *edit.under(f"{source}/{name}")):
            file = edit.get(path)
            if file is not None:
                found[target + path.removeprefix(source)] = file
    return found


def _has_results(edit: Edit, layout: Layout, submitter: str, benchmark: str) -> bool:
    return next(edit.results(layout, {"submitter": submitter, "benchmark": benchmark}), None) is not None


def remove(draft: Draft, folders: Iterable[str], reason: str) -> TreePlan:
    """The tree without some folders; their files are the plan's removed ones."""
    edit = Edit(draft)
    remove_folders(edit, folders, reason)
    return edit.plan()


def remove_folders(edit: Edit, folders: Iterable[str], reason: str) -> None:
    """As `remove`, in a tree that is being changed."""
    given = tuple(folders)
    for folder in given:
        paths = edit.under(folder)
        for path in paths:
            edit.give_up(path)
        if paths:
            edit.steps.append(Step("remove", folder, reason=reason))
    edit.drop_folders(given)
