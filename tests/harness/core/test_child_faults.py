"""The LoadGen process against workers that misbehave on the wire, signals, and folders that cannot be used."""

import json
import os
import re
import signal
import subprocess
import time
from dataclasses import replace

import numpy as np
import pytest

from harness.core.spec import Limits
from harness.run.record import SAMPLES_DTYPE
from tests.support.core_runs import CONF, LIMITS, QUICK, settings

SLOW = CONF + "*.*.min_duration = 60000\n*.Server.target_qps = 100\n"


def play(table, fault, scenario="Server", limits=QUICK):
    # A fault sits on one sample: with a second, sound worker it would depend on timing who is given that sample.
    workers = 2 if fault == "none" else 1
    spec = table.spec(settings(scenario), workers=workers, limits=limits)
    for worker in range(workers):
        table.start_worker(worker, fault)
    return table.finish(table.start(spec))


@pytest.mark.parametrize("scenario", ["Offline", "Server", "SingleStream"])
def test_a_good_test_reconciles(table, scenario):
    code, outcome, words = play(table, "none", scenario, LIMITS)
    assert (code, outcome["kind"], outcome["cause"]) == (0, "ok", ""), words
    ledger = outcome["ledger"]
    assert ledger["issued"] == ledger["completed"] == sum(worker["samples"] for worker in outcome["workers"])
    assert ledger["output_tokens"] == 4 * ledger["completed"]
    assert (table.run / "failed_queries.jsonl").read_bytes() == b""
    rows = np.load(table.run / "samples.npy")
    assert rows.dtype == SAMPLES_DTYPE
    assert len(rows) == ledger["issued"]
    assert (rows["done_ns"] >= rows["issued_ns"]).all()
    assert not (table.run / "mlperf_log_trace.json").exists()
    lines = [json.loads(line) for line in words.splitlines() if line.startswith('{"progress"')]
    assert lines[-1]["outcome"] == outcome


@pytest.mark.parametrize(
    ("fault", "kind", "said"),
    [
        ("lost", "stalled", "samples are unanswered"),
        ("duplicate", "ledger", "already done"),
        ("duplicate-first", "ledger", "already first"),
        ("one-token", "ledger", "1 token(s)"),
        ("no-token", "ledger", "0 token(s)"),
        ("unknown", "ledger", "never issued"),
        ("wrong-first", "ledger", "reported 77777 as first token"),
        ("failed", "worker_failed", "out of memory on the device"),
        ("garbage", "worker_failed", "cannot be read"),
        ("stranger", "ledger", "worker 42"),
        ("die", "worker_lost", "worker 0"),
    ],
)
def test_each_fault_fails_the_test_by_name(table, fault, kind, said):
    code, outcome, words = play(table, fault)
    assert (code, outcome.get("kind")) == (1, kind), words
    assert said in outcome["cause"]
    missing = [json.loads(line) for line in (table.run / "failed_queries.jsonl").read_text().splitlines()]
    assert len(missing) == outcome["ledger"]["missing"] + outcome["ledger"]["failed"]
    if fault == "lost":
        assert {(line["index"], line["worker"], line["state"]) for line in missing} == {(3, 0, "sent")}


def test_first_tokens_that_do_not_come_are_made_up_for_and_told(table):
    code, outcome, words = play(table, "no-first")
    assert code == 0, words
    assert outcome["ledger"]["late_first_tokens"] > 0
    assert any("reported with their answer" in line for line in outcome["details"])


def test_duplicates_of_the_last_answers_are_caught_after_loadgen_is_done(table):
    code, outcome, _ = play(table, "duplicate", "Offline")
    assert (code, outcome["kind"]) == (1, "ledger")


def test_a_worker_that_does_not_answer_begin(table):
    limits = Limits(heartbeat_timeout_s=1, progress_timeout_s=1, drain_grace_s=1, start_timeout_s=1)
    code, outcome, _ = play(table, "silent", limits=limits)
    assert (code, outcome["kind"]) == (1, "worker_lost")
    assert re.match("worker 0.* did not get ready within 1 s", outcome["cause"])


def test_a_worker_that_is_stopped_misses_its_heartbeat(table):
    worker = table.start_worker(0)
    process = table.start(table.spec(settings("Server", conf=SLOW), limits=QUICK))
    wait_for_samples(table, process)
    worker.send_signal(signal.SIGSTOP)
    code, outcome, _ = table.finish(process)
    worker.send_signal(signal.SIGCONT)
    assert (code, outcome["kind"]) == (1, "worker_lost")
    assert "no sign of life" in outcome["cause"]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_the_test_in_order(table, number):
    table.start_worker(0)
    process = table.start(table.spec(settings("Server", conf=SLOW), limits=LIMITS))
    wait_for_samples(table, process)
    process.send_signal(number)
    code, outcome, _ = table.finish(process)
    assert (code, outcome["kind"]) == (130, "interrupted")
    assert number.name in outcome["cause"]
    assert outcome["ledger"]["completed"] > 0


def test_the_second_signal_ends_it_at_once(table):
    process = table.start(table.spec(settings("Server"), limits=LIMITS))
    wait_for_line(process)
    process.send_signal(signal.SIGSTOP)
    process.send_signal(signal.SIGINT)
    process.send_signal(signal.SIGTERM)
    process.send_signal(signal.SIGCONT)
    code, outcome, _ = table.finish(process)
    assert code == 130
    assert outcome == {}


