"""The search under the real LoadGen, on a system with one server whose capacity is known."""

import json
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from harness.cli import main
from harness.core.spec import RunOutcome
from harness.storage import read_record
from tests.support.campaigns import make_dataset

ROOT = Path(__file__).parents[3]
CAMPAIGN = """\
round: v6.1
division: open
submitter: Example
system: capture
benchmark: llama2-70b-99.9
sut: {{name: "tests.support.one_server:OneServer", settings: {{capacity_qps: {capacity}}}}}
dataset: dataset
evaluator: none
accuracy: false
equal_issue: false
scale: 0.005
scenarios:
  Interactive: {{min_query_count: 600}}
  Offline: {{target_qps: 100}}
"""
QUICK = ("--queries", "459", "--probe-s", "3", "--tolerance", "0.25", "--start", "200")


@pytest.fixture
def campaign(tmp_path):
    make_dataset(tmp_path / "dataset")

    def write(capacity=300, text=CAMPAIGN):
        path = tmp_path / "campaign.yaml"
        path.write_text(text.format(capacity=capacity))
        return path

    return write


def command(path, *options):
    return [sys.executable, "-m", "harness", "search", str(path), *options]


def test_the_rate_is_found_confirmed_and_a_killed_search_goes_on(campaign, tmp_path):
    path, folder = campaign(), tmp_path / "out" / "search" / "Interactive"
    ledger = folder / "probes.json"
    first = subprocess.Popen(command(path, *QUICK), cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    deadline = time.monotonic() + 60
    while not (folder / "probe-002" / "spec.json").exists():
        assert time.monotonic() < deadline
        assert first.poll() is None
        time.sleep(0.05)
    first.send_signal(signal.SIGKILL)
    first.wait()
    kept = json.loads(ledger.read_text())["probes"]
    assert [probe["qps"] for probe in kept] == [200.0]

    done = subprocess.run(
        command(path, *QUICK, "--format", "json"), cwd=ROOT, capture_output=True, text=True, timeout=200, check=False
    )
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["kept"] == 1
    assert found["probes"][0] == kept[0]
    assert 200 <= found["found_qps"] < found["lowest_invalid_qps"] <= 400
    assert found["found_qps"] < 330
    confirming = [probe for probe in found["probes"] if probe["full"] and probe["verdict"] == "VALID"]
    assert [probe["qps"] for probe in confirming] == [found["found_qps"]]
    assert confirming[0]["queries"] >= 600
    over = next(probe for probe in found["probes"] if probe["qps"] == 400.0)
    assert over["verdict"] == "hopeless"
    assert "later than 450 ms" in over["reason"]
    # A hopeless probe is ended in order, and its workers serve the next one.
    outcomes = [read_record(place / "outcome.json", RunOutcome) for place in sorted(folder.glob("probe-*"))]
    assert {outcome.kind for outcome in outcomes} <= {"ok", "hopeless"}
    assert all(outcome.workers_free for outcome in outcomes)
    assert len(list((tmp_path / "out" / "workers").iterdir())) <= 2


def test_a_system_that_is_never_valid_ends_within_the_budget(campaign, capsys):
    code = main(["search", str(campaign(capacity=2)), *QUICK, "--max-probes", "2"])
    out = capsys.readouterr().out
    assert code == 1
    assert "No rate was found: 2 probes were allowed" in " ".join(out.split())
    assert out.count("hopeless") == 2
    assert max(map(len, out.splitlines())) <= 80
    assert main(["search", str(campaign(capacity=2)), *QUICK, "--budget", "1s"]) == 1
    assert "the time is over" in capsys.readouterr().out


def test_a_system_that_is_always_valid_ends_at_the_highest_rate_allowed(campaign, capsys):
    code = main(["search", str(campaign(capacity=100_000)), "--start", "300", "--max-qps", "300", "--probe-s", "1"])
    out = capsys.readouterr().out
    assert code == 0
    assert "the highest rate allowed, 300 QPS, is VALID" in " ".join(out.split())
    assert "Interactive: {target_qps: 300.0}" in out


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--scenario", "Offline"), "no rate is searched in Offline"),
        (("--scenario", "Server"), "the campaign has Interactive"),
        (("--budget", "soon"), "write 90s, 30m or 2h"),
        (("--budget", "0"), "write 90s, 30m or 2h"),
        (("--start", "0"), "0"),
        (("--queries", "458"), "equal to 459"),
        (("--format", "xml"), "text or json"),
    ],
)
def test_wrong_usage(campaign, capsys, options, words):
    assert main(["search", str(campaign()), *options]) == 2
    assert words in " ".join(capsys.readouterr().err.split())


def test_a_campaign_without_a_schedule_has_nothing_to_search(campaign, capsys):
    text = CAMPAIGN.replace("  Interactive: {{min_query_count: 600}}\n", "")
    assert main(["search", str(campaign(text=text))]) == 2
    assert "add Server or Interactive" in " ".join(capsys.readouterr().err.split())


def test_an_interrupted_search_says_so_and_keeps_its_probes(campaign, tmp_path):
    path, folder = campaign(), tmp_path / "out" / "search" / "Interactive"
    process = subprocess.Popen(
        command(path, *QUICK), cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    )
    deadline = time.monotonic() + 60
    while not (folder / "probe-002" / "mlperf_log_detail.txt").exists():
        assert time.monotonic() < deadline
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    out, _ = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "Interrupted" in out
    assert len(json.loads((folder / "probes.json").read_text())["probes"]) == 1
