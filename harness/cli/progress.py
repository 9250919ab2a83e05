"""How far a long command is, on a terminal alone: a line that is written over and leaves nothing behind."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TextIO

_SILENT_S = 1.0
"""A command that takes no longer shows nothing."""


@contextmanager
def counted(what: str, stream: TextIO | None = None, silent_s: float = _SILENT_S) -> Iterator[Callable[[object], None]]:
    """A function to call for each of `what` that is done; it counts them on standard error where that is a terminal."""
    shown_on = sys.stderr if stream is None else stream
    if not shown_on.isatty():
        yield lambda _: None
        return
    from tqdm import tqdm  # noqa: PLC0415 - needed on a terminal alone

    # Its thread, which wakes up slow bars, would keep a process from being forked.
    tqdm.monitor_interval = 0
    with tqdm(desc="judged", unit=f" {what}", delay=silent_s, leave=False, file=shown_on, dynamic_ncols=True) as bar:

        def done(_: object) -> None:
            bar.update()

        yield done
