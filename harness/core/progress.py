"""The lines the LoadGen process writes to its runner: one JSON object each, on the standard output it started with."""

import contextlib
import os
import time
from dataclasses import dataclass

import msgspec

from harness.core.spec import RunOutcome

_OUTCOME_WRITE_S = 5.0


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a test is: seconds since its start, samples issued and answered, tokens generated."""

    elapsed_s: float
    issued: int
    completed: int
    output_tokens: int


@dataclass(frozen=True, slots=True)
class Line:
    """One line: progress while the test runs, the outcome as the last one. A reader ignores what it cannot read."""

    progress: Progress | None = None
    outcome: RunOutcome | None = None


class ProgressPipe:
    """The pipe to the runner. A full pipe loses progress lines, never time.

    The standard output is moved to the standard error, so that nothing LoadGen prints can end up in the pipe.
    """

    def __init__(self) -> None:
        self._descriptor = os.dup(1)
        os.dup2(2, 1)
        os.set_blocking(self._descriptor, False)

    def report(self, elapsed_s: float, issued: int, completed: int, output_tokens: int) -> None:
        """Tells how far the test is."""
        line = msgspec.json.encode(Line(progress=Progress(elapsed_s, issued, completed, output_tokens))) + b"\n"
        with contextlib.suppress(OSError):
            os.write(self._descriptor, line)

    def outcome(self, outcome: RunOutcome) -> None:
        """Tells how it ended: the copy that arrives even when the disk is full. Waits for the reader a few seconds."""
        rest = msgspec.json.encode(Line(outcome=outcome)) + b"\n"
        deadline = time.monotonic() + _OUTCOME_WRITE_S
        with contextlib.suppress(BrokenPipeError):
            while rest and time.monotonic() < deadline:
                try:
                    rest = rest[os.write(self._descriptor, rest) :]
                except BlockingIOError:
                    time.sleep(0.01)
