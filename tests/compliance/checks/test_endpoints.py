"""Endpoints runs: good trees pass every check, a broken one fails the check it is for."""

import pytest

from compliance.judge import can_be_judged
from tests.compliance.checks.test_broken_trees import failed, judged, speaks
from tests.support.broken_endpoints import ENDPOINTS_CASES
from tests.support.endpoint_trees import endpoints_tree, online

GOOD = [
    {},
    {"scenarios": ("Offline", "Server", "Interactive")},
    {"division": "open"},
    {"benchmark": "gpt-oss-120b", "scenarios": ("Offline", "Server", "Interactive")},
    {"benchmark": "deepseek-r1"},
    {"benchmark": "qwen3-vl-235b-a22b", "scenarios": ("Offline", "Server", "Interactive")},
    {"benchmark": "wan-2.2-t2v-a14b", "scenarios": ("Offline", "SingleStream")},
    {"benchmark": "qwen3.6-27b", "scenarios": ("SingleStream",), "system_type": "edge"},
    {"benchmark": "llama3.1-8b-edge", "scenarios": ("Offline", "SingleStream"), "system_type": "edge"},
]


def verdicts(judgement):
    return {(one.verdicts.official, one.verdicts.strict) for one in judgement.results}


@pytest.mark.parametrize("options", GOOD, ids=lambda options: "-".join(map(str, options.values())) or "closed")
def test_a_good_tree_passes_every_check(options, tmp_path):
    judgement = judged(endpoints_tree(**options), tmp_path)
    assert failed(judgement) == set()
    assert verdicts(judgement) == {("valid", "valid")}


@pytest.mark.parametrize("case", ENDPOINTS_CASES, ids=lambda case: case.id)
def test_one_fault_fails_one_check(case, tmp_path):
    judgement = judged(case.make(), tmp_path)
    assert failed(judgement) == {case.check, *case.also}
    found = [one.verdicts for one in judgement.results if one.result.scenario_dir == case.at]
    assert [(one.official, one.strict) for one in found] == [case.verdicts]
    speaks(judgement, tmp_path)
