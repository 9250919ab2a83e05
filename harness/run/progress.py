"""How far a campaign is: on a terminal a bar with samples, tokens per second and time left; plain lines elsewhere."""

import contextlib
import sys
import time
from collections.abc import Iterator
from typing import NoReturn, Protocol, TextIO

from tqdm import tqdm

from harness.core.progress import Progress
from harness.plan.text import duration

PLAIN_EVERY_S = 10.0


class CampaignProgress(Protocol):
    """What the orchestrator tells of: lines, and runs with their samples."""

    def say(self, text: str) -> None: ...

    def begin(self, name: str, samples: int) -> None: ...

    def update(self, progress: Progress) -> None: ...

    def end(self) -> None: ...


class BarProgress:
    """A bar per run, redrawn in place."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._bar: tqdm[NoReturn] | None = None

    def say(self, text: str) -> None:
        """A line of its own, above the bar."""
        tqdm.write(text, file=self._stream)

    def begin(self, name: str, samples: int) -> None:
        """A run begins; `samples` is predicted and corrected by what LoadGen issues."""
        self._bar = tqdm(total=samples, desc=name, unit="sample", file=self._stream, dynamic_ncols=True, leave=False)

    def update(self, progress: Progress) -> None:
        """Where the run is."""
        if self._bar is None:
            return
        self._bar.total = max(self._bar.total or 0, progress.issued)
        if progress.elapsed_s > 0:
            self._bar.set_postfix_str(f"{progress.output_tokens / progress.elapsed_s:.0f} tok/s", refresh=False)
        self._bar.update(progress.completed - self._bar.n)

    def end(self) -> None:
        """The run is over; the bar goes."""
        if self._bar is not None:
            self._bar.close()
            self._bar = None


class PlainProgress:
    """A line every ten seconds, for logs and pipes."""

    def __init__(self, stream: TextIO, every_s: float = PLAIN_EVERY_S) -> None:
        self._stream, self._every_s = stream, every_s
        self._name, self._samples, self._next = "", 0, 0.0

    def say(self, text: str) -> None:
        """A line."""
        self._stream.write(text + "\n")
        self._stream.flush()

    def begin(self, name: str, samples: int) -> None:
        """A run begins."""
        self._name, self._samples, self._next = name, samples, time.monotonic() + self._every_s
        self.say(f"{name}: {samples} samples")

    def update(self, progress: Progress) -> None:
        """Where the run is, when a line is due."""
        if time.monotonic() < self._next:
            return
        self._next = time.monotonic() + self._every_s
        total = max(self._samples, progress.issued)
        rate = progress.completed / progress.elapsed_s if progress.elapsed_s > 0 else 0.0
        left = f", {duration((total - progress.completed) / rate)} left" if rate > 0 else ""
        tokens = f"{progress.output_tokens / progress.elapsed_s:.0f} tok/s" if progress.elapsed_s > 0 else "0 tok/s"
        self.say(f"{self._name}: {progress.completed}/{total} samples, {tokens}{left}")

    def end(self) -> None:
        """The run is over."""


@contextlib.contextmanager
def terminal_progress(stream: TextIO | None = None) -> Iterator[CampaignProgress]:
    """Bars on a terminal, plain lines anywhere else; on standard error, so that results can be piped."""
    target = sys.stderr if stream is None else stream
    progress: CampaignProgress = BarProgress(target) if target.isatty() else PlainProgress(target)
    try:
        yield progress
    finally:
        progress.end()
