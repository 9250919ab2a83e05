"""Limits to the last unit: on the right side a check passes, one unit further it fails."""

import pytest

from compliance.checks.model import State
from compliance.discovery.submission import discover
from compliance.judge import judge
from tests.support import faults
from tests.support.faults import interactive, padded_log, scored
from tests.support.trees import clean_tree

TTFT = "result_first_token_99.00_percentile_latency_ns"
TPOT = "result_time_per_output_token_99.00_percentile_ns"


def fails(tree, root, check_id, scenario="Server"):
    """(official, strict): whether the check has an error in the result of that scenario."""
    judgement = judge(discover(tree.write(root), tree.round), tree.round)
    (judged,) = [one for one in judgement.results if one.result.scenario_dir == scenario]
    (outcome,) = [one for one in judged.verdicts.outcomes if one.check.id == check_id]
    assert outcome.state is not State.SKIP, outcome.reason
    profiles = {profile.value for finding in outcome.findings for profile in finding.profiles}
    return "official" in profiles, "strict" in profiles


@pytest.mark.parametrize(
    ("check_id", "scenario", "key", "good", "bad"),
    [
        ("PERF-001", "Server", "effective_performance_sample_count", 13368, 13367),
        ("PERF-005", "Offline", "effective_min_query_count", 1, 0),
        ("PERF-006", "Offline", "effective_samples_per_query", 13368, 13367),
        ("PERF-007", "Server", "effective_min_duration_ms", 600_000, 599_999),
        ("LAT-002", "Server", "effective_target_latency_ns", 20_000_000_000, 20_000_000_001),
        ("LAT-005", "Server", TTFT, 1_999_999_999, 2_000_000_000),
        ("LAT-006", "Server", TPOT, 99_999_999, 100_000_000),
    ],
)
def test_a_limit_of_the_performance_run(check_id, scenario, key, good, bad, tmp_path):
    inside = clean_tree().performance(scenario, **{key: good})
    assert fails(inside, tmp_path / "good", check_id, scenario) == (False, False)
    outside = clean_tree().performance(scenario, **{key: bad})
    assert fails(outside, tmp_path / "bad", check_id, scenario) == (True, True)


@pytest.mark.parametrize(
    ("check_id", "key", "value", "failing"),
    [
        ("LAT-005", TTFT, 499_999_999, (False, False)),
        ("LAT-005", TTFT, 500_000_000, (False, True)),
        ("LAT-005", TTFT, 1_999_999_999, (False, True)),
        ("LAT-005", TTFT, 2_000_000_000, (True, True)),
        ("LAT-006", TPOT, 29_999_999, (False, False)),
        ("LAT-006", TPOT, 30_000_000, (False, True)),
        ("LAT-006", TPOT, 100_000_000, (True, True)),
    ],
)
def test_interactive_has_servers_limits_officially_and_its_own_in_strict(check_id, key, value, failing, tmp_path):
    tree = interactive().performance("Interactive", **{key: value})
    assert fails(tree, tmp_path, check_id, "Interactive") == failing


@pytest.mark.parametrize(
    ("value", "failing"), [(13368, False), (13367, True), (13369, True)], ids=["equal", "fewer", "more"]
)
def test_the_accuracy_run_covers_the_data_set_exactly(value, failing, tmp_path):
    tree = clean_tree().accuracy("Server", effective_accuracy_sample_count=value)
    assert fails(tree, tmp_path, "ACC-008") == (failing, failing)


def test_coverage_falls_back_to_the_qsls_count(tmp_path):
    tree = clean_tree().accuracy("Server", effective_accuracy_sample_count=None)
    assert fails(tree, tmp_path / "a", "ACC-008") == (False, False)
    tree = tree.accuracy("Server", qsl_reported_total_count=13367)
    assert fails(tree, tmp_path / "b", "ACC-008") == (True, True)


