"""Commands on rules: rules, rules diff, explain."""

import json
from typing import Annotated

import typer

_DIFF_WORDS = 3


def rules(
    words: Annotated[
        list[str] | None,
        typer.Argument(metavar="[ROUND [BENCHMARK]] | diff ROUND ROUND", help="Nothing: the rounds there are."),
    ] = None,
    *,
    as_json: Annotated[bool, typer.Option("--json", help="As JSON.")] = False,
) -> None:
    """Print the rules of a round or of one benchmark, or what differs between two rounds."""
    from compliance.rulebook.rounds import load_round, round_names  # noqa: PLC0415
    from compliance.rulebook.text import (  # noqa: PLC0415
        benchmark_json,
        benchmark_text,
        diff_rounds,
        diff_text,
        round_json,
        round_text,
    )
    from harness.plan.plan import benchmark_rules  # noqa: PLC0415

    match list(words or ()):
        case []:
            typer.echo(json.dumps(list(round_names())) if as_json else "\n".join(round_names()))
        case ["diff", left, right]:
            one, two = load_round(left), load_round(right)
            if as_json:
                found = [{"key": d.key, "left": d.left, "right": d.right} for d in diff_rounds(one, two)]
                typer.echo(json.dumps(found, indent=2))
            else:
                typer.echo(diff_text(one, two).rstrip("\n"))
        case [name]:
            round_ = load_round(name)
            typer.echo(json.dumps(round_json(round_), indent=2) if as_json else round_text(round_).rstrip("\n"))
        case [name, benchmark]:
            found_rules = benchmark_rules(load_round(name), benchmark)
            text = benchmark_text(name, found_rules).rstrip("\n")
            typer.echo(json.dumps(benchmark_json(found_rules), indent=2) if as_json else text)
        case _:
            raise typer.BadParameter("give ROUND, ROUND BENCHMARK, or diff ROUND ROUND")


def explain(
    what: Annotated[
        str | None,
        typer.Argument(metavar="[ID | RUN_DIR]", help="A check's id, or the folder of a run; nothing: all ids."),
    ] = None,
) -> None:
    """Say what a check asks and why, or why a LoadGen run is INVALID and what to change."""
    from pathlib import Path  # noqa: PLC0415

    from compliance.explain import explain as explain_check  # noqa: PLC0415
    from compliance.explain import list_checks  # noqa: PLC0415
    from harness.errors import UsageError  # noqa: PLC0415
    from harness.run.explain import explain_run  # noqa: PLC0415

    if what is None:
        typer.echo(list_checks().rstrip("\n"))
        return
    folder = Path(what)
    if folder.is_dir() and not any((folder / name).is_file() for name in ("run.json", "mlperf_log_detail.txt")):
        raise UsageError(f"{folder}: not a run folder; give one that holds mlperf_log_detail.txt")
    typer.echo(explain_run(folder) if folder.is_dir() else explain_check(what).rstrip("\n"))
