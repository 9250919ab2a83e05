"""A campaign's `out` folder as runs leave it, with numbers from a seeded generator: for packaging and for the report."""

import json
from dataclasses import replace
from pathlib import Path

import msgspec
import numpy as np

from compliance.submission.storage import sha256_file
from harness.core.spec import LedgerTotals, LoadgenSettings, RunOutcome, RunSpec, WorkerEndpoint, WorkerTotals
from harness.run.record import SAMPLES_DTYPE, Provenance, RunRecord
from sut.protocol import SutFacts

FACTS = SutFacts(
    name="synthetic",
    engine="vllm",
    engine_version="0.32.0",
    device="CPU",
    device_count=1,
    dtype="bfloat16",
    model="/data/models/smollm2-135m.gguf",
    model_sha256="a" * 64,
    dataset_sha256="b" * 64,
    dataset_size=200,
    window=64,
    packages={"torch": "2.9.0", "vllm": "0.32.0"},
)
PROVENANCE = Provenance(
    weighbridge_version="0.1.0",
    git_commit="0123abc",
    git_dirty=False,
    python="3.11.2",
    packages={"numpy": "2.2.0", "pyzmq": "27.0"},
    host={"os": "Debian GNU/Linux 12"},
    started_at="2026-11-30T20:00:00Z",
    ended_at="2026-11-30T20:10:12Z",
)
LOG_LINE = (
    ':::MLLOG {{"key": "{key}", "value": {value}, "time_ms": {time:.6f}, "namespace": "mlperf::logging", '
    '"event_type": "POINT_IN_TIME", "metadata": {{"is_error": false, "is_warning": false, "file": "x.cc", '
    '"line_no": 1, "pid": 1, "tid": 1}}}}\n'
)


def samples(count: int, scenario: str, rng: np.random.Generator) -> np.ndarray:
    """`count` samples that arrived as a Poisson stream (Offline: at once) and were answered by a plausible engine."""
    array = np.zeros(count, dtype=SAMPLES_DTYPE)
    issued = np.sort(rng.uniform(0, 60, count)) if scenario != "Offline" else np.zeros(count)
    tokens = np.clip(rng.gamma(6, 6, count), 2, 48).astype(int)
    wait = rng.lognormal(-2.2, 0.45, count) if scenario != "Offline" else np.cumsum(rng.exponential(60 / count, count))
    step = rng.normal(0.021, 0.003, count).clip(0.01)
    first = issued + wait
    array["index"] = np.arange(count) % 200
    array["issued_ns"] = 10**12 + (issued * 1e9).astype(np.int64)
    array["first_ns"] = 0 if scenario == "Offline" else 10**12 + (first * 1e9).astype(np.int64)
    array["done_ns"] = 10**12 + ((first + step * (tokens - 1)) * 1e9).astype(np.int64)
    array["output_tokens"] = tokens
    return array


def detail_text(values: dict[str, object]) -> str:
    return "".join(
        LOG_LINE.format(key=key, value=json.dumps(value), time=float(i))
        for i, (key, value) in enumerate(values.items())
    )


def record(benchmark: str, scenario: str, step: str, metrics: dict[str, float], tokens: int = 1000) -> RunRecord:
    ledger = LedgerTotals(200, 200, 200, 0, 0, 0, 0, 0, tokens)
    outcome = RunOutcome(
        run_id="r1",
        kind="ok",
        cause="",
        ledger=ledger,
        workers=(WorkerTotals(0, 200, tokens),),
        duration_s=61.2,
        loop_lag_p99_ms=0.2,
        loop_lag_max_ms=1.1,
        loadgen_version="6.0.17 @ 0123456789",
    )
    return RunRecord(
        schema_version=1,
        run_id="r1",
        benchmark=benchmark,
        scenario=scenario,
        step=step,
        status="ok",
        cause="",
        validity="VALID" if step == "performance" else None,
        invalid_reason="",
        plan_sha256="c" * 64,
        outcome=outcome,
        metrics=metrics,
        effective={"effective_min_duration_ms": "10000", "effective_sample_concatenate_permutation": "true"},
        mismatches=(),
        workers=(FACTS,),
        provenance=PROVENANCE,
    )


