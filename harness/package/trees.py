"""Plans on trees that are there, as they are: to another layout, merged, truncated. Nothing is judged."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from compliance.rulebook.rounds import load_round, round_marks, round_names
from compliance.submission.copies import OpenMove, copy_low_targets, move_to_open, suite_in
from compliance.submission.draft import Draft, TreePlan, read_draft
from compliance.submission.edit import Edit
from compliance.submission.layout_paths import ResultKey, benchmarks_in, results_in
from compliance.submission.manifest import manifest_path, read_manifest
from compliance.submission.merge import merge, same_bytes
from compliance.submission.migrate import (
    Migration,
    Side,
    migrate,
    migration_path,
    migration_text,
    read_migration,
    side_of,
)
from compliance.submission.truncate_tree import truncate_tree
from compliance.submission.write_draft import NewTree
from compliance.vocabulary import Division
from harness.errors import UsageError
from harness.package.roots import require_root


@dataclass(frozen=True, slots=True)
class Planned:
    """A plan, the round whose layout its tree has, and the migration's record to keep beside it, if any."""

    plan: TreePlan
    round_name: str
    record: Migration | None = None

    def target(self, tree: Path) -> NewTree:
        """Where the plan's tree goes, with what stands beside it."""
        beside = {migration_path(tree): migration_text(self.record)} if self.record else {}
        return NewTree(tree, self.round_name, beside)


@dataclass(frozen=True, slots=True)
class Wanted:
    """What `package --from` does beyond carrying: `to_open` are SYSTEM/BENCHMARK, `low_targets` copies -99.9 to -99."""

    to_layout: str | None = None
    to_open: tuple[str, ...] = ()
    low_targets: bool = False


def plan_package(trees: Sequence[Path], wanted: Wanted) -> Planned:
    """Trees brought into one layout and merged into one submitter's tree, then what else is wanted.

    Raises RuleError for an unknown round, UsageError for mixed layouts without one named and for results to open that
    are not there, UnreadableFile and RenderError for trees that cannot be carried.
    """
    for tree in trees:
        require_root(tree)
    drafts = [read_draft(tree) for tree in trees]
    sides = [side_at(draft, tree) for draft, tree in zip(drafts, trees, strict=True)]
    target = target_side(sides, wanted.to_layout)
    plans, records = list[TreePlan](), list[Migration | None]()
    for draft, side, tree in zip(drafts, sides, trees, strict=True):
        plan, record = migrated(draft, side, target, tree)
        plans.append(plan)
        records.append(record)
    plan = plans[0] if len(plans) == 1 else _merged(plans)
    if wanted.to_open:
        plan = plan.then(_opened(plan.draft, target, wanted.to_open))
    if wanted.low_targets:
        plan = plan.then(_low_targets(plan.draft, target))
    return Planned(plan, target.round_name, _joined(records))


def side_at(draft: Draft, tree: Path) -> Side:
    """The round whose layout a tree has: its manifest's, else the MLPerf round whose layout knows most of its files."""
    packaged = read_manifest(tree).round_name if manifest_path(tree).is_file() else None
    if packaged in round_names():
        return Side(packaged, load_round(packaged).layout)
    rounds = (round_marks(name) for name in round_names())
    return side_of(draft.files, (Side(round_.name, round_.layout) for round_ in rounds if round_.official))


def target_side(sides: list[Side], named: str | None) -> Side:
    """The side wanted: the round named, else the one layout that all trees have. Raises UsageError, RuleError."""
    if named is not None:
        return Side(named, load_round(named).layout)
    if any(side.layout != sides[0].layout for side in sides):
        found = ", ".join(sorted({side.round_name for side in sides}))
        raise UsageError(f"the trees have the layouts of {found}; say which one is wanted with --to-layout")
    return sides[0]


def migrated(draft: Draft, side: Side, target: Side, tree: Path) -> tuple[TreePlan, Migration | None]:
    """A tree in the target's layout with the record for the way back; as it is where it has that layout already."""
    record = read_migration(tree)
    if side.layout == target.layout:
        return TreePlan(draft), record
    back = record if record and _leads_back(record, side, target) else None
    return migrate(draft, side, target, same_bytes, back)


def _leads_back(record: Migration, side: Side, target: Side) -> bool:
    """Whether a record tells of the way from the target's layout to the side's."""
    known = {record.from_round, record.to_round} <= set(round_names())
    return known and (load_round(record.from_round).layout, load_round(record.to_round).layout) == (
        target.layout,
        side.layout,
    )


def _merged(plans: list[TreePlan]) -> TreePlan:
    merged = merge([plan.draft for plan in plans])
    steps = tuple(step for plan in plans for step in plan.steps)
    problems = tuple(problem for plan in plans for problem in plan.problems)
    return replace(merged, steps=(*steps, *merged.steps), problems=(*problems, *merged.problems))


def _joined(records: list[Migration | None]) -> Migration | None:
    """The record of several migrations from one layout; none where they come from several."""
    made = [record for record in records if record is not None]
    if not made or len({(record.from_round, record.to_round) for record in made}) != 1:
        return None
    moves = dict.fromkeys(move for record in made for move in record.moves)
    folders = dict.fromkeys(folder for record in made for folder in record.folders)
    return replace(made[0], moves=tuple(moves), folders=tuple(folders))


def _opened(draft: Draft, side: Side, names: Sequence[str]) -> TreePlan:
    edit = Edit(draft)
    for name in names:
        for key in _named(edit, side, name):
            move_to_open(edit, side.layout, OpenMove(key, "asked for"))
    return edit.plan()


def _named(edit: Edit, side: Side, name: str) -> tuple[ResultKey, ...]:
    system, _, benchmark = name.partition("/")
    found = tuple(benchmarks_in(edit.results(side.layout, {"system": system, "benchmark": benchmark})))
    closed = tuple(key for key in found if key.division != Division.OPEN)
    if not closed:
        keys = (key for key in benchmarks_in(edit.results(side.layout)) if key.division != Division.OPEN)
        known = ", ".join(dict.fromkeys(f"{key.system}/{key.benchmark}" for key in keys)) or "none"
        raise UsageError(f"no results of {name!r} to move to open; there are: {known}")
    return closed


def _low_targets(draft: Draft, side: Side) -> TreePlan:
    round_ = load_round(side.round_name)

    def admits(key: ResultKey) -> bool:
        rules = round_.benchmarks.get(key.benchmark)
        suite = suite_in(draft, side.layout, key)
        return rules is not None and suite is not None and suite in rules.suites

    return copy_low_targets(draft, side.layout, admits)


def plan_truncate(tree: Path, skip: frozenset[str] = frozenset()) -> Planned:
    """The accuracy logs of a tree cut, in whatever layout it has; `skip` names scenarios as their folders are.

    Raises UsageError for a folder without results and for a scenario to skip that has none.
    """
    require_root(tree)
    draft = read_draft(tree)
    side = side_at(draft, tree)
    results = results_in(draft.files, side.layout)
    if not results:
        raise UsageError(f"{tree}: no results in it; put them under closed/, open/ or network/ first")
    known = sorted({key.scenario for key in results})
    if missing := sorted(skip - set(known)):
        raise UsageError(f"{tree}: no results of scenario {missing[0]!r} to skip; there are: {', '.join(known)}")
    return Planned(truncate_tree(draft, side.layout, skip), side.round_name, read_migration(tree))
