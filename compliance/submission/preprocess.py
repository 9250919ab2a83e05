"""What preprocess_submission.py does to a tree, planned from the official verdicts: clean, move to open, infer.

Without its faults: a scenario is removed as one to be inferred only when it will be, names keep their case, nothing is
copied to a benchmark or scenario that the round's suite does not have, open's own results are never lost, and what
leaves the tree is kept with its hash.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from compliance.checks.facts import INFERABLE
from compliance.discovery.files import fill
from compliance.discovery.results import scenario_named
from compliance.rulebook.model import Layout, Round
from compliance.submission.copies import OpenMove, copy_key, copy_low, move_to_open, remove_folders
from compliance.submission.draft import Draft, Step, TreePlan
from compliance.submission.edit import Edit
from compliance.submission.layout_paths import ResultKey, benchmarks_in, folders_of
from compliance.submission.leftovers import OPEN, clear_leftovers
from compliance.submission.standing import Part, Standing
from compliance.vocabulary import Division, Scenario, Suite

_EDGE = (Suite.EDGE, Suite.BOTH)
_INFERRED = frozenset(reported for _, reported in INFERABLE)


@dataclass(frozen=True, slots=True)
class Options:
    """What is left out: each phase of the official tool can be."""

    infer_low_targets: bool = True
    infer_scenarios: bool = True
    drop_empty_folders: bool = True
    move_failed_to_open: bool = True


def preprocess(draft: Draft, round_: Round, found: tuple[Standing, ...], options: Options = Options()) -> TreePlan:
    """The plan for a tree in the round's layout: what is removed, moved and copied, each with its reason."""
    layout = round_.layout
    edit = Edit(draft)
    edit.notes += _notes(found)
    groups: dict[ResultKey, list[Standing]] = {}
    for standing in found:
        groups.setdefault(replace(standing.key, scenario=""), []).append(standing)
    for key, standings in sorted(groups.items(), key=lambda item: (item[0].division == OPEN, str(item[0]))):
        _clean(edit, layout, key, standings, options)
    suites = _Suites(round_, found)
    if options.infer_scenarios:
        _infer(edit, layout, suites)
    if options.infer_low_targets:
        copy_low(edit, layout, suites.admits)
    if options.drop_empty_folders:
        _drop_empty(edit, layout)
    if next(edit.results(layout), None) is None:
        edit.notes.append("no results are left: the official checker will stop at such a tree")
    return edit.plan()


def _notes(found: tuple[Standing, ...]) -> Iterator[str]:
    for standing in found:
        path = "/".join(standing.key.names.values())
        if standing.benchmark is None:
            yield f"{path}: no rules for this benchmark in the round; left as it is"
        elif standing.suite is None:
            yield f"{path}: the description names no suite (system_type); correct it first, left as it is"
        if standing.failed.get(Part.OTHER):
            yield f"{path}: {', '.join(standing.failed[Part.OTHER])} cannot be corrected here; see `weighbridge check`"


def _clean(edit: Edit, layout: Layout, key: ResultKey, group: list[Standing], options: Options) -> None:
    """Cleans one benchmark of one system of what the official checker fails."""
    known = [one for one in group if one.benchmark is not None]
    if not known or known[0].suite is None:
        return
    if known[0].demands is None:
        _remove(edit, layout, key, f"{known[0].benchmark} is not in the {known[0].suite} suite")
        return
    _drop_power(edit, layout, known)
    bad = [one for one in known if one.bad]
    if key.division == Division.OPEN:
        _drop(edit, layout, bad)
        return
    inferable = [one for one in bad if options.infer_scenarios and _inferable(one, known)]
    rest = [one for one in bad if one not in inferable]
    if not rest:
        _drop(edit, layout, inferable)
        return
    reasons = " | ".join(f"{one.key.scenario} fails {one.reasons()}" for one in rest)
    if not options.move_failed_to_open:
        _remove(edit, layout, key, reasons)
        return
    # A run without a valid performance stands in no division.
    dropped = tuple(one.key.scenario for one in bad if Part.PERFORMANCE in one.failed)
    move_to_open(edit, layout, OpenMove(key, reasons, dropped), yielding=True)


