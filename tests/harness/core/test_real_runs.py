"""Real LoadGen, real workers: every scenario, in performance, accuracy and audit, with the engines that need no device."""

import json
import re

import numpy as np
import pytest

from harness.run.step import run_step
from harness.workers.launch import WorkerPlace
from harness.workers.pool import PoolPlan, WorkerPool
from sut.echo import echo
from tests.support.core_runs import AUDIT, SAMPLES, dataset, engine, prompts, request, settings

SCENARIOS = ("Offline", "Server", "Interactive", "SingleStream")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return dataset(tmp_path_factory.mktemp("data") / "toy")


@pytest.fixture(scope="module")
def pools(folder, tmp_path_factory):
    """One pool per SUT and number of workers, kept over the tests as a campaign keeps it."""
    made = {}

    def get(sut, workers):
        if (sut, workers) not in made:
            logs = tmp_path_factory.mktemp("logs")
            quick = {"time_scale": 20.0} if sut == "synthetic" else {}
            plan = PoolPlan(sut, engine(folder, **quick), (WorkerPlace(count=workers),), logs, heartbeat_s=0.2)
            made[sut, workers] = WorkerPool(plan)
        return made[sut, workers]

    yield get
    for pool in made.values():
        pool.stop()


def make(scenario, mode, audit=None):
    model = "llama2-70b-interactive" if scenario == "Interactive" else "llama2-70b"
    return settings(scenario, mode, audit=audit, model=model)


def errors(folder):
    lines = (folder / "mlperf_log_detail.txt").read_text().splitlines()
    return [line for line in lines if '"is_error": true' in line]


def check_good(record, folder):
    assert (record.status, record.cause, record.outcome.kind) == ("ok", "", "ok")
    ledger = record.outcome.ledger
    assert ledger.issued == ledger.completed > 0
    assert (ledger.failed, ledger.missing, ledger.duplicates, ledger.unknown, ledger.violations) == (0, 0, 0, 0, 0)
    assert errors(folder) == []
    assert (folder / "failed_queries.jsonl").read_bytes() == b""


@pytest.mark.parametrize("scenario", SCENARIOS)
@pytest.mark.parametrize(("sut", "workers"), [("null", 1), ("echo", 2), ("synthetic", 2)])
def test_performance(pools, tmp_path, scenario, sut, workers):
    record = run_step(request(tmp_path / "run", make(scenario, "PerformanceOnly")), pools(sut, workers))
    check_good(record, tmp_path / "run")
    ledger = record.outcome.ledger
    assert record.validity in ("VALID", "INVALID")
    assert ledger.first_tokens == (0 if scenario == "Offline" else ledger.issued)
    assert len(np.load(tmp_path / "run" / "samples.npy")) == ledger.issued
    assert all(total.samples > 0 for total in record.outcome.workers) or scenario != "Offline"
    key = "result_tokens_per_second" if scenario == "Offline" else "result_completed_tokens_per_second"
    assert record.metrics[key] > 0


@pytest.mark.parametrize("scenario", SCENARIOS)
@pytest.mark.parametrize("workers", [1, 2])
def test_accuracy_logs_hold_the_engines_tokens(pools, tmp_path, scenario, workers, folder):
    pool = pools("echo", workers)
    record = run_step(request(tmp_path / "run", make(scenario, "AccuracyOnly"), step="accuracy"), pool)
    check_good(record, tmp_path / "run")
    assert record.validity is None
    entries = json.loads((tmp_path / "run" / "mlperf_log_accuracy.json").read_text())
    assert sorted(entry["qsl_idx"] for entry in entries) == list(range(SAMPLES))
    for entry in entries:
        check_entry(entry, scenario, pool.plan.engine.sampling)


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_audit_logs_hold_the_engines_tokens(pools, tmp_path, scenario):
    pool = pools("echo", 1)
    record = run_step(request(tmp_path / "run", make(scenario, "PerformanceOnly", AUDIT), step="TEST06"), pool)
    check_good(record, tmp_path / "run")
    assert record.effective["effective_accuracy_log_sampling_target"] == "20"
    entries = json.loads((tmp_path / "run" / "mlperf_log_accuracy.json").read_text())
    assert len(entries) >= 20
    for entry in entries:
        check_entry(entry, scenario, pool.plan.engine.sampling)
    # A second test in the same folder finds its own audit file, which is none in the way.
    assert (tmp_path / "run" / "audit.config").read_text() == AUDIT


def check_entry(entry, scenario, sampling):
    expected = echo(np.array(prompts()[entry["qsl_idx"]], np.int32), sampling)
    assert np.frombuffer(bytes.fromhex(entry["data"]), "<i4").tolist() == expected.tolist()
    assert entry["token_count"] == len(expected)
    if scenario != "Offline":
        assert np.frombuffer(bytes.fromhex(entry["token_data"]), "<i4").tolist() == expected[:1].tolist()


def test_longest_prompts_go_first_in_offline(pools, tmp_path):
    """With a window of one, the order of answers is the order of sending."""
    folder = dataset(tmp_path / "data")
    plan = PoolPlan("echo", engine(folder, window=1), (WorkerPlace(),), tmp_path / "logs")
    with WorkerPool(plan) as pool:
        record = run_step(request(tmp_path / "run", make("Offline", "AccuracyOnly"), step="accuracy"), pool)
    check_good(record, tmp_path / "run")
    rows = np.load(tmp_path / "run" / "samples.npy")
    order = rows["index"][np.argsort(rows["done_ns"], kind="stable")]
    lengths = [len(prompts()[index]) for index in order]
    assert lengths == sorted(lengths, reverse=True)


def test_the_detail_log_was_made_in_the_run_folder_with_the_rules_built_in(pools, tmp_path):
    run_step(request(tmp_path / "run", make("Server", "PerformanceOnly")), pools("null", 1))
    text = (tmp_path / "run" / "mlperf_log_detail.txt").read_text()
    assert '"key": "requested_use_token_latencies", "value": true' in text
    assert int(re.search(r'"effective_qsl_rng_seed", "value": (\d+)', text)[1]) > 0
    assert (tmp_path / "run" / "spec.json").is_file()
