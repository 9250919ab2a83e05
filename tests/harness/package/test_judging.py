"""The round a tree is judged by, and the one hint where it is not the tree's: every layout under every other round."""

import itertools

import pytest

from compliance.report.grouping import grouped, last_line
from compliance.report.json_ import render_json
from compliance.report.text import render_text
from compliance.rulebook.rounds import round_marks, round_names
from compliance.vocabulary import Profile, Severity
from harness.package.judging import choose_round, judge_tree, with_choice
from harness.package.layouts import layout_rounds
from tests.support.trees import clean_tree

ROUNDS = ("v5.0", "v5.1", "v6.0", "v6.1")
LAYOUTS = {"v5.0": "old", "v5.1": "old", "v6.0": "new", "v6.1": "new"}
BENCHMARK = "llama2-70b-99.9"


def judged_by(tree, named):
    choice = choose_round(tree, named)
    return with_choice(judge_tree(tree, choice.name, Profile.STRICT, jobs=1), choice)


@pytest.mark.parametrize(("own", "named"), list(itertools.permutations(ROUNDS, 2)))
def test_a_tree_under_another_round_gets_one_hint_and_no_list_of_files(own, named, tmp_path):
    report = judged_by(clean_tree(BENCHMARK, round_name=own).write(tmp_path / "tree"), named)
    what = "seeds are" if LAYOUTS[own] == LAYOUTS[named] else "seeds and this layout are"
    assert report.round_hint == f"these {what} {own}'s, not {named}'s: check with --round {own}"
    assert not [group for group in grouped(report, every=False) if group.severity is Severity.ERROR]
    assert (report.exit_code, last_line(report)) == (1, "FAIL: 2 of 2 results invalid, 1 kind of error (strict)")
    lines = render_text(report).splitlines()
    assert lines[3].startswith("ROUND   these seeds ")
    assert len(lines) < 20
    assert '"id": "PERF-002"' in render_json(report)


@pytest.mark.parametrize("own", ROUNDS)
def test_a_tree_under_its_own_round_gets_none(own, tmp_path):
    tree = clean_tree(BENCHMARK, round_name=own).write(tmp_path / "tree")
    assert judged_by(tree, own).round_hint == judged_by(tree, None).round_hint == ""


@pytest.mark.parametrize("named", [None, "v6.1"])
def test_the_right_round_in_the_wrong_layout_is_told_how_to_get_there(named, tmp_path):
    tree = clean_tree(BENCHMARK, round_name="v6.1")
    for scenario in tree.scenarios:
        for name in ("measurements.json", "user.conf", "README.md"):
            holder = tree.documents if name in tree.documents or name.endswith(".json") else tree.texts
            old = tree.path(scenario, name)
            holder[old.replace("/results/", "/measurements/").replace(name, _old_name(name))] = holder.pop(old)
    report = judged_by(tree.write(tmp_path / "tree"), named)
    assert report.round_hint.startswith("this layout is v5.1's, not v6.1's: bring it there with `weighbridge package")
    assert not [group.first.id for group in grouped(report, every=False)]


def _old_name(name):
    return "node8_x.json" if name.endswith(".json") else name


def test_the_layout_of_most_results_counts_and_only_where_they_are_measured(tmp_path):
    marks = tuple(round_marks(name) for name in round_names())
    tree = clean_tree(BENCHMARK, ("Offline", "Server"), round_name="v5.1").write(tmp_path / "tree")
    assert layout_rounds(tree, marks) == ("v5.0", "v5.1")
    assert layout_rounds(tree, marks, "Nobody") == ()
    new = clean_tree(BENCHMARK, ("Offline", "Server"), round_name="v6.1").write(tmp_path / "new")
    assert layout_rounds(new, marks) == ("v6.0", "v6.1", "demo")
