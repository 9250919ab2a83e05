"""Runs through the whole harness for the bench: a pool, a LoadGen process, the detail log's figures."""

from collections.abc import Mapping
from pathlib import Path

from harness.core.spec import LoadgenSettings
from harness.run.step import StepRequest, run_step
from harness.workers.launch import WorkerPlace
from harness.workers.pool import PoolPlan, WorkerPool
from sut.protocol import EngineConfig, Sampling


def pool(sut: str, dataset: Path, folder: Path, sampling: Sampling, settings: Mapping[str, object]) -> WorkerPool:
    """One local worker of this interpreter."""
    engine = EngineConfig(settings=settings, dataset_path=str(dataset), sampling=sampling)
    return WorkerPool(PoolPlan(sut=sut, engine=engine, places=(WorkerPlace(),), log_folder=folder))


def run(
    workers: WorkerPool, scenario: str, qps: float, samples: int, total: int, folder: Path, max_new_tokens: int
) -> Mapping[str, float]:
    """One performance run of `samples` of the `total` samples of the dataset; the detail log's figures and ours.

    `cpu_us` is the processor time of the LoadGen process and `memory_bytes` its growth, both per sample. Exits when the
    run is not good.
    """
    coalesce = "*.Server.coalesce_queries = 1\n"
    conf = (
        f"*.{scenario}.target_qps = {qps}\n*.*.min_duration = 0\n*.*.min_query_count = {samples}\n"
        f"*.*.performance_sample_count_override = {total}\n*.*.sample_concatenate_permutation = {int(samples == total)}\n"
        + coalesce
    )
    settings = LoadgenSettings(
        model="llama2-70b",
        scenario=scenario,
        mode="PerformanceOnly",
        user_conf=conf,
        audit_conf=None,
        total_sample_count=total,
        performance_sample_count=total,
    )
    request = StepRequest(
        benchmark="bench",
        scenario=scenario,
        step="performance",
        folder=folder,
        loadgen=settings,
        plan_sha256="",
        first_tokens=scenario != "Offline",
        policy="least_outstanding_tokens",
        max_new_tokens=max_new_tokens,
    )
    record = run_step(request, workers)
    if record.status != "ok":
        raise SystemExit(f"{folder}: {record.cause}")
    issued = record.outcome.ledger.issued
    own = {"cpu_us": record.outcome.cpu_s / issued * 1e6, "memory_bytes": record.outcome.memory_bytes / issued}
    return {**record.metrics, **own}
