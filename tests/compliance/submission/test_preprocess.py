import json

import pytest

from compliance.discovery.submission import discover
from compliance.judge import VALID, judge
from compliance.rulebook.rounds import load_round
from compliance.submission.draft import read_draft
from compliance.submission.preprocess import Options, preprocess
from compliance.submission.standing import Part, standings
from compliance.submission.write_draft import NewTree, write_tree
from tests.support.snapshots import snapshot
from tests.support.trees import ACCURACY, clean_tree

NONE = Options(infer_low_targets=False, infer_scenarios=False, drop_empty_folders=False, move_failed_to_open=False)


def judged(root, round_name="v6.1"):
    round_ = load_round(round_name)
    return judge(discover(root, round_), round_)


def planned(root, round_name="v6.1", options=Options()):  # noqa: B008 - frozen
    return preprocess(read_draft(root), load_round(round_name), standings(judged(root, round_name)), options)


def results(plan):
    """division/benchmark/scenario of each result of a plan's tree."""
    found = {tuple(path.split("/")) for path in plan.draft.files if "/results/" in path}
    return {f"{parts[0]}/{parts[4]}/{parts[5]}" for parts in found if len(parts) > 6}


def broken(*, benchmark="llama3.1-8b", scenarios=("Offline", "Server"), accuracy=(), performance=(), audit=(), **about):
    tree = clean_tree(benchmark, scenarios, **about)
    for scenario in accuracy:
        tree.texts[tree.path(scenario, f"accuracy/{ACCURACY}")] = "[]" + " " * 20_000
    for scenario in performance:
        tree.performance(scenario, effective_min_duration_ms=1)
    for scenario in audit:
        path = next(path for path in tree.texts if f"/{scenario}/TEST" in path and "/verify_" in path)
        tree.texts[path] = "nothing passed\n"
    return tree


def test_a_clean_tree_stays_as_it_is(tmp_path):
    tree = clean_tree().write(tmp_path / "tree")
    plan = planned(tree)
    assert (plan.steps, plan.removed, plan.problems, plan.notes) == ((), {}, (), ())
    write_tree(plan, NewTree(tmp_path / "new", "v6.1"))
    assert snapshot(tmp_path / "new") == snapshot(tree)


@pytest.mark.parametrize(
    ("faults", "part"),
    [
        ({"accuracy": ["Server"]}, Part.ACCURACY),
        ({"performance": ["Server"]}, Part.PERFORMANCE),
        ({"audit": ["Server"]}, Part.COMPLIANCE),
    ],
)
def test_what_fails_is_told_apart(tmp_path, faults, part):
    found = {one.key.scenario: one for one in standings(judged(broken(**faults).write(tmp_path)))}
    assert set(found["Server"].failed) == {part}
    assert found["Server"].bad
    assert found["Server"].reasons().startswith(part.value)
    assert not found["Offline"].failed


@pytest.mark.parametrize(
    ("faults", "left"),
    [
        ({"accuracy": ["Server"]}, {"open/llama3.1-8b/Server", "open/llama3.1-8b/Offline"}),
        ({"audit": ["Offline"]}, {"open/llama3.1-8b/Server", "open/llama3.1-8b/Offline"}),
        ({"performance": ["Server"]}, {"open/llama3.1-8b/Offline"}),
        # A datacenter Offline cannot be inferred, so it takes Server with it as Server takes Offline.
        ({"performance": ["Offline"]}, {"open/llama3.1-8b/Server"}),
        ({"performance": ["Server", "Offline"]}, set()),
        ({"division": "open", "performance": ["Server"]}, {"open/llama3.1-8b/Offline"}),
        ({"division": "network", "accuracy": ["Server"]}, {"open/llama3.1-8b/Server", "open/llama3.1-8b/Offline"}),
    ],
)
def test_failed_results_go_to_open(tmp_path, faults, left):
    tree = broken(**faults).write(tmp_path / "tree")
    plan = planned(tree)
    assert results(plan) == left
    before = snapshot(tree)
    write_tree(plan, NewTree(tmp_path / "new", "v6.1"))
    assert snapshot(tree) == before
    assert not (tmp_path / "new/closed").exists()
    assert bool(left) != any("no results are left" in note for note in plan.notes)
    if left:
        description = json.loads((tmp_path / "new/open/Acme/systems/node8.json").read_text())
        assert description["division"] == "open"
    kept = snapshot(tmp_path / "new.originals")
    assert all(kept[path] == before[path] for path in plan.removed)
    gone = {path for path, data in before.items() if data not in snapshot(tmp_path / "new").values()}
    assert gone <= kept.keys()


