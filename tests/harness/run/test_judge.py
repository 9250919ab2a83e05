"""What a detail log says of a run, line by line."""

import json

import pytest

from harness.core.outcome import config_outcome
from harness.core.spec import LedgerTotals, RunOutcome
from harness.run.judge import judge_logs
from tests.support.core_runs import settings

OK = RunOutcome("r", "ok", "", LedgerTotals(1, 1, 1, 0, 0, 0, 0, 0, 2), (), 1.0, 0.0, 0.0, "6.0.17")
BASE = {
    "effective_target_qps": 1.23457,
    "effective_min_duration_ms": 600000,
    "effective_qsl_rng_seed": 2**64 - 1,
    "effective_sample_concatenate_permutation": True,
    "effective_scenario": "Server",
    "result_validity": "VALID",
    "result_tokens_per_second": 51000.2,
    "early_stopping_met": True,
    "num_errors": 0,
}


def line(key, value, *, error=False):
    metadata = {"is_error": error, "is_warning": False, "file": "x.cc", "line_no": 1, "pid": 1, "tid": 1}
    record = {"key": key, "value": value, "time_ms": 1.0, "namespace": "mlperf::logging"}
    return ":::MLLOG " + json.dumps({**record, "event_type": "POINT_IN_TIME", "metadata": metadata}) + "\n"


def judged(tmp_path, expected=None, extra="", **values):
    text = "".join(line(key, value) for key, value in {**BASE, **values}.items())
    (tmp_path / "mlperf_log_detail.txt").write_text(text + extra)
    return judge_logs(tmp_path, settings("Server", expected_effective=expected or {}), OK)


@pytest.mark.parametrize(
    ("key", "expected", "agrees"),
    [
        ("effective_target_qps", 1.2345678, True),
        ("effective_target_qps", 1.2347, False),
        ("effective_min_duration_ms", 600_000, True),
        ("effective_min_duration_ms", 600_001, False),
        ("effective_min_duration_ms", 600_000.0, True),
        ("effective_qsl_rng_seed", 2**64 - 1, True),
        ("effective_qsl_rng_seed", 2**64 - 2, False),
        ("effective_sample_concatenate_permutation", True, True),
        ("effective_sample_concatenate_permutation", 1, True),
        ("effective_sample_concatenate_permutation", False, False),
        ("effective_sample_concatenate_permutation", 0, False),
        ("effective_scenario", "Server", True),
        ("effective_scenario", "Offline", False),
        ("effective_absent", 1, False),
    ],
)
def test_each_setting_is_compared_by_its_kind(tmp_path, key, expected, agrees):
    found = judged(tmp_path, {key: expected})
    assert (found.mismatches == ()) is agrees
    assert (found.cause == "") is agrees


def test_metrics_are_numbers_and_effective_settings_are_text(tmp_path):
    found = judged(tmp_path)
    assert found.metrics == {"result_tokens_per_second": 51000.2}
    assert found.effective["effective_sample_concatenate_permutation"] == "True"
    assert (found.validity, found.invalid_reason) == ("VALID", "")


def test_an_invalid_run_is_recorded_with_its_reason_and_is_no_failure(tmp_path):
    found = judged(tmp_path, result_validity="INVALID", result_invalid_reason="Min queries")
    assert (found.cause, found.validity, found.invalid_reason) == ("", "INVALID", "Min queries")


def test_errors_are_shown(tmp_path):
    extra = line("error_runtime", "Multiple samples completed", error=True)
    assert "1 error(s): Multiple samples completed" in judged(tmp_path, extra=extra).cause
    assert "logged 3 error(s)" in judged(tmp_path, num_errors=3).cause


def test_a_log_that_is_missing_matters_only_for_a_run_that_went_well(tmp_path):
    asked = settings("Server")
    assert "mlperf_log_detail.txt" in judge_logs(tmp_path, asked, OK).cause
    assert judge_logs(tmp_path, asked, config_outcome("r", "bad")).cause == ""
