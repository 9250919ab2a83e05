"""Power submissions: good ones pass in every round, limits hold to the last unit, the metric is the official one."""

from datetime import timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from compliance.checks.model import State
from compliance.discovery.submission import discover
from compliance.judge import judge
from compliance.metrics.power import design_power_watts, power_metric
from tests.support import power_faults as faults
from tests.support.broken_power import GOOD
from tests.support.power_trees import (
    NAMEPLATE_W,
    RANGING_BEGIN,
    TESTING_BEGIN,
    TESTING_S,
    power_tree,
    sample,
    spl,
    stamp,
)


def judged(tree, root):
    return judge(discover(tree.write(root), tree.round), tree.round)


def errors(tree, root, check_id):
    """(official, strict): whether a check has an error in a measured result."""
    outcomes = [one for result in judged(tree, root).results if result.result.power for one in result.verdicts.outcomes]
    (outcome,) = [one for one in outcomes if one.check.id == check_id]
    assert outcome.state is not State.SKIP, outcome.reason
    profiles = {
        one.value for finding in outcome.findings if finding.severity.value == "error" for one in finding.profiles
    }
    return "official" in profiles, "strict" in profiles


@pytest.mark.parametrize("name", GOOD)
def test_a_clean_power_submission_passes_every_check(name, tmp_path):
    judgement = judged(GOOD[name](), tmp_path)
    outcomes = (*judgement.above, *(one for result in judgement.results for one in result.verdicts.outcomes))
    assert {outcome.check.id for outcome in outcomes if outcome.state is State.FAIL} == set()
    assert {(one.verdicts.official, one.verdicts.strict) for one in judgement.results} == {("valid", "valid")}


def test_nothing_is_asked_where_no_power_was_measured(tmp_path):
    judgement = judged(power_tree(), tmp_path)
    (offline,) = [one for one in judgement.results if one.result.scenario_dir == "Offline"]
    asked = [one for one in offline.verdicts.outcomes if one.check.id.startswith("PWR")]
    assert {one.state for one in asked} == {State.SKIP}
    assert {one.reason for one in asked} == {"no power was measured (no performance/power)"}