def test_without_the_move_they_are_removed_with_their_system(tmp_path):
    plan = planned(broken(accuracy=["Server"]).write(tmp_path), options=NONE)
    assert results(plan) == set()
    assert "closed/Acme/systems/node8.json" in plan.removed
    assert "closed/Acme/systems/node8.json" not in plan.draft.files
    assert all(step.verb == "remove" and step.reason for step in plan.steps)


def test_open_keeps_its_own_results(tmp_path):
    tree = broken(accuracy=["Server"]).write(tmp_path)
    clean_tree(division="open", scenarios=["Server"]).write(tmp_path)
    plan = planned(tree)
    assert results(plan) == {"open/llama3.1-8b/Server", "open/llama3.1-8b/Offline"}
    mine = "open/Acme/results/node8/llama3.1-8b/Server/accuracy/mlperf_log_accuracy.json"
    assert plan.draft.files[mine].source == tree / mine
    assert mine.replace("open", "closed", 1) in plan.removed


def edge(*scenarios, **faults):
    """Retinanet is in v5.1's edge suite; from v6.0 on in that of both classes alone."""
    suite = "datacenter,edge" if faults.get("round_name") == "v6.0" else "edge"
    about = {"benchmark": "retinanet", "round_name": "v5.1", "system_type": suite}
    return broken(scenarios=scenarios, **{**about, **faults})


@pytest.mark.parametrize(
    ("scenarios", "sources"),
    [
        (["SingleStream"], {"Offline": "SingleStream", "MultiStream": "SingleStream"}),
        (["SingleStream", "Offline"], {"MultiStream": "SingleStream"}),
        (["SingleStream", "MultiStream"], {"Offline": "MultiStream"}),
        (["MultiStream"], {"Offline": "MultiStream"}),
        (["SingleStream", "MultiStream", "Offline"], {}),
    ],
)
@pytest.mark.parametrize("round_name", ["v5.1", "v6.0"])
def test_scenarios_are_inferred_on_edge(tmp_path, scenarios, sources, round_name):
    tree = edge(*scenarios, round_name=round_name).write(tmp_path)
    plan = planned(tree, round_name)
    names = {step.to.rpartition("/")[2]: step.path.rpartition("/")[2] for step in plan.steps if step.verb == "copy"}
    assert names == sources
    assert results(plan) == {f"closed/retinanet/{name}" for name in {*scenarios, *sources}}
    without = planned(tree, round_name, Options(infer_scenarios=False))
    assert not [step for step in without.steps if step.verb == "copy"]


def test_inferred_results_pass(tmp_path):
    write_tree(planned(edge("SingleStream").write(tmp_path / "tree"), "v5.1"), NewTree(tmp_path / "new", "v5.1"))
    verdicts = {one.result.scenario_dir: one.verdicts.official for one in judged(tmp_path / "new", "v5.1").results}
    assert verdicts == dict.fromkeys(("SingleStream", "MultiStream", "Offline"), VALID)


def test_a_folder_in_lower_case_is_a_scenario_that_is_there(tmp_path):
    tree = edge("SingleStream", "MultiStream", "Offline").write(tmp_path)
    folder = tree / "closed/Acme/results/node8/retinanet"
    (folder / "Offline").rename(folder / "offline")
    assert not [step for step in planned(tree, "v5.1").steps if step.verb == "copy"]


