"""Commands on a submission tree: package, check, report."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from harness.cli.campaign import CampaignFile, load
from harness.cli.roots import existing_tree

if TYPE_CHECKING:
    from harness.package.judging import RoundChoice

Waivers = Annotated[Path | None, typer.Option(exists=True, dir_okay=False, help="File of waivers: id, reason, until.")]


def package(  # noqa: PLR0913 - a campaign's options and those of trees that are there
    path: Annotated[Path | None, typer.Argument(metavar="CAMPAIGN", help="The campaign's YAML file.")] = None,
    *,
    out: Annotated[Path, typer.Option(help="The tree's folder; it is written whole or not at all.")],
    replace: Annotated[bool, typer.Option("--replace", help="Take the place of a tree rendered before.")] = False,
    allow_invalid: Annotated[
        bool, typer.Option("--allow-invalid", help="Also runs that LoadGen calls INVALID; no check passes them.")
    ] = False,
    trees: Annotated[
        list[Path] | None,
        typer.Option("--from", exists=True, file_okay=False, help="A tree in the campaign's place; several merge."),
    ] = None,
    to_layout: Annotated[str | None, typer.Option(help="With --from: the round whose layout is wanted.")] = None,
    to_open: Annotated[
        list[str] | None, typer.Option(help="With --from: SYSTEM/BENCHMARK whose results go to the open division.")
    ] = None,
    low_targets: Annotated[
        bool, typer.Option("--low-targets", help="With --from: -99.9 results are copied to -99 where the round has it.")
    ] = False,
    apply: Annotated[bool, typer.Option("--apply", help="With --from: do it; without, the plan is printed.")] = False,
) -> None:
    """Render the submission tree, with truncated accuracy logs; the originals stay with their hashes.

    With --from, trees that are there are brought into one layout and one tree instead, byte for byte.
    """
    from harness.cli.trees import package_trees  # noqa: PLC0415

    if trees:
        if path is not None or replace or allow_invalid:
            raise typer.BadParameter("takes neither a campaign nor --replace nor --allow-invalid", param_hint="--from")
        package_trees(trees, out, to_layout, to_open or [], low_targets=low_targets, apply=apply)
        return
    if path is None:
        raise typer.BadParameter("give a campaign's YAML file, or a tree with --from", param_hint="CAMPAIGN")
    if path.is_dir():
        raise typer.BadParameter(f"{path} is a folder; a tree that is there is given by --from", param_hint="CAMPAIGN")
    if to_layout or to_open or low_targets or apply:
        raise typer.BadParameter("--to-layout, --to-open, --low-targets and --apply go with --from")
    _package_campaign(path, out, replace=replace, allow_invalid=allow_invalid)


def _package_campaign(path: Path, out: Path, *, replace: bool, allow_invalid: bool) -> None:
    from harness.package.campaign import package_campaign  # noqa: PLC0415
    from harness.run.orchestrate import plan_campaign  # noqa: PLC0415

    campaign, round_ = load(path)
    plan = plan_campaign(campaign, round_)
    manifest = package_campaign(campaign, round_, plan, out, replace=replace, allow_invalid=allow_invalid)
    typer.echo(f"{len(manifest.files)} files in {out}; their hashes in {manifest.path}")
    typer.echo(f"next: weighbridge check {out} --round {round_.name}")


def check(  # noqa: PLR0913 - one parameter per option
    tree: Annotated[str, typer.Argument(metavar="TREE", help="The submission tree.")],
    *,
    round_name: Annotated[
        str | None,
        typer.Option("--round", help="The round whose rules count; default: that of the tree's manifest or logs."),
    ] = None,
    profile: Annotated[str, typer.Option(help="strict: the rules as written; official: the official checker.")] = (
        "strict"
    ),
    form: Annotated[str, typer.Option("--format", help="text, json, junit, sarif, csv or markdown.")] = "text",
    output: Annotated[Path | None, typer.Option(help="Write the report to this file; print the verdict alone.")] = None,
    csv_official: Annotated[
        Path | None, typer.Option(help="Also write the official checker's CSV, byte for byte as it does.")
    ] = None,
    submitter: Annotated[str | None, typer.Option(help="Only this submitter.")] = None,
    waivers: Waivers = None,
    jobs: Annotated[
        int | None, typer.Option(min=1, help="Processes; default: one per core, at most 8; 1 for a small tree.")
    ] = None,
    verbose: Annotated[bool, typer.Option("--verbose", "-v", help="Every finding at full length.")] = False,
) -> None:
    """Judge a submission tree: one verdict per result, by the official checker and by the rules as written."""
    from compliance.vocabulary import Profile  # noqa: PLC0415
    from harness.cli import outputs  # noqa: PLC0415
    from harness.cli.progress import counted  # noqa: PLC0415
    from harness.package.judging import choose_round, judge_tree, with_choice  # noqa: PLC0415

    root = existing_tree(Path(tree))
    if profile not in set(Profile):
        raise typer.BadParameter(f"{profile} is none of {', '.join(Profile)}", param_hint="--profile")
    render = outputs.renderer(form, verbose=verbose)
    outputs.refuse_unfit(output, root, "--output")
    outputs.refuse_unfit(csv_official, root, "--csv-official")
    if output is not None and csv_official is not None and output.resolve() == csv_official.resolve():
        raise typer.BadParameter("is the file of --output too; give another name", param_hint="--csv-official")
    choice = choose_round(root, round_name, submitter)
    with counted("systems") as seen:
        judged = judge_tree(root, choice.name, Profile(profile), submitter, waivers, jobs, seen)
    report = with_choice(judged, choice)
    if form != "text":
        _say_choice(choice, named=round_name is not None)
    outputs.deliver(report, render(report), output)
    if csv_official is not None:
        from compliance.report.csv_ import render_csv_official  # noqa: PLC0415

        outputs.write(csv_official, render_csv_official(report, tree))
    raise typer.Exit(report.exit_code)


def _say_choice(choice: "RoundChoice", *, named: bool) -> None:
    """What the round rests on, on standard error: forms for machines leave it out or hide it."""
    from compliance.report.plain import one_line  # noqa: PLC0415

    basis = () if named else (f"judged by round {choice.name}: {'; '.join(choice.basis)}",)
    for text in (*basis, *(f"but {note}" for note in choice.notes), choice.hint):
        if text:
            typer.echo(one_line(text), err=True)


def report(
    path: CampaignFile,
    *,
    tree: Annotated[
        Path | None, typer.Option(exists=True, file_okay=False, help="The rendered tree, to show its verdict.")
    ] = None,
    out: Annotated[Path | None, typer.Option(help="The HTML page; default: report.html in the campaign's out.")] = None,
) -> None:
    """Write one self-contained HTML page of the campaign, with text and JSON beside it."""
    from harness.package.judging import judge_tree  # noqa: PLC0415
    from harness.report import write_report  # noqa: PLC0415

    campaign, round_ = load(path)
    page = out or campaign.out / "report.html"
    judged = judge_tree(tree, round_.name) if tree else None
    if not any((campaign.out / "runs").glob("*/*/*/run.json")):
        typer.echo(f"no runs in {campaign.out} yet; make them with `weighbridge run {path}`", err=True)
    if judged and not judged.results:
        typer.echo(f"no results in {tree} yet; render it with `weighbridge package {path} --out {tree}`", err=True)
    write_report(campaign.out, tree, judged, page)
    typer.echo(f"wrote {page}")
