"""Commands on rules: rules, rules diff, explain."""

import json
from typing import Annotated

import typer

_FORMS = ("text", "json")


def rules(
    words: Annotated[
        list[str] | None,
        typer.Argument(metavar="[ROUND [BENCHMARK]] | diff ROUND ROUND | power", help="Nothing: the rounds there are."),
    ] = None,
    *,
    form: Annotated[str, typer.Option("--format", help="text or json.")] = "text",
    as_json: Annotated[bool, typer.Option("--json", help="As --format json.")] = False,
) -> None:
    """Print the rules of a round, of one benchmark or of power, or what differs between two rounds."""
    if form not in _FORMS:
        raise typer.BadParameter(f"{form} is none of {', '.join(_FORMS)}", param_hint="--format")
    typer.echo(_rules(list(words or ()), as_json=as_json or form == "json").rstrip("\n"))


def _rules(words: list[str], *, as_json: bool) -> str:
    from compliance.rulebook import power_text, text  # noqa: PLC0415
    from compliance.rulebook.power import load_power_rules  # noqa: PLC0415
    from compliance.rulebook.rounds import load_round, round_names  # noqa: PLC0415
    from harness.plan.plan import benchmark_rules  # noqa: PLC0415

    match words:
        case []:
            return _json(list(round_names()), indent=None) if as_json else "\n".join(round_names())
        case ["power"]:
            power = load_power_rules()
            return _json(power_text.power_json(power)) if as_json else power_text.power_text(power)
        case ["diff", left, right]:
            one, two = load_round(left), load_round(right)
            found = [{"key": d.key, "left": d.left, "right": d.right} for d in text.diff_rounds(one, two)]
            return _json(found) if as_json else text.diff_text(one, two)
        case [name] if name != "diff":
            round_ = load_round(name)
            return _json(text.round_json(round_)) if as_json else text.round_text(round_)
        case [name, benchmark] if name not in {"diff", "power"}:
            rules = benchmark_rules(load_round(name), benchmark)
            return _json(text.benchmark_json(rules)) if as_json else text.benchmark_text(name, rules)
        case _:
            raise typer.BadParameter("give ROUND, ROUND BENCHMARK, diff ROUND ROUND, or power")


def _json(document: object, indent: int | None = 2) -> str:
    return json.dumps(document, indent=indent)


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
