"""The command line. `main` is the only place that turns an error into a message and an exit code.

Nothing heavy is imported until a command runs: `weighbridge --help` loads typer alone.
"""

import errno
import os
import signal
import sys
from collections.abc import Sequence

_SHOWN_CHARACTERS = 200
_REFUSALS = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.ENAMETOOLONG, errno.EFBIG})
"""What a file system refuses whatever is done here; errors of ours say more where they know more."""
OK, FAILED, USAGE, NOT_JUDGED, INTERRUPTED = 0, 1, 2, 3, 130


def main(arguments: Sequence[str] | None = None) -> int:
    """Run `weighbridge ARGUMENTS` (default: sys.argv). Returns the exit code; messages go to standard error."""
    try:
        return _run(list(sys.argv[1:] if arguments is None else arguments))
    except KeyboardInterrupt:
        # Also while typer or a command's own modules are being imported.
        _say("interrupted")
        return INTERRUPTED


def _run(given: list[str]) -> int:
    from harness.cli.app import app, wants_debug  # noqa: PLC0415 - a package import must stay free of typer

    try:
        app(args=given, prog_name="weighbridge")
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else FAILED if end.code else OK
    except BrokenPipeError:
        # The reader of a pipe has left. Nothing more may be written, not even by the interpreter at its end.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return FAILED
    except Exception as error:
        if wants_debug():
            raise
        if isinstance(error, OSError) and error.errno in _REFUSALS:
            return _refused(error)
        return _explain(error)
    return OK


def end_in_order() -> None:
    """From now on SIGTERM does what Ctrl-C does: the run ends in order, and can be resumed. For long commands."""
    signal.signal(signal.SIGTERM, signal.default_int_handler)


def _refused(error: OSError) -> int:
    """What the operating system will not do: a full disk, a name too long. Nothing more goes to standard output."""
    from compliance.report.plain import plain  # noqa: PLC0415 - only once something went wrong

    where = plain(str(error.filename)) if error.filename else "standard output"
    _say(f"error: {where[:_SHOWN_CHARACTERS]}: {error.strerror or error}; free space, or give another name")
    if not error.filename:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return FAILED


def _explain(error: Exception) -> int:
    code = exit_code(error)
    if code is None:
        _say(f"internal error: {type(error).__name__}: {error}")
        _say("this is a fault of weighbridge; `weighbridge --debug ...` shows where, please report it")
        return FAILED
    from compliance.report.plain import plain  # noqa: PLC0415 - only once something went wrong

    for line in str(error).split("\n"):
        _say(f"error: {plain(line) or type(error).__name__}")
    return code


def exit_code(error: Exception) -> int | None:
    """The exit code of an error of ours: 2 for what the user asked, 1 for what went wrong; None if not ours."""
    from compliance import errors as judged  # noqa: PLC0415 - only once something went wrong
    from harness import errors as ran  # noqa: PLC0415
    from harness.demo.fetch import AssetError  # noqa: PLC0415
    from sut import errors as answered  # noqa: PLC0415

    usage = (
        ran.UsageError,
        ran.CampaignError,
        ran.PlanError,
        ran.PreflightError,
        ran.WorkerChoiceError,
        judged.RuleError,
        judged.UndecidedRound,
        judged.TargetError,
        answered.UnknownSut,
        answered.BadSettings,
        answered.BadDataset,
        AssetError,
    )
    if isinstance(error, usage):
        return USAGE
    if isinstance(error, judged.UnknownRound):
        return NOT_JUDGED
    if isinstance(error, ran.HarnessError | judged.ComplianceError | answered.SutError):
        return FAILED
    return None


def _say(text: str) -> None:
    sys.stderr.write(f"{text}\n")
    sys.stderr.flush()
