from pathlib import Path

import pytest

from compliance.errors import UnreadableFile
from compliance.rulebook.rounds import load_round
from compliance.submission.draft import TreePlan, read_draft
from compliance.submission.merge import same_bytes
from compliance.submission.migrate import (
    Side,
    migrate,
    migration_path,
    migration_text,
    read_migration,
    side_of,
)
from compliance.submission.write_draft import NewTree, write_tree
from tests.support.snapshots import snapshot
from tests.support.trees import clean_tree

CORPUS = Path(__file__).parents[4] / "shared" / "corpus"
CASES = sorted(path for path in CORPUS.glob("*/submission") if not path.parent.name.startswith(("mut-", "syn-")))


def side(name):
    return Side(name, load_round(name).layout)


ROUNDS = tuple(side(name) for name in ("v5.0", "v5.1", "v6.0", "v6.1"))


def carried(tree, out, source, target, back=None):
    plan, record = migrate(read_draft(tree), side(source), side(target), same_bytes, back)
    write_tree(plan, NewTree(out, target, {migration_path(out): migration_text(record)}))
    return plan


def there_and_back(tree, tmp_path, source, target):
    carried(tree, tmp_path / "there", source, target)
    carried(tmp_path / "there", tmp_path / "back", target, source, read_migration(tmp_path / "there"))
    return snapshot(tmp_path / "there"), snapshot(tmp_path / "back")


@pytest.mark.parametrize(("source", "target"), [("v5.1", "v6.1"), ("v5.0", "v6.0"), ("v6.1", "v5.1"), ("v6.0", "v5.0")])
def test_there_and_back_is_the_same_tree(tmp_path, source, target):
    tree = clean_tree("llama2-70b-99.9", round_name=source).write(tmp_path / "tree")
    (tree / "closed/Acme/results/node8/privateid.json").write_text("{}")
    (tree / "closed/Acme/empty").mkdir()
    before = snapshot(tree)
    there, back = there_and_back(tree, tmp_path, source, target)
    assert back == before
    assert sorted(map(str, there.values())) == sorted(map(str, before.values()))
    assert there.keys() != before.keys()
    assert snapshot(tree) == before


def test_the_migrated_tree_is_the_clean_tree_of_its_layout(tmp_path):
    old = clean_tree("llama2-70b-99", round_name="v5.1").write(tmp_path / "old")
    carried(old, tmp_path / "new", "v5.1", "v6.0")
    names = snapshot(tmp_path / "new").keys()
    assert "closed/Acme/results/node8/llama2-70b-99/Server/measurements.json" in names
    assert "closed/Acme/results/node8/llama2-70b-99/Server/TEST06/verify_accuracy.txt" in names
    assert "closed/Acme/src/README.md" in names
    assert not any("/measurements/" in name or "/compliance/" in name or "/code/" in name for name in names)


def extras(tree):
    """Files as submitters have them: a second JSON file, notes, a scenario without results, folders that are empty."""
    measured = tree / "closed/Acme/measurements/node8/llama2-70b-99"
    (measured / "Offline/node8_Offline_more.json").write_text("{}")
    (measured / "Offline/pip.txt").write_text("x")
    (measured / "Interactive").mkdir()
    (measured / "Interactive/node8.json").write_text("{}")
    (measured / "notes.txt").write_text("x")
    (tree / "closed/Acme/results/node8/llama2-70b-99/Offline/accuracy/more").mkdir()
    return tree


def test_what_the_layout_does_not_know_is_carried_and_listed(tmp_path):
    tree = extras(clean_tree("llama2-70b-99", round_name="v5.1").write(tmp_path / "tree"))
    before = snapshot(tree)
    plan = carried(tree, tmp_path / "there", "v5.1", "v6.1")
    listed = {
        step.path.removeprefix("closed/Acme/measurements/node8/llama2-70b-99/")
        for step in plan.steps
        if step.verb == "carry"
    }
    assert listed == {"Offline/node8_Offline_more.json", "Offline/pip.txt", "Interactive/node8.json", "notes.txt"}
    names = snapshot(tmp_path / "there").keys()
    assert "closed/Acme/results/node8/llama2-70b-99/Offline/node8_Offline_more.json" in names
    assert "closed/Acme/measurements/node8/llama2-70b-99/Interactive/node8.json" in names
    assert "closed/Acme/results/node8/llama2-70b-99/Offline/accuracy/more" in names
    carried(tmp_path / "there", tmp_path / "back", "v6.1", "v5.1", read_migration(tmp_path / "there"))
    assert snapshot(tmp_path / "back") == before


def test_without_a_record_the_way_back_takes_the_usual_names(tmp_path):
    tree = clean_tree("llama2-70b-99", round_name="v6.0").write(tmp_path / "tree")
    carried(tree, tmp_path / "old", "v6.0", "v5.1")
    names = snapshot(tmp_path / "old").keys()
    assert "closed/Acme/measurements/node8/llama2-70b-99/Offline/node8_Offline.json" in names


def test_two_files_for_one_place(tmp_path):
    tree = clean_tree("llama2-70b-99", round_name="v5.1").write(tmp_path / "tree")
    result = tree / "closed/Acme/results/node8/llama2-70b-99/Offline"
    (result / "README.md").write_bytes(
        (tree / "closed/Acme/measurements/node8/llama2-70b-99/Offline/README.md").read_bytes()
    )
    before = snapshot(tree)
    assert there_and_back(tree, tmp_path, "v5.1", "v6.1")[1] == before
    (result / "README.md").write_text("other")
    plan, _ = migrate(read_draft(tree), side("v5.1"), side("v6.1"), same_bytes)
    assert len(plan.problems) == 1
    assert "closed/Acme/measurements" in plan.problems[0]
    assert "closed/Acme/results" in plan.problems[0]


@pytest.mark.parametrize(("name", "found"), [("v5.0", "v5.1"), ("v5.1", "v5.1"), ("v6.0", "v6.1"), ("v6.1", "v6.1")])
def test_the_layout_of_a_tree(tmp_path, name, found):
    tree = clean_tree("llama2-70b-99.9", round_name=name).write(tmp_path)
    assert side_of(read_draft(tree).files, ROUNDS).round_name == found


@pytest.mark.parametrize("text", ["{", "[]", '{"moves": [1]}'])
def test_a_damaged_record(tmp_path, text):
    migration_path(tmp_path / "tree").write_text(text)
    with pytest.raises(UnreadableFile, match="no migration record"):
        read_migration(tmp_path / "tree")
    assert read_migration(tmp_path / "other") is None


@pytest.mark.skipif(not CASES, reason="the shared corpus is not there")
@pytest.mark.parametrize("case", CASES, ids=lambda path: path.parent.name)
def test_published_trees_there_and_back(tmp_path, case):
    source = side_of(read_draft(case).files, ROUNDS).round_name
    target = "v6.1" if source < "v6" else "v5.1"
    assert there_and_back(case, tmp_path, source, target)[1] == snapshot(case)


def test_a_plan_after_another(tmp_path):
    first = TreePlan(read_draft(tmp_path), removed={"a": tmp_path}, notes=("n",), problems=("p",))
    both = first.then(TreePlan(read_draft(tmp_path), removed={"b": tmp_path}))
    assert set(both.removed) == {"a", "b"}
    assert (both.notes, both.problems) == (("n",), ("p",))
