"""Token counts: of whole logs, of truncated ones, of logs read in one step and line by line, and of anything else."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compliance.errors import UnreadableFile
from compliance.logs import accuracy
from compliance.logs.accuracy import read_accuracy
from compliance.logs.token_counts import CountsSeen, Extreme, TokenCounts
from tests.support.tree_files import accuracy_log, truncated


@pytest.fixture(params=[4 << 20, 0], ids=["one step", "line by line"])
def counts_of(request, tmp_path, monkeypatch):
    """The token counts of a log with this text, either way of reading."""
    monkeypatch.setattr(accuracy, "_ONE_STEP_BYTES", request.param)

    def read(text):
        path = tmp_path / "mlperf_log_accuracy.json"
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return read_accuracy(path).token_counts

    return read


def test_a_whole_log(counts_of):
    log = accuracy_log([(0, [1, 2]), (1, [1, 2, 3]), (2, [7])], first=True)
    assert counts_of(log) == TokenCounts(3, Extreme(1, 4), Extreme(3, 3))


def test_what_is_left_of_a_truncated_log(counts_of):
    log = accuracy_log([(index, [9] * (index % 7 + 1)) for index in range(500)], first=False)
    found = counts_of(truncated(log))
    assert found.answers < 500
    assert (found.shortest.tokens, found.longest.tokens) == (1, 7)


@pytest.mark.parametrize("cut", range(1, 4))
def test_a_count_that_is_cut_is_none(counts_of, cut):
    assert counts_of('[\n{ "token_count" : 123'[: -cut or None]) is None


def test_what_comes_after_a_fault_counts_too(counts_of):
    found = counts_of('[\nnoise\n{ "token_count" : 128 }\n{"token_count":5,\n')
    assert found == TokenCounts(2, Extreme(5, 4), Extreme(128, 3))


def test_logs_without_counts(counts_of):
    assert counts_of('[\n{ "seq_id" : 0, "qsl_idx" : 0, "data" : "00" }\n]\n') is None


@given(lines=st.lists(st.binary(max_size=40) | st.just(b'"token_count" : 7 }'), max_size=9))
def test_any_bytes_are_read_the_same_at_once_and_line_by_line(lines):
    text = b"\n".join(lines)
    at_once, by_line = CountsSeen(), CountsSeen()
    at_once.take(text, 1)
    for number, line in enumerate(text.split(b"\n"), start=1):
        by_line.take(line, number)
    assert at_once.counts() == by_line.counts()


def test_a_log_that_cannot_be_opened(tmp_path):
    with pytest.raises(UnreadableFile, match="missing"):
        read_accuracy(tmp_path / "none.json")
