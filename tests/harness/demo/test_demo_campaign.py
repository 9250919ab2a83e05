from pathlib import Path

import pytest

from compliance.rulebook.rounds import load_round
from compliance.vocabulary import Division, Scenario
from harness.campaign.load import parse_campaign
from harness.demo.calibrate import Probe, Rates
from harness.demo.campaign import (
    DemoInput,
    full_campaign,
    quick_campaign,
    synthetic_campaign,
    write_synthetic_dataset,
)
from harness.plan.plan import make_plan
from sut.dataset import TokenDataset

GIVEN = DemoInput(Path('/a "quoted" path/set'), Path("/model"), Path("/model/tokenizer.json"))

OFFLINE = Probe("Offline", 1.0, 64, 4.567)
SERVER = Probe("Server", 1.0, 48, 0.9, 812.4, 131.5)
RATES = Rates(offline_qps=4.57, server_qps=1.6, accuracy_qps=3.65, probes=(OFFLINE,))
FULL_RATES = Rates(offline_qps=9.5, server_qps=2.0, accuracy_qps=7.6, probes=(OFFLINE, SERVER))


def planned(text, size):
    campaign = parse_campaign(text, "campaign.yaml", Path("/demo"), {})
    return campaign, make_plan(campaign, load_round(campaign.round), size)


@pytest.mark.parametrize(
    ("text", "size", "minutes"),
    [
        (quick_campaign("vllm-cpu", GIVEN, RATES), 200, 12),
        (synthetic_campaign(GIVEN), 200, 2),
        (full_campaign("vllm-cpu", GIVEN, FULL_RATES), 4388, 90),
    ],
    ids=["quick", "synthetic", "full"],
)
def test_every_demo_can_be_planned_within_its_time_and_be_valid(text, size, minutes):
    campaign, plan = planned(text, size)
    assert campaign.division is Division.OPEN
    assert campaign.dataset == GIVEN.dataset
    assert {run.scenario for run in plan.runs} == {Scenario.OFFLINE, Scenario.SERVER}
    assert len(plan.runs) == 6
    assert plan.duration_s < minutes * 60
    assert not [note for run in plan.runs if run.audit is None for note in run.prediction.notes]


def test_the_full_demo_has_official_durations_and_counts():
    campaign, plan = planned(full_campaign("vllm-cpu", GIVEN, FULL_RATES), 4388)
    assert (campaign.round, campaign.scale, campaign.evaluator) == ("v6.1", 1.0, "choice")
    for run in plan.runs:
        if run.step == "performance":
            assert run.settings.expected_effective["effective_min_duration_ms"] == 600_000
        if run.step == "accuracy":
            assert run.settings.total_sample_count == 4388


def test_the_made_up_dataset_is_the_same_in_every_run(tmp_path):
    write_synthetic_dataset(tmp_path / "a")
    write_synthetic_dataset(tmp_path / "b")
    first = TokenDataset.open(tmp_path / "a")
    assert first.sha256 == TokenDataset.open(tmp_path / "b").sha256
    assert len(first) == 200
    assert 32 <= int(first.lengths().min()) <= int(first.lengths().max()) <= 400


def test_the_campaign_states_what_was_measured_and_leaves_server_out_where_no_rate_holds():
    text = full_campaign("vllm-cpu", GIVEN, Rates(9.5, None, 7.6, (OFFLINE, SERVER)))
    campaign, plan = planned(text, 4388)
    assert {run.scenario for run in plan.runs} == {Scenario.OFFLINE}
    assert "#   Server: 48 samples, 0.90 samples/s at 1 QPS, TTFT p99 812 ms, TPOT p99 132 ms\n" in text
    assert "No Server rate kept deepseek-r1's latency limits" in text
    assert "No Server rate" not in full_campaign("vllm-cpu", GIVEN, FULL_RATES)
    assert campaign.scenarios[Scenario.OFFLINE].target_qps == 9.5
