"""The worker as a real process over real sockets: its life cycle, and every way it can end."""

import os
import signal
import subprocess
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path

import msgspec
import pytest
import zmq

from sut import messages, wire
from sut.control import WorkerConfig
from sut.protocol import EngineConfig
from tests.support.worker_process import (
    FAULTY,
    REPO,
    LoadgenSide,
    engine_config,
    small_dataset,
    worker_process,
)

BIG = 2**63 + 11


@pytest.fixture
def dataset(tmp_path):
    return small_dataset(tmp_path / "dataset")


@pytest.fixture
def ipc():
    # Not tmp_path: the path of an ipc socket is at most 107 bytes long.
    with tempfile.TemporaryDirectory(prefix="wb") as folder:
        yield f"ipc://{folder}/t", f"ipc://{folder}/e"


def config_for(sut: str, engine: EngineConfig, endpoints: tuple[str, str], **more: object) -> WorkerConfig:
    return WorkerConfig(sut=sut, engine=engine, tasks=endpoints[0], events=endpoints[1], worker_index=3, **more)


def faulty(dataset: str, endpoints: tuple[str, str], fault: str, **settings: object) -> WorkerConfig:
    return config_for(FAULTY, engine_config(dataset, fault=fault, **settings), endpoints, heartbeat_s=0.05)


def test_two_runs_with_fresh_sockets_then_stop(dataset, ipc, tmp_path):
    with worker_process(config_for("echo", engine_config(dataset), ipc), tmp_path) as worker:
        ready = worker.status()
        assert (ready.state, ready.facts.name, ready.facts.dataset_size) == ("ready", "echo", 20)
        for epoch in (4, 5):
            with LoadgenSide(*ipc) as loadgen:
                hello = loadgen.begin(epoch, first_tokens=epoch == 4)
                assert hello == messages.Hello(epoch, 3, ready.facts.window)
                loadgen.submit(epoch, {BIG + i: i % 20 for i in range(100)})
                loadgen.until(lambda side=loadgen: len(side.finals) == 100)
                loadgen.end(epoch)
                assert sorted(loadgen.finals) == sorted(
                    (epoch, BIG + i, list(range(100 + i % 20, 103 + i % 20 + i % 20 % 5))) for i in range(100)
                )
                firsts = [(epoch, BIG + i, 100 + i % 20) for i in range(100)] if epoch == 4 else []
                assert sorted(loadgen.firsts) == firsts
                assert not loadgen.failures
        worker.say(b'{"command":"stop"}')
        assert worker.status().state == "stopped"
        assert worker.wait() == 0


def test_what_an_engine_prints_goes_to_the_log(dataset, ipc, tmp_path):
    with worker_process(faulty(dataset, ipc, "none"), tmp_path) as worker:
        assert worker.status().state == "ready"
        worker.process.stdin.close()
        assert worker.wait() == 0
        assert worker.statuses.get().state == "stopped"
        assert sorted(worker.log.read_text().splitlines()) == [
            "an engine prints to standard output",
            "so does its child process",
        ]


def test_the_heart_beats_while_submit_blocks(dataset, ipc, tmp_path):
    with (
        worker_process(faulty(dataset, ipc, "hang", after=1), tmp_path) as worker,
        LoadgenSide(*ipc) as loadgen,
    ):
        assert worker.status().state == "ready"
        loadgen.begin(1)
        loadgen.submit(1, {1: 1, 2: 2, 3: 3})
        loadgen.until(lambda: len(loadgen.beats) >= 4 and loadgen.beats[-1].in_flight == 2)
        assert [sample_id for _, sample_id, _ in loadgen.finals] == [1]
        assert all(beat.epoch == 1 and beat.worker == 3 and beat.lag_ns >= 0 for beat in loadgen.beats)


def test_no_heartbeat_outside_a_test(dataset, ipc, tmp_path):
    config = config_for("null", engine_config(dataset), ipc, heartbeat_s=0.02)
    with worker_process(config, tmp_path) as worker, LoadgenSide(*ipc) as loadgen:
        assert worker.status().state == "ready"
        loadgen.begin(1)
        loadgen.until(lambda: len(loadgen.beats) >= 2)
        loadgen.end(1)
        loadgen.drain()
        beats = len(loadgen.beats)
        loadgen.drain(wait_ms=200)
        assert len(loadgen.beats) == beats


def test_an_abandoned_run_leaves_nothing_for_the_next(dataset, ipc, tmp_path):
    with worker_process(faulty(dataset, ipc, "late", delay_s=0.5), tmp_path) as worker:
        assert worker.status().state == "ready"
        with LoadgenSide(*ipc) as loadgen:
            loadgen.begin(1)
            loadgen.submit(1, {1: 1, 2: 2})
            loadgen.until(lambda: any(beat.in_flight == 2 for beat in loadgen.beats))
        with LoadgenSide(*ipc) as loadgen:
            loadgen.begin(2)
            loadgen.submit(1, {7: 7})
            loadgen.push.send(wire.encode_end(1))
            loadgen.submit(2, {3: 3})
            loadgen.until(lambda: any(sample_id == 3 for _, sample_id, _ in loadgen.finals))
            loadgen.end(2)
            assert not any(sample_id == 7 for _, sample_id, _ in loadgen.finals)
            assert [goodbye.epoch for goodbye in loadgen.goodbyes] == [2]


