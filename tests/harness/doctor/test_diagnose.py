import json
import resource
import sys
from pathlib import Path

import pytest

from compliance.rulebook.rounds import load_round
from harness.campaign.load import load_campaign
from harness.doctor.campaign import campaign_findings
from harness.doctor.diagnose import diagnose, render
from harness.doctor.finding import Level
from tests.support.campaigns import QUICK, campaign_in, write_campaign


def found(campaign, what):
    findings = list(campaign_findings(campaign, load_round(campaign.round)))
    return next((finding for finding in findings if what in finding.what), None)


def test_a_machine_without_a_campaign(tmp_path):
    diagnosis = diagnose(None, None, tmp_path)
    names = [finding.what for finding in diagnosis.findings]
    assert names[:4] == ["LoadGen", "open files", "memory", "processor"]
    assert not diagnosis.failed
    assert render(diagnosis).splitlines()[-1].endswith("0 failures")


@pytest.mark.parametrize("name", ["audit.config", "user.conf", "mlperf.conf"])
def test_stray_files_are_named(tmp_path, name):
    (tmp_path / name).touch()
    finding = next(f for f in diagnose(None, None, tmp_path).findings if f.what == "stray files")
    assert finding.level is Level.WARN
    assert name in finding.found


def test_another_loadgen_than_the_rounds(tmp_path):
    import dataclasses

    round_ = dataclasses.replace(load_round("v6.1"), loadgen_versions=("1.2.3",))
    finding = diagnose(None, round_, tmp_path).findings[0]
    assert finding.level is Level.WARN
    assert "1.2.3" in finding.found


def test_a_low_limit_of_open_files(tmp_path):
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (512, before[1]))
    try:
        finding = diagnose(None, None, tmp_path).findings[1]
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, before)
    assert finding.level is Level.WARN
    assert "ulimit -n" in finding.fix


def test_a_whole_campaign(tmp_path):
    campaign = campaign_in(tmp_path)
    diagnosis = diagnose(campaign, load_round("demo"), tmp_path)
    assert not diagnosis.failed, render(diagnosis)


@pytest.mark.parametrize(
    ("replaced", "what", "level", "words"),
    [
        ({"dataset": "nowhere"}, "dataset", Level.FAIL, "nowhere"),
        ({"system": "my-box"}, "system", Level.FAIL, "weighbridge systems capture --name my-box --out my-box.json"),
        ({"system": "absent.json"}, "system", Level.FAIL, "--out absent.json"),
        ({"system": "capture"}, "system", Level.OK, "this machine"),
        ({"benchmark": "nothing"}, "plan", Level.FAIL, "has no benchmark"),
        ({"sut": "nul"}, "SUT nul", Level.FAIL, "did you mean 'null'"),
        ({"sut": "{name: synthetic, settings: {spede: 1}}"}, "SUT synthetic", Level.FAIL, "spede"),
        ({"evaluator": "rouge"}, "evaluator", Level.FAIL, "tokenizer"),
        ({"evaluator": "none"}, "evaluator", Level.WARN, "will not be scored"),
        ({"measurements": "{}"}, "measurements", Level.WARN, "weight_data_types"),
        ({"worker": "{python: /nonexistent/python}"}, "worker interpreter", Level.FAIL, "cannot be run"),
        ({"worker": "{container: image, runtime: podman}"}, "container image", None, ""),
        ({"worker": "{python: " + sys.executable + "}"}, "worker interpreter", Level.OK, "Python 3"),
        ({"worker": "{host: elsewhere}"}, "ports", Level.OK, "TCP works"),
        ({"tokenizer": "absent.json"}, "tokenizer", Level.FAIL, "absent.json"),
        ({"scenarios": "{Server: {target_qps: 1, min_query_count: 400}}"}, "Server/performance", Level.WARN, "459"),
    ],
)
def test_each_thing_that_can_be_wrong(tmp_path, replaced, what, level, words):
    if "scenarios" in replaced:
        from tests.support.campaigns import QUICK

        text = QUICK.replace("scenarios:\n", "").replace("  Offline: {target_qps: 2000, min_query_count: 400}\n", "")
        text = "\n".join(line for line in text.splitlines() if "Server:" not in line) + "\n"
        from harness.campaign.load import load_campaign
        from tests.support.campaigns import write_campaign

        campaign = load_campaign(write_campaign(tmp_path, text, **replaced))
    elif "measurements" in replaced:
        from harness.campaign.load import load_campaign
        from tests.support.campaigns import QUICK, write_campaign

        text = QUICK.partition("measurements:")[0]
        campaign = load_campaign(write_campaign(tmp_path, text, **replaced))
    else:
        campaign = campaign_in(tmp_path, **replaced)
    finding = found(campaign, what)
    assert finding is not None
    assert level in (None, finding.level)
    assert words in f"{finding.found} {finding.fix}"


@pytest.mark.parametrize(("same", "level"), [(True, Level.OK), (False, Level.FAIL)])
def test_the_tokenizer_must_be_the_datasets(tmp_path, same, level):
    from harness.storage import sha256_file

    campaign = campaign_in(tmp_path, tokenizer="tokenizer.json")
    tokenizer = Path(campaign.tokenizer)
    tokenizer.write_text("{}")
    info = tmp_path / "dataset" / "dataset.json"
    described = json.loads(info.read_text())
    described["tokenizer_sha256"] = sha256_file(tokenizer) if same else "0" * 64
    info.write_text(json.dumps(described))
    assert found(campaign, "tokenizer").level is level


def test_a_dataset_of_another_size(tmp_path):
    from tests.support.campaigns import make_dataset

    make_dataset(tmp_path / "dataset", 50)
    finding = found(campaign_in(tmp_path), "dataset")
    assert finding.level is Level.WARN
    assert "200" in finding.fix


def test_an_interpreter_without_the_workers_modules(tmp_path):
    python = tmp_path / "python"
    python.write_text("#!/bin/sh\necho \"ModuleNotFoundError: No module named 'zmq'\" >&2; exit 1\n")
    python.chmod(0o755)
    finding = found(campaign_in(tmp_path, worker="{python: " + str(python) + "}"), "worker interpreter")
    assert finding.level is Level.FAIL
    assert "No module named 'zmq'" in finding.found
    assert "pip install" in finding.fix


def test_more_samples_than_fit_into_memory(tmp_path):
    text = "{Offline: {target_qps: 2000000, min_query_count: 2147483648}}"
    campaign = load_campaign(write_campaign(tmp_path, QUICK.partition("scenarios:")[0], scenarios=text))
    finding = found(campaign, "memory for LoadGen")
    assert finding.level is Level.FAIL
    assert "GiB for 2147483648 samples" in finding.found
