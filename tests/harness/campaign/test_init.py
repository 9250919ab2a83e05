import pytest

from compliance.rulebook.rounds import load_round
from compliance.vocabulary import Division
from harness.campaign.init import campaign_text
from harness.campaign.load import load_campaign
from harness.doctor.campaign import campaign_findings
from harness.doctor.finding import Level
from tests.support.campaigns import make_dataset


def written(sut):
    round_ = load_round("demo")
    rules = round_.benchmarks["smollm2-135m"]
    return campaign_text(round_, rules, division=Division.OPEN, submitter="Example", system="capture", sut=sut)


@pytest.mark.parametrize("sut", ["null", "echo", "synthetic"])
def test_a_sut_without_a_model_needs_a_dataset_only(tmp_path, sut):
    path = tmp_path / "c.yaml"
    path.write_text(written(sut))
    make_dataset(tmp_path / "dataset")
    campaign = load_campaign(path)
    assert (campaign.evaluator, campaign.tokenizer) == ("none", None)
    failures = [f for f in campaign_findings(campaign, load_round("demo")) if f.level is Level.FAIL]
    assert not failures


def test_a_model_is_scored_and_the_choices_are_named(tmp_path):
    text = written("vllm-cpu")
    (tmp_path / "c.yaml").write_text(text)
    assert load_campaign(tmp_path / "c.yaml").tokenizer == tmp_path / "tokenizer.json"
    for key in ("# audits: ", "# equal_issue: ", "# evaluator: "):
        assert key in text
    assert "$schema" not in text


def test_the_choices_can_be_uncommented(tmp_path):
    text = written("vllm-cpu")
    for key in ("audits", "equal_issue", "evaluator"):
        text = text.replace(f"# {key}: ", f"{key}: ")
    (tmp_path / "c.yaml").write_text(text)
    campaign = load_campaign(tmp_path / "c.yaml")
    assert (campaign.audits, campaign.evaluator) == (True, "rouge")
