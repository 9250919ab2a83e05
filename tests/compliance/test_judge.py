"""Verdicts: what lowers what, what cannot be judged, and a check that breaks."""

import json
import shutil

import pytest

from compliance.checks.model import Check, Scope, State, Subject
from compliance.discovery.submission import discover, official_name
from compliance.judge import judge, run_check
from compliance.rulebook.rounds import RULES_DIR, load_round, read_round
from tests.support.endpoint_trees import endpoints_tree
from tests.support.faults import renamed_benchmark, tree
from tests.support.trees import ORG, clean_tree


def verdicts(made, root):
    judgement = judge(discover(made.write(root), made.round), made.round)
    return {one.result.path: (one.verdicts.official, one.verdicts.strict) for one in judgement.results}


def broken(_subject):
    raise KeyError("a fault of ours")
    yield


def test_an_exception_in_a_check_is_a_finding_of_the_result(tmp_path):
    made = clean_tree()
    submission = discover(made.write(tmp_path), made.round)
    check = Check("XXX-001", "breaks", "test", Scope.TREE, (), broken)
    outcome = run_check(check, Subject(made.round, submission))
    assert outcome.state is State.FAIL
    assert outcome.check.id == "INT-001"
    (finding,) = outcome.findings
    assert "XXX-001" in finding.expected
    assert "a fault of ours" in finding.found
    assert [profile.value for profile in finding.profiles] == ["official", "strict"]


@pytest.mark.parametrize("scope", [Scope.SYSTEM, Scope.RESULT])
def test_a_check_given_the_wrong_subject_is_an_internal_error(scope, tmp_path):
    made = clean_tree()
    submission = discover(made.write(tmp_path), made.round)
    need = "description" if scope is Scope.SYSTEM else "performance"
    check = Check("XXX-002", "breaks", "test", scope, (need,), broken)
    assert run_check(check, Subject(made.round, submission)).check.id == "INT-001"


def test_a_description_lowers_every_result_of_its_system_and_no_other(tmp_path):
    made = clean_tree()
    made.copy(f"{made.submitter}/results/node8", f"{made.submitter}/results/node9")
    made.documents[f"{made.submitter}/systems/node9.json"] = {**made.system, "status": "soon"}
    found = verdicts(made, tmp_path)
    assert {path.split("/")[3]: verdict for path, verdict in found.items()} == {
        "node8": ("valid", "valid"),
        "node9": ("invalid", "invalid"),
    }


def test_a_submitters_fault_lowers_no_other_submitter(tmp_path):
    made = clean_tree()
    made.copy(f"closed/{ORG}", "closed/Bcme").remove("closed/Bcme/src")
    made.documents["closed/Bcme/systems/node8.json"]["submitter"] = "Bcme"
    found = verdicts(made, tmp_path)
    assert {path.split("/")[1]: verdict for path, verdict in found.items()} == {
        ORG: ("valid", "valid"),
        "Bcme": ("invalid", "invalid"),
    }


@pytest.mark.parametrize(
    ("name", "round_name", "benchmark"),
    [
        ("resnet50", "v6.1", "resnet"),
        ("mobilenet", "v6.1", "resnet"),
        ("my-resnet50-v2", "v6.1", "resnet"),
        ("bert-99.9-fp8", "v6.1", "bert-99.9"),
        ("bert-99-fp8", "v6.1", "bert-99"),
        ("ssd-resnet34", "v6.0", "retinanet"),
        ("my-llama3_1-405b", "v6.0", "llama3.1-405b"),
        ("my-llama3_1-405b", "v6.1", None),
        ("llama3_1-8b", "v5.1", "llama3.1-8b"),
        ("llama3_1-8b", "v5.0", None),
    ],
)
def test_a_folder_stands_for_a_benchmark_by_alias_or_by_a_part_of_its_name(name, round_name, benchmark):
    assert official_name(load_round(round_name), name, None) == benchmark


