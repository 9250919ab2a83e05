"""Small LoadGen tests for the core: settings, a dataset, specifications, and the LoadGen process run by hand."""

import json
import subprocess
import sys
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from harness.core.spec import Limits, LoadgenSettings, RunSpec, WorkerEndpoint
from harness.run.step import StepRequest
from harness.storage import write_record
from sut.dataset import write_dataset
from sut.protocol import EngineConfig, Sampling

ROOT = Path(__file__).resolve().parents[2]
SAMPLES = 64
EPOCH = 7
CONF = """# short tests
*.*.min_duration = 300
*.*.performance_sample_count_override = 64
*.*.min_query_count = 64
*.Offline.target_qps = 2000
*.Server.target_qps = 500
*.Server.min_query_count = 500
*.SingleStream.target_latency = 0.1
"""
AUDIT = """*.*.mode = 2
*.*.accuracy_log_rng_seed = 720381539243781796
*.*.accuracy_log_sampling_target = 20
*.*.min_query_count = 20
*.*.min_duration = 0
*.*.sample_concatenate_permutation = 0
"""
LIMITS = Limits(heartbeat_timeout_s=5.0, progress_timeout_s=20.0, drain_grace_s=3.0, start_timeout_s=20.0)
QUICK = replace(LIMITS, heartbeat_timeout_s=1.0, progress_timeout_s=1.0)


def prompts(count: int = SAMPLES, *, shortest: int = 2) -> list[list[int]]:
    """Prompt i has i % 13 + `shortest` tokens, and its first one tells i."""
    return [[1000 + i, *range(1, i % 13 + shortest)] for i in range(count)]


def dataset(folder: Path, rows: list[list[int]] | None = None) -> Path:
    write_dataset(folder, "toy", rows or prompts(), source="made", licence="none", tokenizer_sha256="")
    return folder


def engine(folder: Path, *, max_new_tokens: int = 48, **settings: object) -> EngineConfig:
    return EngineConfig(settings, str(folder), Sampling(2, max_new_tokens))


def settings(
    scenario: str,
    mode: str = "PerformanceOnly",
    *,
    conf: str = CONF,
    audit: str | None = None,
    model: str = "llama2-70b",
    **fields: object,
) -> LoadgenSettings:
    made = LoadgenSettings(model, scenario, mode, conf, audit, SAMPLES, SAMPLES)
    return replace(made, **fields)


def request(folder: Path, loadgen: LoadgenSettings, limits: Limits = LIMITS, step: str = "performance") -> StepRequest:
    return StepRequest(
        benchmark="toy",
        scenario=loadgen.scenario,
        step=step,
        folder=folder,
        loadgen=loadgen,
        plan_sha256="0" * 64,
        first_tokens=loadgen.scenario != "Offline",
        policy="least_outstanding_tokens",
        max_new_tokens=48,
        limits=limits,
    )


@dataclass
class Bench:
    """A run folder, endpoints in a short folder, and wire workers that are ended by their own ids."""

    base: Path
    workers: list[subprocess.Popen]

    @property
    def run(self) -> Path:
        return self.base / "run"

    def spec(self, loadgen: LoadgenSettings, workers: int = 1, limits: Limits = QUICK, **fields: object) -> RunSpec:
        self.run.mkdir(exist_ok=True)
        np.save(self.base / "lengths.npy", np.arange(1, SAMPLES + 1, dtype=np.int32))
        made = RunSpec(
            run_id="toy/run",
            folder=str(self.run),
            epoch=EPOCH,
            loadgen=loadgen,
            first_tokens=loadgen.scenario != "Offline",
            events=f"ipc://{self.base}/e",
            workers=tuple(WorkerEndpoint(i, f"ipc://{self.base}/t{i}", 8) for i in range(workers)),
            lengths=str(self.base / "lengths.npy"),
            policy="least_outstanding_tokens",
            max_new_tokens=48,
            limits=limits,
        )
        return replace(made, **fields)

    def start_worker(self, index: int, fault: str = "none") -> subprocess.Popen:
        command = [sys.executable, "-m", "tests.support.wire_worker"]
        endpoints = [f"ipc://{self.base}/t{index}", f"ipc://{self.base}/e"]
        self.workers.append(subprocess.Popen([*command, *endpoints, str(index), fault], cwd=ROOT))
        return self.workers[-1]

    def start(self, spec: RunSpec, **popen: object) -> subprocess.Popen:
        """The LoadGen process, not waited for; its output is a pipe."""
        write_record(self.base / "spec.json", spec)
        arguments = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **popen}
        command = [sys.executable, "-m", "harness.core.child", str(self.base / "spec.json")]
        return subprocess.Popen(command, cwd=ROOT, start_new_session=True, text=True, **arguments)

    def finish(self, process: subprocess.Popen) -> tuple[int, dict, str]:
        """Waits for the LoadGen process; exit code, outcome.json (empty when absent) and its last words."""
        try:
            out, err = process.communicate(timeout=60)
        finally:
            process.kill()
        path = self.run / "outcome.json"
        return process.returncode, json.loads(path.read_text()) if path.is_file() else {}, err + out


@contextmanager
def bench(base: Path):
    made = Bench(base, [])
    try:
        yield made
    finally:
        for worker in made.workers:
            worker.kill()
            worker.wait()
