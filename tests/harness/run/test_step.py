"""One run as its runner sees it: good, interrupted, without workers, on a full disk, with settings not in force."""

import contextlib
import json
import os
import resource
import signal
import subprocess
from dataclasses import replace

import psutil
import pytest

from harness.core.spec import RunOutcome
from harness.errors import StorageError
from harness.run.record import RunRecord
from harness.run.step import execute, make_spec, run_step
from harness.storage import read_record, sha256_file
from harness.workers.launch import WorkerPlace
from harness.workers.pool import PoolPlan, WorkerPool
from tests.support.core_runs import CONF, QUICK, dataset, engine, request, settings

SLOW = CONF + "*.*.min_duration = 60000\n*.Server.target_qps = 100\n"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return dataset(tmp_path_factory.mktemp("data") / "toy")


@pytest.fixture(scope="module")
def pool(folder, tmp_path_factory):
    plan = PoolPlan("echo", engine(folder), (WorkerPlace(),), tmp_path_factory.mktemp("logs"), heartbeat_s=0.2)
    with WorkerPool(plan) as made:
        yield made


class OnFirstAnswer:
    """A progress sink that does something once the test is under way."""

    def __init__(self, action):
        self.action = action
        self.done = False

    def update(self, progress):
        if progress.completed and not self.done:
            self.done = True
            self.action()


def worker_pids():
    processes = psutil.Process().children(recursive=True)
    return [process.pid for process in processes if "sut.worker" in process.cmdline()]


def core_pids():
    processes = psutil.Process().children(recursive=True)
    return [process.pid for process in processes if "harness.core.child" in process.cmdline()]


def test_run_json_says_what_the_run_was(pool, tmp_path):
    seen = []

    class Sink:
        update = staticmethod(seen.append)

    asked = settings("Server", expected_effective={"effective_min_duration_ms": 300, "effective_scenario": "Server"})
    record = run_step(request(tmp_path / "run", asked), pool, Sink())
    assert read_record(tmp_path / "run" / "run.json", RunRecord) == record
    assert read_record(tmp_path / "run" / "outcome.json", RunOutcome) == record.outcome
    assert (record.status, record.cause, record.step, record.benchmark) == ("ok", "", "performance", "toy")
    assert record.run_id == "toy/Server/performance"
    assert record.workers[0].name == "echo"
    assert record.provenance.started_at <= record.provenance.ended_at
    assert record.provenance.packages["mlcommons-loadgen"] == record.outcome.loadgen_version
    assert "run.json" not in record.files
    for name in ("mlperf_log_detail.txt", "outcome.json", "samples.npy", "user.conf", "spec.json", "core.log"):
        assert record.files[name] == sha256_file(tmp_path / "run" / name)
    assert seen[-1].completed == record.outcome.ledger.completed


def test_settings_that_are_not_in_force_fail_the_run(pool, tmp_path):
    asked = settings("Offline", expected_effective={"effective_min_duration_ms": 600_000, "effective_none": 1})
    record = run_step(request(tmp_path / "run", asked), pool)
    assert (record.outcome.kind, record.status) == ("ok", "failed")
    assert [(item.key, item.expected, item.found) for item in record.mismatches] == [
        ("effective_min_duration_ms", "600000", "300"),
        ("effective_none", "1", "absent"),
    ]
    assert "effective_min_duration_ms is 300, not 600000" in record.cause


def test_an_error_in_loadgens_log_fails_the_run(pool, tmp_path):
    """LoadGen runs out of queries when the expected latency is far off, and only its log says so."""
    asked = settings("SingleStream", conf=CONF + "*.SingleStream.target_latency = 1000\n*.*.max_query_count = 70\n")
    record = run_step(request(tmp_path / "run", asked), pool)
    assert (record.outcome.kind, record.status) == ("ok", "failed")
    assert "LoadGen logged" in record.cause


def test_a_configuration_error_keeps_the_workers(pool, tmp_path):
    before = worker_pids()
    record = run_step(request(tmp_path / "run", settings("Offline", conf="*.*.min_duration = 1 # x\n")), pool)
    assert (record.status, record.outcome.kind) == ("failed", "config")
    assert worker_pids() == before


def test_a_stray_audit_file_is_named(pool, tmp_path):
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "audit.config").write_text("*.*.mode = 1\n")
    record = run_step(request(tmp_path / "run", settings("Offline")), pool)
    assert record.outcome.kind == "config"
    assert "audit.config is in the way" in record.cause


def test_ctrl_c_ends_the_run_in_order(pool, tmp_path):
    sink = OnFirstAnswer(lambda: os.kill(os.getpid(), signal.SIGINT))
    record = run_step(request(tmp_path / "run", settings("Server", conf=SLOW)), pool, sink)
    assert (record.status, record.outcome.kind) == ("interrupted", "interrupted")
    assert record.outcome.ledger.completed > 0
    assert core_pids() == []
    assert worker_pids() == []


