"""One worker process: started, watched by a thread, and ended within a bound."""

import contextlib
import os
import signal
import subprocess
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from harness.errors import WorkerChoiceError
from harness.workers.launch import Launch
from sut.control import WorkerCommand, WorkerConfig, WorkerStatus

if TYPE_CHECKING:
    from sut.protocol import SutFacts

_TAIL_BYTES = 4096
_TAIL_LINES = 12
_TERM_S = 3.0
_KILL_S = 5.0


class WorkerProcess:
    """A running worker. Its standard output carries status lines; its log takes everything it prints."""

    def __init__(
        self, index: int, command: Launch, config: WorkerConfig, log: Path, inherited: tuple[int, ...] = ()
    ) -> None:
        """Starts the process and tells it what to be. Raises WorkerError when it cannot be started."""
        self.index = index
        self.log = log
        self.facts: SutFacts | None = None
        self._command = command
        self._reason = ""
        self._changed = threading.Condition()
        self._ended = False
        try:
            with log.open("wb") as stderr:
                self._process = subprocess.Popen(
                    command.argv,
                    env=dict(command.env),
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    stderr=stderr,
                    start_new_session=True,
                    pass_fds=inherited,
                )
        except OSError as error:
            raise WorkerChoiceError(
                f"worker {index}: {command.argv[0]} cannot be started: {error.strerror}; correct `worker`"
            ) from error
        if command.cores:
            with contextlib.suppress(OSError):
                os.sched_setaffinity(self._process.pid, command.cores)
        self._thread = threading.Thread(target=self._read_statuses, name=f"worker-{index}", daemon=True)
        self._thread.start()
        self._write(msgspec.json.encode(config))

    def wait_ready(self, deadline: float) -> str:
        """Waits until the worker is ready or the monotonic `deadline` is over; why it is not, or empty."""
        with self._changed:
            self._changed.wait_for(lambda: self._ended or self._reason or self.facts, deadline - time.monotonic())
        if self.facts is not None and not self._reason:
            return ""
        if self._reason or self._ended:
            return f"worker {self.index} did not start: {self.lost()}"
        return f"worker {self.index} did not get ready in time; {self._last_words()}"

    def lost(self) -> str | None:
        """Why this worker cannot answer any more, None while it lives."""
        if not self._ended and not self._reason:
            return None
        if self._reason:
            return self._reason
        code = self._process.poll()
        how = f"killed by signal {-code}" if code is not None and code < 0 else f"ended with exit status {code}"
        return f"{how}; {self._last_words()}"

    def ask_to_stop(self) -> None:
        """Sends the stop line and closes the pipe, which says the same."""
        self._write(msgspec.json.encode(WorkerCommand("stop")))
        with contextlib.suppress(OSError):
            if self._process.stdin is not None:
                self._process.stdin.close()

    def wait_stopped(self, deadline: float) -> None:
        """Waits until the monotonic `deadline`, then ends the whole process group: SIGTERM, SIGKILL."""
        if not self._exited(deadline - time.monotonic()):
            self._signal(signal.SIGTERM)
            if not self._exited(_TERM_S):
                self._signal(signal.SIGKILL)
                self._exited(_KILL_S)
            self._kill_container()
        # Children of the engine must not keep a device's memory (F29).
        self._signal(signal.SIGKILL)
        self._thread.join(1.0)
        if self._process.stdout is not None and not self._thread.is_alive():
            self._process.stdout.close()

    def _read_statuses(self) -> None:
        stdout = self._process.stdout
        for line in stdout or ():
            with contextlib.suppress(msgspec.DecodeError):
                self._take(msgspec.json.decode(line, type=WorkerStatus))
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(_KILL_S)
        with self._changed:
            self._ended = True
            self._changed.notify_all()

    def _take(self, status: WorkerStatus) -> None:
        with self._changed:
            if status.state == "ready":
                self.facts = status.facts
            elif status.state == "failed":
                self._reason = status.reason
            self._changed.notify_all()

    def _write(self, line: bytes) -> None:
        """Writes a control line; a worker that is gone is told of by `lost`."""
        with contextlib.suppress(OSError, ValueError):
            if self._process.stdin is not None:
                self._process.stdin.write(line + b"\n")
                self._process.stdin.flush()

    def _exited(self, timeout_s: float) -> bool:
        try:
            self._process.wait(max(0.0, timeout_s))
        except subprocess.TimeoutExpired:
            return False
        return True

    def _signal(self, number: signal.Signals) -> None:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, number)

    def _kill_container(self) -> None:
        if self._command.kill is not None:
            with contextlib.suppress(OSError, subprocess.TimeoutExpired):
                subprocess.run(self._command.kill, capture_output=True, check=False, timeout=_KILL_S)

    def _last_words(self) -> str:
        """The end of the worker's log, for an error message."""
        with contextlib.suppress(OSError):
            text = self.log.read_bytes()[-_TAIL_BYTES:].decode("utf-8", "replace").strip()
            if text:
                lines = text.splitlines()[-_TAIL_LINES:]
                return f"the end of {self.log}:\n  " + "\n  ".join(lines)
        return f"its log {self.log} is empty"
