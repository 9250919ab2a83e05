import json
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compliance.errors import UnreadableFile
from compliance.logs.detail import read_detail
from tests.support.loadgen_run import loadgen_logs
from tests.support.log_lines import mllog, raw

FIRST = mllog("loadgen_version", "6.0.17 @ 0123456789")


def read(tmp_path, *lines, end="\n", newline="\n"):
    path = tmp_path / "mlperf_log_detail.txt"
    path.write_bytes((newline.join(lines) + end).encode())
    return read_detail(path)


@pytest.mark.parametrize(
    ("scenario", "mode", "keys"),
    [
        ("Offline", "PerformanceOnly", {"result_tokens_per_second", "result_samples_per_second"}),
        ("Server", "PerformanceOnly", {"result_first_token_99.00_percentile_latency_ns", "early_stopping_met"}),
        ("Server", "AccuracyOnly", {"effective_accuracy_sample_count"}),
        ("SingleStream", "PerformanceOnly", {"early_stopping_latency_ss"}),
    ],
)
def test_a_real_log_is_read_without_a_problem(scenario, mode, keys):
    log = read_detail(loadgen_logs(scenario, mode) / "mlperf_log_detail.txt")
    assert log.problems == ()
    assert log.valid_first_line
    assert log.value("effective_test_mode") == mode
    assert log.value("effective_scenario") == scenario
    assert keys <= log.records.keys()
    assert log.lines == sum(log.repeated.values()) + len(log.records) - len(log.repeated)


def test_seeds_beyond_2_to_the_63_are_exact_integers():
    log = read_detail(loadgen_logs("Server", "PerformanceOnly") / "mlperf_log_detail.txt")
    assert log.value("effective_qsl_rng_seed") == 2**64 - 5
    assert isinstance(log.value("effective_sample_index_rng_seed"), int)
    assert log.value("effective_sample_index_rng_seed") == 2**63 + 1


def test_an_integer_beyond_64_bits_is_exact(tmp_path):
    assert read(tmp_path, mllog("a", 2**80 + 1)).value("a") == 2**80 + 1


def test_the_list_of_the_loaded_set_is_dropped():
    log = read_detail(loadgen_logs("Server", "AccuracyOnly") / "mlperf_log_detail.txt")
    assert log.value("loaded_qsl_set") is None
    assert log.records["loaded_qsl_set"].line > 1


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
@pytest.mark.parametrize("end", ["", "\n", "\r\n", "\n\n"])
def test_line_ends_do_not_matter(tmp_path, newline, end):
    log = read(tmp_path, FIRST, mllog("a", 1), mllog("b", "x"), newline=newline, end=end)
    assert [(r.key, r.line) for r in log.records.values()] == [("loadgen_version", 1), ("a", 2), ("b", 3)]
    assert log.problems == ()


def test_the_first_record_of_a_key_counts_and_the_repeats_are_counted(tmp_path):
    log = read(tmp_path, FIRST, mllog("a", 1), mllog("a", 2), mllog("a", 3))
    assert log.value("a") == 1
    assert log.repeated == {"a": 3}


def test_every_error_and_warning_is_kept_with_its_line(tmp_path):
    line = mllog("error_runtime", "late", error=True)
    log = read(tmp_path, FIRST, line, mllog("warning_generic_message", "hm", warning=True), line, line)
    assert [error.line for error in log.errors] == [2, 4, 5]
    assert [(w.line, w.value) for w in log.warnings] == [(3, "hm")]


# The value as LoadGen prints it, and what it means.
MALFORMED_VALUES = [
    (r'"can\'t open file D:\inference\loadgen\mlperf.conf"', r"can\'t open file D:\inference\loadgen\mlperf.conf"),
    (r'"C:\new\x"', r"C:\new\x"),
    ('"my "fast" SUT"', 'my "fast" SUT'),
    ('"ends in a backslash \\"', "ends in a backslash \\"),
    ('"a, "time_ms": 1, b"', 'a, "time_ms": 1, b'),
    ('"tab\there"', "tab\there"),
    ("inf", math.inf),
    ("-inf", -math.inf),
    ("nan", math.nan),
    ("-nan", math.nan),
    ("]", []),
]