@pytest.mark.parametrize(("size", "failing"), [(10240, False), (10241, True)])
def test_an_accuracy_log_may_be_10240_bytes(size, failing, tmp_path):
    assert fails(padded_log(size)(), tmp_path, "ACC-007") == (failing, failing)


@pytest.mark.parametrize(
    ("check_id", "scores", "failing"),
    [
        ("ACC-002", {"ROUGE1": 38.391409}, False),
        ("ACC-002", {"ROUGE1": 38.391407}, True),
        ("ACC-002", {"GEN_LEN": 7350880}, False),
        ("ACC-002", {"GEN_LEN": 7350879}, True),
        ("ACC-003", {"GEN_LEN": 8984408}, False),
        ("ACC-003", {"GEN_LEN": 8984409}, True),
    ],
)
def test_a_score_at_its_bound(check_id, scores, failing, tmp_path):
    assert fails(scored(**scores)(), tmp_path, check_id) == (failing, failing)


def test_a_score_once_below_stays_below_whatever_follows(tmp_path):
    tree = clean_tree()
    path = tree.path("Server", "accuracy/accuracy.txt")
    tree.texts[path] = "{'rouge1': 12.5}\n" + tree.texts[path]
    assert fails(tree, tmp_path, "ACC-002") == (True, True)


def test_a_large_file_may_be_50_mib(tmp_path):
    tree = clean_tree()
    tree.write(tmp_path)
    for size, count in ((50 * 1024 * 1024, 0), (50 * 1024 * 1024 + 1, 1)):
        with (tmp_path / tree.submitter / "src/weights.bin").open("wb") as file:
            file.truncate(size)
        judgement = judge(discover(tmp_path, tree.round), tree.round)
        (outcome,) = [one for one in judgement.above if one.check.id == "STR-004"]
        assert len(outcome.findings) == count


@pytest.mark.parametrize(
    ("scenario", "benchmark", "changes", "failing"),
    [
        ("Server", "llama3.1-8b", {"result_query_count": 459}, False),
        ("Server", "llama3.1-8b", {"result_query_count": 458}, True),
        ("Server", "resnet", {"result_query_count": 662, "result_overlatency_query_count": 1}, False),
        ("Server", "resnet", {"result_query_count": 661, "result_overlatency_query_count": 1}, True),
        ("Server", "resnet", {"result_query_count": 28376, "result_overlatency_query_count": 245}, False),
        ("Server", "resnet", {"result_query_count": 28375, "result_overlatency_query_count": 245}, True),
        ("SingleStream", "resnet", {"result_query_count": 64}, False),
        ("SingleStream", "resnet", {"result_query_count": 63}, True),
        ("MultiStream", "resnet", {"result_query_count": 662}, False),
        ("MultiStream", "resnet", {"result_query_count": 661}, True),
    ],
)
def test_queries_that_early_stopping_needs(scenario, benchmark, changes, failing, tmp_path):
    tree = clean_tree(benchmark, (scenario,)).performance(scenario, **changes)
    assert fails(tree, tmp_path, "LAT-010", scenario) == (False, failing)


@pytest.mark.parametrize(("tokens", "failing"), [(129, False), (130, True)])
def test_an_answer_may_be_as_long_as_the_rules_let_it_and_end(tokens, failing, tmp_path):
    tree = faults.test06_log([(3, [5] * tokens)])()
    assert fails(tree, tmp_path, "ACC-012") == (False, failing)


@pytest.mark.parametrize(("samples_per_s", "failing"), [(400.0, False), (405.2, True)])
def test_a_run_lasts_its_minimum_by_count_and_rate(samples_per_s, failing, tmp_path):
    """13368 x 18 samples: 601.6 s at 400 per second, 593.8 s at 405.2; 594 is the least with what LoadGen rounds."""
    changes = {"generated_query_count": 13368 * 18, "result_completed_samples_per_sec": samples_per_s}
    tree = clean_tree().performance("Server", **changes, result_completed_tokens_per_second=100 * samples_per_s)
    assert fails(tree, tmp_path, "PERF-016") == (False, failing)
