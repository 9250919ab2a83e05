"""SARIF: of the standard's form, a rule per check, each finding at its place."""

import json
import re
from dataclasses import replace
from datetime import date
from urllib.parse import unquote

import jsonschema
import pytest

from compliance.checks.registry import all_checks
from compliance.discovery.submission import discover
from compliance.explain import explain
from compliance.judge import judge
from compliance.report.model import build_report
from compliance.report.plain import plain
from compliance.report.round_hint import Mismatch
from compliance.report.sarif import SCHEMA, render_sarif, uri
from compliance.vocabulary import Profile
from compliance.waivers import Waiver
from tests.support.broken_trees import CASES
from tests.support.faults import invalid_run
from tests.support.hostile_trees import NAME, hostile_tree
from tests.support.trees import clean_tree

# A bag may hold anything; `tags` alone has a form of its own.
BAG = {"type": "object", "properties": {"tags": {"type": "array", "items": {"type": "string"}, "uniqueItems": True}}}
MESSAGE = {
    "type": "object",
    "required": ["text"],
    "properties": {"text": {"type": "string", "minLength": 1}},
    "additionalProperties": False,
}
NOTIFICATION = {
    "type": "object",
    "required": ["message"],
    "additionalProperties": False,
    "properties": {"level": {"enum": ["none", "note", "warning", "error"]}, "message": MESSAGE},
}
RULE = {
    "type": "object",
    "required": ["id"],
    "additionalProperties": False,
    "properties": {
        "id": {"type": "string", "pattern": "^[A-Z]+-[0-9]+$"},
        "shortDescription": MESSAGE,
        "help": MESSAGE,
        "defaultConfiguration": {
            "type": "object",
            "properties": {"level": {"enum": ["none", "note", "warning", "error"]}},
            "additionalProperties": False,
        },
    },
}
PHYSICAL = {
    "type": "object",
    "required": ["artifactLocation"],
    "additionalProperties": False,
    "properties": {
        "artifactLocation": {
            "type": "object",
            "required": ["uri"],
            "properties": {"uri": {"type": "string", "minLength": 1, "format": "uri-reference"}},
            "additionalProperties": False,
        },
        "region": {
            "type": "object",
            "required": ["startLine"],
            "properties": {"startLine": {"type": "integer", "minimum": 1}},
            "additionalProperties": False,
        },
    },
}
LOGICAL = {
    "type": "object",
    "properties": {"fullyQualifiedName": {"type": "string"}, "kind": {"type": "string"}},
    "additionalProperties": False,
}
SUPPRESSION = {
    "type": "object",
    "required": ["kind"],
    "additionalProperties": False,
    "properties": {
        "kind": {"enum": ["inSource", "external"]},
        "status": {"enum": ["accepted", "underReview", "rejected"]},
        "justification": {"type": "string"},
    },
}
RESULT = {
    "type": "object",
    "required": ["message", "ruleId", "ruleIndex", "level", "locations", "partialFingerprints"],
    "additionalProperties": False,
    "properties": {
        "ruleId": {"type": "string"},
        "ruleIndex": {"type": "integer", "minimum": 0},
        "level": {"enum": ["none", "note", "warning", "error"]},
        "message": MESSAGE,
        "locations": {
            "type": "array",
            "minItems": 1,
            "items": {
                "type": "object",
                "additionalProperties": False,
                "properties": {
                    "physicalLocation": PHYSICAL,
                    "logicalLocations": {"type": "array", "items": LOGICAL, "uniqueItems": True},
                },
            },
        },
        "partialFingerprints": {
            "type": "object",
            "additionalProperties": {"type": "string", "pattern": "^[0-9a-f]{64}$"},
        },
        "suppressions": {"type": "array", "items": SUPPRESSION, "uniqueItems": True},
        "properties": BAG,
    },
}
DRIVER = {
    "type": "object",
    "required": ["name"],
    "additionalProperties": False,
    "properties": {
        "name": {"type": "string"},
        "version": {"type": "string"},
        "rules": {"type": "array", "items": RULE, "uniqueItems": True},
    },
}
RUN = {
    "type": "object",
    "required": ["tool", "results"],
    "additionalProperties": False,
    "properties": {
        "tool": {
            "type": "object",
            "required": ["driver"],
            "properties": {"driver": DRIVER},
            "additionalProperties": False,
        },
        "invocations": {
            "type": "array",
            "items": {
                "type": "object",
                "required": ["executionSuccessful"],
                "additionalProperties": False,
                "properties": {
                    "executionSuccessful": {"type": "boolean"},
                    "exitCode": {"type": "integer"},
                    "toolConfigurationNotifications": {"type": "array", "minItems": 1, "items": NOTIFICATION},
                },
            },
        },
        "columnKind": {"enum": ["utf16CodeUnits", "unicodeCodePoints"]},
        "results": {"type": "array", "items": RESULT},
        "properties": BAG,
    },
}
# Of the standard's schema (oasis-tcs/sarif-spec e0583813, sarif-2.1/schema) what such a log uses, as tight or tighter;
# anything else in it is not allowed.
FORM = {
    "type": "object",
    "required": ["$schema", "version", "runs"],
    "additionalProperties": False,
    "properties": {
        "$schema": {"const": SCHEMA},
        "version": {"const": "2.1.0"},
        "runs": {"type": "array", "items": RUN, "minItems": 1, "maxItems": 1},
    },
}


