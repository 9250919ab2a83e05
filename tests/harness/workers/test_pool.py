"""Pools of real workers: started here, by another interpreter, in a fake container, by a fake ssh; and ended."""

import os
import signal
import sys
import time
from dataclasses import replace
from pathlib import Path

import psutil
import pytest

from harness.core.spec import Limits
from harness.errors import WorkerError
from harness.run.step import execute, make_spec, run_step
from harness.workers.launch import WorkerPlace
from harness.workers.pool import PoolPlan, WorkerPool
from tests.support.core_runs import LIMITS, ROOT, dataset, engine, request, settings

FAULTY = "tests.support.faulty_engines:FaultyEngine"
FAKE_RUNTIME = """#!{python}
# Stands in for docker: takes the options it knows, then runs the command with the environment it was given.
import os, sys
words, env, name = sys.argv[1:], dict(PATH=os.environ["PATH"]), ""
if words[0] == "kill":
    sys.exit(0)
assert words.pop(0) == "run"
while words[0].startswith("--"):
    word = words.pop(0)
    if word in ("--rm", "--interactive", "--init") or "=" in word:
        continue
    value = words.pop(0)
    if word == "--env":
        key, _, text = value.partition("=")
        env[key] = text.replace("/opt/weighbridge", {root!r})
    elif word == "--entrypoint":
        entry = value
image = words.pop(0)
assert image == "vendor/image:1", image
assert "OUTSIDE" not in env
os.execve(entry, [entry, *words], env)
"""
FAKE_SSH = """#!/bin/sh
test "$1" = localhost || exit 9
exec sh -c "$2"
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return dataset(tmp_path_factory.mktemp("data") / "toy")


def plan(folder, tmp_path, *places, sut="echo", **settings_):
    return PoolPlan(sut, engine(folder, **settings_), places or (WorkerPlace(),), tmp_path / "logs", heartbeat_s=0.2)


def script(path: Path, text: str) -> Path:
    path.write_text(text)
    path.chmod(0o755)
    return path


def run(pool, tmp_path, scenario="Server", limits=LIMITS):
    return run_step(request(tmp_path / "run", settings(scenario), limits), pool)


def children():
    return {child.pid for child in psutil.Process().children(recursive=True)}


def test_a_pool_is_started_once_and_kept_over_runs(folder, tmp_path):
    before = children()
    with WorkerPool(plan(folder, tmp_path, WorkerPlace(count=2, cores=(0,)))) as pool:
        facts = pool.start()
        workers = children() - before
        assert pool.start() is facts
        assert len(facts) == len(pool.endpoints(tmp_path)) == 2
        assert [run(pool, tmp_path, scenario).status for scenario in ("Offline", "Server")] == ["ok", "ok"]
        assert workers <= children()
        assert all(os.sched_getaffinity(pid) == {0} for pid in workers)
        assert pool.lost() is None
        assert pool.next_epoch() == 3
        private = pool.lengths.parent
        assert private.stat().st_mode & 0o777 == 0o700
    assert not workers & children()
    assert not private.exists()
    assert (tmp_path / "logs" / "worker-1.log").is_file()


def test_a_pool_that_is_not_started_has_no_endpoints(folder, tmp_path):
    pool = WorkerPool(plan(folder, tmp_path))
    for ask in (pool.endpoints, lambda: pool.lengths):
        with pytest.raises(WorkerError, match="call start"):
            ask()
    pool.stop()


def test_another_interpreter(folder, tmp_path):
    other = tmp_path / "python"
    other.symlink_to(sys.executable)
    script(tmp_path / "other", f'#!/bin/sh\nexec "{sys.executable}" "$@"\n')
    with WorkerPool(plan(folder, tmp_path, WorkerPlace(python=str(tmp_path / "other")))) as pool:
        pool.start()
        assert run(pool, tmp_path).status == "ok"


def test_a_container(folder, tmp_path, monkeypatch):
    monkeypatch.setenv("OUTSIDE", "1")
    runtime = script(tmp_path / "docker", FAKE_RUNTIME.format(python=sys.executable, root=str(ROOT)))
    place = WorkerPlace(
        container="vendor/image:1", args=("--device=/dev/null",), runtime=(str(runtime),), python=sys.executable
    )
    with WorkerPool(plan(folder, tmp_path, place)) as pool:
        pool.start()
        assert run(pool, tmp_path).status == "ok"


def test_another_machine_over_tcp_with_keys(folder, tmp_path):
    ssh = script(tmp_path / "ssh", FAKE_SSH)
    place = WorkerPlace(host="localhost", ssh=(str(ssh),), python=sys.executable, count=2)
    with WorkerPool(plan(folder, tmp_path, place)) as pool:
        pool.start()
        assert pool.events.startswith("tcp://127.0.0.1:")
        record = run(pool, tmp_path)
        assert record.status == "ok"
        assert pool.curve is not None
        # The secret is nowhere on disk.
        files = [path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()]
        assert not any(pool.curve["secret"].encode() in data for data in files)


@pytest.mark.parametrize(
    ("places", "said"),
    [
        ((WorkerPlace(host="no such host.invalid"),), "give the worker a `head`"),
        ((WorkerPlace(host="a", head="10.0.0.1"), WorkerPlace(host="b", head="10.0.0.2")), "give all hosts one `head`"),
        ((WorkerPlace(python="/nonexistent/python"),), "cannot be started"),
        ((WorkerPlace(python="/bin/false"),), "ended with exit status 1"),
    ],
)
def test_places_that_cannot_be(folder, tmp_path, places, said):
    with WorkerPool(plan(folder, tmp_path, *places)) as pool, pytest.raises(WorkerError, match=said):
        pool.start()


@pytest.mark.parametrize(
    ("fault", "said"), [("start_fails", "no device found; plug one in"), ("warm_up_raises", "kernel does not compile")]
)
def test_a_worker_that_fails_to_start_says_why(folder, tmp_path, fault, said):
    pool = WorkerPool(plan(folder, tmp_path, WorkerPlace(count=2), sut=FAULTY, fault=fault))
    before = children()
    with pytest.raises(WorkerError) as caught:
        pool.start()
    assert str(caught.value).count(said) == 2
    assert children() == before


def test_a_worker_that_is_not_ready_in_time_shows_the_end_of_its_log(folder, tmp_path):
    hanging = replace(plan(folder, tmp_path, sut=FAULTY, fault="start_hangs"), ready_timeout_s=2.0, stop_timeout_s=0.2)
    before = children()
    with pytest.raises(WorkerError) as caught:
        WorkerPool(hanging).start()
    assert "worker 0 did not get ready in time" in str(caught.value)
    assert "an engine prints to standard output" in str(caught.value)
    assert children() == before


def test_workers_with_another_dataset_are_refused(folder, tmp_path):
    pool = WorkerPool(replace(plan(folder, tmp_path), dataset_sha256="f" * 64))
    with pytest.raises(WorkerError, match="copy the same dataset folder"):
        pool.start()


def test_a_killed_worker_is_named_and_the_next_run_has_new_workers(folder, tmp_path):
    before = children()
    with WorkerPool(plan(folder, tmp_path)) as pool:
        pool.start()
        (worker,) = children() - before
        os.kill(worker, signal.SIGKILL)
        deadline = time.monotonic() + 10
        while pool.lost() is None and time.monotonic() < deadline:
            time.sleep(0.01)
        assert pool.lost().startswith("0: killed by signal 9")
        assert run(pool, tmp_path).status == "ok"


@pytest.mark.parametrize(
    ("fault", "kinds", "said"),
    [
        ("lost", {"stalled"}, "unanswered"),
        ("duplicate", {"ledger"}, "already done"),
        ("submit_raises", {"worker_failed", "worker_lost"}, "0"),
    ],
)
def test_an_engine_that_breaks_the_protocol_fails_the_run(folder, tmp_path, fault, kinds, said):
    limits = Limits(heartbeat_timeout_s=5, progress_timeout_s=2, drain_grace_s=1, start_timeout_s=20)
    with WorkerPool(plan(folder, tmp_path, sut=FAULTY, fault=fault, after=20)) as pool:
        pool.start()
        outcome = execute(make_spec(request(tmp_path / "run", settings("Server"), limits), pool), pool)
    assert outcome.kind in kinds
    assert said in outcome.cause


def test_stop_ends_a_worker_that_does_not_listen(folder, tmp_path):
    before = children()
    impatient = replace(plan(folder, tmp_path, sut=FAULTY, fault="stop_hangs"), stop_timeout_s=0.3)
    with WorkerPool(impatient) as pool:
        pool.start()
        for pid in children() - before:
            os.kill(pid, signal.SIGSTOP)
    assert children() == before


def test_a_long_temporary_folder_is_told(folder, tmp_path, monkeypatch):
    deep = tmp_path / ("d" * 90)
    deep.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(deep))
    with pytest.raises(WorkerError, match="set TMPDIR"):
        WorkerPool(plan(folder, tmp_path)).start()
