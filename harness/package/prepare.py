"""A tree prepared by what the checker says of it, and the tarball for upload."""

from pathlib import Path

from compliance.report.json_ import render_json
from compliance.report.model import FAIL
from compliance.report.text import render_text
from compliance.rulebook.rounds import load_round
from compliance.streaming import judge_streaming
from compliance.submission.draft import read_draft
from compliance.submission.layout_paths import results_in
from compliance.submission.migrate import Side, read_migration
from compliance.submission.pack import Packed, Verdict, pack
from compliance.submission.preprocess import Options, preprocess
from compliance.submission.standing import standings
from compliance.vocabulary import Profile
from harness.errors import PackageError, UsageError
from harness.package.judging import choose_round, judge_tree, with_choice
from harness.package.parallel import judged_by
from harness.package.roots import require_root
from harness.package.trees import Planned, migrated, side_at, target_side


def plan_preprocess(
    tree: Path, round_name: str | None, options: Options, to_layout: str | None = None, jobs: int | None = None
) -> Planned:
    """What the official verdicts of the round make of a tree, in its own layout unless another is wanted.

    It is judged in so many processes (None: as many as pay). Raises as `choose_round` and `plan_package` do.
    """
    require_root(tree)
    round_ = load_round(choose_round(tree, round_name).name)
    draft = read_draft(tree)
    if not results_in(draft.files, round_.layout):
        raise UsageError(f"{tree}: no results in it; put them under closed/, open/ or network/ first")
    own = side_at(draft, tree)
    if own.layout != round_.layout:
        command = f"weighbridge package --from {tree} --to-layout {round_.name} --out ..."
        reason = f"{tree} has the layout of {own.round_name}, not that of {round_.name}"
        raise UsageError(f"{reason}: bring it there with `{command}`, or name its own round with --round")
    judgement = judge_streaming(tree, round_, systems=judged_by(jobs))
    plan = preprocess(draft, round_, standings(judgement), options)
    side = Side(round_.name, round_.layout)
    if to_layout is None:
        return Planned(plan, round_.name, read_migration(tree))
    target = target_side([side], to_layout)
    moved, record = migrated(plan.draft, side, target, tree)
    return Planned(plan.then(moved), target.round_name, record)


def pack_tree(
    tree: Path, archive: Path, round_name: str | None, profile: Profile, secret: bytes | None, *, allow_invalid: bool
) -> tuple[Packed, str]:
    """The tarball of a tree that the checker passes; returns it and the checker's log. Raises PackageError."""
    require_root(tree)
    draft = read_draft(tree)
    choice = choose_round(tree, round_name)
    report = with_choice(judge_tree(tree, choice.name, profile), choice)
    if report.verdict == FAIL and not allow_invalid:
        command = f"weighbridge check {tree} --round {choice.name} --profile {profile.value}"
        reason = f"{tree} has errors in profile {profile.value}: see `{command}`"
        raise PackageError((f"{reason}, or pack it with --allow-invalid",))
    text = render_text(report, verbose=True)
    verdict = Verdict(choice.name, profile.value, report.verdict, text, render_json(report))
    return pack(draft, verdict, archive, secret), text
