"""TEST09 and TEST07: mean length of answers and scores, from the log and from what the verification printed."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compliance.audits import test07 as of_scores
from compliance.audits.stated import stated
from compliance.audits.test09 import read_text, verify, within
from compliance.logs.accuracy import AccuracyEntry
from compliance.logs.verdicts import read_verify

BOUNDS = (3.0, 4.5)


def entries(*token_counts):
    return [AccuracyEntry(0, 0, bytes(4 * count), None, None, 2) for count in token_counts]


@pytest.mark.parametrize(
    ("token_counts", "mean", "passed"),
    [
        ((3,), 3.0, True),
        ((4, 5), 4.5, True),
        ((3, 3, 3, 2), 2.75, False),
        ((5, 5, 4), 14 / 3, False),
        ((6, 0), 3.0, True),
        ((), 0.0, False),
    ],
)
def test_the_mean_length(token_counts, mean, passed):
    verdict = verify(entries(*token_counts), BOUNDS)
    assert (verdict.entries, verdict.passed) == (len(token_counts), passed)
    assert verdict.mean_tokens == pytest.approx(mean)


def test_bytes_that_are_no_whole_token_do_not_count():
    assert verify([AccuracyEntry(0, 0, bytes(15), None, None, 2)], BOUNDS).mean_tokens == 3.0


@pytest.mark.parametrize(("value", "inside"), [(2.999, False), (3.0, True), (4.5, True), (4.501, False)])
def test_both_bounds_are_included(value, inside):
    assert within(value, BOUNDS) is inside


def printed(tmp_path, text):
    path = tmp_path / "verify.txt"
    path.write_text(text)
    return read_verify(path)


def test_what_the_length_verification_printed(tmp_path):
    text = "Total samples: 6396\nMean output tokens: 1383.41\n\nMean output tokens: 1383.5\nMin check pass: True\n"
    read = read_text(printed(tmp_path, text))
    assert read.entries is not None
    assert read.mean_tokens is not None
    assert (read.entries.value, read.entries.line) == (6396, 1)
    assert (read.mean_tokens.value, read.mean_tokens.line) == (1383.5, 4)


def test_what_the_accuracy_verification_printed(tmp_path):
    read = of_scores.read_text(printed(tmp_path, "Accuracy score: 61.616\nAccuracy threshold: 60.698\n"))
    assert read.score is not None
    assert read.threshold is not None
    assert (read.score.value, read.threshold.value, read.threshold.line) == (61.616, 60.698, 2)


@pytest.mark.parametrize(
    ("line", "value"),
    [
        ("Reference score = 18.1007", 18.1007),
        ("reference score = 1e+09", 1e9),
        ("  REFERENCE SCORE: 5 %  ", 5.0),
        ("Reference score = nan", None),
        ("Reference score = -3", None),
        ("Reference score = 1e999", None),
        ("Reference score = 3 apples", None),
        ("No reference score = 3", None),
    ],
)
def test_one_printed_number(line, value, tmp_path):
    found = stated(printed(tmp_path, f"\n{line}\n"), "reference score")
    assert (found and found.value) == value
    assert found is None or found.line == 2


@pytest.mark.parametrize("blank", [" ", "\t", "5", "check pass", " check pass :", "="])
def test_a_long_line_is_read_in_one_go(blank, tmp_path):
    line = f"Total samples: 5{blank * 300_000}x"
    read = printed(tmp_path, f"{line}\nEOS check pass: True\n")
    assert read_text(read).entries is None
    assert read.passed["EOS"] == "True"


@given(text=st.text(max_size=200))
def test_any_text_can_be_read(text, tmp_path_factory):
    path = tmp_path_factory.getbasetemp() / "any-verify.txt"
    path.write_bytes(("x" + text).encode("utf-8", "surrogatepass"))
    read_text(read_verify(path))
