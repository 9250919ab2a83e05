"""Commands on trees that are there: preprocess, pack, and what package and truncate do with a tree."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from harness.cli.roots import existing_tree

if TYPE_CHECKING:
    from harness.package.trees import Planned

_COLUMNS = 80
Tree = Annotated[
    Path, typer.Argument(metavar="TREE", callback=existing_tree, help="The submission tree; it is only read.")
]
RoundName = Annotated[
    str | None, typer.Option("--round", help="The round whose rules count; default: that of the manifest or the logs.")
]
Apply = Annotated[bool, typer.Option("--apply", help="Do it; without, the plan is printed and nothing written.")]


def package_trees(
    trees: list[Path], out: Path, to_layout: str | None, to_open: list[str], *, low_targets: bool, apply: bool
) -> None:
    """Carry trees into one layout and one tree: the part of `package` that needs no campaign."""
    from harness.package.trees import Wanted, plan_package  # noqa: PLC0415

    _finish(plan_package(trees, Wanted(to_layout, tuple(to_open), low_targets)), out, apply=apply)


def preprocess(  # noqa: PLR0913 - one option per phase of the official tool
    tree: Tree,
    *,
    out: Annotated[Path, typer.Option(help="The new tree; it is written whole or not at all.")],
    round_name: RoundName = None,
    to_layout: Annotated[str | None, typer.Option(help="Also bring it into the layout of this round.")] = None,
    infer_low_targets: Annotated[bool, typer.Option(help="Copy -99.9 results to -99 where the round has both.")] = True,
    infer_scenarios: Annotated[bool, typer.Option(help="Edge: copy scenarios that may be inferred.")] = True,
    drop_empty_folders: Annotated[bool, typer.Option(help="Leave empty folders out.")] = True,
    move_failed_to_open: Annotated[bool, typer.Option(help="Failed closed results go to open, else out.")] = True,
    apply: Apply = False,
) -> None:
    """Prepare a tree for submission by its official verdicts: clean it, move what fails to open, infer the rest."""
    from compliance.submission.preprocess import Options  # noqa: PLC0415
    from harness.package.prepare import plan_preprocess  # noqa: PLC0415

    options = Options(infer_low_targets, infer_scenarios, drop_empty_folders, move_failed_to_open)
    _finish(plan_preprocess(tree, round_name, options, to_layout), out, apply=apply)


def truncate_tree(tree: Path, out: Path, skip: list[str], *, apply: bool) -> None:
    """Cut every accuracy log of a tree: the part of `truncate` that takes a whole tree."""
    from harness.package.trees import plan_truncate  # noqa: PLC0415

    _finish(plan_truncate(tree, frozenset(skip)), out, apply=apply)


def _finish(planned: "Planned", out: Path, *, apply: bool) -> None:
    """Print the plan, and carry it out when that is wanted.

    A plan with problems ends in RenderError either way, one without a place for its tree in TargetError.
    """
    from compliance.errors import RenderError  # noqa: PLC0415
    from compliance.report.plain import plain  # noqa: PLC0415
    from compliance.submission.write_draft import require_place, write_tree  # noqa: PLC0415

    plan, target, place = planned.plan, planned.target(out), plain(str(out))
    for step in plan.steps:
        typer.echo("\n".join(step.lines(_COLUMNS)))
    for note in plan.notes:
        typer.echo(f"note: {note}", err=True)
    if plan.problems:
        raise RenderError(plan.problems)
    require_place(plan.draft, target)
    if not apply:
        count, steps = len(plan.draft.files), len(plan.steps)
        what = f"{steps} step{'' if steps == 1 else 's'}" if steps else "nothing to change"
        typer.echo(f"plan: {count} files in the layout of {planned.round_name}, {what}; nothing was written.")
        typer.echo("To do it, give the same command with --apply" if steps else "With --apply a copy is written.")
        return
    manifest = write_tree(plan, target)
    typer.echo(f"{len(manifest.files)} files in {place}; their hashes in {plain(str(manifest.path))}")
    if plan.removed:
        typer.echo(f"{len(plan.removed)} originals with their hashes in {plain(str(target.originals))}")
    typer.echo(f"next: weighbridge check {place} --round {planned.round_name}")


def pack(
    tree: Tree,
    *,
    out: Annotated[Path | None, typer.Option(help="The archive; default: the tree's name with .tar.gz.")] = None,
    round_name: RoundName = None,
    profile: Annotated[str, typer.Option(help="Whose errors count: strict or official.")] = "strict",
    allow_invalid: Annotated[bool, typer.Option("--allow-invalid", help="Pack a tree with errors too.")] = False,
    encrypt: Annotated[
        bool, typer.Option("--encrypt", help="As openssl does; the manifest has the command to decrypt.")
    ] = False,
    passphrase_env: Annotated[
        str | None, typer.Option(help="Environment variable with the passphrase, 12 characters or more.")
    ] = None,
    passphrase_file: Annotated[Path | None, typer.Option(help="File with the passphrase in its first line.")] = None,
) -> None:
    """Write the tarball for upload, with its manifest and the checker's log beside it."""
    from compliance.report.plain import plain  # noqa: PLC0415
    from compliance.submission.pack import beside  # noqa: PLC0415
    from compliance.vocabulary import Profile  # noqa: PLC0415
    from harness.package.prepare import pack_tree  # noqa: PLC0415

    if profile not in set(Profile):
        raise typer.BadParameter(f"{profile} is none of {', '.join(Profile)}", param_hint="--profile")
    secret = _secret(passphrase_env, passphrase_file, encrypt=encrypt)
    named = tree.resolve()
    archive = out or named.parent / f"{named.name}.tar.gz{'.enc' if encrypt else ''}"
    packed, log = pack_tree(tree, archive, round_name, Profile(profile), secret, allow_invalid=allow_invalid)
    typer.echo(log.rstrip().rpartition("\n")[2])
    manifest, text, json_ = beside(archive)
    typer.echo(f"{len(packed.files)} files in {plain(str(archive))}, sha256 {packed.sha256}")
    typer.echo(f"beside it: {', '.join(plain(path.name) for path in (manifest, text, json_))}")


def _secret(variable: str | None, file: Path | None, *, encrypt: bool) -> bytes | None:
    from compliance.submission.encrypt import CannotEncrypt, passphrase, require_library  # noqa: PLC0415
    from harness.errors import UsageError  # noqa: PLC0415

    if not encrypt:
        if variable is not None or file is not None:
            raise UsageError("a passphrase without --encrypt; give --encrypt too, or leave it out")
        return None
    try:
        require_library()
        return passphrase(variable, file)
    except CannotEncrypt as error:
        raise UsageError(str(error)) from error
