import dataclasses
import json
import os
from pathlib import Path

import pytest

from compliance.discovery.files import Tree
from compliance.discovery.submission import discover, official_name
from compliance.errors import UnreadableFile
from compliance.logs.documents import read_document
from compliance.rulebook.rounds import load_round
from compliance.vocabulary import AuditId, Division, Scenario
from tests.support.real_tree import BENCHMARK, SUBMITTER, SYSTEM, write_result, write_tree

ROUND = load_round("v6.1")
RESULTS = f"closed/{SUBMITTER}/results/{SYSTEM}/{BENCHMARK}"


def results_of(submission):
    return [result for entry in submission.submitters for system in entry.systems for result in system.results]


def reasons(entries):
    return {entry.path: entry.reason for entry in entries}


def test_a_whole_tree_is_read(tmp_path):
    write_tree(tmp_path)
    submission = discover(tmp_path, ROUND)
    (entry,) = submission.submitters
    assert (entry.path, entry.division, entry.name) == (f"closed/{SUBMITTER}", Division.CLOSED, SUBMITTER)
    assert entry.source_dir == f"closed/{SUBMITTER}/src"
    assert entry.calibration == f"closed/{SUBMITTER}/documentation/calibration.md"
    assert (entry.orphan_descriptions, entry.unreadable, entry.model_mapping) == ((), (), None)
    (system,) = entry.systems
    assert (system.name, system.path) == (SYSTEM, f"closed/{SUBMITTER}/systems/{SYSTEM}.json")
    assert system.description.text("submitter") == SUBMITTER
    offline, server = system.results
    assert (offline.scenario, server.scenario) == (Scenario.OFFLINE, Scenario.SERVER)
    assert (offline.siblings, server.siblings) == (("Server",), ("Offline",))
    assert (submission.round_name, submission.unreadable) == ("v6.1", ())


def test_a_result_holds_what_its_folder_holds(tmp_path):
    write_tree(tmp_path)
    _, result = results_of(discover(tmp_path, ROUND))
    assert result.path == f"{RESULTS}/Server"
    assert (result.benchmark, result.rules_benchmark) == (BENCHMARK, BENCHMARK)
    assert result.unreadable == ()
    assert result.performance.folder == f"{RESULTS}/Server/performance/run_1"
    assert result.performance.detail.value("effective_scenario") == "Server"
    assert result.performance.summary.fields["Scenario"] == "Server"
    assert result.performance.accuracy.entries == 0
    assert result.performance.files == ("mlperf_log_accuracy.json", "mlperf_log_detail.txt", "mlperf_log_summary.txt")
    assert result.accuracy.detail.value("effective_test_mode") == "AccuracyOnly"
    assert result.accuracy.accuracy.entries == 8
    assert "accuracy.txt" in result.accuracy.files
    assert result.accuracy_text.written("ROUGE1")[0].value == 44.4718
    assert result.measurements.text("retraining") == "fp8"
    assert result.user_conf.value("target_qps", "Server", "x") == 94
    assert result.user_conf_bytes == len("*.Server.target_qps = 94\n")
    assert result.readme_bytes == len("Notes.\n")


def test_an_audit_holds_what_its_folder_holds(tmp_path):
    base = write_tree(tmp_path, scenarios=("Offline",))
    folder = base / "results" / SYSTEM / BENCHMARK / "Offline"
    (folder / "TEST01" / "accuracy").mkdir(parents=True)
    (folder / "TEST01" / "accuracy" / "baseline_accuracy.txt").write_text("'rouge1': 1.5\n")
    (result,) = results_of(discover(tmp_path, ROUND))
    assert list(result.audits) == [AuditId.TEST01, AuditId.TEST06]
    audit = result.audits[AuditId.TEST06]
    assert audit.folder == f"{RESULTS}/Offline/TEST06"
    assert audit.verify_accuracy.passed["EOS"] == "True"
    assert (audit.verify_performance, audit.verify_output_len) == (None, None)
    assert audit.accuracy.entries == 8
    assert audit.accuracy_files == ("mlperf_log_accuracy.json",)
    assert audit.files == ("verify_accuracy.txt",)
    assert (audit.run.detail, audit.run.files) == (None, ())
    first = result.audits[AuditId.TEST01]
    assert first.accuracy_texts["baseline_accuracy.txt"].official("ROUGE1")[0].value == 1.5
    required = ROUND.layout.audit_files[AuditId.TEST01]
    assert {entry.path for entry in result.unreadable} == {f"{first.folder}/{name}" for name in required}


