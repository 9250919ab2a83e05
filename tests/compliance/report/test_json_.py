"""The JSON contract: every broken tree's report is of the shipped form."""

import json
from datetime import date

import pytest

from compliance.discovery.submission import discover
from compliance.judge import judge
from compliance.report.json_ import render_json
from compliance.report.model import build_report
from compliance.report.plain import plain
from compliance.schema import validate
from compliance.vocabulary import Profile
from compliance.waivers import Waiver
from tests.support.broken_trees import CASES
from tests.support.faults import invalid_run
from tests.support.hostile_trees import NAME, hostile_tree
from tests.support.trees import clean_tree


def document(made, root, profile=Profile.STRICT, waivers=()):
    judgement = judge(discover(made.write(root), made.round), made.round)
    return json.loads(render_json(build_report(judgement, profile, waivers)))


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)
def test_every_report_is_of_the_contracts_form(case, tmp_path):
    made = case.make()
    judgement = judge(discover(made.write(tmp_path), made.round), made.round)
    for profile in Profile:
        check_form(json.loads(render_json(build_report(judgement, profile))), case, profile)


def check_form(found, case, profile):
    assert validate(found, "check-report") == ()
    at = [one for one in found["results"] if one["path"].endswith(f"/{case.at}")]
    assert [(one["official_verdict"], one["strict_verdict"]) for one in at] == [case.verdicts]
    for result in found["results"]:
        assert result["verdict"] == result[f"{profile.value}_verdict"]
        errors = [one for one in result["findings"] if one["severity"] == "error"]
        assert bool(errors) is (result["verdict"] == "invalid")


def test_a_clean_result_is_told_whole(tmp_path):
    found = document(clean_tree(), tmp_path)
    assert found["verdict"] == "pass"
    assert found["tool"]["official_checker"] == "mlcommons/inference b66003e1"
    (offline, _) = found["results"]
    assert offline["path"] == "closed/Acme/results/node8/llama3.1-8b/Offline"
    assert (offline["metric"], offline["unit"], offline["inferred"]) == (27600.5, "Tokens/s", False)
    assert offline["accuracy"]["ROUGE1"] == {"value": 38.7792, "minimum": pytest.approx(38.391408), "maximum": None}
    assert offline["findings"] == []


def test_a_finding_of_both_profiles_weights_stands_once(tmp_path):
    made = clean_tree(division="open").performance(
        "Server", **{"result_first_token_99.00_percentile_latency_ns": 2_000_000_000}
    )
    for profile, severity in ((Profile.STRICT, "warning"), (Profile.OFFICIAL, "error")):
        found = document(made, tmp_path / profile, profile)
        server = found["results"][1]
        assert [(one["id"], one["severity"]) for one in server["findings"]] == [("LAT-005", severity)]


def test_a_waived_finding_carries_its_reason(tmp_path):
    waiver = Waiver("PERF-008", "agreed", date(2999, 1, 1))
    found = document(invalid_run(), tmp_path, waivers=(waiver,))
    (finding,) = found["results"][1]["findings"]
    assert finding["waived"] == {"reason": "agreed", "until": "2999-01-01"}
    assert found["results"][1]["verdict"] == "valid"


def test_hostile_names_are_escaped_and_read_back_the_same(tmp_path):
    made = hostile_tree()
    text = render_json(build_report(judge(discover(made.write(tmp_path), made.round), made.round), Profile.STRICT))
    assert all(plain(line) == line for line in text.split("\n"))
    found = json.loads(text)
    assert validate(found, "check-report") == ()
    assert {result["system"] for result in found["results"]} == {NAME}


def test_what_cannot_be_read_is_null(tmp_path):
    made = clean_tree().performance("Server", result_completed_tokens_per_second=None)
    made.replace(made.path("Server", "accuracy/accuracy.txt"), "'rouge1': 38.7792", "'rouge1': nan")
    server = document(made, tmp_path)["results"][1]
    assert server["metric"] is None
    assert server["accuracy"]["ROUGE1"]["value"] is None
