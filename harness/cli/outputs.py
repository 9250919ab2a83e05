"""Where a judged tree's report goes: in which form, to standard output or to a file."""

import sys
from collections.abc import Callable
from importlib import import_module
from pathlib import Path

import typer

from compliance.report.model import Report

_FORMS = {"text": "text", "json": "json_", "junit": "junit", "sarif": "sarif", "csv": "csv_", "markdown": "markdown"}
FORMS = ", ".join(_FORMS)


def renderer(form: str, *, verbose: bool) -> Callable[[Report], str]:
    """The form asked for; a module per form, imported when it is asked for. Raises BadParameter for an unknown one."""
    if form not in _FORMS:
        raise typer.BadParameter(f"{form} is none of {FORMS}", param_hint="--format")
    function = getattr(import_module(f"compliance.report.{_FORMS[form]}"), f"render_{form}")
    return (lambda report: function(report, verbose=verbose)) if form == "text" else function


def refuse_unfit(path: Path | None, tree: Path, option: str) -> None:
    """Raises BadParameter for a file that is not to be written: in the tree that is judged, or in no folder."""
    if path is None:
        return
    try:
        path.exists()
    except OSError as error:
        raise typer.BadParameter(f"{error.strerror}; give another name", param_hint=option) from error
    if path.resolve().is_relative_to(tree.resolve()):
        raise typer.BadParameter(f"{path} lies in the tree, which a report must not change", param_hint=option)
    if path.is_dir():
        raise typer.BadParameter(f"{path} is a folder; name a file", param_hint=option)
    if not path.parent.is_dir():
        raise typer.BadParameter(f"{path.parent} is no folder; make it, or give another name", param_hint=option)


def deliver(report: Report, text: str, path: Path | None) -> None:
    """Print the report; or write it to a file and print the line that tells the verdict."""
    from compliance.report.grouping import last_line  # noqa: PLC0415

    if path is None:
        _print(text)
        return
    write(path, text)
    _print(last_line(report))


def write(path: Path, text: str) -> None:
    """Write a file as UTF-8 with the line ends it has, whole or not at all; a pipe or device is written to as it is.

    What UTF-8 has no form for is written as an escape.
    """
    from harness.errors import StorageError, UsageError  # noqa: PLC0415
    from harness.storage import write_atomic  # noqa: PLC0415

    content = text.encode("utf-8", "backslashreplace")
    try:
        if path.is_file() or not path.exists():
            write_atomic(path.resolve(), content)
        else:
            path.write_bytes(content)
    except StorageError as error:
        raise UsageError(str(error)) from error
    except OSError as error:
        raise UsageError(f"{path}: cannot be written: {error.strerror}; give another name") from error


def _print(text: str) -> None:
    """Print text also where standard output's encoding lacks some of its characters."""
    encoding = sys.stdout.encoding or "utf-8"
    typer.echo(text.rstrip("\n").encode(encoding, "backslashreplace").decode(encoding))