@pytest.mark.parametrize(
    ("check_id", "good", "bad"),
    [
        ("PWR-016", faults.phases(lambda one: one["testing"][1].__setitem__(0, one["testing"][1][0] + 0.54), "server"),
         faults.phases(lambda one: one["testing"][1].__setitem__(0, one["testing"][1][0] + 0.56), "server")),
        ("PWR-018", faults.watts(500.0, 475.03), faults.watts(500.0, 475.02)),
        ("PWR-017", faults.phases(lambda one: one["testing"][1].__setitem__(0, TESTING_BEGIN.timestamp() - 0.001)),
         faults.phases(lambda one: one["testing"][1].__setitem__(0, TESTING_BEGIN.timestamp()))),
        ("PWR-027", faults.said((RANGING_BEGIN, -14.999, "ERROR: Out of paper")),
         faults.said((RANGING_BEGIN, -15, "ERROR: Out of paper"))),
        ("PWR-028", faults.said((TESTING_BEGIN, 800, faults.UNSURE)), faults.said((TESTING_BEGIN, 800.001, faults.UNSURE))),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)  # fmt: skip
def test_a_limit_of_the_measurement(check_id, good, bad, tmp_path):
    assert errors(good(), tmp_path / "good", check_id)[0] is False
    assert errors(bad(), tmp_path / "bad", check_id) == (True, True)


@pytest.mark.parametrize(("second", "strict"), [(0.8, False), (0.801, True), (TESTING_S - 0.8, False)])
def test_strict_takes_the_margin_of_the_load_in_milliseconds(second, strict, tmp_path):
    tree = faults.said((TESTING_BEGIN, second, faults.UNSURE))()
    assert errors(tree, tmp_path, "PWR-028") == (False, strict)


@pytest.mark.parametrize(("second", "counts"), [(0.0, False), (0.001, True), (TESTING_S, False)])
def test_only_samples_strictly_inside_the_window_count(second, counts, tmp_path):
    tree = faults.text("run_1/spl.txt", sample(TESTING_BEGIN + timedelta(seconds=second)))()
    assert errors(tree, tmp_path, "PWR-006") == (not counts, not counts)


FILES = (
    "power/client.json",
    "power/server.json",
    "power/client.log",
    "power/server.log",
    "power/ptd_logs.txt",
    "ranging/mlperf_log_detail.txt",
    "ranging/spl.txt",
    "run_1/spl.txt",
)
DAMAGE = {
    "empty": lambda path: path.write_bytes(b""),
    "cut": lambda path: path.write_bytes(path.read_bytes()[: path.stat().st_size // 2]),
    "zeros": lambda path: path.write_bytes(b"\0" * 5000),
    "latin-1": lambda path: path.write_bytes(path.read_bytes() + b"\xe9\n"),
    "long-line": lambda path: path.write_bytes(path.read_bytes() + b"Time," * 20_000),
    "folder": lambda path: (path.unlink(), path.mkdir()),
    "gone": lambda path: path.unlink(),
    "dangling": lambda path: (path.unlink(), path.symlink_to("nowhere")),
    "outside": lambda path: (path.unlink(), path.symlink_to("/dev/zero")),
}


@pytest.mark.parametrize("damage", DAMAGE)
@pytest.mark.parametrize("rest", FILES)
def test_a_damaged_file_turns_the_result_down_and_no_check_breaks(rest, damage, tmp_path):
    tree = faults.written(rest, DAMAGE[damage])()
    judgement = judged(tree, tmp_path)
    by_scenario = {one.result.scenario_dir: one.verdicts for one in judgement.results}
    assert "INT-001" not in {outcome.check.id for one in by_scenario.values() for outcome in one.outcomes}
    assert (by_scenario["Server"].official, by_scenario["Offline"].official) == ("invalid", "valid")
    assert by_scenario["Server"].strict == "invalid"


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)
MEMBERS = ("sources", "messages", "uuid", "session_name", "results", "phases", "ptd_messages", "ptd_config", "timezone")


@settings(max_examples=40)
@given(st.sampled_from(["client", "server"]), st.sampled_from(MEMBERS), JSON)
def test_no_member_of_a_session_breaks_a_check(tmp_path_factory, end, name, value):
    root = tmp_path_factory.mktemp("tree")
    tree = faults.member(end, **{name: value})()
    tree.afterwards.clear()
    assert "INT-001" not in {one.check.id for result in judged(tree, root).results for one in result.verdicts.outcomes}


def measured(tree, root):
    (judgement,) = [judged(tree, root)]
    (result,) = [one.result for one in judgement.results if one.result.power]
    return result, judgement


def test_mean_power_in_watts(tmp_path):
    tree = power_tree("Offline")
    half = spl(TESTING_BEGIN, TESTING_S, 300.0) + spl(TESTING_BEGIN, TESTING_S, 700.0)
    tree.texts[faults.performance("run_1/spl.txt", tree, "Offline")] = half
    result, judgement = measured(tree, tmp_path)
    found = power_metric(result, None)
    assert (found.value, found.unit, found.inferred) == (500.0, "Watts", False)
    (system,) = judgement.submission.submitters[0].systems
    assert design_power_watts(result, system, tree.round) == NAMEPLATE_W


def test_energy_per_query_in_millijoules(tmp_path):
    result, _ = measured(faults.queries(250)(), tmp_path)
    found = power_metric(result, None)
    assert (found.value, found.unit) == (500.0 * TESTING_S * 1000 / 250, "millijoules")


def test_multi_stream_inferred_from_single_stream_counts_eight_samples(tmp_path):
    tree = power_tree(
        "MultiStream", benchmark="resnet", scenarios=("Offline", "SingleStream", "MultiStream"), system_type="edge"
    ).performance("MultiStream", effective_scenario="SingleStream", result_query_count=1000)
    result, _ = measured(tree, tmp_path)
    found = power_metric(result, None)
    assert (found.value, found.unit, found.inferred) == (500.0 * TESTING_S * 1000 * 8 / 1000, "millijoules", True)


def test_repeated_marks_the_metric_takes_the_first_and_the_power_checker_the_last(tmp_path):
    tree = power_tree()
    records = tree.logs[faults.performance(f"run_1/{faults.DETAIL}", tree)]
    (begin,) = [record for record in records if record.key == "power_begin"]
    later = type(begin)("power_begin", stamp(TESTING_BEGIN + timedelta(seconds=1000)))
    records.insert(records.index(begin) + 1, later)
    run = tree.texts[faults.performance("run_1/spl.txt", tree)].splitlines(keepends=True)
    tree.texts[faults.performance("run_1/spl.txt", tree)] = "".join(
        line.replace("500.000000", "600.000000") if number < 103 else line for number, line in enumerate(run)
    )
    result, _ = measured(tree, tmp_path)
    assert result.power.testing.samples.mean_watts == 500.0
    assert 549 < power_metric(result, None).value < 551


def test_a_metric_that_cannot_be_told_is_none(tmp_path):
    result, _ = measured(faults.watts(500.0, 0.0)(), tmp_path / "a")
    assert power_metric(result, None).value is None
    result, _ = measured(faults.queries(0)(), tmp_path / "b")
    assert power_metric(result, None).value is None
