"""Every check against a tree broken for it, and against the clean one: exactly that check must fail."""

from dataclasses import replace

import pytest

from compliance.checks.model import State
from compliance.checks.registry import all_checks
from compliance.discovery.submission import discover
from compliance.judge import judge
from compliance.records import Unreadable
from compliance.rulebook.rounds import load_round
from compliance.submission.manifest import Manifest, list_files, manifest_text
from tests.support.broken_audits import AUDIT_CASES
from tests.support.broken_endpoints import ENDPOINTS_CASES
from tests.support.broken_figures import FIGURE_CASES
from tests.support.broken_power import POWER_CASES
from tests.support.broken_trees import CASES
from tests.support.trees import clean_tree

BY_HAND = {"STR-013", "STR-014", "STR-017", "STR-018", "SYS-015"}


def judged(tree, root):
    return judge(discover(tree.write(root), tree.round), tree.round)


def failed(judgement):
    outcomes = (*judgement.above, *(one for result in judgement.results for one in result.verdicts.outcomes))
    return {outcome.check.id for outcome in outcomes if outcome.state is State.FAIL}


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"scenarios": ("Offline", "Server", "Interactive")},
        {"scenarios": ("Interactive", "Offline")},
        {"division": "open"},
        {"division": "network"},
        {"benchmark": "gpt-oss-120b"},
        {"benchmark": "deepseek-r1", "system_type": "datacenter,edge"},
        {"benchmark": "llama2-70b-99.9"},
        {"benchmark": "llama3.1-8b-edge", "scenarios": ("Offline", "SingleStream"), "system_type": "edge"},
        {"benchmark": "smollm2-135m", "round_name": "demo", "scenarios": ("Offline", "Server", "Interactive")},
    ],
    ids=lambda options: "-".join(map(str, options.values())) or "closed",
)
def test_a_clean_tree_passes_every_check(options, tmp_path):
    judgement = judged(clean_tree(**options), tmp_path)
    assert failed(judgement) == set()
    assert {(one.verdicts.official, one.verdicts.strict) for one in judgement.results} == {("valid", "valid")}


@pytest.mark.parametrize("case", [*CASES, *AUDIT_CASES, *FIGURE_CASES, *POWER_CASES], ids=lambda case: case.id)
def test_one_fault_fails_one_check(case, tmp_path):
    judgement = judged(case.make(), tmp_path)
    assert failed(judgement) == {case.check, *case.also}
    verdicts = [one.verdicts for one in judgement.results if one.result.scenario_dir == case.at]
    assert [(one.official, one.strict) for one in verdicts] == [case.verdicts]
    speaks(judgement, tmp_path)


def speaks(judgement, root):
    """Every finding says where, what and how to mend it."""
    outcomes = (*judgement.above, *(one for result in judgement.results for one in result.verdicts.outcomes))
    for outcome in outcomes:
        for finding in outcome.findings:
            assert finding.expected
            assert finding.found
            assert finding.fix or outcome.check.fix
            assert not finding.where.startswith("/")
            if finding.line is not None:
                lines = (root / finding.where).read_bytes().count(b"\n") + 1
                assert 1 <= finding.line <= lines


def test_no_check_is_without_a_broken_tree():
    cases = (*CASES, *AUDIT_CASES, *ENDPOINTS_CASES, *FIGURE_CASES, *POWER_CASES)
    assert {check.id for check in all_checks()} == {case.check for case in cases} | BY_HAND


def test_an_empty_tree_fails_strict_alone(tmp_path):
    judgement = judge(discover(tmp_path, load_round("v6.1")), load_round("v6.1"))
    (outcome,) = [one for one in judgement.above if one.findings]
    assert outcome.check.id == "STR-013"
    assert [profile.value for profile in outcome.findings[0].profiles] == ["strict"]


def test_a_submitter_without_results_is_named_and_the_others_are_judged(tmp_path):
    tree = clean_tree()
    tree.texts["closed/Other/src/README.md"] = "x\n"
    tree.texts["closed/Other/documentation/calibration.md"] = "x\n"
    judgement = judged(tree, tmp_path)
    assert failed(judgement) == {"STR-014"}
    assert {one.verdicts.official for one in judgement.results} == {"valid"}


def test_what_discovery_could_not_read_of_the_tree_is_a_finding(tmp_path):
    tree = clean_tree()
    submission = discover(tree.write(tmp_path), tree.round)
    refused = replace(submission, unreadable=(Unreadable("closed/secret", None, "permission denied"),))
    assert failed(judge(refused, tree.round)) == {"STR-017"}


def test_what_changed_since_packaging_is_a_warning_per_file(tmp_path):
    tree = clean_tree()
    root = tree.write(tmp_path / "tree")
    manifest = Manifest("v6.1", root, list_files(root), {})
    manifest.path.write_text(manifest_text(manifest))
    assert failed(judge(discover(root, tree.round), tree.round)) == set()
    source = root / "closed/Acme/src"
    (source / "new.md").write_text("x\n")
    (root / "closed/Acme/documentation/calibration.md").write_text("other\n")
    (root / tree.path("Server", "README.md")).rename(source / "moved.md")
    judgement = judge(discover(root, tree.round), tree.round)
    (found,) = [one.findings for one in judgement.above if one.check.id == "STR-018"]
    assert {(one.where, one.found.split()[0], one.severity.value) for one in found} == {
        ("closed/Acme/src/new.md", "not", "warning"),
        ("closed/Acme/src/moved.md", "not", "warning"),
        ("closed/Acme/documentation/calibration.md", "changed", "warning"),
        (tree.path("Server", "README.md"), "missing,", "warning"),
    }
    speaks(judgement, root)


def test_a_manifest_that_cannot_be_read_is_a_warning_too(tmp_path):
    tree = clean_tree()
    root = tree.write(tmp_path / "tree")
    (tmp_path / "tree.manifest.json").write_text("{}")
    assert failed(judge(discover(root, tree.round), tree.round)) == {"STR-018"}


def test_a_submitter_that_is_not_there_is_told_who_is(tmp_path):
    tree = clean_tree()
    judgement = judge(discover(tree.write(tmp_path), tree.round, "Nobody"), tree.round)
    (outcome,) = [one for one in judgement.above if one.findings]
    assert (outcome.check.id, outcome.findings[0].message) == ("STR-013", "submitters there are: Acme")


@pytest.mark.parametrize(
    ("changes", "failing"),
    [
        ({}, set()),
        ({"sw_notes": "a newer kernel"}, set()),
        ({"accelerator_model_name": "another"}, {"SYS-015"}),
        ({"status": "preview"}, {"SYS-015"}),
        ({"system_name": "another", "accelerator_model_name": "another"}, set()),
    ],
    ids=["same", "software", "hardware", "availability", "another-name"],
)
def test_one_name_stands_for_one_system(changes, failing, tmp_path):
    tree = clean_tree()
    tree.copy(f"{tree.submitter}/results/node8", f"{tree.submitter}/results/node9")
    tree.documents[f"{tree.submitter}/systems/node9.json"] = {**tree.system, **changes}
    judgement = judged(tree, tmp_path)
    assert failed(judgement) == failing
    assert {one.verdicts.strict for one in judgement.results} == {"valid"}
    speaks(judgement, tmp_path)