@pytest.mark.parametrize(("printed", "meant"), MALFORMED_VALUES)
def test_a_value_that_is_no_json_is_read_over(tmp_path, printed, meant):
    log = read(tmp_path, FIRST, raw("k", printed, error="true"), mllog("z", 1))
    assert log.value("k") == (pytest.approx(meant, nan_ok=True) if isinstance(meant, float) else meant)
    assert log.records["k"].is_error
    assert [(p.line, p.recovered, p.official) for p in log.problems] == [(2, True, False)]
    assert "column" in log.problems[0].reason
    assert log.value("z") == 1


def test_the_column_of_the_fault_counts_from_the_start_of_the_line(tmp_path):
    line = raw("k", r'"D:\inference"')
    log = read(tmp_path, FIRST, line)
    assert f"column {line.index(chr(92)) + 1} " in log.problems[0].reason


def test_an_unescaped_path_that_is_json_by_chance_is_still_an_error_record(tmp_path):
    log = read(tmp_path, FIRST, raw("error_invalid_config", r'"D:\new"', error="true"))
    assert [error.key for error in log.errors] == ["error_invalid_config"]


def test_a_wrapped_around_time_is_read_and_not_meaningful(tmp_path):
    log = read(tmp_path, FIRST, raw("k", "1", time="18446744073708.008016"))
    assert log.problems == ()
    assert log.records["k"].time_ms == pytest.approx(18446744073708.008)
    assert not log.records["k"].time_is_meaningful
    assert log.records["loadgen_version"].time_is_meaningful


def test_a_time_that_is_no_number_is_read_over(tmp_path):
    log = read(tmp_path, FIRST, raw("k", "1", time="-nan"), raw("l", "2", time="soon"))
    assert log.value("k") == 1
    assert not log.records["k"].time_is_meaningful
    assert not log.records["l"].time_is_meaningful


def test_a_record_broken_over_lines_is_put_together(tmp_path):
    head, tail = raw("sut_name", '"first second"').split(" second")
    log = read(tmp_path, FIRST, head, "middle", "second" + tail, mllog("z", 1))
    assert log.value("sut_name") == "first\nmiddle\nsecond"
    assert log.records["sut_name"].line == 2
    assert [(p.line, p.recovered, p.official) for p in log.problems] == [(2, True, False)]
    assert "3 lines" in log.problems[0].reason
    assert log.records["z"].line == 5


def test_a_record_broken_over_lines_with_a_quote_in_it(tmp_path):
    head, tail = raw("sut_name", '"my "fast" sut"').split(" sut")
    log = read(tmp_path, FIRST, head, "sut" + tail)
    assert log.records["sut_name"].line == 2
    assert "fast" in str(log.value("sut_name"))


@pytest.mark.parametrize("kept", range(8, len(mllog("result_validity", "VALID")) - 1, 7))
def test_a_cut_last_line_is_a_problem_and_no_record(tmp_path, kept):
    log = read(tmp_path, FIRST, mllog("a", 1), mllog("result_validity", "VALID")[:kept], end="")
    assert log.record("result_validity") is None
    assert [(p.line, p.recovered) for p in log.problems] == [(3, False)]
    assert log.value("a") == 1


def test_a_broken_record_does_not_swallow_the_next(tmp_path):
    log = read(tmp_path, FIRST, ":::MLLOG {", *["noise"] * 40, mllog("a", 1), ":::MLLOG", mllog("b", 1))
    assert log.value("a") == 1
    assert log.value("b") == 1
    assert [p.line for p in log.problems if not p.recovered] == [2, 44]


def test_the_marker_of_the_first_line_is_the_marker_of_the_log(tmp_path):
    lines = (mllog("a", 1, marker=":::ENDPTS"), mllog("b", 2), mllog("c", 3, marker=":::ENDPTS"))
    log = read(tmp_path, *lines)
    assert list(log.records) == ["a", "c"]
    assert log.valid_first_line
    assert [(p.line, p.recovered, p.official) for p in log.problems] == [(2, True, True)]


def test_an_endpoints_record_with_two_members_of_metadata_is_whole(tmp_path):
    short = {"key": "a", "value": 1, "time_ms": 0.1, "namespace": "mlperf::logging", "event_type": "POINT_IN_TIME"}
    log = read(tmp_path, ":::ENDPTS " + json.dumps({**short, "metadata": {"is_error": False, "is_warning": False}}))
    assert log.problems == ()


