"""A folder in the place of a tree's root: where the root is, and which submitters there are."""

import pytest

from harness.errors import UsageError
from harness.package.roots import refuse_inner, require_root, require_submitter, root_above, root_beneath


@pytest.fixture
def tree(tmp_path, monkeypatch):
    for folder in ("tree/closed/Acme/results", "tree/open/Beta", "empty"):
        (tmp_path / folder).mkdir(parents=True)
    monkeypatch.chdir(tmp_path)
    return tmp_path / "tree"


@pytest.mark.parametrize("spelling", ["relative", "absolute"])
@pytest.mark.parametrize("inner", ["closed", "closed/Acme", "open/Beta", "closed/Acme/results"])
def test_the_root_above_is_spelled_as_the_folder_is(tree, inner, spelling):
    root = tree.relative_to(tree.parent) if spelling == "relative" else tree
    assert root_above(root / inner) == root
    with pytest.raises(UsageError, match=f"lies in the tree {root}; give {root}$"):
        refuse_inner(root / inner)
    with pytest.raises(UsageError, match=f"give {root}, which does"):
        require_root(root / inner)


def test_from_within_the_tree_the_whole_path_is_given(tree, monkeypatch):
    monkeypatch.chdir(tree / "closed")
    here = type(tree)(".")
    assert root_above(here) == tree
    assert root_above(here / "Acme/..") == tree


def test_a_root_is_taken_as_it_is(tree):
    require_root(tree)
    refuse_inner(tree)
    assert (root_above(tree), root_beneath(tree)) == (None, None)


def test_the_root_beneath_where_there_is_one_alone(tree):
    assert root_beneath(tree.parent) == tree
    with pytest.raises(UsageError, match=f"give {tree}, which does"):
        require_root(tree.parent)
    (tree.parent / "other/network").mkdir(parents=True)
    assert root_beneath(tree.parent) is None
    with pytest.raises(UsageError, match="give the root of a tree"):
        require_root(tree.parent)
    assert root_beneath(tree.parent / "absent") is None


@pytest.mark.parametrize(
    ("name", "said"),
    [("acme", "did you mean 'Acme'[?] There are: Acme, Beta"), ("Zeta\x1b[31m", r"'Zeta\\x1b\[31m'; there are: Acme")],
)
def test_a_submitter_that_is_not_there_is_told_who_is(tree, name, said):
    with pytest.raises(UsageError, match=said):
        require_submitter(tree, name)


@pytest.mark.parametrize("name", [None, "Acme", "Beta"])
def test_a_submitter_that_is_there(tree, name):
    require_submitter(tree, name)


def test_a_tree_without_submitters_is_left_to_the_checks(tree):
    require_submitter(tree.parent / "empty", "Acme")
