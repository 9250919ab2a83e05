"""A tree while it is being planned agrees with the plain mapping of its files, whatever is done to it."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compliance.rulebook.rounds import load_round
from compliance.submission.draft import Draft, DraftFile, settled
from compliance.submission.edit import Edit
from compliance.submission.layout_paths import ResultKey, results_in

LAYOUT = load_round("v6.1").layout
PARTS = st.sampled_from(["closed", "open", "Acme", "results", "a", "{system}", "b.json"])
PATHS = st.lists(PARTS, min_size=1, max_size=7).map("/".join)
FILE = DraftFile(Path("somewhere"))


def of(*paths, folders=()):
    return Draft({path: DraftFile(Path(path)) for path in sorted(paths)}, frozenset(folders), (Path("root"),))


@given(st.sets(PATHS, max_size=12), st.lists(st.tuples(st.booleans(), PATHS), max_size=8), PATHS)
def test_it_agrees_with_a_mapping(paths, changes, folder):
    edit, files = Edit(of(*paths)), dict(of(*paths).files)
    for wanted, path in changes:
        if wanted:
            edit.put(path, FILE)
            files[path] = FILE
        elif path in files:
            assert edit.take(path) == files.pop(path)
    expected = settled(files, (), (Path("root"),))
    assert edit.plan().draft == expected
    assert list(edit.plan().draft.files) == sorted(files)
    assert edit.under(folder) == tuple(sorted(path for path in files if path.startswith(f"{folder}/")))
    assert edit.holds(folder) == expected.holds(folder)
    assert [edit.get(path) for path in files] == list(files.values())
    assert tuple(edit.results(LAYOUT)) == results_in(files, LAYOUT)


def test_results_are_found_by_the_names_that_are_given():
    keys = [ResultKey("closed", "Acme", system, name, "Offline") for system in ("a", "b") for name in ("x", "y")]
    folders = [f"closed/Acme/results/{key.system}/{key.benchmark}/Offline" for key in keys]
    edit = Edit(of(*(f"{folder}/user.conf" for folder in folders), "other/Acme/results/a/x/Offline/user.conf"))
    assert list(edit.results(LAYOUT)) == keys
    assert list(edit.results(LAYOUT, {"system": "a", "benchmark": "y"})) == [keys[1]]
    assert list(edit.results(LAYOUT, keys[2].names)) == [keys[2]]
    assert list(edit.results(LAYOUT, {"system": "{benchmark}"})) == []


def test_a_file_given_up_is_written_down_and_takes_its_folders_along():
    edit = Edit(of("closed/Acme/src/x", "closed/Acme/y"))
    edit.give_up("closed/Acme/src/x")
    assert (edit.removed, edit.names("closed/Acme")) == ({"closed/Acme/src/x": Path("closed/Acme/src/x")}, ("y",))
    with pytest.raises(KeyError):
        edit.take("closed/Acme/src/x")


def test_a_folder_is_empty_until_something_lies_in_it():
    edit = Edit(of("a/x", folders=("b/c", "d")))
    edit.put("b/c/x", FILE)
    edit.take("b/c/x")
    assert edit.plan().draft.folders == {"d"}
    edit.drop_folders(["d"])
    assert edit.plan().draft.folders == frozenset()
