"""Commands on SUTs: sut-test."""

from pathlib import Path
from typing import Annotated

import typer


def sut_test(
    name: Annotated[str | None, typer.Argument(help="The SUT: a name, or module:Class of your own.")] = None,
    *,
    list_names: Annotated[bool, typer.Option("--list", help="List the SUTs there are.")] = False,
    describe: Annotated[bool, typer.Option("--describe", help="Print what the SUT is and its settings.")] = False,
    setting: Annotated[
        list[str] | None, typer.Option("--set", metavar="KEY=VALUE", help="A setting, as in the campaign.")
    ] = None,
    dataset: Annotated[Path | None, typer.Option(help="A dataset folder; default: a small one made for this.")] = None,
) -> None:
    """Prove that a SUT keeps the protocol: start, warm up, answer, stop, first tokens, failures."""
    from sut import registry  # noqa: PLC0415

    if list_names or name is None:
        typer.echo("\n".join(registry.sut_names()))
        return
    if describe:
        typer.echo(registry.describe(name))
        return
    import tempfile  # noqa: PLC0415

    from harness.demo.campaign import write_synthetic_dataset  # noqa: PLC0415
    from sut.conformance import run_conformance  # noqa: PLC0415
    from sut.protocol import EngineConfig, Sampling  # noqa: PLC0415

    with tempfile.TemporaryDirectory(prefix="weighbridge-") as folder:
        if dataset is None:
            dataset = Path(folder) / "dataset"
            write_synthetic_dataset(dataset)
        settings = dict(_pair(item) for item in setting or ())
        config = EngineConfig(settings, str(dataset), Sampling(min_new_tokens=2, max_new_tokens=32))
        report = run_conformance(name, config)
    for check in report.checks:
        state = {True: "pass", False: "FAIL", None: "not reached"}[check.passed]
        typer.echo(f"{state:<12}{check.name}: {check.title}{f' ({check.why})' if check.why else ''}")
    raise typer.Exit(0 if report.passed else 1)


def _pair(text: str) -> tuple[str, object]:
    import yaml  # noqa: PLC0415

    key, equals, value = text.partition("=")
    if not equals or not key.strip():
        raise typer.BadParameter(f"{text} is not KEY=VALUE", param_hint="--set")
    return key.strip(), yaml.safe_load(value)
