"""Checks as the registry has them: each can be explained, cited and mended."""

import re

import pytest

from compliance.checks.facts import NEEDS
from compliance.checks.model import Scope
from compliance.checks.registry import all_checks, check


@pytest.mark.parametrize("entry", all_checks(), ids=lambda entry: entry.id)
def test_a_check_says_what_it_asks_where_that_stands_and_what_to_do(entry):
    assert re.fullmatch(r"(STR|SCN|LOG|PERF|LAT|ACC|SYS|MEAS|AUD)-\d{3}", entry.id)
    assert entry.title
    assert entry.source
    assert entry.fix
    assert entry.function.__doc__
    assert set(entry.needs) <= set(NEEDS)


def test_ids_count_without_a_gap():
    by_prefix = {}
    for entry in all_checks():
        prefix, number = entry.id.split("-")
        by_prefix.setdefault(prefix, []).append(int(number))
    for prefix, numbers in by_prefix.items():
        assert sorted(numbers) == list(range(1, len(numbers) + 1)), prefix


def test_an_id_is_given_once():
    with pytest.raises(ValueError, match="PERF-001 is taken"):
        check("PERF-001", "again", "nowhere", Scope.RESULT, fix="none")(lambda _: iter(()))
