"""Every error of the harness is one kind of HarnessError, and collected ones show all their problems."""

import pytest

from harness import errors

KINDS = [kind for kind in vars(errors).values() if isinstance(kind, type) and issubclass(kind, errors.HarnessError)]


@pytest.mark.parametrize("kind", [errors.CampaignError, errors.PreflightError, errors.PackageError])
def test_collected_errors_show_one_problem_per_line(kind):
    error = kind(("first; do a", "second; do b"))
    assert error.problems == ("first; do a", "second; do b")
    assert str(error) == "first; do a\nsecond; do b"


def test_an_aborted_run_carries_its_kind():
    error = errors.RunAborted("stalled", "nothing moved")
    assert (error.kind, str(error)) == ("stalled", "nothing moved")


def test_the_tree_is_documented():
    assert all(kind.__doc__ for kind in KINDS)
    assert all(kind.__name__ in errors.__doc__ for kind in KINDS if not kind.__name__.startswith("_"))
