import os

import pytest

from compliance.errors import RenderError, TargetError
from compliance.submission import write_draft
from compliance.submission.draft import Draft, DraftFile, TreePlan, read_draft
from compliance.submission.manifest import differences
from compliance.submission.write_draft import NewTree, take_names, write_tree
from tests.support.snapshots import snapshot


@pytest.fixture
def tree(tmp_path):
    root = tmp_path / "tree"
    (root / "a/empty").mkdir(parents=True)
    (root / "a/run.sh").write_bytes(b"\x00\r\n")
    (root / "a/run.sh").chmod(0o755)
    (root / "b").write_bytes(b"")
    (root / "b").chmod(0o400)
    return root


def test_a_tree_as_it_is(tree, tmp_path):
    manifest = write_tree(TreePlan(read_draft(tree)), NewTree(tmp_path / "new", "v6.1"))
    assert snapshot(tmp_path / "new") == snapshot(tree)
    assert os.access(tmp_path / "new/a/run.sh", os.X_OK)
    assert differences(tmp_path / "new") == ()
    assert manifest.round_name == "v6.1"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["new", "new.manifest.json", "tree"]


def test_what_is_given_up_is_kept_with_its_hash(tree, tmp_path):
    plan = TreePlan(Draft({}, frozenset({"left"})), removed={"a/run.sh": tree / "a/run.sh"})
    target = NewTree(tmp_path / "new", "v6.1", {tmp_path / "record": "x"})
    write_tree(plan, target)
    assert snapshot(tmp_path / "new") == {"left": None}
    assert set(snapshot(target.originals)) == {"a/run.sh", "SHA256SUMS"}
    assert (tmp_path / "record").read_text() == "x"


@pytest.mark.parametrize("name", ["new", "new.originals", "new.manifest.json"])
def test_a_place_that_is_taken(tree, tmp_path, name):
    (tmp_path / name).mkdir()
    (tmp_path / name / "mine").write_text("x")
    before = snapshot(tmp_path)
    with pytest.raises(TargetError, match="exists already"):
        write_tree(TreePlan(read_draft(tree)), NewTree(tmp_path / "new", "v6.1"))
    assert snapshot(tmp_path) == before


@pytest.mark.parametrize(
    ("name", "words"), [("tree/new", "only read"), ("no/new", "no such folder"), ("..", "name the")]
)
def test_no_place_for_a_tree(tree, tmp_path, name, words):
    with pytest.raises(TargetError, match=words):
        write_tree(TreePlan(read_draft(tree)), NewTree(tmp_path / name, "v6.1"))


def test_a_link_in_the_trees_place(tree, tmp_path):
    (tmp_path / "new").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(TargetError, match="exists already"):
        write_tree(TreePlan(read_draft(tree)), NewTree(tmp_path / "new", "v6.1"))


@pytest.mark.parametrize("path", ["../x", "/x", "a/../../x", "x\0", ""])
@pytest.mark.parametrize("what", ["files", "folders", "removed"])
def test_nothing_is_written_outside_the_tree(tree, tmp_path, path, what):
    file = DraftFile(tree / "b")
    plan = TreePlan(
        Draft({path: file} if what == "files" else {}, frozenset({path} if what == "folders" else ())),
        removed={path: tree / "b"} if what == "removed" else {},
    )
    with pytest.raises(RenderError, match="outside the tree"):
        write_tree(plan, NewTree(tmp_path / "new", "v6.1"))
    assert [entry.name for entry in tmp_path.iterdir()] == ["tree"]


def test_a_file_and_a_folder_of_one_name(tree, tmp_path):
    file = DraftFile(tree / "b")
    with pytest.raises(RenderError, match="x: a file in one tree and a folder"):
        write_tree(TreePlan(Draft({"x": file, "x/y": file})), NewTree(tmp_path / "new", "v6.1"))


def gone(path):
    return DraftFile(path.with_name("gone"))


def changed(path):
    path.write_bytes(b"[" + b" " * 20_000)
    return DraftFile(path, cut=True, original_sha256="0" * 64)


@pytest.mark.parametrize(("make", "words"), [(gone, "gone"), (changed, "changed while it was read")])
def test_a_failure_on_the_way_leaves_nothing(tree, tmp_path, make, words):
    plan = TreePlan(Draft({"a": DraftFile(tree / "a/run.sh"), "b": make(tree / "c")}))
    before = snapshot(tmp_path)
    with pytest.raises(RenderError, match=words):
        write_tree(plan, NewTree(tmp_path / "new", "v6.1"))
    assert snapshot(tmp_path) == before


def test_names_are_given_up_again_when_one_cannot_be_taken(tmp_path):
    (tmp_path / "a").write_text("a")
    with pytest.raises(OSError, match="missing"):
        take_names([(tmp_path / "a", tmp_path / "b"), (tmp_path / "missing", tmp_path / "c")])
    assert [path.name for path in tmp_path.iterdir()] == ["a"]


def test_a_full_disk_is_said(tree, tmp_path, monkeypatch):
    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(write_draft, "sync_file", full)
    with pytest.raises(RenderError, match="the disk is full; nothing was written"):
        write_tree(TreePlan(read_draft(tree)), NewTree(tmp_path / "new", "v6.1"))
    assert [entry.name for entry in tmp_path.iterdir()] == ["tree"]