@pytest.mark.parametrize(
    ("line", "code", "kind", "said"),
    [
        ("worker-lost 0: killed by signal 9", 1, "worker_lost", "worker 0: killed by signal 9"),
        ("interrupt", 130, "interrupted", "the runner"),
        ("", 130, "interrupted", "the runner has ended"),
    ],
)
def test_the_runner_is_obeyed(table, line, code, kind, said):
    table.start_worker(0)
    process = table.start(table.spec(settings("Server", conf=SLOW), limits=LIMITS), stdin=subprocess.PIPE)
    wait_for_samples(table, process)
    if line:
        process.stdin.write(line + "\n")
    process.stdin.close()
    process.stdin = None
    found, outcome, _ = table.finish(process)
    assert (found, outcome["kind"]) == (code, kind)
    assert said in outcome["cause"]


def test_a_stray_audit_file_is_refused(table):
    spec = table.spec(settings("Offline"))
    (table.run / "audit.config").write_text("*.*.mode = 1\n")
    code, outcome, _ = table.finish(table.start(spec))
    assert (code, outcome["kind"]) == (2, "config")
    assert "audit.config is in the way" in outcome["cause"]
    assert (table.run / "audit.config").read_text() == "*.*.mode = 1\n"


BAD_CONFS = {
    "comment behind a value": "*.*.min_duration = 300 # short\n",
    "not a number": "*.*.min_duration = long\n",
}


@pytest.mark.parametrize("conf", BAD_CONFS.values(), ids=BAD_CONFS)
def test_a_user_conf_that_loadgen_refuses(table, conf):
    code, outcome, _ = table.finish(table.start(table.spec(settings("Offline", conf=conf))))
    assert (code, outcome["kind"]) == (2, "config")
    assert "user.conf" in outcome["cause"]


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"policy": "fastest"}, "dispatch policy 'fastest'"),
        ({"workers": ()}, "no worker"),
        ({"lengths": "/nonexistent.npy"}, "/nonexistent.npy"),
        ({"loadgen": settings("Offline", total_sample_count=65)}, "(64,) lengths for 65 samples"),
        ({"loadgen": settings("Onlin")}, "scenario 'Onlin'"),
        ({"loadgen": settings("Offline", "Fast")}, "mode 'Fast'"),
        ({"loadgen": settings("Offline", attributes={"min_durration_ms": 1})}, "no setting 'min_durration_ms'"),
        ({"loadgen": settings("Offline", attributes={"min_duration_ms": 0.5})}, "does not take 0.5"),
        ({"cores": (100_000,)}, "cores (100000,)"),
        ({"events": "tcp://127.0.0.1:0"}, "the runner sent no keys"),
        ({"events": "nonsense"}, "nonsense cannot be bound"),
    ],
)
def test_a_specification_that_cannot_run(table, change, said):
    spec = replace(table.spec(settings("Offline"), limits=QUICK), **change)
    # Only the keys of TCP come by this pipe: its end means that the runner has ended, which may be heard first.
    over_tcp = "tcp" in str(change.get("events"))
    process = table.start(spec, stdin=subprocess.PIPE) if over_tcp else table.start(spec)
    if over_tcp:
        process.stdin.write("hello\n")
        process.stdin.flush()
    code, outcome, words = table.finish(process)
    assert (code, outcome["kind"]) == (2, "config"), words
    assert said in outcome["cause"]


def test_a_test_may_use_the_first_samples_of_the_dataset_alone(table):
    table.start_worker(0)
    loadgen = settings("Offline", total_sample_count=40, performance_sample_count=40)
    code, _, words = table.finish(table.start(table.spec(loadgen, limits=LIMITS)))
    assert code == 0, words
    assert np.load(table.run / "samples.npy")["index"].max() == 39


def test_cores_and_attributes_are_taken(table):
    table.start_worker(0)
    core = min(os.sched_getaffinity(0))
    loadgen = settings("Offline", attributes={"min_query_count": 128})
    code, outcome, words = table.finish(table.start(table.spec(loadgen, limits=LIMITS, cores=(core,))))
    assert code == 0, words
    assert outcome["ledger"]["issued"] % 64 == 0


@pytest.mark.parametrize("arguments", [[], ["missing.json"], ["broken.json"]])
def test_no_specification(table, arguments):
    (table.base / "broken.json").write_text("{")
    words = [str(table.base / name) for name in arguments]
    process = table.start(table.spec(settings("Offline")))
    process.kill()
    process.communicate()
    command = [*process.args[:3], *words]
    result = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert result.returncode == 2
    assert result.stderr
    assert "Traceback" not in result.stderr


@pytest.mark.parametrize("kind", ["file", "absent", "closed"])
def test_a_run_folder_that_cannot_be_used(table, kind):
    spec = table.spec(settings("Offline"))
    table.run.rmdir()
    if kind == "file":
        table.run.write_text("")
    if kind == "closed":
        if os.geteuid() == 0:
            pytest.skip("the superuser may write everywhere")
        table.run.mkdir(mode=0o500)
    code, outcome, words = table.finish(table.start(spec))
    assert (code, outcome) == (2, {})
    assert "the run folder cannot be used" in words


def wait_for_line(process):
    return json.loads(process.stdout.readline())


def wait_for_samples(table, process):
    """Until the test is under way."""
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline:
        if (wait_for_line(process)["progress"] or {"completed": 1})["completed"]:
            return
    pytest.fail("no sample was answered within 30 s")