@pytest.mark.parametrize(
    ("fault", "says"),
    [("submit_raises", "RuntimeError: device lost"), ("thread_raises", "died of RuntimeError: engine thread died")],
)
def test_a_crash_fails_the_samples_in_flight_and_the_worker(dataset, ipc, tmp_path, fault, says):
    with (
        worker_process(faulty(dataset, ipc, fault, after=2, delay_s=0.05), tmp_path) as worker,
        LoadgenSide(*ipc) as loadgen,
    ):
        assert worker.status().state == "ready"
        loadgen.begin(9)
        loadgen.submit(9, {i: i for i in range(5)})
        failed = worker.status()
        assert failed.state == "failed"
        assert says in failed.reason
        assert worker.wait() == 1
        loadgen.until(lambda: len(loadgen.finals) + len(loadgen.failures) == 5)
        assert sorted(sample_id for _, sample_id, _ in loadgen.finals) == [0, 1]
        assert sorted(sample_id for _, sample_id, _ in loadgen.failures) == [2, 3, 4]
        assert all(says in reason for _, _, reason in loadgen.failures)
        assert "Traceback" in worker.log.read_text()


@pytest.mark.parametrize(("fault", "says"), [("int64", "int64"), ("float", "float32")])
def test_an_answer_of_another_dtype_is_a_failed_sample(dataset, ipc, tmp_path, fault, says):
    with worker_process(faulty(dataset, ipc, fault), tmp_path) as worker, LoadgenSide(*ipc) as loadgen:
        assert worker.status().state == "ready"
        loadgen.begin(1)
        loadgen.submit(1, {5: 5})
        loadgen.until(lambda: loadgen.failures)
        assert f"an array of {says}" in loadgen.failures[0][2]
        assert not loadgen.finals


def test_a_first_token_after_its_final_arrives_in_that_order(dataset, ipc, tmp_path):
    with worker_process(faulty(dataset, ipc, "first_after_final"), tmp_path) as worker, LoadgenSide(*ipc) as loadgen:
        assert worker.status().state == "ready"
        loadgen.begin(1)
        loadgen.submit(1, {5: 5})
        loadgen.until(lambda: loadgen.finals)
        assert not loadgen.firsts
        loadgen.until(lambda: loadgen.firsts)


@pytest.mark.parametrize(
    ("fault", "says", "traceback"),
    [
        ("start_fails", "no device found; plug one in", False),
        ("start_raises", "RuntimeError: bus error", True),
        ("warm_up_raises", "kernel does not compile", True),
    ],
)
def test_a_failed_start_says_why(dataset, ipc, tmp_path, fault, says, traceback):
    with worker_process(faulty(dataset, ipc, fault), tmp_path) as worker:
        failed = worker.status()
        assert failed.state == "failed"
        assert says in failed.reason
        assert worker.wait() == 1
        assert ("Traceback" in worker.log.read_text()) == traceback


@pytest.mark.parametrize("fault", ["begin_raises", "end_raises"])
def test_a_failed_begin_or_end_fails_the_worker(dataset, ipc, tmp_path, fault):
    with worker_process(faulty(dataset, ipc, fault), tmp_path) as worker, LoadgenSide(*ipc) as loadgen:
        assert worker.status().state == "ready"
        loadgen.push.send(wire.encode_begin(1, True, "Server"))
        loadgen.push.send(wire.encode_end(1))
        failed = worker.status()
        assert "refused" in failed.reason
        assert worker.wait() == 1


def test_settings_are_told_all_at_once(dataset, ipc, tmp_path):
    config = config_for("null", engine_config(dataset, windw=3, output_tokens="many"), ipc)
    with worker_process(config, tmp_path) as worker:
        reason = worker.status().reason
        assert "did you mean 'window'?" in reason
        assert "'output_tokens' of SUT null is 'many'" in reason
        assert worker.wait() == 1


def test_an_unreadable_configuration_ends_with_2(tmp_path):
    with worker_process(b"{}", tmp_path) as worker:
        assert "no worker configuration" in worker.status().reason
        assert worker.wait() == 2


@pytest.mark.parametrize("frame", [b"GET / HTTP/1.1\r\n\r\n", wire.encode_goodbye(1, 2)])
def test_a_frame_that_is_no_task_fails_the_worker(dataset, ipc, tmp_path, frame):
    with worker_process(config_for("null", engine_config(dataset), ipc), tmp_path) as worker, LoadgenSide(*ipc) as side:
        assert worker.status().state == "ready"
        side.push.send(frame)
        assert worker.status().state == "failed"
        assert worker.wait() == 1


def test_a_stop_is_not_queued_behind_samples(dataset, ipc, tmp_path):
    with worker_process(faulty(dataset, ipc, "slow", delay_s=0.3), tmp_path) as worker, LoadgenSide(*ipc) as loadgen:
        assert worker.status().state == "ready"
        loadgen.begin(1)
        for i in range(200):
            loadgen.submit(1, {i: 0})
        loadgen.until(lambda: loadgen.finals)
        worker.process.send_signal(signal.SIGTERM)
        assert worker.status().state == "stopped"
        assert worker.wait() == 0


