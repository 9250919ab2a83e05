"""Results copied and moved within a tree: to a low target, to a scenario that may be inferred, to the open division."""

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from compliance.discovery.files import fill
from compliance.rulebook.model import Layout
from compliance.submission.draft import Draft, DraftFile, Step, TreePlan, settled
from compliance.submission.layout_paths import ResultKey, benchmarks_in, folders_of, results_in
from compliance.submission.leftovers import OPEN, without_leftovers
from compliance.submission.merge import content, same_bytes
from compliance.vocabulary import Suite

if TYPE_CHECKING:
    from pathlib import Path

HIGH, LOW = "-99.9", "-99"
Admits = Callable[[ResultKey], bool]


def copy_result(draft: Draft, layout: Layout, old: ResultKey, new: ResultKey, reason: str) -> TreePlan:
    """One benchmark's or scenario's files, with its measurements and audits, under another name too."""
    pairs = zip(folders_of(old, layout), folders_of(new, layout), strict=True)
    return _copied(draft, {source: (target, reason) for source, target in pairs if draft.holds(source)})


def copy_low_targets(draft: Draft, layout: Layout, admits: Admits) -> TreePlan:
    """Every benchmark's -99.9 results as its -99 results, where `admits` the low one and the tree has none.

    A result that meets the high target meets the low one. The source code goes along where it has a folder of its own.
    """
    folders: dict[str, tuple[str, str]] = {}
    keys = tuple(benchmarks_in(results_in(draft.files, layout)))
    for high in keys:
        low = replace(high, benchmark=high.benchmark.removesuffix(HIGH) + LOW)
        if not high.benchmark.endswith(HIGH) or low in keys or not admits(low):
            continue
        pairs = zip(folders_of(high, layout), folders_of(low, layout), strict=True)
        folders |= {old: (new, "meets the low target too") for old, new in pairs if draft.holds(old)}
        code = fill(layout.source_dir, high.names)
        source, target = f"{code}/{high.benchmark}", f"{code}/{low.benchmark}"
        if draft.holds(source) and not draft.holds(target):
            folders[source] = target, "source code of the low target"
    return _copied(draft, folders)


def _copied(draft: Draft, folders: Mapping[str, tuple[str, str]]) -> TreePlan:
    """Folders copied to others, none within another. Files that are there already stay."""
    files = dict(draft.files)
    depths = {folder.count("/") for folder in folders}
    for path, file in draft.files.items():
        parts = path.split("/")
        for depth in depths:
            source = "/".join(parts[: depth + 1])
            if source in folders and len(parts) > depth + 1:
                files.setdefault(folders[source][0] + path.removeprefix(source), file)
    steps = (Step("copy", source, target, reason) for source, (target, reason) in folders.items())
    return TreePlan(settled(files, draft.folders, draft.roots), tuple(steps))


@dataclass(frozen=True, slots=True)
class OpenMove:
    """Results to move to open: one benchmark of one system, and those of its scenarios that do not come along."""

    benchmark: ResultKey
    reason: str
    dropped: tuple[str, ...] = ()


def to_open(draft: Draft, layout: Layout, move: OpenMove, *, yielding: bool = False) -> TreePlan:
    """A benchmark's results in open instead of their division; the description says so, and the source code is copied.

    Where open has another file at a path already, that is a problem; when `yielding` open's own stays and the moved one
    is given up, its original kept. A description that cannot be read is a problem: its division cannot be rewritten.
    """
    key = move.benchmark
    moved: dict[str, tuple[str, DraftFile]] = {}
    files = dict(draft.files)
    gone: dict[str, Path] = {}
    dropped = tuple(f"{folder}/" for name in move.dropped for folder in folders_of(replace(key, scenario=name), layout))
    for source, target in zip(folders_of(key, layout), folders_of(replace(key, division=OPEN), layout), strict=True):
        for path in draft.under(source):
            file = files.pop(path)
            if path.startswith(dropped):
                gone[path] = file.source
            else:
                moved[target + path.removeprefix(source)] = path, file
    problems: list[str] = []
    if moved:
        for path, file in {**_description(draft, layout, key, problems), **_code(draft, layout, key)}.items():
            files.setdefault(path, file)
    for path, (before, file) in moved.items():
        if path in files and not same_bytes(files[path], file):
            if yielding:
                gone[before] = file.source
            else:
                problems.append(f"{path}: open holds another file there; take one of them out")
        files.setdefault(path, file)
    after = settled(files, draft.folders, draft.roots)
    plan = TreePlan(after, _open_steps(layout, move, moved=bool(moved)), gone, problems=tuple(problems))
    return plan.then(without_leftovers(after, layout, key))


def _open_steps(layout: Layout, move: OpenMove, *, moved: bool) -> tuple[Step, ...]:
    key = move.benchmark
    source, target = folders_of(key, layout)[0], folders_of(replace(key, division=OPEN), layout)[0]
    if not moved:
        return (Step("remove", source, reason=move.reason),)
    dropped = (folders_of(replace(key, scenario=name), layout)[0] for name in move.dropped)
    removed = (Step("remove", folder, reason="its performance is not valid") for folder in dropped)
    return (*removed, Step("move", source, target, move.reason))


def _description(draft: Draft, layout: Layout, key: ResultKey, problems: list[str]) -> dict[str, DraftFile]:
    path = fill(layout.system, key.names)
    target = fill(layout.system, {**key.names, "division": OPEN})
    file = draft.files.get(path)
    document = _read(file)
    if file is None or not isinstance(document, dict):
        problems.append(f"{path}: no JSON object, so its division cannot be rewritten; describe the system first")
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


def _code(draft: Draft, layout: Layout, key: ResultKey) -> Mapping[str, DraftFile]:
    """The source code a benchmark needs: its own folder and what is no other benchmark's."""
    source = fill(layout.source_dir, key.names)
    target = fill(layout.source_dir, {**key.names, "division": OPEN})
    others = {k.benchmark for k in results_in(draft.files, layout) if k.submitter == key.submitter} - {key.benchmark}
    paths = (path for path in draft.under(source) if path.removeprefix(f"{source}/").partition("/")[0] not in others)
    return {target + path.removeprefix(source): draft.files[path] for path in paths}


def remove(draft: Draft, folders: Iterable[str], reason: str) -> TreePlan:
    """The tree without some folders; their files are the plan's removed ones."""
    beginnings = tuple(f"{folder}/" for folder in folders)
    gone = {path: file.source for path, file in draft.files.items() if path.startswith(beginnings)}
    files = {path: file for path, file in draft.files.items() if path not in gone}
    kept = {folder for folder in draft.folders if not f"{folder}/".startswith(beginnings)}
    shown = tuple(one for one in beginnings if any(path.startswith(one) for path in gone))
    steps = tuple(Step("remove", one.rstrip("/"), reason=reason) for one in shown)
    return TreePlan(settled(files, kept, draft.roots), steps, gone)
