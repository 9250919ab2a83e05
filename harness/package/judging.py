"""Judging a submission tree by the rules of a round: discovery, checks and report in one call."""

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from compliance.discovery.rounds import Detection, detect_round
from compliance.errors import UndecidedRound, UnknownRound, UnreadableFile
from compliance.report.model import NAMED, Report, build_report
from compliance.report.plain import one_line
from compliance.report.round_hint import NO_MISMATCH, Mismatch, hint_text
from compliance.rulebook.rounds import benchmark_of, load_round, round_marks, round_names
from compliance.streaming import JudgedSystem, judge_streaming
from compliance.submission.manifest import manifest_path, read_manifest
from compliance.vocabulary import Profile
from compliance.waivers import load_waivers
from harness.errors import UsageError
from harness.package.layouts import layout_rounds
from harness.package.parallel import judged_by
from harness.package.roots import refuse_inner, require_submitter, root_beneath

_LAYOUT_NOTE = "the layout's "
"""How `compliance.discovery.rounds` begins what it says against a layout; the hint says it with what to do."""
_OF_MLPERF = re.compile(r"v\d+\.\d+")


@dataclass(frozen=True, slots=True)
class RoundChoice:
    """The round a tree is judged by and what the choice rests on, in words.

    `notes` speak against it. `mismatch` says whose the seeds or the layout are where they are
    another round's.
    """

    name: str
    basis: tuple[str, ...]
    notes: tuple[str, ...] = ()
    mismatch: Mismatch = NO_MISMATCH

    @property
    def hint(self) -> str:
        """What the mismatch means and what to run, in one sentence; empty where there is none."""
        return hint_text(self.mismatch, self.name)


def choose_round(tree: Path, named: str | None = None, submitter: str | None = None) -> RoundChoice:
    """The round that was named, else that of the manifest beside the tree, else the one the tree's files tell of.

    Raises UsageError for a folder within a tree or a submitter that is not there, UndecidedRound where nothing tells of
    a round, UnknownRound for one of MLPerf's that has no rules here, RuleError for any other name that is no round.
    """
    names = round_names()
    if named is not None and named not in names and _OF_MLPERF.fullmatch(named):
        raise UnknownRound(f"round not known: no rules for round {named!r} here; known: {', '.join(names)}")
    refuse_inner(tree)
    require_submitter(tree, submitter)
    marks = tuple(round_marks(name) for name in names)
    found = detect_round(tree, marks, _knows, submitter)
    layouts = layout_rounds(tree, marks, submitter)
    if named is not None:
        return RoundChoice(named, NAMED, mismatch=_mismatch(found, layouts, named))
    packaged = packaged_round(tree)
    if packaged is not None:
        basis = ("the manifest beside the tree names it",)
        return RoundChoice(packaged, basis, mismatch=_mismatch(found, layouts, packaged))
    if found.round_name is not None:
        mismatch = _mismatch(found, layouts, found.round_name)
        hinted = mismatch != NO_MISMATCH
        told = tuple(note for note in found.contradictions if not (hinted and note.startswith(_LAYOUT_NOTE)))
        return RoundChoice(found.round_name, found.basis, told, mismatch)
    if found.unknown:
        raise UnknownRound(
            f"round not known: the logs are of {one_line(found.unknown)}; rules are here for {', '.join(names)}."
            " To judge it by one of them all the same, name it with --round."
        )
    beneath = root_beneath(tree)
    if beneath is not None:
        raise UndecidedRound(f"{tree}: no closed/, open/ or network/ in it; did you mean {beneath}?")
    raise UndecidedRound(
        f"{tree}: nothing tells of the round (no seeds, no LoadGen release, no round's own folders in closed/, open/ or"
        f" network/); name it: --round {'|'.join(names)}"
    )


def _knows(round_name: str, benchmark: str) -> bool:
    return benchmark_of(load_round(round_name), benchmark) is not None


def _mismatch(found: Detection, layouts: tuple[str, ...], round_name: str) -> Mismatch:
    """Whether the tree's seeds or its layout are another round's: once, in place of an error per seed and per file."""
    if found.unknown:
        return Mismatch(unknown=found.unknown)
    other = ""
    if found.by_seeds and round_name not in found.by_seeds:
        other = found.round_name if found.round_name in found.by_seeds else found.by_seeds[0]
    layout = ""
    if layouts and round_name not in layouts:
        layout = other if other in layouts else layouts[-1]
    return Mismatch(other, layout)


def packaged_round(tree: Path) -> str | None:
    """The round that the manifest beside a tree names; None without a manifest that can be read and has rules here."""
    try:
        name = read_manifest(tree).round_name if manifest_path(tree).is_file() else None
    except UnreadableFile:
        return None
    return name if name in round_names() else None


def judge_tree(
    tree: Path,
    round_name: str,
    profile: Profile = Profile.STRICT,
    submitter: str | None = None,
    waivers: Path | None = None,
    jobs: int | None = None,
    seen: Callable[[JudgedSystem], None] | None = None,
) -> Report:
    """The report on a tree, judged in so many processes (None: as many as pay); `seen` is told of each system.

    Raises RuleError for an unknown round, UsageError for a wrong waiver file.
    """
    round_ = load_round(round_name)
    try:
        known = load_waivers(waivers) if waivers else ()
    except UnreadableFile as error:
        raise UsageError(str(error)) from error
    return build_report(judge_streaming(tree, round_, submitter, judged_by(jobs), seen), profile, known)


def with_choice(report: Report, choice: RoundChoice) -> Report:
    """The report that tells what its round rests on."""
    return replace(report, round_basis=choice.basis, round_notes=choice.notes, mismatch=choice.mismatch)