def test_an_engine_that_ends_the_process_is_seen_by_its_exit_status(dataset, ipc, tmp_path):
    with worker_process(faulty(dataset, ipc, "exit"), tmp_path) as worker, LoadgenSide(*ipc) as loadgen:
        assert worker.status().state == "ready"
        loadgen.begin(1)
        loadgen.submit(1, {1: 1})
        assert worker.wait() == 7


@pytest.mark.parametrize("fault", ["start_hangs", "hang", "stop_hangs"])
def test_an_engine_that_hangs_does_not_outlive_its_runner(dataset, ipc, tmp_path, fault):
    config = replace(faulty(dataset, ipc, fault), stop_grace_s=0.5)
    with worker_process(config, tmp_path) as worker, LoadgenSide(*ipc) as loadgen:
        if fault != "start_hangs":
            assert worker.status().state == "ready"
            loadgen.begin(1)
            loadgen.submit(1, {1: 1})
        if fault == "hang":
            loadgen.until(lambda: any(beat.in_flight == 1 for beat in loadgen.beats))
        worker.process.stdin.close()
        assert worker.wait() == -signal.SIGKILL
        assert "did not stop in time" in worker.log.read_text()


def test_the_signal_of_a_dead_parent_alone_stops_nothing_while_the_parent_lives(dataset, ipc, tmp_path):
    with worker_process(config_for("null", engine_config(dataset), ipc), tmp_path) as worker, LoadgenSide(*ipc) as side:
        assert worker.status().state == "ready"
        worker.process.send_signal(signal.SIGUSR2)
        side.begin(1)
        side.end(1)


def test_ctrl_c_is_the_runners_to_answer(dataset, ipc, tmp_path):
    with worker_process(config_for("null", engine_config(dataset), ipc), tmp_path) as worker, LoadgenSide(*ipc) as side:
        assert worker.status().state == "ready"
        worker.process.send_signal(signal.SIGINT)
        side.begin(1)
        side.end(1)


KILLED_PARENT = """
import os, subprocess, sys, time
worker = subprocess.Popen([sys.executable, "-m", "sut.worker"], stdin=subprocess.PIPE, start_new_session=True)
worker.stdin.write(sys.argv[1].encode() + b"\\n")
worker.stdin.flush()
print(worker.pid, file=sys.stderr, flush=True)
time.sleep(600)
"""


def test_the_worker_ends_when_its_parent_is_killed(dataset, ipc, tmp_path):
    config = msgspec.json.encode(config_for("null", engine_config(dataset), ipc)).decode()
    parent = subprocess.Popen(
        [sys.executable, "-c", KILLED_PARENT, config], cwd=REPO, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    try:
        pid = int(parent.stderr.readline())
        assert b'"ready"' in parent.stdout.readline()
        parent.kill()
        assert b'"stopped"' in parent.stdout.read()
        parent.wait()
        deadline = time.monotonic() + 30
        while Path(f"/proc/{pid}").exists() and "Z" not in Path(f"/proc/{pid}/stat").read_text().split()[2]:
            assert time.monotonic() < deadline
            time.sleep(0.02)
    finally:
        parent.kill()
        parent.wait()
        parent.stdout.close()
        parent.stderr.close()


def test_curve_over_tcp(dataset, tmp_path):
    server_public, server_secret = (key.decode() for key in zmq.curve_keypair())
    public, secret = (key.decode() for key in zmq.curve_keypair())
    keys = {"public": public, "secret": secret, "server": server_public}
    with LoadgenSide(
        "tcp://127.0.0.1:*", "tcp://127.0.0.1:*", {"public": server_public, "secret": server_secret}
    ) as loadgen:
        config = config_for("echo", engine_config(dataset), loadgen.endpoints(), curve=keys)
        with worker_process(config, tmp_path) as worker:
            assert worker.status().state == "ready"
            loadgen.begin(1)
            loadgen.submit(1, {5: 2})
            loadgen.until(lambda: loadgen.finals)
            assert loadgen.finals == [(1, 5, [102, 103, 104, 105, 106])]


@pytest.mark.parametrize("curve", [{"public": "x", "secret": "y"}, {"public": "x", "secret": "y", "server": "z"}])
def test_bad_curve_keys_are_named(dataset, ipc, tmp_path, curve):
    with worker_process(config_for("null", engine_config(dataset), ipc, curve=curve), tmp_path) as worker:
        assert "CURVE keys" in worker.status().reason
        assert worker.wait() == 1


def test_the_worker_leaves_nothing_in_its_process_group(dataset, ipc, tmp_path):
    with worker_process(config_for("null", engine_config(dataset), ipc), tmp_path) as worker:
        assert worker.status().state == "ready"
        worker.say(b"not a command")
        worker.say(b'{"command":"stop"}')
        assert worker.wait() == 0
        with pytest.raises(ProcessLookupError):
            os.killpg(worker.process.pid, 0)
