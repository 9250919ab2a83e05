import io
from pathlib import Path

import pytest

from compliance.vocabulary import Scenario
from harness.demo.calibrate import FULL_SAMPLES, QUICK_SAMPLES, Probe, Rates, calibrate, within
from harness.demo.campaign import DemoInput, probe_campaign, write_synthetic_dataset
from harness.run.progress import terminal_progress
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
    assert 0.8 <= rates.server_qps <= 4.0
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