# What is done to a result, and the file that is named with a word of the reason.
DAMAGE = [
    ("performance/run_1/mlperf_log_detail.txt", None, "missing"),
    ("performance/run_1/mlperf_log_summary.txt", b"", "empty"),
    ("performance/run_1/mlperf_log_detail.txt", b"\x00\xff", "MLLOG"),
    ("accuracy/mlperf_log_detail.txt", None, "missing"),
    ("accuracy/accuracy.txt", b"", "empty"),
    ("accuracy/mlperf_log_accuracy.json", None, "missing"),
    ("measurements.json", b"[1]", "JSON object"),
    ("measurements.json", None, "missing"),
    ("TEST06/verify_accuracy.txt", None, "missing"),
    ("TEST06/accuracy/mlperf_log_accuracy.json", b"", "empty"),
    ("user.conf", b"", "empty"),
]


@pytest.mark.parametrize(("name", "content", "word"), DAMAGE)
def test_a_damaged_file_is_kept_as_unreadable(tmp_path, name, content, word):
    write_tree(tmp_path, scenarios=("Offline",))
    path = tmp_path / RESULTS / "Offline" / name
    path.unlink()
    if content is not None:
        path.write_bytes(content)
    (result,) = results_of(discover(tmp_path, ROUND))
    found = reasons(result.unreadable)
    assert list(found) == [f"{RESULTS}/Offline/{name}"]
    assert word in found[f"{RESULTS}/Offline/{name}"]


def test_a_folder_in_place_of_a_file_is_unreadable(tmp_path):
    write_tree(tmp_path, scenarios=("Offline",))
    path = tmp_path / RESULTS / "Offline" / "measurements.json"
    path.unlink()
    path.mkdir()
    (result,) = results_of(discover(tmp_path, ROUND))
    assert "folder" in reasons(result.unreadable)[f"{RESULTS}/Offline/measurements.json"]


def test_a_pipe_in_place_of_a_file_is_not_waited_for(tmp_path):
    write_tree(tmp_path, scenarios=("Offline",))
    path = tmp_path / RESULTS / "Offline" / "measurements.json"
    path.unlink()
    os.mkfifo(path)
    (result,) = results_of(discover(tmp_path, ROUND))
    assert "no regular file" in reasons(result.unreadable)[f"{RESULTS}/Offline/measurements.json"]


def test_optional_files_may_be_absent(tmp_path):
    write_tree(tmp_path, scenarios=("Offline",))
    folder = tmp_path / RESULTS / "Offline"
    (folder / "performance/run_1/mlperf_log_accuracy.json").unlink()
    (folder / "user.conf").unlink()
    (folder / "README.md").unlink()
    (result,) = results_of(discover(tmp_path, ROUND))
    assert result.unreadable == ()
    assert (result.user_conf, result.user_conf_bytes, result.readme_bytes) == (None, None, None)
    assert result.performance.accuracy is None


@pytest.mark.parametrize(
    ("name", "scenario"),
    [("offline", Scenario.OFFLINE), ("SERVER", Scenario.SERVER), ("singlestream", Scenario.SINGLE_STREAM), ("x", None)],
)
def test_a_scenario_folder_is_known_in_any_case(tmp_path, name, scenario):
    write_tree(tmp_path, scenarios=())
    (tmp_path / RESULTS / name).mkdir(parents=True)
    (result,) = results_of(discover(tmp_path, ROUND))
    assert (result.scenario, result.scenario_dir) == (scenario, name)
    assert result.performance.detail is None


