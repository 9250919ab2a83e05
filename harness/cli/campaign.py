"""Commands on a campaign file: init, doctor, plan, run."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from harness.cli import end_in_order

if TYPE_CHECKING:
    from compliance.rulebook.model import Round
    from harness.campaign.model import Campaign

CampaignFile = Annotated[Path, typer.Argument(metavar="CAMPAIGN", help="The campaign's YAML file.")]


def load(path: Path) -> "tuple[Campaign, Round]":
    """A campaign with the rules of its round. Raises CampaignError, RuleError."""
    from compliance.rulebook.rounds import load_round  # noqa: PLC0415 - pydantic only when a campaign is read
    from harness.campaign.load import load_campaign  # noqa: PLC0415

    campaign = load_campaign(path)
    return campaign, load_round(campaign.round)


def init(
    out: Annotated[
        Path | None, typer.Argument(metavar="CAMPAIGN", help="The file to write; default: standard output.")
    ] = None,
    *,
    round_name: Annotated[str, typer.Option("--round", help="The round.")] = "v6.1",
    benchmark: Annotated[str, typer.Option(help="The benchmark.")] = "llama2-70b-99.9",
    division: Annotated[str, typer.Option(help="closed, open or network.")] = "closed",
    submitter: Annotated[str, typer.Option(help="Your organisation, as its folder is named.")] = "YourCompany",
    system: Annotated[str, typer.Option(help="An id, the path of a <id>.json, or capture.")] = "capture",
    sut: Annotated[str, typer.Option(help="What answers: a name of `weighbridge sut-test --list`.")] = "vllm-cuda",
    force: Annotated[bool, typer.Option("--force", help="Replace the file if it is there.")] = False,
) -> None:
    """Write a commented campaign file for a system, a benchmark and a SUT."""
    from compliance.rulebook.rounds import load_round  # noqa: PLC0415
    from compliance.vocabulary import Division  # noqa: PLC0415
    from harness.campaign.init import campaign_text  # noqa: PLC0415
    from harness.errors import CampaignError, UsageError  # noqa: PLC0415
    from harness.plan.plan import benchmark_rules  # noqa: PLC0415
    from harness.storage import write_atomic  # noqa: PLC0415

    if division not in set(Division):
        raise typer.BadParameter(f"{division} is none of {', '.join(Division)}", param_hint="--division")
    round_ = load_round(round_name)
    rules = benchmark_rules(round_, benchmark)
    text = campaign_text(round_, rules, division=Division(division), submitter=submitter, system=system, sut=sut)
    if out is None:
        typer.echo(text, nl=False)
        return
    if out.exists() and not force:
        raise CampaignError((f"{out} is there already; give another name or --force",))
    if not out.parent.is_dir():
        raise UsageError(f"{out.parent}: no such folder; create it or give another name")
    write_atomic(out, text)
    typer.echo(f"wrote {out}: set what it marks, then `weighbridge doctor {out}`")


def doctor(
    path: Annotated[Path | None, typer.Argument(metavar="[CAMPAIGN]", help="The campaign's YAML file.")] = None,
) -> None:
    """Look for everything that would end a campaign badly, before it starts."""
    from harness.doctor.diagnose import diagnose, render  # noqa: PLC0415

    campaign, round_ = load(path) if path else (None, None)
    diagnosis = diagnose(campaign, round_, Path.cwd())
    typer.echo(render(diagnosis), nl=False)
    raise typer.Exit(1 if diagnosis.failed else 0)


def plan(
    path: CampaignFile,
    *,
    settings: Annotated[bool, typer.Option("--settings", help="Also what LoadGen's log will show.")] = False,
) -> None:
    """Show the runs to be made: predicted samples, duration, and which bound ends each."""
    from harness.plan.text import render_plan  # noqa: PLC0415
    from harness.run.orchestrate import plan_campaign  # noqa: PLC0415
    from harness.run.standing import render_standing  # noqa: PLC0415

    campaign, round_ = load(path)
    made = plan_campaign(campaign, round_)
    typer.echo(render_plan(campaign, made, settings=settings), nl=False)
    typer.echo(render_standing(made), nl=False)
    typer.echo("The dataset, the workers and the SUT are checked by `weighbridge doctor`.")


def run(
    path: CampaignFile,
    *,
    only: Annotated[
        list[str] | None,
        typer.Option(help="Only these runs: Offline, accuracy, Server/TEST06, ... May be given more than once."),
    ] = None,
    resume: Annotated[
        bool,
        typer.Option("--resume/--restart", help="Keep runs that are done, unchanged and VALID, or make all anew."),
    ] = True,
) -> None:
    """Make the performance, accuracy and audit runs. A campaign that was interrupted resumes where it stopped."""
    from harness.run.orchestrate import run_campaign  # noqa: PLC0415
    from harness.run.progress import terminal_progress  # noqa: PLC0415

    end_in_order()
    campaign, round_ = load(path)
    with terminal_progress() as progress:
        summary = run_campaign(campaign, round_, path, only=tuple(only or ()), resume=resume, progress=progress)
    typer.echo(summary.text(), nl=False)
    raise typer.Exit(summary.exit_code)