def report(made, root, profile=Profile.STRICT, waivers=()):
    return build_report(judge(discover(made.write(root), made.round), made.round), profile, waivers)


def read(found):
    document = json.loads(render_sarif(found))
    jsonschema.Draft202012Validator(FORM, format_checker=jsonschema.FormatChecker()).validate(document)
    (run,) = document["runs"]
    rules = run["tool"]["driver"]["rules"]
    for result in run["results"]:
        assert rules[result["ruleIndex"]]["id"] == result["ruleId"]
        for location in result["locations"]:
            check_uri(location["physicalLocation"]["artifactLocation"]["uri"])
    return run


def test_the_hint_on_a_wrong_round_is_a_notification(tmp_path):
    found = report(clean_tree(), tmp_path)
    assert "toolConfigurationNotifications" not in read(found)["invocations"][0]
    (invocation,) = read(replace(found, mismatch=Mismatch(unknown="LoadGen\n7.0")))["invocations"]
    told = {"level": "warning", "message": {"text": "these logs are of no round known here: LoadGen\\n7.0"}}
    assert invocation["toolConfigurationNotifications"] == [told]


def check_uri(found):
    assert re.fullmatch(r"(?:[A-Za-z0-9._~/-]|%[0-9A-F]{2})+", found)
    assert not found.startswith("/")
    assert ".." not in found.split("/")


@pytest.mark.parametrize("case", CASES[::16], ids=lambda case: case.id)
def test_every_finding_is_a_result_at_its_place(case, tmp_path):
    made = case.make()
    judgement = judge(discover(made.write(tmp_path), made.round), made.round)
    for profile in Profile:
        found = build_report(judgement, profile)
        run = read(found)
        findings = found.every_finding()
        assert [one["ruleId"] for one in run["results"]] == [finding.id for finding in findings]
        for one, finding in zip(run["results"], findings, strict=True):
            physical = one["locations"][0]["physicalLocation"]
            assert unquote(physical["artifactLocation"]["uri"]) == finding.where
            assert physical.get("region", {}).get("startLine") == finding.line
            assert one["level"] == {"error": "error", "warning": "warning", "info": "note"}[finding.severity]
        assert run["invocations"][0]["exitCode"] == found.exit_code


def test_every_check_is_a_rule_with_its_explanation(tmp_path):
    run = read(report(clean_tree(), tmp_path))
    rules = {rule["id"]: rule for rule in run["tool"]["driver"]["rules"]}
    assert set(rules) == {check.id for check in all_checks()} | {"INT-001"}
    assert all(rule["help"]["text"] == explain(check_id) for check_id, rule in rules.items())
    assert run["results"] == []


def test_a_message_says_what_was_compared_and_what_to_do(tmp_path):
    run = read(report(clean_tree().performance("Server", effective_min_duration_ms=300_000), tmp_path))
    (result,) = run["results"]
    text = result["message"]["text"]
    assert "wanted effective_min_duration_ms >= 600000 ms; found effective_min_duration_ms = 300000 ms" in text
    assert "300000 ms short (50.00% of the limit)" in text
    assert text.rstrip().endswith(".")


def test_a_waived_finding_is_suppressed(tmp_path):
    waiver = Waiver("PERF-008", "agreed", date(2999, 1, 1))
    (result,) = read(report(invalid_run(), tmp_path, waivers=(waiver,)))["results"]
    (suppression,) = result["suppressions"]
    assert suppression["justification"] == "waived until 2999-01-01: agreed"


def test_a_fingerprint_outlives_a_shift_of_lines(tmp_path):
    made = clean_tree().performance("Server", effective_min_duration_ms=300_000)
    before = read(report(made, tmp_path / "a"))["results"][0]
    path = next(path for path in made.logs if "Server/performance" in path)
    made.logs[path] = made.logs[path][::-1]
    after = read(report(made, tmp_path / "b"))["results"][0]
    assert before["partialFingerprints"] == after["partialFingerprints"]
    assert before["locations"] != after["locations"]


@pytest.mark.parametrize(
    ("path", "found"),
    [("closed/a b/c.txt", "closed/a%20b/c.txt"), ("a:b/c", "a%3Ab/c"), ("é%?#", "%C3%A9%25%3F%23"), (".", ".")],
)
def test_uris_are_percent_encoded(path, found):
    assert uri(path) == found


def test_hostile_names_are_text(tmp_path):
    found = report(hostile_tree(), tmp_path)
    text = render_sarif(found)
    assert all(plain(line) == line for line in text.split("\n"))
    run = read(found)
    assert any(
        NAME in unquote(one["locations"][0]["physicalLocation"]["artifactLocation"]["uri"]) for one in run["results"]
    )
