import json

import pytest

from compliance.errors import UnreadableFile
from harness.run.explain import explain_run, first_reason


def write_log(folder, *entries):
    lines = []
    for key, value in entries:
        record = {
            "key": key,
            "value": value,
            "time_ms": 1.0,
            "namespace": "mlperf::logging",
            "event_type": "POINT_IN_TIME",
            "metadata": {
                "is_error": key.startswith("error_"),
                "is_warning": False,
                "file": "x",
                "line_no": 1,
                "pid": 1,
                "tid": 1,
            },
        }
        lines.append(":::MLLOG " + json.dumps(record))
    (folder / "mlperf_log_detail.txt").write_text("\n".join(lines) + "\n")


OFFLINE = (("effective_scenario", "Offline"), ("result_validity", "INVALID"))
SERVER = (("effective_scenario", "Server"), ("result_validity", "INVALID"))


@pytest.mark.parametrize(
    ("entries", "words"),
    [
        ((("result_validity", "VALID"),), "LoadGen: VALID"),
        ((("effective_scenario", "Offline"),), "no verdict"),
        (OFFLINE, "no reason found"),
        (
            (
                *OFFLINE,
                ("result_min_duration_met", False),
                ("effective_min_duration_ms", 600000),
                ("effective_target_qps", 10),
                ("result_samples_per_second", 25.5),
            ),
            "set target_qps to 25.5 or more",
        ),
        ((*SERVER, ("result_min_duration_met", False), ("effective_min_duration_ms", 1000)), "less than 1 s"),
        (
            (*SERVER, ("result_min_queries_met", False), ("result_query_count", 7), ("effective_min_query_count", 9)),
            "7 of 9",
        ),
        ((*SERVER, ("early_stopping_met", False), ("result_query_count", 100)), "raise min_query_count to 459"),
        ((*SERVER, ("early_stopping_met", False), ("result_query_count", 459)), "over a latency limit"),
        (
            (
                *SERVER,
                ("early_stopping_met", False),
                ("effective_target_latency_percentile", 0.9),
                ("result_query_count", 43),
            ),
            "raise min_query_count to 44",
        ),
        (
            (
                *SERVER,
                ("requested_server_ttft_latency", 2_000_000_000),
                ("result_first_token_99.00_percentile_latency_ns", 2_500_000_000),
            ),
            "TTFT p99 is 2500 ms and the limit 2000 ms",
        ),
        (
            (
                *SERVER,
                ("requested_server_tpot_latency", 200_000_000),
                ("result_time_per_output_token_99.00_percentile_ns", 200_000_001),
            ),
            "TPOT p99 is 200 ms",
        ),
        ((*SERVER, *(("error_runtime", f"fault {n}") for n in range(7))), "and 2 more errors"),
        ((*SERVER, ("effective_accuracy_log_sampling_target", 100)), "INVALID is expected"),
        (
            (*SERVER, ("early_stopping_met", False), ("early_stopping_ttft_result", " * Run  unsuccessful.\n")),
            "* Run unsuccessful.",
        ),
    ],
)
def test_each_reason_is_told_with_what_to_change(tmp_path, entries, words):
    write_log(tmp_path, *entries)
    text = explain_run(tmp_path)
    assert words in " ".join(text.split())
    assert max(map(len, text.splitlines())) <= 80 or str(tmp_path) in text


def test_a_folder_without_a_log_is_said_to_be_one(tmp_path):
    with pytest.raises(UnreadableFile):
        explain_run(tmp_path)


def test_the_first_reason_in_one_line(tmp_path):
    assert first_reason(tmp_path) == ""
    write_log(tmp_path, *SERVER)
    assert first_reason(tmp_path) == ""
    write_log(tmp_path, *SERVER, ("early_stopping_met", False), ("result_query_count", 100))
    assert first_reason(tmp_path).startswith("early stopping: 100 queries are too few")
