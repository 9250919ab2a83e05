"""A clean tree of every benchmark in every round and suite passes every check in both profiles."""

import pytest

from compliance.checks.model import State
from compliance.discovery.submission import discover
from compliance.judge import judge
from compliance.rulebook.rounds import load_round, round_names
from tests.support.trees import clean_tree

OFFICIAL = [name for name in round_names() if load_round(name).official]
TREES = [
    (name, rules.name, suite.value)
    for name in OFFICIAL
    for rules in load_round(name).benchmarks.values()
    for suite in rules.suites
]
# The official checker looks for a row in OFFLINE_MIN_SPQ_SINCE_V4, finds none for these and turns the result down.
OFFICIALLY_LOST = {("v5.0", "gptj-99", "Offline"), ("v5.0", "gptj-99.9", "Offline")}


def scenarios_of(suite):
    return [scenario.value for scenario in (*suite.required, *(group[0] for group in suite.one_of))]


@pytest.mark.parametrize(("round_name", "benchmark", "suite"), TREES)
def test_a_clean_tree_is_valid(round_name, benchmark, suite, tmp_path):
    rules = load_round(round_name).benchmarks[benchmark]
    scenarios = scenarios_of(rules.suites[suite])
    tree = clean_tree(benchmark, scenarios, round_name=round_name, system_type=suite)
    judgement = judge(discover(tree.write(tmp_path), tree.round), tree.round)
    found = {
        one.result.scenario_dir: (
            one.verdicts.official,
            one.verdicts.strict,
            sorted(outcome.check.id for outcome in one.verdicts.outcomes if outcome.state is State.FAIL),
        )
        for one in judgement.results
    }
    lost = {name for name in scenarios if (round_name, benchmark, name) in OFFICIALLY_LOST}
    wanted = {
        name: ("invalid" if name in lost else "valid", "valid", ["PERF-006"] if name in lost else [])
        for name in scenarios
    }
    assert found == wanted
