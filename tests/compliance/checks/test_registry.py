"""Checks as the registry has them: each can be explained, cited and mended."""

import re

import pytest

from compliance.checks.facts import NEEDS
from compliance.checks.model import Scope
from compliance.checks.registry import all_checks, check


@pytest.mark.parametrize("entry", all_checks(), ids=lambda entry: entry.id)
def test_a_check_says_what_it_asks_where_that_stands_and_what_to_do(entry):
    assert re.fullmatch(r"(STR|SCN|LOG|PERF|LAT|ACC|SYS|MEAS|AUD|PWR)-\d{3}", entry.id)
    assert entry.title
    assert entry.source
    assert entry.fix
    assert entry.function.__doc__
    assert set(entry.needs) <= set(NEEDS)


def test_ids_count_without_a_gap():
    """Per prefix from 001, and from 101 those of endpoints runs."""
    by_block = {}
    for entry in all_checks():
        prefix, number = entry.id.split("-")
        by_block.setdefault((prefix, int(number) // 100), []).append(int(number) % 100)
    for block, numbers in by_block.items():
        assert sorted(numbers) == list(range(1, len(numbers) + 1)), block


def test_an_id_is_given_once():
    with pytest.raises(ValueError, match="PERF-001 is taken"):
        check("PERF-001", "again", "nowhere", Scope.RESULT, fix="none")(lambda _: iter(()))
