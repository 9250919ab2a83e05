"""Real, mutated and synthetic submissions that the official checker has judged, where they lie beside the checkout.

Official verdicts and metrics are compared per results folder; where the official checker stopped with a traceback, the
folders named by the rules are invalid and the others are judged. Strict verdicts are compared with those by the rules.
"""

import json
import runpy
import sys
from pathlib import Path

import pytest

from compliance.discovery.submission import discover
from compliance.judge import judge
from compliance.metrics.performance import read_metric
from compliance.rulebook.rounds import load_round, round_names

SHARED = Path(__file__).parents[2].parent / "shared"
CASES = sorted(
    path for path in SHARED.glob("corpus/*/case.json") if json.loads(path.read_text())["round"] in round_names()
)
pytestmark = pytest.mark.skipif(not CASES, reason="no collection of judged submissions beside the checkout")


def judged(root, round_name):
    round_ = load_round(round_name)
    return judge(discover(root, round_), round_)


def turned_down(rule, paths):
    """The folders that a rule sentence calls invalid: "invalid: Server (...)", "invalid: every result of ..."."""
    if not rule.startswith("invalid"):
        return set()
    named = rule.partition(":")[2].partition("(")[0].strip()
    return set(paths) if not named or named.startswith(("every", "all")) else {p for p in paths if p.endswith(named)}


def wanted_official(case, paths):
    official = case["official"]
    if official["overall"] == "crash":
        down = turned_down(case.get("verdict_by_the_rules") or "invalid: all", paths)
        return {path: "invalid" if path in down else "valid" for path in paths}
    return {path.rstrip("/"): result["verdict"] for path, result in official["results"].items()}


def wanted_strict(case, paths):
    """None where the case says nothing about the rules: a real submission that the official checker turns down."""
    rule = case.get("verdict_by_the_rules")
    if rule is None and (case["kind"] == "mutated" or case["official"]["overall"] != "valid"):
        return None
    down = turned_down(rule or "valid", paths)
    return {path: "invalid" if path in down else "valid" for path in paths}


@pytest.mark.parametrize("path", CASES, ids=lambda path: path.parent.name)
def test_verdicts_and_metrics_are_the_recorded_ones(path):
    case = json.loads(path.read_text())
    judgement = judged(path.parent / "submission", case["round"])
    found = {one.result.path: one for one in judgement.results}
    assert found
    assert {name: one.verdicts.official for name, one in found.items()} == wanted_official(case, found)
    strict = wanted_strict(case, found)
    if strict is not None:
        assert {name: one.verdicts.strict for name, one in found.items()} == strict
    for name, official in case["official"]["results"].items():
        if official["verdict"] == "valid":
            result = found[name.rstrip("/")].result
            metric = read_metric(result, judgement.round.benchmarks[result.rules_benchmark])
            assert metric.value == pytest.approx(float(official["metric"]), rel=1e-4)


@pytest.mark.parametrize("round_name", ["v6.0", "v6.1"])
def test_the_generated_clean_tree_is_valid(round_name, tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "argv", ["make_t0.py", str(tmp_path), round_name])
    runpy.run_path(str(SHARED / "tools" / "make_t0.py"))
    judgement = judged(tmp_path, round_name)
    assert [(one.verdicts.official, one.verdicts.strict) for one in judgement.results] == [("valid", "valid")] * 2
    findings = [
        finding for one in judgement.results for outcome in one.verdicts.outcomes for finding in outcome.findings
    ]
    assert findings == []
