import json

import pytest

from compliance.rulebook.rounds import load_round
from compliance.submission.copies import OpenMove, copy_low_targets, copy_result, remove, suite_in, to_open
from compliance.submission.draft import read_draft
from compliance.submission.layout_paths import ResultKey
from compliance.submission.write_draft import NewTree, write_tree
from compliance.vocabulary import Suite
from tests.support.snapshots import snapshot
from tests.support.trees import clean_tree

KEY = ResultKey("closed", "Acme", "node8", "llama2-70b-99.9")


def written(tmp_path, **about):
    tree = clean_tree("llama2-70b-99.9", **about).write(tmp_path / "tree")
    return tree, load_round(about.get("round_name", "v6.1")).layout


def yes(key):
    return True


@pytest.mark.parametrize("round_name", ["v5.1", "v6.0"])
def test_high_targets_are_copied_to_low_ones(tmp_path, round_name):
    tree, layout = written(tmp_path, round_name=round_name)
    code = tree / ("closed/Acme/code" if round_name == "v5.1" else "closed/Acme/src")
    (code / "llama2-70b-99.9").mkdir()
    (code / "llama2-70b-99.9/run.sh").write_text("x")
    plan = copy_low_targets(read_draft(tree), layout, yes)
    write_tree(plan, NewTree(tmp_path / "new", round_name))
    new = snapshot(tmp_path / "new")
    high = {name: data for name, data in new.items() if "llama2-70b-99.9" in name}
    assert {name.replace("-99.9/", "-99/"): data for name, data in high.items()}.items() <= new.items()
    assert snapshot(tree).items() <= new.items()
    assert copy_low_targets(read_draft(tmp_path / "new"), layout, yes).steps == ()


@pytest.mark.parametrize("admits", [lambda key: False, lambda key: key.benchmark != "llama2-70b-99"])
def test_no_low_target_that_the_round_does_not_have(tmp_path, admits):
    tree, layout = written(tmp_path)
    assert copy_low_targets(read_draft(tree), layout, admits).steps == ()


def test_a_benchmark_without_a_source_folder_of_its_own(tmp_path):
    tree, layout = written(tmp_path)
    assert len(copy_low_targets(read_draft(tree), layout, yes).steps) == 1


@pytest.mark.parametrize("round_name", ["v5.1", "v6.1"])
def test_results_move_to_open_whole(tmp_path, round_name):
    tree, layout = written(tmp_path, round_name=round_name)
    before = snapshot(tree)
    plan = to_open(read_draft(tree), layout, OpenMove(KEY, "asked for"))
    write_tree(plan, NewTree(tmp_path / "new", round_name))
    new = snapshot(tmp_path / "new")
    moved = {name for name in before if "/llama2-70b-99.9/" in name}
    assert {name.replace("closed/", "open/", 1) for name in moved} <= new.keys()
    assert not moved & new.keys()
    assert "closed/Acme/systems/node8.json" not in new
    old = json.loads(before["closed/Acme/systems/node8.json"])
    assert json.loads(new["open/Acme/systems/node8.json"]) == {**old, "division": "open"}
    assert any(name.startswith("open/Acme/") and name.endswith(("src/README.md", "code/README.md")) for name in new)
    assert (
        snapshot(tmp_path / "new.originals")["closed/Acme/systems/node8.json"]
        == before["closed/Acme/systems/node8.json"]
    )


def test_the_description_stays_while_other_results_are_there_and_others_code_does_too(tmp_path):
    tree, layout = written(tmp_path)
    clean_tree("llama3.1-8b").write(tree)
    for name in ("llama3.1-8b", "llama2-70b-99.9", "shared"):
        (tree / "closed/Acme/src" / name).mkdir()
        (tree / "closed/Acme/src" / name / "x").write_text("x")
    files = to_open(read_draft(tree), layout, OpenMove(KEY, "")).draft.files
    assert {"closed/Acme/systems/node8.json", "open/Acme/systems/node8.json"} <= files.keys()
    assert {"open/Acme/src/llama2-70b-99.9/x", "open/Acme/src/shared/x", "open/Acme/src/README.md"} <= files.keys()
    assert "open/Acme/src/llama3.1-8b/x" not in files


def test_what_open_holds_already(tmp_path):
    tree, layout = written(tmp_path)
    other = tree / "open/Acme/results/node8/llama2-70b-99.9/Offline/README.md"
    other.parent.mkdir(parents=True)
    other.write_text("another")
    refused = to_open(read_draft(tree), layout, OpenMove(KEY, ""))
    assert len(refused.problems) == 1
    assert "open/Acme/results/node8/llama2-70b-99.9/Offline/README.md" in refused.problems[0]
    plan = to_open(read_draft(tree), layout, OpenMove(KEY, ""), yielding=True)
    assert plan.problems == ()
    assert plan.draft.files["open/Acme/results/node8/llama2-70b-99.9/Offline/README.md"].source == other
    assert "closed/Acme/results/node8/llama2-70b-99.9/Offline/README.md" in plan.removed


@pytest.mark.parametrize("content", [None, b"{", b"[]", b"\xff\xfe"])
def test_a_description_that_cannot_be_rewritten(tmp_path, content):
    tree, layout = written(tmp_path)
    path = tree / "closed/Acme/systems/node8.json"
    path.unlink() if content is None else path.write_bytes(content)
    assert "systems/node8.json" in to_open(read_draft(tree), layout, OpenMove(KEY, "")).problems[0]
    assert suite_in(read_draft(tree), layout, KEY) is None


@pytest.mark.parametrize(
    ("named", "suite"),
    [("edge", Suite.EDGE), ("edge,datacenter", Suite.BOTH), ("datacenter,edge", Suite.BOTH), ("x", None), (1, None)],
)
def test_the_suite_of_a_system(tmp_path, named, suite):
    tree, layout = written(tmp_path)
    (tree / "closed/Acme/systems/node8.json").write_text("\ufeff" + json.dumps({"system_type": named}))
    assert suite_in(read_draft(tree), layout, KEY) is suite


def test_one_scenario_as_another_and_without_it(tmp_path):
    tree, layout = written(tmp_path, round_name="v5.1")
    draft = read_draft(tree)
    names = [ResultKey(*list(KEY.names.values()), scenario) for scenario in ("Server", "Interactive")]
    copied = copy_result(draft, layout, *names, "why").draft
    assert len(copied.files) == len(draft.files) + sum("/Server/" in path for path in draft.files)
    gone = remove(copied, ["closed/Acme/results/node8/llama2-70b-99.9/Interactive"], "why")
    assert all(path.startswith("closed/Acme/results/node8/llama2-70b-99.9/Interactive/") for path in gone.removed)
    assert [step.verb for step in gone.steps] == ["remove"]
