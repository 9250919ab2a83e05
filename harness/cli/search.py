"""The search command: the highest rate that LoadGen calls VALID."""

import re
from typing import Annotated

import typer

from harness.cli import end_in_order
from harness.cli.campaign import CampaignFile, load

_UNITS = {"": 1.0, "s": 1.0, "m": 60.0, "h": 3600.0}
_MOST_QPS = 1_000_000.0


def _seconds(text: str) -> float:
    found = re.fullmatch(r"(\d+(?:\.\d+)?)([smh]?)", text)
    seconds = float(found[1]) * _UNITS[found[2]] if found else 0.0
    if not seconds:
        raise typer.BadParameter(f"{text!r} is no time; write 90s, 30m or 2h", param_hint="--budget")
    return seconds


def search(  # noqa: PLR0913 - one option per bound of the search
    path: CampaignFile,
    *,
    scenario: Annotated[
        str | None, typer.Option(help="Server or Interactive; default: the campaign's only one.")
    ] = None,
    start: Annotated[
        float | None, typer.Option(min=1e-6, max=_MOST_QPS, help="First rate to try; default: the campaign's, else 1.")
    ] = None,
    max_qps: Annotated[float, typer.Option(min=1e-6, max=_MOST_QPS, help="Never ask for more.")] = 100_000.0,
    tolerance: Annotated[float, typer.Option(min=0.001, max=0.5, help="Relative width of the last bracket.")] = 0.02,
    queries: Annotated[int, typer.Option(min=459, help="Queries of a short probe, at least.")] = 1000,
    probe_s: Annotated[float, typer.Option(min=0.1, help="Seconds of a short probe, at least.")] = 10.0,
    max_probes: Annotated[int, typer.Option(min=1, help="Probes, those kept from before included.")] = 40,
    budget: Annotated[str, typer.Option(help="Time this command may take: 90s, 30m, 2h.")] = "2h",
    output: Annotated[str, typer.Option("--format", help="text or json.")] = "text",
) -> None:
    """Find the highest Server or Interactive rate that LoadGen calls VALID. A search that was cut off goes on."""
    from harness.run.progress import terminal_progress  # noqa: PLC0415
    from harness.search.decide import Bounds  # noqa: PLC0415
    from harness.search.run import Request, pick_scenario  # noqa: PLC0415
    from harness.search.run import search as run_search  # noqa: PLC0415
    from harness.search.settings import ShortProbe  # noqa: PLC0415
    from harness.search.text import render, render_json  # noqa: PLC0415

    if output not in ("text", "json"):
        raise typer.BadParameter(f"{output!r} is none; give text or json", param_hint="--format")
    end_in_order()
    budget_s = _seconds(budget)
    campaign, round_ = load(path)
    chosen = pick_scenario(campaign, scenario)
    first = start or campaign.scenarios[chosen].target_qps or 1.0
    request = Request(
        scenario=chosen,
        bounds=Bounds(min(first, max_qps), max_qps, tolerance, max_probes),
        probe=ShortProbe(queries, probe_s),
        budget_s=budget_s,
    )
    with terminal_progress() as progress:
        found = run_search(campaign, round_, request, progress)
    typer.echo(render_json(found) if output == "json" else render(found), nl=False)
    if found.stop is None:
        raise typer.Exit(130)
    raise typer.Exit(0 if found.stop.found_qps is not None else 1)