def test_ctrl_c_twice_ends_a_process_that_does_not_obey(pool, tmp_path):
    def stop_and_interrupt():
        for pid in core_pids():
            os.kill(pid, signal.SIGSTOP)
        os.kill(os.getpid(), signal.SIGINT)

    pool.start()
    spec = make_spec(request(tmp_path / "run", settings("Server", conf=SLOW)), pool)
    with second_interrupt(os.getpid()):
        outcome = execute(spec, pool, OnFirstAnswer(stop_and_interrupt))
    assert outcome.kind == "interrupted"
    assert "interrupted twice" in outcome.cause
    assert core_pids() == []


@contextlib.contextmanager
def second_interrupt(pid):
    """Another Ctrl-C some time after the first."""
    other = subprocess.Popen(["sh", "-c", f"sleep 4; kill -INT {pid}"])
    try:
        yield
    finally:
        other.kill()
        other.wait()


def test_a_worker_killed_in_the_run_is_named(pool, tmp_path):
    sink = OnFirstAnswer(lambda: [os.kill(pid, signal.SIGKILL) for pid in worker_pids()])
    record = run_step(request(tmp_path / "run", settings("Server", conf=SLOW)), pool, sink)
    assert (record.status, record.outcome.kind) == ("failed", "worker_lost")
    assert "killed by signal 9" in record.cause
    assert worker_pids() == []


def test_a_worker_stopped_in_the_run_is_named(pool, tmp_path):
    sink = OnFirstAnswer(lambda: [os.kill(pid, signal.SIGSTOP) for pid in worker_pids()])
    limits = replace(QUICK, progress_timeout_s=30.0)
    quick = WorkerPool(replace(pool.plan, stop_timeout_s=0.5))
    record = run_step(request(tmp_path / "run", settings("Server", conf=SLOW), limits), quick, sink)
    assert (record.status, record.outcome.kind) == ("failed", "worker_lost")
    assert "no sign of life" in record.cause
    assert worker_pids() == [] or pool.facts


def test_a_loadgen_process_that_dies_is_told_of(pool, tmp_path):
    sink = OnFirstAnswer(lambda: [os.kill(pid, signal.SIGKILL) for pid in core_pids()])
    record = run_step(request(tmp_path / "run", settings("Server", conf=SLOW)), pool, sink)
    assert (record.status, record.outcome.kind) == ("failed", "internal")
    assert "died of signal 9" in record.cause
    assert json.loads((tmp_path / "run" / "outcome.json").read_text())["kind"] == "internal"


def test_a_run_folder_that_cannot_be_made(pool, tmp_path):
    (tmp_path / "file").write_text("")
    pool.start()
    spec = make_spec(request(tmp_path / "file" / "run", settings("Offline")), pool)
    with pytest.raises(StorageError, match="choose another --out"):
        execute(spec, pool)


@pytest.fixture
def small_disk(tmp_path):
    """A folder of 4 MiB: a file system of its own for the superuser, else a limit on file sizes."""
    target = tmp_path / "small"
    target.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", "size=4m", "tmpfs", str(target)]
    if os.geteuid() == 0 and subprocess.run(command, capture_output=True, check=False).returncode == 0:
        yield target
        subprocess.run(["umount", "--lazy", str(target)], check=True)
        return
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (2 << 20, hard))
    yield target
    resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def test_a_full_disk_fails_the_run_and_says_so(tmp_path, small_disk):
    """LoadGen itself returns as if all were well (F21)."""
    long = dataset(tmp_path / "long", [[i, *range(1, 9000)] for i in range(64)])
    plan = PoolPlan("echo", engine(long, max_new_tokens=9000), (WorkerPlace(),), tmp_path / "logs")
    with WorkerPool(plan) as pool:
        pool.start()
        spec = make_spec(request(small_disk / "run", settings("Offline", "AccuracyOnly"), step="accuracy"), pool)
        outcome = execute(spec, pool)
    assert outcome.kind == "loadgen", outcome.cause
    assert "free space" in outcome.cause
    assert outcome.ledger.completed == 64


def test_no_room_to_begin(tmp_path, pool):
    if os.geteuid() != 0:
        pytest.skip("only the superuser can mount a full file system")
    target = tmp_path / "full"
    target.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=256k", "tmpfs", str(target)], capture_output=True, check=False
    )
    if mounted.returncode:
        pytest.skip("this machine does not let file systems be mounted")
    try:
        pool.start()
        outcome = execute(make_spec(request(target / "run", settings("Offline")), pool), pool)
    finally:
        subprocess.run(["umount", "--lazy", str(target)], check=True)
    assert outcome.kind == "config"
    assert "bytes left; free space" in outcome.cause
