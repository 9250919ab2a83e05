import shutil

import pytest

from compliance.submission.draft import DraftFile, read_draft
from compliance.submission.merge import merge, same_bytes
from compliance.submission.write_draft import NewTree, write_tree
from tests.support.snapshots import snapshot
from tests.support.trees import clean_tree


def trees(tmp_path):
    one = clean_tree("llama3.1-8b").write(tmp_path / "one")
    two = clean_tree("llama2-70b-99.9").write(tmp_path / "two")
    return one, two


def test_benchmarks_side_by_side(tmp_path):
    one, two = trees(tmp_path)
    write_tree(merge([read_draft(one), read_draft(two)]), NewTree(tmp_path / "both", "v6.1"))
    assert snapshot(tmp_path / "both") == {**snapshot(one), **snapshot(two)}


def test_systems_side_by_side_and_the_same_tree_twice(tmp_path):
    one, _ = trees(tmp_path)
    other = tmp_path / "other"
    shutil.copytree(one, other)
    (other / "closed/Acme/results/node8").rename(other / "closed/Acme/results/node4")
    (other / "closed/Acme/systems/node8.json").rename(other / "closed/Acme/systems/node4.json")
    (other / "closed/Acme/src/README.md").write_text("other")
    plan = merge([read_draft(one), read_draft(one), read_draft(other)])
    assert plan.problems == (
        f"closed/Acme/src/README.md: {one} and {other} hold different files; make them equal or leave one out",
    )
    (other / "closed/Acme/src/README.md").unlink()
    plan = merge([read_draft(one), read_draft(one), read_draft(other)])
    assert plan.problems == ()
    assert plan.draft.holds("closed/Acme/results/node4")
    assert [step.verb for step in plan.steps] == ["take"] * 3


def test_two_submitters_and_a_file_in_a_folders_place(tmp_path):
    one, two = trees(tmp_path)
    (two / "closed/Acme").rename(two / "closed/acme")
    (one / "x").mkdir()
    (one / "x/y").write_text("")
    (two / "x").write_text("")
    problems = merge([read_draft(one), read_draft(two)]).problems
    assert problems == (
        "x: a file in one tree and a folder in another; rename one",
        "the trees have 2 submitters (Acme, acme); a tree for upload has one",
    )


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [({}, {}, True), ({"text": b"a"}, {}, True), ({"text": b"b"}, {}, False), ({"cut": True}, {}, False)],
)
def test_bytes_are_compared_as_they_come_out(tmp_path, one, other, same):
    (tmp_path / "a").write_text("a")
    (tmp_path / "b").write_text("a")
    assert same_bytes(DraftFile(tmp_path / "a", **one), DraftFile(tmp_path / "b", **other)) is same
