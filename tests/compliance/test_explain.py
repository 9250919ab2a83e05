"""What `weighbridge explain` says of a check."""

import pytest

from compliance.checks.registry import all_checks
from compliance.errors import RuleError
from compliance.explain import explain


@pytest.mark.parametrize("check", all_checks(), ids=lambda check: check.id)
def test_every_check_is_explained_within_the_width(check):
    text = explain(check.id)
    assert text.startswith(f"{check.id}: {check.title}\n")
    assert check.source in " ".join(text.split())
    assert all(len(line) <= 80 for line in text.splitlines())


def test_an_id_may_be_in_lower_case():
    assert explain("perf-007").startswith("PERF-007")


def test_a_check_that_fails_the_tree_alone_says_so():
    assert "not single results" in explain("STR-001")


def test_the_internal_error_is_explained():
    assert "fault of weighbridge" in explain("INT-001")


def test_an_unknown_id_names_the_nearest():
    with pytest.raises(RuleError, match="did you mean PERF-007"):
        explain("PERF-07")