def test_other_top_level_folders_hold_no_submitters_and_are_listed(tmp_path):
    write_tree(tmp_path, scenarios=("Offline",))
    for name in ("assets/logo.png", ".github/workflows/ci.yml", "Closed/X/results/a/b/c/d"):
        (tmp_path / name).parent.mkdir(parents=True)
        (tmp_path / name).write_bytes(b"12345678")
    (tmp_path / ".git" / "objects").mkdir(parents=True)
    submission = discover(tmp_path, ROUND)
    assert [entry.name for entry in submission.submitters] == [SUBMITTER]
    found = {file.path: (file.kind, file.bytes) for file in submission.files}
    assert found["assets/logo.png"] == ("file", 8)
    assert found["assets"] == ("dir", 0)
    assert ".github/workflows/ci.yml" in found
    assert ".git" in found
    assert ".git/objects" not in found


@pytest.mark.parametrize(("division", "rules"), [("open", BENCHMARK), ("closed", None)])
def test_a_model_mapping_counts_in_the_open_division(tmp_path, division, rules):
    base = write_tree(tmp_path, division, scenarios=())
    write_result(base / "results" / SYSTEM / "my-llama" / "Offline", "Offline")
    (base / "model_mapping.json").write_text(json.dumps({"my-llama": BENCHMARK}))
    submission = discover(tmp_path, ROUND)
    (result,) = results_of(submission)
    assert (result.benchmark, result.rules_benchmark) == ("my-llama", rules)
    assert (submission.submitters[0].model_mapping is None) == (division == "closed")


def test_a_broken_model_mapping_is_unreadable(tmp_path):
    base = write_tree(tmp_path, "open", scenarios=())
    (base / "model_mapping.json").write_text("{")
    (entry,) = discover(tmp_path, ROUND).submitters
    assert entry.model_mapping is None
    assert list(reasons(entry.unreadable)) == [f"open/{SUBMITTER}/model_mapping.json", f"open/{SUBMITTER}/results"]


def test_each_name_and_alias_of_the_round_is_known(tmp_path):
    path = tmp_path / "model_mapping.json"
    path.write_text(json.dumps({"custom": BENCHMARK, "to-alias": "llama3_1-8b", "bad": "nothing", "odd": 1}))
    mapping = read_document(path)
    for name, rules in ROUND.benchmarks.items():
        assert official_name(ROUND, name, None) == name
        assert {official_name(ROUND, alias, None) for alias in rules.aliases} <= {name}
    assert official_name(ROUND, "custom", mapping) == BENCHMARK
    assert official_name(ROUND, "to-alias", mapping) == "llama3.1-8b"
    assert [official_name(ROUND, name, mapping) for name in ("bad", "odd", "none")] == [None, None, None]


def test_descriptions_and_results_that_miss_each_other(tmp_path):
    base = write_tree(tmp_path, scenarios=("Offline",))
    (base / "systems" / f"{SYSTEM}.json").rename(base / "systems" / "other.json")
    (base / "systems" / "notes.txt").write_text("x")
    (entry,) = discover(tmp_path, ROUND).submitters
    assert entry.orphan_descriptions == (f"closed/{SUBMITTER}/systems/other.json",)
    (system,) = entry.systems
    assert system.description is None
    assert "missing" in reasons(system.unreadable)[f"closed/{SUBMITTER}/systems/{SYSTEM}.json"]


def test_a_submitter_without_results_is_said(tmp_path):
    (tmp_path / "closed" / "Empty").mkdir(parents=True)
    (entry,) = discover(tmp_path, ROUND).submitters
    assert entry.systems == ()
    assert (entry.source_dir, entry.calibration) == (None, None)
    assert "missing" in reasons(entry.unreadable)["closed/Empty/results"]


@pytest.mark.parametrize(("wanted", "found"), [(None, ["Other", SUBMITTER]), (SUBMITTER, [SUBMITTER]), ("acmeai", [])])
def test_one_submitter_only(tmp_path, wanted, found):
    write_tree(tmp_path, scenarios=("Offline",))
    (tmp_path / "closed" / "Other").mkdir()
    (tmp_path / "README.md").write_text("x")
    submission = discover(tmp_path, ROUND, wanted)
    assert sorted(entry.name for entry in submission.submitters) == sorted(found)
    paths = {file.path for file in submission.files}
    assert ("closed/Other" in paths) == ("Other" in found)
    assert (f"closed/{SUBMITTER}/src" in paths) == (SUBMITTER in found)
    assert {"README.md", "closed"} <= paths


