import pytest

from compliance.rulebook.rounds import load_round
from compliance.submission.draft import read_draft
from compliance.submission.layout_paths import ResultKey
from compliance.submission.leftovers import without_leftovers
from tests.support.trees import clean_tree

LAYOUT = load_round("v6.1").layout
KEY = ResultKey("closed", "Acme", "node8", "llama3.1-8b")


def bare(root, *names):
    for name in names:
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(name)
    return read_draft(root)


def test_with_results_nothing_is_left_over(tmp_path):
    plan = without_leftovers(read_draft(clean_tree().write(tmp_path)), LAYOUT, KEY)
    assert (plan.steps, plan.removed) == ((), {})


@pytest.mark.parametrize("result", ["closed/Acme/results/other/llama3.1-8b/Offline/README.md"])
def test_another_systems_results_keep_the_submitter(tmp_path, result):
    draft = bare(tmp_path, "closed/Acme/systems/node8.json", "closed/Acme/src/x", result)
    assert set(without_leftovers(draft, LAYOUT, KEY).draft.files) == {"closed/Acme/src/x", result}


def test_without_results_anywhere_all_is_given_up(tmp_path):
    draft = bare(tmp_path, "closed/Acme/systems/node8.json", "closed/Acme/src/x", "closed/Other/src/x")
    plan = without_leftovers(draft, LAYOUT, KEY)
    assert set(plan.draft.files) == {"closed/Other/src/x"}
    assert set(plan.removed) == {"closed/Acme/systems/node8.json", "closed/Acme/src/x"}


def test_what_open_lacks_goes_there(tmp_path):
    result = "open/Acme/results/node8/llama3.1-8b/Offline/README.md"
    names = ("closed/Acme/systems/old.json", "closed/Acme/src/x", "closed/Acme/documentation/calibration.md")
    (tmp_path / "closed/Acme/empty").mkdir(parents=True)
    plan = without_leftovers(bare(tmp_path, *names, "open/Acme/src/x", result), LAYOUT, KEY)
    assert set(plan.draft.files) == {"open/Acme/src/x", "open/Acme/documentation/calibration.md", result}
    assert plan.draft.files["open/Acme/src/x"].source == tmp_path / "open/Acme/src/x"
    assert set(plan.removed) == {"closed/Acme/systems/old.json", "closed/Acme/src/x"}
    assert plan.draft.folders == frozenset()
