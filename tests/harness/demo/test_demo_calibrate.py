import importlib.util
import io
from pathlib import Path

import pytest

from compliance.vocabulary import Scenario
from harness.demo.assets import find
from harness.demo.calibrate import FULL_SAMPLES, QUICK_SAMPLES, Probe, Rates, calibrate, quick_server_qps, within
from harness.demo.campaign import DemoInput, probe_campaign, write_synthetic_dataset
from harness.demo.fetch import default_cache
from harness.run.progress import terminal_progress
from harness.run.record import RunRecord
from harness.storage import read_record


@pytest.mark.parametrize(
    ("ttft_ms", "tpot_ms", "holds"),
    [
        (1699.9, 67.9, True),
        (1700.0, 67.9, False),
        (1699.9, 68.0, False),
        (None, 67.9, False),
    ],
)
def test_a_rate_holds_strictly_below_its_share_of_both_limits(ttft_ms, tpot_ms, holds):
    probe = Probe("Server", 1.0, 48, 1.0, ttft_ms, tpot_ms)
    assert within(probe, 2000.0, 80.0) is holds


@pytest.mark.parametrize(
    ("offline_qps", "server_qps"),
    [(20.0, 4.0), (7.98, 3.99), (8.0, 4.0), (3.0, 1.5), (2.4, 1.2), (1.6, 1.2), (1.0, 0.8), (0.5, 0.4)],
)
def test_the_quick_server_rate_leaves_room_and_ends_in_minutes(offline_qps, server_qps):
    assert quick_server_qps(offline_qps) == server_qps


def test_without_limits_every_rate_holds():
    assert within(Probe("Server", 1.0, 48, 1.0, 1e9, 1e9), None, None)


@pytest.fixture
def synthetic(tmp_path: Path):
    write_synthetic_dataset(tmp_path / "dataset")
    given = DemoInput(tmp_path / "dataset", None, None)

    def text(full: bool, speed: str):
        def probe(scenario: Scenario, qps: float, samples: int) -> str:
            made = probe_campaign("synthetic", given, scenario, qps, samples, full=full)
            return made.replace("name: synthetic", f"name: synthetic\n  settings: {speed}")

        return probe

    return tmp_path, text


FAST = "{prefill_tokens_per_s: 40000, output_tokens_mean: 12, decode_step_ms: 1}"
SLOW = "{prefill_tokens_per_s: 40000, output_tokens_mean: 12, decode_step_ms: 100}"


def test_quick_rates_come_from_one_short_offline_test_and_are_kept(synthetic):
    out, text = synthetic
    said = io.StringIO()
    with terminal_progress(said) as progress:
        rates = calibrate(out, text(False, FAST), progress, full=False, resume=True)
        assert calibrate(out, text(False, FAST), progress, full=False, resume=True) == rates
    (probe,) = rates.probes
    assert (probe.scenario, probe.samples) == ("Offline", QUICK_SAMPLES)
    assert rates.server_qps is not None
    assert rates.server_qps == quick_server_qps(probe.reached_qps)
    assert read_record(out / "calibration" / "rates.json", Rates) == rates
    assert said.getvalue().count("measured  Offline: 64 samples") == 1


@pytest.mark.slow  # 48 queries at one per second
def test_full_rates_leave_server_out_where_the_limit_on_tpot_is_missed(synthetic):
    out, text = synthetic
    with terminal_progress(io.StringIO()) as progress:
        rates = calibrate(out, text(True, SLOW), progress, full=True, resume=False)
    offline, server = rates.probes
    assert (offline.samples, server.target_qps) == (FULL_SAMPLES, 1.0)
    assert server.tpot_p99_ms is not None
    assert server.tpot_p99_ms > 80
    assert rates.server_qps is None
    assert rates.offline_qps == pytest.approx(1.02 * offline.reached_qps, rel=0.01)


@pytest.mark.engine
def test_the_engine_answers_a_real_loadgen_through_its_worker(tmp_path):
    """The CPU engine in a worker process, the real model, the real LoadGen: the first slice of the demo."""
    if importlib.util.find_spec("vllm") is None:
        pytest.skip("vLLM is not installed: run `make engine`")
    assets = find(default_cache())
    if assets is None:
        pytest.skip("the demo's model is not in the cache: run `make engine`")
    given = DemoInput(assets.dataset, assets.model, assets.tokenizer, "fp32")

    def probe(scenario: Scenario, qps: float, samples: int) -> str:
        return probe_campaign("vllm-cpu", given, scenario, qps, samples, full=False)

    with terminal_progress(io.StringIO()) as progress:
        rates = calibrate(tmp_path, probe, progress, full=False, resume=False)
    assert rates.probes[0].reached_qps > 0
    record = read_record(tmp_path / "calibration/runs/smollm2-135m/Offline/performance/run.json", RunRecord)
    assert (record.status, record.outcome.ledger.completed) == ("ok", QUICK_SAMPLES)
    assert record.workers[0].engine == "vllm"
    assert record.outcome.ledger.output_tokens > 2 * QUICK_SAMPLES