def test_links_out_of_the_tree_are_not_followed(tmp_path):
    outside = tmp_path / "outside"
    write_tree(outside, scenarios=("Offline",))
    root = tmp_path / "tree"
    write_tree(root, scenarios=("Offline",))
    folder = root / RESULTS / "Offline"
    (folder / "measurements.json").unlink()
    (folder / "measurements.json").symlink_to(outside / RESULTS / "Offline" / "measurements.json")
    (folder / "README.md").unlink()
    (folder / "README.md").symlink_to(outside / "none")
    (root / RESULTS / "Server").symlink_to(outside / RESULTS / "Offline")
    submission = discover(root, ROUND)
    (result,) = results_of(submission)
    assert result.measurements is None
    assert "out of the tree" in reasons(result.unreadable)[f"{RESULTS}/Offline/measurements.json"]
    kinds = {file.path: file.kind for file in submission.files}
    assert kinds[f"{RESULTS}/Server"] == "link"
    assert kinds[f"{RESULTS}/Offline/README.md"] == "broken_link"


def test_links_inside_the_tree_are_followed_and_loops_end(tmp_path):
    write_tree(tmp_path, scenarios=("Offline",))
    (tmp_path / RESULTS / "Server").symlink_to("Offline")
    (tmp_path / "closed" / "loop").symlink_to(".")
    (tmp_path / "closed" / "self").symlink_to("self")
    submission = discover(tmp_path, ROUND, SUBMITTER)
    assert [result.scenario_dir for result in results_of(submission)] == ["Offline", "Server"]
    assert results_of(submission)[1].measurements is not None


def test_names_that_are_not_utf_8_are_said(tmp_path):
    write_tree(tmp_path, scenarios=("Offline",))
    os.mkdir(os.fsencode(tmp_path / "closed") + b"/caf\xe9")  # noqa: PTH102 - bytes are no Path
    submission = discover(tmp_path, ROUND)
    assert [entry.name for entry in submission.submitters] == [SUBMITTER]
    assert reasons(submission.unreadable) == {"closed/caf\\xe9": "the name is not UTF-8"}
    json.dumps([file.path for file in submission.files]).encode()


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read any folder")
def test_a_folder_without_permission_is_unreadable(tmp_path):
    base = write_tree(tmp_path, scenarios=("Offline",))
    (base / "src").chmod(0)
    try:
        submission = discover(tmp_path, ROUND)
    finally:
        (base / "src").chmod(0o755)
    assert "permissions" in reasons(submission.unreadable)[f"closed/{SUBMITTER}/src"]


def test_a_folder_that_vanishes_from_under_the_walk(tmp_path):
    tree = Tree.at(tmp_path)
    assert tree.dirs("none") == tree.files("none") == ()
    assert tree.size("none") is None
    assert tree.kind("x\x00y") is None


def test_no_folder_is_an_error_with_the_next_step(tmp_path):
    with pytest.raises(UnreadableFile, match="closed/ or open/"):
        discover(tmp_path / "none", ROUND)


def test_an_empty_tree_has_no_submitters(tmp_path):
    submission = discover(tmp_path, ROUND)
    assert (submission.submitters, submission.files) == ((), ())


def test_a_layout_may_put_measurements_beside_the_results(tmp_path):
    """As rounds up to v5.1 do: the first JSON file that begins with the system's name."""
    old = dataclasses.replace(
        ROUND.layout, measurements="{division}/{submitter}/measurements/{system}/{benchmark}/{scenario}/{file}"
    )
    base = write_tree(tmp_path, scenarios=("Offline",))
    folder = base / "measurements" / SYSTEM / BENCHMARK / "Offline"
    (result,) = results_of(discover(tmp_path, dataclasses.replace(ROUND, layout=old)))
    assert f"{folder.relative_to(tmp_path)}/{SYSTEM}.json" in reasons(result.unreadable)
    folder.mkdir(parents=True)
    for name in ("z.json", f"{SYSTEM}_x.txt", f"{SYSTEM}_int8_Offline.json"):
        (folder / name).write_text('{"retraining": "No"}')
    (result,) = results_of(discover(tmp_path, dataclasses.replace(ROUND, layout=old)))
    assert Path(result.measurements.path).name == f"{SYSTEM}_int8_Offline.json"
