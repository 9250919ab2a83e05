"""The score of a run from its detail log, and the run that a printed reference score belongs to."""

import pytest

from compliance.audits.scores import RunScore, compared, read_score
from compliance.logs.detail import read_detail
from compliance.logs.verdicts import read_verify
from compliance.vocabulary import Scenario
from tests.support.log_lines import mllog


def log(tmp_path, **values):
    path = tmp_path / "mlperf_log_detail.txt"
    path.write_text("".join(mllog(key, value) + "\n" for key, value in values.items()))
    return read_detail(path)


@pytest.mark.parametrize(
    ("scenario", "key"),
    [
        ("Offline", "result_samples_per_second"),
        ("Server", "result_completed_samples_per_sec"),
        ("SingleStream", "early_stopping_latency_ss"),
        ("MultiStream", "early_stopping_latency_ms"),
    ],
)
def test_each_scenario_has_its_score(scenario, key, tmp_path):
    values = {"effective_scenario": scenario, key: 500, "result_validity": "VALID", "effective_target_latency_ns": 7}
    found = read_score(log(tmp_path, **values))
    assert found == RunScore(Scenario(scenario), key, 500, True, 7)
    assert found.rate_per_s == (2_000_000.0 if found.is_latency else 500)


@pytest.mark.parametrize(
    "values",
    [
        {"effective_scenario": "Offline"},
        {"effective_scenario": "Nonsense", "result_samples_per_second": 5},
        {"result_samples_per_second": 5},
        {"effective_scenario": "Offline", "result_samples_per_second": 0},
        {"effective_scenario": "Offline", "result_samples_per_second": "many"},
        {"effective_scenario": "SingleStream", "early_stopping_latency_ss": -1},
    ],
)
def test_a_log_without_a_score(values, tmp_path):
    assert read_score(log(tmp_path, **values)) is None


@pytest.mark.parametrize(
    ("printed", "scenario", "value", "other"),
    [
        ("Reference score = 18.1007", Scenario.OFFLINE, 18.1007, None),
        ("reference score = 18.11", Scenario.OFFLINE, 18.1007, None),
        ("Reference score = 25200.5", Scenario.OFFLINE, 2.18794, 25200.5),
        ("reference score = 1000", Scenario.SINGLE_STREAM, 1_000_000, None),
        ("Reference score = 1000000", Scenario.SINGLE_STREAM, 1_000_000, None),
        ("TEST PASS", Scenario.OFFLINE, 5.0, None),
    ],
)
def test_the_run_a_verdict_is_about(printed, scenario, value, other, tmp_path):
    path = tmp_path / "verify_performance.txt"
    path.write_text(f"{printed}\n")
    assert compared(read_verify(path), RunScore(scenario, "key", value, True, None)) == other
