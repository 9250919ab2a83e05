"""One campaign at a time in a folder, and never beside what a killed one has left running.

The lock is a file's, and the processes that write into the folder or hold the devices inherit it: the LoadGen process
and the workers of this machine. When a campaign is killed they end by themselves within a bound, and the kernel gives
the lock free with the last of them; until then a resumed campaign waits.
"""

import contextlib
import fcntl
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TextIO

import psutil

from harness.errors import PreflightError, UsageError

LOCK_NAME = ".lock"
# A worker has 20 s to stop, the LoadGen process 30 s to end.
_ORPHANS_S = 60.0
_TURN_S = 0.1
# The start of a process is told to a hundredth of a second.
_SAME_START_S = 0.05


@contextlib.contextmanager
def locked(out: Path, say: Callable[[str], None]) -> Iterator[int]:
    """Holds `out`; gives the descriptor that processes of the campaign are to inherit.

    Raises PreflightError when another campaign runs there, UsageError when the folder cannot be made or written.
    """
    try:
        out.mkdir(parents=True, exist_ok=True)
        lock = (out / LOCK_NAME).open("a+", encoding="ascii")
    except OSError as error:
        raise UsageError(f"{out} cannot be used: {error.strerror}; choose another `out`") from error
    with lock:
        _take(lock, out, say)
        lock.seek(0)
        lock.truncate()
        me = psutil.Process()
        lock.write(f"{me.pid} {me.create_time()}\n")
        lock.flush()
        yield lock.fileno()


def _take(lock: TextIO, out: Path, say: Callable[[str], None]) -> None:
    deadline_s = time.monotonic() + _ORPHANS_S
    told = False
    while not _free(lock):
        if _owner_lives(lock):
            raise PreflightError((f"another campaign runs in {out}; wait for it or choose another `out`",))
        if time.monotonic() > deadline_s:
            raise PreflightError(
                (f"processes of a killed campaign still hold {out}; end them (`fuser {out / LOCK_NAME}` lists them)",)
            )
        if not told:
            say("waiting for the processes of a campaign that was killed")
            told = True
        time.sleep(_TURN_S)


def _free(lock: TextIO) -> bool:
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


def _owner_lives(lock: TextIO) -> bool:
    """Whether the process that took the lock is still there; its number alone may have been given to another."""
    lock.seek(0)
    try:
        number, start_s = lock.read().split()
        return abs(psutil.Process(int(number)).create_time() - float(start_s)) < _SAME_START_S
    except psutil.NoSuchProcess:
        return False
    except ValueError:
        # Taken, and not written yet: whoever does that is alive.
        return True
