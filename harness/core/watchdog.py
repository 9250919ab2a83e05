"""The main thread: signals, the runner's lines, heartbeats, progress, and how late it wakes itself.

It never calls LoadGen and never waits without a bound, so that every test ends: LoadGen itself has no timeout (F1) and
swallows Ctrl-C (F2).
"""

import os
import select
import signal
import stat
import time
from array import array
from collections.abc import Callable
from types import FrameType

from harness.core.ledger import Ledger
from harness.core.progress import ProgressPipe
from harness.core.spec import RunSpec
from harness.core.state import RunState

TICK_S = 0.02
_PROGRESS_S = 0.5
_READ_BYTES = 65536
INTERRUPTED_EXIT = 130
# With nothing in flight LoadGen may be waiting for the next arrival of a slow schedule, or writing its logs.
_IDLE_FACTOR = 4


class Watchdog:
    """Watches one test from the main thread. `lag_ns` holds how much later than asked each tick came."""

    def __init__(self, spec: RunSpec, ledger: Ledger, state: RunState, progress: ProgressPipe) -> None:
        self._spec = spec
        self._ledger = ledger
        self._state = state
        self._progress = progress
        self._interrupts = 0
        self._line = b""
        self._lines: list[str] = []
        self.lag_ns = array("q")
        self._started_ns = self._moved_ns = self._told_ns = time.monotonic_ns()
        self._seen = (0, 0, 0)
        self._counted_ns = self._started_ns
        self._poll = select.poll()
        self._poll.register(state.wake_fd, select.POLLIN)
        self._has_runner = stat.S_ISFIFO(os.fstat(0).st_mode) or stat.S_ISSOCK(os.fstat(0).st_mode)
        if self._has_runner:
            os.set_blocking(0, False)
            self._poll.register(0, select.POLLIN | select.POLLHUP)

    def listen(self) -> None:
        """Takes over SIGINT and SIGTERM. The first ends the test in order, the second ends the process."""
        signal.set_wakeup_fd(self._state.wake_write_fd, warn_on_full_buffer=False)
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, self._on_signal)

    def wait(self, done: Callable[[], bool], timeout_s: float, *, despite_failure: bool = False) -> bool:
        """Waits until `done`; False when the time is over or, unless `despite_failure`, the test has failed."""
        deadline = time.monotonic() + timeout_s
        while not done():
            if (self._state.failure is not None and not despite_failure) or time.monotonic() >= deadline:
                return False
            self._tick()
            self._obey()
        return True

    def first_line(self, timeout_s: float) -> str | None:
        """The runner's first line, whatever it says; None when none comes in time."""
        deadline = time.monotonic() + timeout_s
        while not self._lines and self._state.failure is None and time.monotonic() < deadline:
            self._tick()
        return self._lines.pop(0) if self._lines else None

    def watch(self) -> None:
        """Returns when LoadGen's test has returned or the test has failed, whichever comes first."""
        self._moved_ns = time.monotonic_ns()
        while not self._state.finished and self._state.failure is None:
            self._tick()
            self._obey()
            self._check_heartbeats()
            self._check_progress()
            self._check_stop_loss()
        self._tell(time.monotonic_ns(), force=True)

    def _tick(self) -> None:
        asked_ns = time.monotonic_ns()
        events = self._poll.poll(TICK_S * 1000)
        now_ns = time.monotonic_ns()
        if not events:
            self.lag_ns.append(max(0, now_ns - asked_ns - int(TICK_S * 1e9)))
        for descriptor, _ in events:
            self._read(descriptor)
        self._tell(now_ns)

    def _read(self, descriptor: int) -> None:
        try:
            data = os.read(descriptor, _READ_BYTES)
        except BlockingIOError:
            return
        if descriptor != 0:
            return
        if not data:
            self._poll.unregister(0)
            self._state.fail("interrupted", "the runner has ended; `weighbridge run` again resumes it")
            return
        *lines, self._line = (self._line + data).split(b"\n")
        self._lines.extend(line.decode("utf-8", "replace") for line in lines)

    def _obey(self) -> None:
        """Acts on the runner's lines: `worker-lost N: why` and `interrupt`."""
        while self._lines:
            line = self._lines.pop(0)
            if line == "interrupt":
                self._interrupt("the runner")
            elif line.startswith("worker-lost "):
                self._state.fail("worker_lost", f"worker {line.removeprefix('worker-lost ')}")

    def _on_signal(self, number: int, _frame: FrameType | None) -> None:
        self._interrupt(signal.Signals(number).name)

    def _interrupt(self, source: str) -> None:
        self._interrupts += 1
        if self._interrupts > 1:
            os._exit(INTERRUPTED_EXIT)
        self._state.fail("interrupted", f"interrupted by {source}; `weighbridge run` again resumes it")

    def _check_heartbeats(self) -> None:
        timeout_s = self._spec.limits.heartbeat_timeout_s
        now_ns = time.monotonic_ns()
        for worker, heard_ns in enumerate(self._state.heard_ns):
            silent_s = (now_ns - heard_ns) / 1e9
            if silent_s > timeout_s:
                self._state.fail(
                    "worker_lost",
                    f"worker {worker} has given no sign of life for {silent_s:.1f} s (limit {timeout_s:g} s); "
                    "see its log for what it was doing",
                )

    def _check_progress(self) -> None:
        ledger, now_ns = self._ledger, time.monotonic_ns()
        seen = (ledger.issued, ledger.first_count, ledger.completed)
        if seen != self._seen:
            self._seen, self._moved_ns = seen, now_ns
            return
        outstanding = ledger.issued - ledger.completed
        limit_s = self._spec.limits.progress_timeout_s * (1 if outstanding else _IDLE_FACTOR)
        if (now_ns - self._moved_ns) / 1e9 > limit_s:
            what = f"{outstanding} samples are unanswered and none moved" if outstanding else "LoadGen did nothing"
            self._state.fail(
                "stalled",
                f"{what} for {limit_s:g} s; failed_queries.jsonl names the samples; raise the progress timeout if "
                "one answer may take longer",
            )

    def _check_stop_loss(self) -> None:
        stop, now_ns = self._spec.stop_loss, time.monotonic_ns()
        if stop is None or now_ns - self._counted_ns < _PROGRESS_S * 1e9:
            return
        self._counted_ns = now_ns
        over = self._ledger.over_limit(now_ns, int(stop.ttft_limit_ms * 1e6))
        if over > stop.allowed:
            self._state.fail(
                "hopeless",
                f"TTFT: {over} of {self._ledger.issued} first tokens so far later than {stop.ttft_limit_ms:g} ms, "
                f"{stop.allowed} at most leave a chance: the system cannot keep up with this rate",
            )

    def _tell(self, now_ns: int, *, force: bool = False) -> None:
        if force or now_ns - self._told_ns >= _PROGRESS_S * 1e9:
            self._told_ns = now_ns
            ledger = self._ledger
            elapsed_s = (now_ns - self._started_ns) / 1e9
            self._progress.report(elapsed_s, ledger.issued, ledger.completed, ledger.output_tokens)
