"""One run, from the plan's settings to run.json: the LoadGen process is started, fed with news, and judged."""

import os
import selectors
import signal
import subprocess
import sys
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import TracebackType
from typing import Protocol, Self

import msgspec

from harness.core.outcome import NO_LEDGER, OUTCOME_NAME
from harness.core.progress import Line, Progress
from harness.core.spec import Limits, LoadgenSettings, RunOutcome, RunSpec
from harness.errors import StorageError
from harness.provenance import now_utc, provenance
from harness.run_judge import Judged, judge_logs
from harness.run_record import RunRecord
from harness.storage import manifest, read_record, write_record
from harness.workers.pool import WorkerPool

SPEC_NAME = "spec.json"
RUN_NAME = "run.json"
CORE_LOG_NAME = "core.log"
SCHEMA_VERSION = 1

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


@dataclass(frozen=True, slots=True)
class StepRequest:
    """One step of a campaign: which result it belongs to, where it is written, and what is asked of LoadGen."""

    benchmark: str
    scenario: str
    step: str
    folder: Path
    loadgen: LoadgenSettings
    plan_sha256: str
    sut_name: str
    qsl_name: str
    first_tokens: bool
    policy: str
    max_new_tokens: int
    limits: Limits = field(default_factory=Limits)
    cores: tuple[int, ...] = ()


def run_step(request: StepRequest, pool: WorkerPool, progress: ProgressSink | None = None) -> RunRecord:
    """Makes one run and writes run.json. Starts the pool's workers when they do not run.

    `ok` means that the process ended well, the ledger reconciles, every setting is in force and LoadGen logged no
    error; LoadGen's own VALID or INVALID is recorded beside it. Raises WorkerError and StorageError.
    """
    started_at = now_utc()
    facts = pool.start()
    spec = make_spec(request, pool)
    outcome = execute(spec, pool, progress)
    judged = judge_logs(request.folder, request.loadgen, outcome)
    packages = {name: version for fact in facts for name, version in fact.packages.items()}
    record = RunRecord(
        schema_version=SCHEMA_VERSION,
        run_id=spec.run_id,
        benchmark=request.benchmark,
        scenario=request.scenario,
        step=request.step,
        status=_status(outcome, judged),
        cause=outcome.cause or judged.cause,
        validity=judged.validity,
        invalid_reason=judged.invalid_reason,
        plan_sha256=request.plan_sha256,
        outcome=outcome,
        metrics=judged.metrics,
        effective=judged.effective,
        mismatches=judged.mismatches,
        workers=facts,
        provenance=provenance(started_at, now_utc(), packages),
        files=_files(request.folder),
    )
    try:
        write_record(request.folder / RUN_NAME, record)
    except StorageError as error:
        raise StorageError(f"{error} (the run itself: {record.status} {record.cause})") from error
    return record


def make_spec(request: StepRequest, pool: WorkerPool) -> RunSpec:
    """The specification of a run on a started pool."""
    epoch = pool.next_epoch()
    return RunSpec(
        run_id=f"{request.benchmark}/{request.scenario}/{request.step}",
        folder=str(request.folder.resolve()),
        epoch=epoch,
        loadgen=request.loadgen,
        sut_name=request.sut_name,
        qsl_name=request.qsl_name,
        first_tokens=request.first_tokens,
        events=pool.events,
        workers=pool.endpoints(),
        lengths=str(pool.lengths),
        policy=request.policy,
        max_new_tokens=request.max_new_tokens,
        limits=request.limits,
        curve=pool.curve,
        cores=request.cores,
    )


def execute(spec: RunSpec, pool: WorkerPool, progress: ProgressSink | None = None) -> RunOutcome:
    """Runs one LoadGen process to its end and returns how it ended; Ctrl-C ends it in order, twice at once.

    After a test that did not end well the workers are stopped, since nobody knows what they still hold; the next
    `pool.start()` starts them anew. Raises StorageError when the run folder cannot be written.
    """
    folder = Path(spec.folder)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        (folder / OUTCOME_NAME).unlink(missing_ok=True)
    except OSError as error:
        raise StorageError(f"{folder} cannot be used: {error.strerror}; choose another --out") from error
    write_record(folder / SPEC_NAME, replace(spec, curve=None))
    with _Child(spec) as child:
        child.follow(pool, progress)
    outcome = _named_loss(child.outcome(), pool)
    if outcome.kind not in ("ok", "config"):
        pool.stop()
    return outcome


class _Child:
    """The LoadGen process as its runner sees it."""

    def __init__(self, spec: RunSpec) -> None:
        self._spec = spec
        self._folder = Path(spec.folder)
        self._told_at = 0.0
        self._interrupts = 0
        self._killed = ""
        self._outcome: RunOutcome | None = None
        self._rest = b""
        root = str(Path(__file__).resolve().parents[1])
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
                    if selector.select(_TURN_S):
                        heard_at = time.monotonic()
                        if not self._read(self._process.stdout.fileno(), progress):
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


def _named_loss(outcome: RunOutcome, pool: WorkerPool) -> RunOutcome:
    """A lost worker's own story, which the LoadGen process may not have waited for."""
    if outcome.kind not in ("worker_lost", "worker_failed") or (lost := pool.lost()) is None:
        return outcome
    return outcome if lost in outcome.cause else replace(outcome, cause=f"{outcome.cause} (worker {lost})")


def _status(outcome: RunOutcome, judged: Judged) -> str:
    if outcome.kind == "interrupted":
        return "interrupted"
    return "ok" if outcome.kind == "ok" and not judged.cause else "failed"


def _files(folder: Path) -> Mapping[str, str]:
    """Hashes of the run's files; run.json itself cannot hold its own."""
    try:
        return manifest(folder, exclude=frozenset({RUN_NAME}))
    except StorageError:
        return {}
