"""The rules of power measurement printed: all of them, within the width, and as JSON that reads back."""

import dataclasses
import json

from compliance.rulebook.power import POWER_RULES_PATH, load_power_rules, power_sources
from compliance.rulebook.power_text import power_json, power_text


def test_every_rule_is_printed():
    rules = load_power_rules()
    text = " ".join(power_text(rules).split())
    lists = (rules.power_files, rules.run_files, rules.hashed_files, rules.system_fields, rules.ptd.meters)
    (release,) = rules.sources
    for value in (*(one for values in lists for one in values), *release, *release.values(), "800 ms", "5 %", "50 %"):
        assert value in text
    for answer in rules.ptd.replies.values():
        assert " ".join(answer.split()) in text


def test_no_line_is_too_wide():
    assert max(map(len, power_text(load_power_rules()).splitlines())) <= 80


def test_json_names_the_fields_and_reads_back():
    rules = load_power_rules()
    document = json.loads(json.dumps(power_json(rules)))
    assert set(document) == {field.name for field in dataclasses.fields(rules)} | {"rule_sources"}
    assert document["ptd"]["meters"]["YokogawaWT210"] == 8
    assert document["phase_tolerance_ms"] == 800


def test_each_block_names_where_it_stands():
    text = POWER_RULES_PATH.read_text("utf-8")
    assert len(power_sources()) == text.count("\nsource = ")
    assert all("b66003e1" in source for source in power_sources().values())
