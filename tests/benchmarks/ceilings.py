"""What the harness can carry at most, beside LoadGen with a null SUT in its own process; what it costs; what it keeps."""

import json
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

from compliance.logs.detail import read_detail
from harness.workers.pool import WorkerPool
from sut.dataset import write_dataset
from sut.protocol import Sampling
from tests.benchmarks import harness_runs
from tests.benchmarks.stats import Row, paired

ANSWER_TOKENS = 300
SAMPLES, PAIRS = 200_000, 3
SOAK_SAMPLES = 1_000_000
SERVER_SECONDS = 5
MOST_QPS = 1_000_000
INLINE = "null SUT in LoadGen's callback"
DONE = "result_completed_samples_per_sec"
P50, P99 = (f"result_first_token_{which}.00_percentile_latency_ns" for which in (50, 99))


def ceilings(folder: Path) -> list[Row]:
    """Every row that needs no engine."""
    sampling = Sampling(min_new_tokens=2, max_new_tokens=ANSWER_TOKENS)
    rows = in_process(folder)
    dataset = folder / "dataset"
    write_dataset(dataset, "bench", [[1, 2, 3]] * SAMPLES, source="bench", licence="none", tokenizer_sha256="")
    with harness_runs.pool("null", dataset, folder, sampling, {"output_tokens": ANSWER_TOKENS}) as pool:
        rows += offline(pool, folder)
        for qps in (1_000, 10_000, 50_000):
            rows += server(pool, folder, qps)
        rows.append(cost(pool, folder))
        rows += memory(pool, folder)
    return rows


def alone(module: str, *arguments: object) -> str:
    """Runs one of the yardsticks in a process of its own; its last line."""
    command = [sys.executable, "-m", f"tests.benchmarks.{module}", *map(str, arguments)]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    return (done.stdout.splitlines() or [""])[-1]


def figures(folder: Path) -> dict[str, float]:
    """The numbers of a detail log."""
    log = read_detail(folder / "mlperf_log_detail.txt")
    return {key: float(number) for key in log.records if (number := log.number(key)) is not None}


def inline(scenario: str, qps: float, samples: int, folder: Path, coalesce: int = 0) -> Mapping[str, float]:
    """The same test with a null SUT inside LoadGen's callback."""
    folder.mkdir(parents=True)
    alone("inline", scenario, qps, samples, folder, coalesce)
    return figures(folder)


def in_process(folder: Path) -> list[Row]:
    """The core with the null engine in one process, asked for more than it can: with and without coalesced queries."""
    rows = []
    for coalesce, how in ((0, "one by one"), (1, "coalesced")):
        ours, theirs = [], []
        for pair in range(PAIRS):
            place = folder / f"core{coalesce}{pair}"
            place.mkdir()
            alone("in_process", MOST_QPS, SAMPLES, place, coalesce)
            ours.append(figures(place)[DONE])
            theirs.append(inline("Server", MOST_QPS, SAMPLES, folder / f"line{coalesce}{pair}")[DONE])
        rows.append(paired(f"Server null in one process, {how}", "QPS", ours, theirs, f"{INLINE}, one by one"))
    return rows


def offline(pool: WorkerPool, folder: Path) -> list[Row]:
    """Offline through a ZMQ worker."""
    ours, theirs = [], []
    for pair in range(PAIRS):
        found = harness_runs.run(pool, "Offline", 1000, SAMPLES, SAMPLES, folder / f"o{pair}", ANSWER_TOKENS)
        ours.append(found["result_samples_per_second"])
        theirs.append(inline("Offline", 1000, SAMPLES, folder / f"i{pair}")["result_samples_per_second"])
    return [paired("Offline null, 300 tokens each", "samples/s", ours, theirs, INLINE)]


def server(pool: WorkerPool, folder: Path, qps: int) -> list[Row]:
    """Server through a ZMQ worker at one rate: completed queries, and TTFT above that of the inline null SUT."""
    samples = min(qps * SERVER_SECONDS, SAMPLES)
    ours, theirs = [], []
    for pair in range(PAIRS):
        ours.append(harness_runs.run(pool, "Server", qps, samples, SAMPLES, folder / f"s{qps}{pair}", ANSWER_TOKENS))
        theirs.append(inline("Server", qps, samples, folder / f"si{qps}{pair}"))
    label = f"Server null at {qps:,} QPS"
    rows = [paired(f"{label}, completed", "QPS", [f[DONE] for f in ours], [f[DONE] for f in theirs], INLINE)]
    for name, key in (("p50", P50), ("p99", P99)):
        added = sorted((mine[key] - base[key]) / 1e3 for mine, base in zip(ours, theirs, strict=True))
        rows.append(
            Row(f"{label}, added TTFT {name}", added[len(added) // 2], "us", runs=PAIRS, low=added[0], high=added[-1])
        )
    return rows


def cost(pool: WorkerPool, folder: Path, qps: int = 10_000) -> Row:
    """Processor time of the LoadGen process per query, beside a bare ZMQ echo."""
    samples = qps * SERVER_SECONDS
    ours, theirs = [], []
    for pair in range(PAIRS):
        place = folder / f"e{pair}"
        place.mkdir()
        theirs.append(float(json.loads(alone("echo", qps, samples, place))["cpu_us"]))
        found = harness_runs.run(pool, "Server", qps, samples, SAMPLES, folder / f"c{pair}", ANSWER_TOKENS)
        ours.append(found["cpu_us"])
    return paired(f"CPU of the LoadGen process at {qps:,} QPS", "us/query", ours, theirs, "a ZMQ echo")


def memory(pool: WorkerPool, folder: Path) -> list[Row]:
    """What the LoadGen process keeps per sample, and whether a soak keeps more."""
    rows = []
    for scenario, qps, samples in (
        ("Offline", 1000, SAMPLES),
        ("Offline", 1000, SOAK_SAMPLES),
        ("Server", 25_000, SAMPLES),
        ("Server", 25_000, SOAK_SAMPLES),
    ):
        found = harness_runs.run(pool, scenario, qps, samples, SAMPLES, folder / f"m{scenario}{samples}", ANSWER_TOKENS)
        rows.append(Row(f"{scenario} memory, {samples:,} samples", found["memory_bytes"], "B/sample"))
    return rows
