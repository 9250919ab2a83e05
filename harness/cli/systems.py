"""Commands on system descriptions: list what is shipped, show one, describe this machine."""

import json
from pathlib import Path
from typing import Annotated

import typer

app = typer.Typer(
    help="System descriptions that are shipped, and one of this machine.", rich_markup_mode=None, no_args_is_help=True
)


@app.command("list")
def list_systems() -> None:
    """List the descriptions that are shipped as examples."""
    from systems.catalogue import system_ids  # noqa: PLC0415

    typer.echo("\n".join(system_ids()))


@app.command()
def show(system: Annotated[str, typer.Argument(help="An id of `weighbridge systems list`.")]) -> None:
    """Print a shipped description and how such a system is started."""
    from harness.errors import CampaignError  # noqa: PLC0415
    from systems.catalogue import CatalogueError, sut_text, system_text  # noqa: PLC0415

    try:
        typer.echo(system_text(system).rstrip("\n"))
        typer.echo(sut_text(system).rstrip("\n"))
    except CatalogueError as error:
        raise CampaignError((str(error),)) from error


@app.command()
def capture(
    *,
    submitter: Annotated[str, typer.Option(help="Your organisation, as its folder is named.")] = "YourCompany",
    division: Annotated[str, typer.Option(help="closed, open or network.")] = "closed",
    name: Annotated[str, typer.Option(help="system_name; default: from the hardware.")] = "",
    out: Annotated[
        Path | None, typer.Option(metavar="FILE", help="The file to write, <id>.json; default: standard output.")
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace the file if it is there.")] = False,
) -> None:
    """Describe this machine in MLPerf's form. What cannot be read says `unknown`: fill it in."""
    from harness.campaign.system import captured_name  # noqa: PLC0415
    from harness.errors import UsageError  # noqa: PLC0415
    from harness.storage import write_atomic  # noqa: PLC0415
    from systems.capture import capture as describe  # noqa: PLC0415

    if out is not None and out.is_dir():
        raise UsageError(f"{out} is a folder; name the file to write, as in {out / '<id>.json'}")
    if out is not None and out.exists() and not force:
        raise UsageError(f"{out} is there already; give another name or --force")
    description = dict(describe(name or "unknown", submitter, division))
    if not name:
        description["system_name"] = captured_name(description)
    text = json.dumps(description, indent=2)
    if out is None:
        typer.echo(text)
    else:
        write_atomic(out, text + "\n")
        typer.echo(f"wrote {out}")
