"""A tree listed in parts holds what it holds listed at once: each entry once, in order of path."""

import pytest

from compliance.discovery.files import Tree
from compliance.discovery.submission import discover, outline, walk_system
from compliance.discovery.walk import walk
from tests.support.trees import Tree as MadeTree
from tests.support.trees import clean_tree

ODD = (
    "closed/{submitter}/.hidden",
    "closed/{submitter}/results/{system}/a name with spaces",
    "closed/{submitter}/results/{system}-twin/note.txt",
    "closed/{submitter}/systems/{system}-note.txt",
    "closed/{submitter}/src/{system}/readme.md",
    "{system}/outside.txt",
)


def grown(tmp_path) -> tuple[MadeTree, "Tree"]:
    """A clean tree with files and empty folders in every kind of place."""
    made = clean_tree()
    root = made.write(tmp_path)
    (system,) = {path.name for path in root.glob("closed/*/results/*")}
    (submitter,) = {path.name for path in root.glob("closed/*")}
    for template in ODD:
        path = root / template.format(submitter=submitter, system=system)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("x")
    (root / "closed" / submitter / "results" / system / "empty").mkdir()
    (root / "closed" / submitter / "empty").mkdir()
    (root / "closed" / submitter / "results" / system / "away").symlink_to("/")
    return made, Tree.at(root)


def test_the_parts_of_a_tree_are_the_tree(tmp_path):
    made, tree = grown(tmp_path)
    at_once = walk(tree)
    whole = discover(tree.root, made.round)
    assert [file.path for file in whole.files] == sorted(
        path.relative_to(tree.root).as_posix() for path in tree.root.rglob("*")
    )
    assert (whole.files, whole.empty_folders, whole.unreadable) == (at_once.files, at_once.empty, at_once.refused)


def test_an_outline_holds_no_file_of_a_system(tmp_path):
    made, tree = grown(tmp_path)
    outlined = outline(tree.root, made.round)
    for at, name in outlined.systems:
        own = walk_system(outlined.tree, made.round, outlined.submission.submitters[at], name)
        assert own.files
        assert not {file.path for file in own.files} & {file.path for file in outlined.submission.files}


def test_sizes_add_up_and_links_weigh_nothing(tmp_path):
    _, tree = grown(tmp_path)
    sizes = [path.stat().st_size for path in tree.root.rglob("*") if path.is_file() and not path.is_symlink()]
    assert walk(tree).bytes == sum(sizes)


def test_what_is_forgotten_is_looked_up_again(tmp_path):
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "one").write_text("x")
    tree = Tree.at(tmp_path)
    walked = walk(tree, ("a",))
    assert tree.files("a") == ("one",)
    (tmp_path / "a" / "two").write_text("x")
    assert tree.files("a") == ("one",)
    tree.forget(walked.folders)
    assert tree.files("a") == ("one", "two")


@pytest.mark.parametrize(("beyond", "left"), [((), ["a", "a/b", "a/b/c"]), (("a/b",), ["a"]), (("a",), [])])
def test_what_lies_beyond_is_left_out_with_all_it_holds(tmp_path, beyond, left):
    (tmp_path / "a" / "b" / "c").mkdir(parents=True)
    walked = walk(Tree.at(tmp_path), beyond=beyond)
    assert [file.path for file in walked.files] == left
    assert walked.empty == (("a/b/c",) if not beyond else ())


def test_a_folder_that_vanished_is_said(tmp_path):
    walked = walk(Tree.at(tmp_path), ("none",))
    assert [one.path for one in walked.refused] == ["none"]
    assert "permissions" in walked.refused[0].reason
