"""The LoadGen process as its runner sees it: started, fed with news, bounded in time, and its end told."""

import os
import selectors
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Protocol, Self

import msgspec

from harness.core.outcome import NO_LEDGER, OUTCOME_NAME
from harness.core.progress import Line, Progress
from harness.core.spec import RunOutcome, RunSpec
from harness.errors import StorageError
from harness.storage import read_record, write_record
from harness.workers.pool import WorkerPool

SPEC_NAME = "spec.json"
CORE_LOG_NAME = "core.log"

_TURN_S = 0.2
# The LoadGen process ends itself within 30 s of being told to.
_END_BOUND_S = 35.0
# It writes a line of progress every half second, unless it is stopped or dead-locked.
_SILENCE_BOUND_S = 120.0
_KILL_S = 5.0
_TAIL_BYTES = 2048


class ProgressSink(Protocol):
    """Where the progress of a run goes: called about twice a second."""

    def update(self, progress: Progress) -> None: ...


class LoadgenProcess:
    """The LoadGen process as its runner sees it."""

    def __init__(self, spec: RunSpec, inherited: tuple[int, ...] = ()) -> None:
        self._spec = spec
        self._folder = Path(spec.folder)
        self._told_at = 0.0
        self._interrupts = 0
        self._killed = ""
        self._outcome: RunOutcome | None = None
        self._rest = b""
        root = str(Path(__file__).resolve().parents[2])
        path = os.environ.get("PYTHONPATH", "")
        env = {**os.environ, "PYTHONPATH": f"{root}:{path}" if path else root, "PYTHONSAFEPATH": "1"}
        with (self._folder / CORE_LOG_NAME).open("wb") as log:
            self._process = subprocess.Popen(
                (sys.executable, "-m", "harness.core.child", str(self._folder / SPEC_NAME)),
                env=env,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
                start_new_session=True,
                pass_fds=inherited,
            )
        if spec.curve is not None:
            self._write("curve " + msgspec.json.encode(spec.curve).decode())

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._kill("the runner failed") if self._process.poll() is None else None
        for pipe in (self._process.stdin, self._process.stdout):
            with suppress(OSError):
                pipe.close() if pipe is not None else None

    def follow(self, pool: WorkerPool, progress: ProgressSink | None) -> None:
        """Returns when the process has ended. Every turn looks at the workers and at the bounds."""
        heard_at = time.monotonic()
        with selectors.DefaultSelector() as selector:
            if self._process.stdout is None:
                return
            selector.register(self._process.stdout, selectors.EVENT_READ)
            while True:
                try:
                    spoke = bool(selector.select(_TURN_S))
                    heard_at = time.monotonic() if spoke else heard_at
                    if spoke and not self._read(self._process.stdout.fileno(), progress):
                        break
                    self._look(pool, heard_at)
                except KeyboardInterrupt:
                    self._interrupt()
            self._reap()

    def outcome(self) -> RunOutcome:
        """How the run ended: what the process said, or what can be told of one that could not say."""
        if self._outcome is None:
            with suppress(StorageError):
                return read_record(self._folder / OUTCOME_NAME, RunOutcome)
        return self._outcome or self._unsaid()

    def _unsaid(self) -> RunOutcome:
        outcome = RunOutcome(
            run_id=self._spec.run_id,
            kind="interrupted" if self._interrupts else "internal",
            cause=self._post_mortem(),
            ledger=NO_LEDGER,
            workers=(),
            duration_s=0.0,
            loop_lag_p99_ms=0.0,
            loop_lag_max_ms=0.0,
            loadgen_version="",
        )
        with suppress(StorageError):
            write_record(self._folder / OUTCOME_NAME, outcome)
        return outcome

    def _read(self, descriptor: int, progress: ProgressSink | None) -> bool:
        """Reads what the process said; False at the end."""
        data = os.read(descriptor, 65536)
        *lines, self._rest = (self._rest + data).split(b"\n")
        for text in lines:
            with suppress(msgspec.DecodeError):
                line = msgspec.json.decode(text, type=Line)
                self._outcome = line.outcome or self._outcome
                if line.progress is not None and progress is not None:
                    progress.update(line.progress)
        return bool(data)

    def _look(self, pool: WorkerPool, heard_at: float) -> None:
        now = time.monotonic()
        if not self._told_at and (lost := pool.lost()) is not None:
            self._told_at = now
            self._write("worker-lost " + " ".join(lost.split()))
        if self._told_at and now - self._told_at > _END_BOUND_S:
            self._kill(f"the LoadGen process did not end within {_END_BOUND_S:g} s of being told to")
        elif now - heard_at > _SILENCE_BOUND_S:
            self._kill(f"the LoadGen process gave no sign of life for {_SILENCE_BOUND_S:g} s")

    def _interrupt(self) -> None:
        self._interrupts += 1
        self._told_at = self._told_at or time.monotonic()
        self._write("interrupt")
        if self._interrupts > 1:
            self._kill("interrupted twice")

    def _write(self, line: str) -> None:
        with suppress(OSError, ValueError):
            if self._process.stdin is not None:
                self._process.stdin.write(line.encode() + b"\n")
                self._process.stdin.flush()

    def _reap(self) -> None:
        try:
            self._process.wait(_KILL_S)
        except subprocess.TimeoutExpired:
            self._kill("the LoadGen process closed its output but did not end")

    def _kill(self, why: str) -> None:
        self._killed = self._killed or why
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, signal.SIGKILL)
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(_KILL_S)

    def _post_mortem(self) -> str:
        code = self._process.poll()
        how = f"died of signal {-code}" if code is not None and code < 0 else f"ended with exit status {code}"
        with suppress(OSError):
            words = (self._folder / CORE_LOG_NAME).read_bytes()[-_TAIL_BYTES:].decode("utf-8", "replace").strip()
            last = words.splitlines()[-1:] or ["it said nothing"]
            return f"{self._killed or f'the LoadGen process {how}'}; {CORE_LOG_NAME}: {last[0]}"
        return self._killed or f"the LoadGen process {how}"
