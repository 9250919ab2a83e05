"""Cases of round v6.1 that the official checker has judged, where the collection stands beside the checkout."""

import json
import runpy
import sys
from pathlib import Path

import pytest

from compliance.discover import discover
from compliance.judge import judge
from compliance.metric import read_metric
from compliance.rulebook import load_round

SHARED = Path(__file__).parents[2].parent / "shared"
CASES = sorted(
    path
    for path in SHARED.glob("corpus/*/case.json")
    if (case := json.loads(path.read_text()))["round"] == "v6.1" and case["kind"] == "synthetic"
)
pytestmark = pytest.mark.skipif(not CASES, reason="no collection of judged submissions beside the checkout")


def judged(root, round_name):
    round_ = load_round(round_name)
    return judge(discover(root, round_), round_)


@pytest.mark.parametrize("path", CASES, ids=lambda path: path.parent.name)
def test_verdicts_and_metrics_are_the_official_ones(path):
    case = json.loads(path.read_text())
    judgement = judged(path.parent / "submission", case["round"])
    found = {one.result.path: one for one in judgement.results}
    assert set(found) == set(case["official"]["results"])
    for name, official in case["official"]["results"].items():
        verdicts, result = found[name].verdicts, found[name].result
        assert (verdicts.official, verdicts.strict) == (official["verdict"], official["verdict"])
        metric = read_metric(result, judgement.round.benchmarks[result.rules_benchmark])
        assert metric.value == pytest.approx(float(official["metric"]))


def test_the_generated_clean_tree_is_valid(tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "argv", ["make_t0.py", str(tmp_path), "v6.1"])
    runpy.run_path(str(SHARED / "tools" / "make_t0.py"))
    judgement = judged(tmp_path, "v6.1")
    assert [(one.verdicts.official, one.verdicts.strict) for one in judgement.results] == [("valid", "valid")] * 2
    findings = [
        finding for one in judgement.results for outcome in one.verdicts.outcomes for finding in outcome.findings
    ]
    assert findings == []