def test_a_failed_scenario_is_removed_where_it_is_inferred_again(tmp_path):
    tree = edge("SingleStream", "MultiStream", "Offline", performance=["Offline"]).write(tmp_path)
    plan = planned(tree, "v5.1")
    steps = dict.fromkeys((step.verb, step.path.rpartition("/")[2]) for step in plan.steps)
    assert list(steps) == [("remove", "Offline"), ("copy", "MultiStream")]
    assert results(plan) == {f"closed/retinanet/{name}" for name in ("SingleStream", "MultiStream", "Offline")}
    assert all(step.verb != "copy" for step in planned(tree, "v5.1", Options(infer_scenarios=False)).steps)


def test_nothing_is_inferred_for_datacenter_nor_for_no_suite(tmp_path):
    tree = clean_tree(scenarios=["Offline"], benchmark="llama3.1-8b", system_type="elsewhere").write(tmp_path)
    plan = planned(tree)
    assert plan.steps == ()
    assert any("names no suite" in note for note in plan.notes)


@pytest.mark.parametrize(("round_name", "copies"), [("v5.1", 3), ("v6.0", 1), ("v6.1", 0)])
def test_low_targets_where_the_round_has_them(tmp_path, round_name, copies):
    tree = clean_tree("llama2-70b-99.9", round_name=round_name).write(tmp_path / "tree")
    plan = planned(tree, round_name)
    assert len(plan.steps) == copies
    assert planned(tree, round_name, NONE).steps == ()
    write_tree(plan, NewTree(tmp_path / "new", round_name))
    assert {one.verdicts.official for one in judged(tmp_path / "new", round_name).results} == {VALID}


def test_a_benchmark_of_another_suite_is_removed(tmp_path):
    tree = clean_tree(system_type="edge").write(tmp_path)
    plan = planned(tree)
    assert results(plan) == set()
    assert "not in the edge suite" in plan.steps[0].reason


def test_an_unknown_benchmark_is_left_and_told(tmp_path):
    tree = clean_tree().write(tmp_path)
    folder = tree / "closed/Acme/results/node8"
    (folder / "llama3.1-8b").rename(folder / "gpt-9")
    plan = planned(tree)
    assert plan.steps == ()
    assert any("no rules for this benchmark" in note for note in plan.notes)


def test_what_cannot_be_corrected_is_told(tmp_path):
    tree = clean_tree()
    tree.remove(tree.path("Server", "README.md"))
    plan = planned(tree.write(tmp_path))
    assert plan.steps == ()
    assert any("closed/Acme/node8/llama3.1-8b/Server: MEAS-" in note for note in plan.notes)


def test_empty_folders_go_but_the_source_folder_stays(tmp_path):
    tree = clean_tree().write(tmp_path)
    (tree / "closed/Acme/src/README.md").unlink()
    (tree / "closed/Acme/a/b").mkdir(parents=True)
    plan = planned(tree)
    assert plan.draft.folders == {"closed/Acme/src"}
    assert [step.path for step in plan.steps] == ["closed/Acme/a/b/"]
    assert planned(tree, options=NONE).draft.folders == {"closed/Acme/src", "closed/Acme/a/b"}


def test_invalid_power_goes_alone(tmp_path):
    tree = clean_tree().write(tmp_path)
    run = tree / "closed/Acme/results/node8/llama3.1-8b/Server/performance"
    for name in ("power/client.json", "ranging/spl.txt", "run_1/spl.txt"):
        (run / name).parent.mkdir(exist_ok=True)
        (run / name).write_text("x")
    found = standings(judged(tree))
    for one in found:
        one.failed.clear()
        one.failed.update({Part.POWER: ("PWR-001",)} if one.key.scenario == "Server" else {})
    plan = preprocess(read_draft(tree), load_round("v6.1"), found)
    assert {path.partition("performance/")[2] for path in plan.removed} == {
        "power/client.json",
        "ranging/spl.txt",
        "run_1/spl.txt",
    }
    assert "power fails PWR-001" in plan.steps[0].line()