@pytest.fixture
def unshipped(tmp_path, monkeypatch):
    """A round that has a benchmark for which it brings no rules."""
    folder = tmp_path / "v6.1"
    shutil.copytree(RULES_DIR / "v6.1", folder)
    (folder / "benchmarks" / "whisper.toml").unlink()
    text = (folder / "round.toml").read_text()
    text += (
        '\n[unshipped]\nbenchmarks = ["whisper"]\nsource = "a test"\n\n[unshipped.aliases]\n"*whisper*" = "whisper"\n'
    )
    (folder / "round.toml").write_text(text)
    return read_round(folder)


@pytest.mark.parametrize("name", ["whisper", "my-whisper-v2"])
def test_a_benchmark_without_rules_here_is_not_judged(name, unshipped, tmp_path):
    made = renamed_benchmark(name)()
    made.round = unshipped
    assert set(verdicts(made, tmp_path / "tree").values()) == {("not_judged", "not_judged")}


def test_a_fault_that_needs_no_rules_makes_even_such_a_result_invalid(unshipped, tmp_path):
    made = renamed_benchmark("whisper")().remove(f"closed/{ORG}/src")
    made.round = unshipped
    assert set(verdicts(made, tmp_path / "tree").values()) == {("invalid", "invalid")}


def test_an_open_folder_is_judged_as_the_benchmark_it_is_mapped_to(tmp_path):
    made = renamed_benchmark("my-llama", lambda: tree(division="open"))()
    made.texts[f"{made.submitter}/model_mapping.json"] = json.dumps({"my-llama": "llama3.1-8b"})
    assert set(verdicts(made, tmp_path / "a").values()) == {("valid", "valid")}
    made.texts[f"{made.submitter}/model_mapping.json"] = json.dumps({"my-llama": "no-such-benchmark"})
    assert set(verdicts(made, tmp_path / "b").values()) == {("invalid", "invalid")}


def test_endpoints_logs_are_judged(tmp_path):
    assert set(verdicts(endpoints_tree(), tmp_path).values()) == {("valid", "valid")}


def test_endpoints_logs_of_next_to_nothing_are_invalid(tmp_path):
    made = clean_tree()
    for scenario in made.scenarios:
        for folder in ("performance", "accuracy", "TEST06"):
            made.remove(made.path(scenario, folder))
        made.texts[made.path(scenario, "config.yaml")] = "type: online\n"
        made.documents[made.path(scenario, "performance/result_summary.json")] = {"qps": 1}
    assert set(verdicts(made, tmp_path).values()) == {("invalid", "invalid")}


def test_a_folder_with_neither_loadgens_logs_nor_endpoints_files_is_invalid(tmp_path):
    made = clean_tree()
    for folder in ("performance", "accuracy", "TEST06"):
        made.remove(made.path("Server", folder))
    found = verdicts(made, tmp_path)
    assert {path.rpartition("/")[2]: pair for path, pair in found.items()} == {
        "Offline": ("valid", "valid"),
        "Server": ("invalid", "invalid"),
    }


def test_endpoints_files_beside_one_of_loadgens_logs_do_not_count(tmp_path):
    made = endpoints_tree()
    other = clean_tree()
    path = other.path("Server", "accuracy/mlperf_log_detail.txt")
    made.logs[path] = other.logs[path]
    found = verdicts(made, tmp_path)
    assert found[made.path("Server")] == ("invalid", "invalid")


@pytest.mark.parametrize(("key", "verdict"), [(None, "invalid"), ("result_qps_without_loadgen_overhead", "valid")])
def test_an_edge_system_may_infer_offline_from_single_stream(key, verdict, tmp_path):
    made = clean_tree("llama3.1-8b-edge", ("SingleStream",), system_type="edge")
    if key is None:
        made.performance("SingleStream", result_qps_without_loadgen_overhead=None)
    made.copy(made.path("SingleStream"), made.path("Offline"))
    found = verdicts(made, tmp_path)
    assert {path.rpartition("/")[2]: pair for path, pair in found.items()} == {
        "SingleStream": ("valid", "valid"),
        "Offline": (verdict, verdict),
    }