def _inferable(standing: Standing, group: Iterable[Standing]) -> bool:
    """Whether a failed scenario will be inferred from one that stands: the official tool removes it for that."""
    if standing.suite not in _EDGE or standing.scenario not in _INFERRED:
        return False
    if not {Part.ACCURACY, Part.PERFORMANCE} & set(standing.failed):
        return False
    good = {one.scenario for one in group if not one.bad}
    return any(measured in good for measured, reported in INFERABLE if reported is standing.scenario)


def _drop(edit: Edit, layout: Layout, bad: list[Standing]) -> None:
    for one in bad:
        _remove(edit, layout, one.key, f"fails {one.reasons()}")


def _remove(edit: Edit, layout: Layout, key: ResultKey, reason: str) -> None:
    remove_folders(edit, folders_of(key, layout), reason)
    clear_leftovers(edit, layout, key)


def _drop_power(edit: Edit, layout: Layout, group: list[Standing]) -> None:
    for one in group:
        if Part.POWER not in one.failed:
            continue
        folder = f"{fill(layout.scenario_dir, one.key.names)}/performance"
        reason = f"power fails {', '.join(one.failed[Part.POWER])}"
        remove_folders(edit, (f"{folder}/power", f"{folder}/ranging"), reason)
        spl = f"{fill(layout.performance_dir, one.key.names)}/spl.txt"
        if edit.get(spl) is not None:
            edit.give_up(spl)
            edit.steps.append(Step("remove", spl, reason=reason))


class _Suites:
    """What the suites demand of each benchmark of each system, wherever it has been moved to."""

    def __init__(self, round_: Round, found: tuple[Standing, ...]) -> None:
        self.round = round_
        self.found = {(s.key.submitter, s.key.system, s.key.benchmark): s for s in found}
        self.suites = {(s.key.submitter, s.key.system): s.suite for s in found}

    def of(self, key: ResultKey) -> Standing | None:
        """A standing of the benchmark; None for one that was not judged."""
        return self.found.get((key.submitter, key.system, key.benchmark))

    def admits(self, key: ResultKey) -> bool:
        """Whether the round has the benchmark of that very name in the suite of the key's system."""
        rules = self.round.benchmarks.get(key.benchmark)
        suite = self.suites.get((key.submitter, key.system))
        return rules is not None and suite is not None and suite in rules.suites


def _infer(edit: Edit, layout: Layout, suites: _Suites) -> None:
    """Copies scenarios that an edge system may report from another one, where the suite has them and the tree not."""
    for benchmark in tuple(benchmarks_in(edit.results(layout))):
        standing = suites.of(benchmark)
        if standing is None or standing.demands is None or standing.suite not in _EDGE:
            continue
        present = {scenario_named(key.scenario): key for key in edit.results(layout, benchmark.names)}
        for measured, reported in _wanted(present, standing.demands.known):
            new = replace(benchmark, scenario=reported.value)
            copy_key(edit, layout, present[measured], new, f"inferred from {measured.value}")


def _wanted(
    present: "dict[Scenario | None, ResultKey]", known: tuple[Scenario, ...]
) -> Iterator[tuple[Scenario, Scenario]]:
    """(measured, reported) to infer. Offline comes from MultiStream where that was measured: it is the nearer one."""
    offline, single, multi = Scenario.OFFLINE, Scenario.SINGLE_STREAM, Scenario.MULTI_STREAM
    if single in present and multi not in present and multi in known:
        yield single, multi
    if offline not in present and offline in known:
        source = multi if multi in present else single
        if source in present:
            yield source, offline


def _drop_empty(edit: Edit, layout: Layout) -> None:
    """Leaves out every empty folder but the source folder, which the checker asks for."""
    sources = {fill(layout.source_dir, key.names) for key in edit.results(layout)}
    for folder in sorted(edit.folders - sources):
        edit.steps.append(Step("remove", f"{folder}/", reason="empty"))
    edit.folders &= sources
