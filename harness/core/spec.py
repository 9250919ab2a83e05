"""The records that cross from the runner to the LoadGen process and back. Written as JSON files in the run folder."""

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class LoadgenSettings:
    """What is asked of LoadGen for one test, computed from rules and campaign (`harness.plan.settings`).

    `user_conf` is the text LoadGen reads; `attributes` are set on TestSettings after it (names as in the Python
    binding); `expected_effective` maps detail-log keys to the values they must show after the run.
    """

    model: str
    scenario: str
    mode: str
    user_conf: str
    audit_conf: str | None
    total_sample_count: int
    performance_sample_count: int
    attributes: Mapping[str, int | float | bool] = field(default_factory=dict)
    expected_effective: Mapping[str, int | float | bool | str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class WorkerEndpoint:
    """One worker as the LoadGen process sees it: where its tasks go and how many samples it wants in flight."""

    index: int
    tasks: str
    window: int


@dataclass(frozen=True, slots=True)
class Limits:
    """Bounds that end a run which cannot end well. All in seconds; a progress bound, never a bound on the total."""

    heartbeat_timeout_s: float = 15.0
    progress_timeout_s: float = 300.0
    drain_grace_s: float = 5.0
    start_timeout_s: float = 30.0


@dataclass(frozen=True, slots=True)
class StopLoss:
    """Ends a test that can no longer be VALID: over `allowed` queries with a first token after `ttft_limit_ms`.

    For probes of a rate: LoadGen itself would run such a test to its end. `allowed` is well above the one query in a
    hundred that the 99th percentile lets pass.
    """

    ttft_limit_ms: float
    allowed: int


@dataclass(frozen=True, slots=True)
class RunSpec:
    """One LoadGen test, completely: the LoadGen process needs nothing else.

    `events` is the endpoint the process binds for answers; `lengths` holds the prompt length in tokens of every sample
    (a .npy file), for longest-first dispatch. `curve` holds the CURVE keys where the sockets are TCP, else None.
    """

    run_id: str
    folder: str
    epoch: int
    loadgen: LoadgenSettings
    first_tokens: bool
    events: str
    workers: tuple[WorkerEndpoint, ...]
    lengths: str
    policy: str
    max_new_tokens: int
    limits: Limits = field(default_factory=Limits)
    curve: Mapping[str, str] | None = None
    cores: tuple[int, ...] = ()
    stop_loss: StopLoss | None = None


@dataclass(frozen=True, slots=True)
class LedgerTotals:
    """The ledger reconciled at the end of a test. A good run has issued == completed and no anomaly.

    `late_first_tokens` (of `first_tokens`) were taken from the final answer, since the engine had not reported them.
    """

    issued: int
    first_tokens: int
    completed: int
    failed: int
    missing: int
    duplicates: int
    unknown: int
    violations: int
    output_tokens: int
    late_first_tokens: int = 0


@dataclass(frozen=True, slots=True)
class WorkerTotals:
    """What one worker answered."""

    index: int
    samples: int
    output_tokens: int


@dataclass(frozen=True, slots=True)
class RunOutcome:
    """How the LoadGen process ended: `cause` is empty for a good run, else one sentence that names what happened.

    `kind`: ok | hopeless | interrupted | worker_lost | worker_failed | stalled | ledger | loadgen | config | internal.
    Times are monotonic durations; `issue_lag_p99_ms` is how late the issue thread reached the dispatcher; `cpu_s` is
    the processor time of the LoadGen process from the start of the test to LoadGen's return, all threads together, and
    `memory_bytes` how far its resident memory rose above that at the start, at most. `workers_free` says that every
    worker has ended the test and holds nothing of it.
    """

    run_id: str
    kind: str
    cause: str
    ledger: LedgerTotals
    workers: tuple[WorkerTotals, ...]
    duration_s: float
    loop_lag_p99_ms: float
    loop_lag_max_ms: float
    loadgen_version: str
    details: tuple[str, ...] = ()
    issue_lag_p99_ms: float = 0.0
    cpu_s: float = 0.0
    memory_bytes: int = 0
    workers_free: bool = False