def write_run(folder: Path, run: RunRecord, *, count: int = 600, seed: int = 7) -> None:
    """One run folder: LoadGen's files, spec.json, samples.npy and run.json with the hashes of the files."""
    folder.mkdir(parents=True)
    rng = np.random.default_rng(seed)
    offline = run.scenario == "Offline"
    values: dict[str, object] = {
        "loadgen_version": "6.0.17 @ 0123456789",
        "effective_scenario": "Offline" if offline else "Server",
        "effective_min_duration_ms": 10000,
        "generated_query_duration": 60_000_000_000,
        **run.metrics,
    }
    if run.step == "performance":
        values |= {"result_validity": run.validity, "result_min_duration_met": True, "early_stopping_met": True}
        values |= {} if offline else {"early_stopping_ttft_result": " * Processed at least 662 queries (600)."}
    (folder / "mlperf_log_detail.txt").write_text(detail_text(values), encoding="utf-8")
    (folder / "mlperf_log_summary.txt").write_text("MLPerf Results Summary\nResult is : VALID\n", encoding="utf-8")
    (folder / "user.conf").write_text(
        "# ours\n*.Server.target_qps = 9.5\n*.Server.min_duration = 10000\n", encoding="utf-8"
    )
    entries = 0 if run.step == "performance" else 200
    log = ",\n".join(f'{{ "seq_id" : {i}, "qsl_idx" : {i}, "data" : "{"0A000000" * 30}"}}' for i in range(entries))
    (folder / "mlperf_log_accuracy.json").write_text(f"[\n{log}\n]\n", encoding="utf-8")
    np.save(folder / "samples.npy", samples(count, run.scenario, rng))
    spec = RunSpec(
        run_id="r1",
        folder=str(folder),
        epoch=1,
        loadgen=LoadgenSettings(
            model="llama2-70b",
            scenario="Server",
            mode="PerformanceOnly",
            user_conf="",
            audit_conf=None,
            total_sample_count=200,
            performance_sample_count=200,
            expected_effective={"effective_min_duration_ms": 10000, "effective_sample_concatenate_permutation": True},
        ),
        first_tokens=not offline,
        events="ipc:///e",
        workers=(WorkerEndpoint(0, "ipc:///t", 64),),
        lengths="lengths.npy",
        policy="round_robin",
        max_new_tokens=48,
    )
    (folder / "spec.json").write_bytes(msgspec.json.encode(spec))
    logs = ("mlperf_log_detail.txt", "mlperf_log_summary.txt", "mlperf_log_accuracy.json")
    hashes = {name: sha256_file(folder / name) for name in logs}
    (folder / "run.json").write_bytes(msgspec.json.encode(replace(run, files=hashes)))


METRICS = {
    "Offline": {"result_tokens_per_second": 348.214, "result_samples_per_second": 9.87},
    "Server": {
        "result_completed_tokens_per_second": 331.77,
        "result_completed_samples_per_sec": 9.31,
        "result_first_token_99.00_percentile_latency_ns": 331_000_000.0,
        "result_time_per_output_token_99.00_percentile_ns": 27_900_000.0,
    },
}


def write_campaign(
    out: Path, benchmark: str = "smollm2-135m", scenarios: tuple[str, ...] = ("Offline", "Server")
) -> None:
    """A finished campaign: performance, accuracy and TEST06 of each scenario, and campaign.yaml."""
    out.mkdir(parents=True, exist_ok=True)
    for scenario in scenarios:
        base = out / "runs" / benchmark / scenario
        write_run(base / "performance", record(benchmark, scenario, "performance", METRICS[scenario]))
        write_run(base / "accuracy", record(benchmark, scenario, "accuracy", {}))
        write_run(base / "TEST06", record(benchmark, scenario, "TEST06", {}))
        digest = sha256_file(base / "accuracy" / "mlperf_log_accuracy.json")
        scores = {"ROUGE1": 27.3412, "ROUGE2": 9.5527, "ROUGEL": 18.7301, "TOKENS_PER_SAMPLE": 35.4, "GEN_LEN": 25110.0}
        text = "{'rouge1': 27.3412, 'rouge2': 9.5527, 'rougeL': 18.7301, 'gen_len': 25110, 'tokens_per_sample': 35.4}"
        (base / "accuracy" / "accuracy.txt").write_text(f"{text}\n\nhash={digest}\n", encoding="utf-8")
        (base / "accuracy" / "accuracy.json").write_text(
            json.dumps({"schema_version": 1, "scores": scores}), encoding="utf-8"
        )
        lines = ["First token", "EOS", "Sample length"]
        verify = "".join(f"{name} check pass: True\n" for name in lines) + "TEST06 verification complete\nTEST PASS\n"
        (base / "TEST06" / "verify_accuracy.txt").write_text(verify, encoding="utf-8")
    (out / "campaign.yaml").write_text(
        f"round: demo\ndivision: open\nsubmitter: Example\nsystem: laptop\nbenchmark: {benchmark}\n", encoding="utf-8"
    )
