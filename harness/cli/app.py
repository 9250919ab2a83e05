"""The commands put together. This module and those it imports load typer and nothing else of weight."""

from collections.abc import Callable
from importlib import metadata
from typing import Annotated

import typer

from harness.cli import campaign, dataset, demo, logs, rules, search, sut, systems, tree, trees

_state = {"debug": False}

app = typer.Typer(
    name="weighbridge",
    help="From a YAML file to an MLPerf Inference submission that passes review.",
    epilog="Exit codes: 0 ok, 1 a run failed or an error was found, 2 wrong usage, 3 not judged, 130 interrupted.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def wants_debug() -> bool:
    """Whether errors are to be shown with their traceback."""
    return _state["debug"]


def _version(value: bool) -> None:  # noqa: FBT001 - typer's form of a callback
    if value:
        typer.echo(f"weighbridge {metadata.version('weighbridge')}")
        raise typer.Exit


@app.callback()
def options(
    *,
    debug: Annotated[bool, typer.Option("--debug", help="Show tracebacks.")] = False,
    _show: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version and exit.")
    ] = False,
) -> None:
    """From a YAML file to an MLPerf Inference submission that passes review."""
    _state["debug"] = debug


_COMMANDS: tuple[tuple[str, Callable[..., None]], ...] = (
    ("demo", demo.demo),
    ("init", campaign.init),
    ("doctor", campaign.doctor),
    ("plan", campaign.plan),
    ("run", campaign.run),
    ("search", search.search),
    ("package", tree.package),
    ("preprocess", trees.preprocess),
    ("check", tree.check),
    ("pack", trees.pack),
    ("report", tree.report),
    ("explain", rules.explain),
    ("rules", rules.rules),
    ("sut-test", sut.sut_test),
    ("accuracy", logs.accuracy),
    ("audit", logs.audit),
    ("truncate", logs.truncate),
)

for _name, _command in _COMMANDS:
    app.command(_name)(_command)
app.add_typer(systems.app, name="systems")
app.add_typer(dataset.app, name="dataset")
