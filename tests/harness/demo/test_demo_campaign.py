from pathlib import Path

import pytest

from compliance.rulebook import load_round
from compliance.vocabulary import Division, Scenario
from harness.campaign.load import parse_campaign
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


def planned(text, size):
    campaign = parse_campaign(text, "campaign.yaml", Path("/demo"), {})
    return campaign, make_plan(campaign, load_round(campaign.round), size)


@pytest.mark.parametrize(
    ("text", "size", "minutes"),
    [
        (quick_campaign("vllm-cpu", GIVEN), 200, 12),
        (synthetic_campaign(GIVEN), 200, 2),
        (full_campaign("vllm-cpu", GIVEN), 4388, 90),
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
    campaign, plan = planned(full_campaign("vllm-cpu", GIVEN), 4388)
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
