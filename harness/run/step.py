"""One run, from the plan's settings to run.json: the LoadGen process is started, fed with news, and judged."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from harness.core.outcome import OUTCOME_NAME
from harness.core.spec import Limits, LoadgenSettings, RunOutcome, RunSpec, StopLoss
from harness.errors import StorageError
from harness.run.judge import Judged, judge_logs
from harness.run.process import SPEC_NAME, LoadgenProcess, ProgressSink
from harness.run.provenance import now_utc, provenance
from harness.run.record import RunRecord
from harness.storage import manifest, write_record
from harness.workers.pool import WorkerPool

RUN_NAME = "run.json"
SCHEMA_VERSION = 1


@dataclass(frozen=True, slots=True)
class StepRequest:
    """One step of a campaign: which result it belongs to, where it is written, and what is asked of LoadGen."""

    benchmark: str
    scenario: str
    step: str
    folder: Path
    loadgen: LoadgenSettings
    plan_sha256: str
    first_tokens: bool
    policy: str
    max_new_tokens: int
    limits: Limits = field(default_factory=Limits)
    stop_loss: StopLoss | None = None
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
        first_tokens=request.first_tokens,
        events=pool.events,
        workers=pool.endpoints(),
        lengths=str(pool.lengths),
        policy=request.policy,
        max_new_tokens=request.max_new_tokens,
        limits=request.limits,
        curve=pool.curve,
        cores=request.cores,
        stop_loss=request.stop_loss,
    )


def execute(spec: RunSpec, pool: WorkerPool, progress: ProgressSink | None = None) -> RunOutcome:
    """Runs one LoadGen process to its end and returns how it ended; Ctrl-C ends it in order, twice at once.

    After a test that did not end well the workers are stopped, since nobody knows what they still hold, unless they
    have ended a hopeless one themselves; the next `pool.start()` starts them anew. Raises StorageError when the run
    folder cannot be written.
    """
    folder = Path(spec.folder)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        (folder / OUTCOME_NAME).unlink(missing_ok=True)
    except OSError as error:
        raise StorageError(f"{folder} cannot be used: {error.strerror}; choose another --out") from error
    write_record(folder / SPEC_NAME, replace(spec, curve=None))
    with LoadgenProcess(spec, pool.plan.inherited) as child:
        child.follow(pool, progress)
    outcome = _named_loss(child.outcome(), pool)
    kept = outcome.kind in ("ok", "config") or (outcome.kind == "hopeless" and outcome.workers_free)
    if not kept:
        pool.stop()
    return outcome


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