@pytest.mark.parametrize(("before", "line"), [("hello", 2), ("", 2), ("\ufeff", 1)])
def test_a_first_line_of_another_form_is_said(tmp_path, before, line):
    text = before + FIRST if before == "\ufeff" else f"{before}\n{FIRST}"
    log = read(tmp_path, text)
    assert not log.valid_first_line
    assert log.records["loadgen_version"].line == line
    assert log.problems[0].line == 1
    assert not log.problems[0].official


@pytest.mark.parametrize(
    ("body", "official"),
    [
        ({"key": "k", "value": 7, "metadata": {"is_error": True}}, True),
        ({"key": "k", "value": 7, "metadata": {"is_error": True, "is_warning": False, "more": 1}, "more": 2}, True),
        ({"key": "k", "value": 7, "time_ms": 10**400, "metadata": {"is_error": True}}, True),
        ({"key": "k", "value": 7, "time_ms": True}, False),
    ],
)
def test_a_record_of_another_form_is_read_with_a_note(tmp_path, body, official):
    log = read(tmp_path, FIRST, ":::MLLOG " + json.dumps(body))
    assert log.value("k") == 7
    assert [(p.line, p.recovered, p.official) for p in log.problems] == [(2, True, official)]


@pytest.mark.parametrize(
    "body", ['["key"]', '{"value": 1}', '{"key": 3}', '{"key": "k", "value": [[1]]}', '{"key": "k", "value": {"a": 1}}']
)
def test_a_json_value_that_is_no_record_is_a_problem(tmp_path, body):
    log = read(tmp_path, FIRST, f":::MLLOG {body}")
    assert [(p.line, p.recovered, p.official) for p in log.problems] == [(2, False, False)]


def test_bytes_that_are_not_utf_8_are_read_as_latin_1(tmp_path):
    path = tmp_path / "log.txt"
    path.write_bytes(FIRST.encode() + b"\n" + raw("sut_name", '"caf@"').encode().replace(b"@", b"\xe9") + b"\n")
    log = read_detail(path)
    assert log.value("sut_name") == "café"
    assert "not UTF-8" in log.problems[-1].reason


def test_numbers_are_never_booleans(tmp_path):
    log = read(tmp_path, FIRST, mllog("met", value=True), mllog("qps", 1.5), mllog("text", "1"))
    assert log.number("met") is None
    assert log.number("qps") == 1.5
    assert log.number("text") is None
    assert log.number("absent") is None


@pytest.mark.parametrize(
    ("content", "word"),
    [
        (b"", "empty"),
        (b"\n\n", "no line begins with :::MLLOG"),
        (b"pid=1 tid=2 ts=3 : loadgen : version\n", "free-text"),
        (b":::MLLOG {\n", "no record of it can be read"),
    ],
)
def test_a_file_without_records_is_unreadable(tmp_path, content, word):
    path = tmp_path / "log.txt"
    path.write_bytes(content)
    with pytest.raises(UnreadableFile, match=word):
        read_detail(path)


def test_a_missing_file_and_a_folder_are_unreadable(tmp_path):
    with pytest.raises(UnreadableFile, match="missing"):
        read_detail(tmp_path / "none.txt")
    with pytest.raises(UnreadableFile, match="folder"):
        read_detail(tmp_path)


NOISE = st.one_of(
    st.binary(max_size=60),
    st.text(max_size=40).map(lambda text: f':::MLLOG {{"key": "{text}", "value": '.encode()),
    st.text(max_size=40).map(lambda text: raw("k", f'"{text}"').encode()),
    st.text(max_size=10).map(lambda text: raw("k", text).encode()),
    st.just(FIRST.encode()),
    st.sampled_from([b"", b":::MLLOG", b":::MLLOG " + b"[" * 3000, b":::MLLOG " + b"9" * 5000, b"}"]),
)


@given(lines=st.lists(NOISE, max_size=8), newline=st.sampled_from([b"\n", b"\r\n", b"\r"]))
def test_any_bytes_are_read_or_unreadable(tmp_path_factory, lines, newline):
    path = tmp_path_factory.mktemp("detail") / "log.txt"
    path.write_bytes(newline.join(lines))
    try:
        log = read_detail(path)
    except UnreadableFile:
        return
    assert all(1 <= record.line <= log.lines for record in log.records.values())
    assert all(1 <= problem.line <= log.lines for problem in log.problems)
