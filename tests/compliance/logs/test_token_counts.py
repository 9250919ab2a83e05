"""Token counts: of whole logs, of truncated ones, over the borders of blocks, and of anything else."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compliance.errors import UnreadableFile
from compliance.logs.blocks import BLOCK_BYTES
from compliance.logs.token_counts import Extreme, TokenCounts, read_token_counts
from tests.support.tree_files import accuracy_log, truncated


def counts_of(tmp_path, text):
    path = tmp_path / "mlperf_log_accuracy.json"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return read_token_counts(path)


def test_a_whole_log(tmp_path):
    log = accuracy_log([(0, [1, 2]), (1, [1, 2, 3]), (2, [7])], first=True)
    assert counts_of(tmp_path, log) == TokenCounts(3, Extreme(1, 4), Extreme(3, 3))


def test_what_is_left_of_a_truncated_log(tmp_path):
    log = accuracy_log([(index, [9] * (index % 7 + 1)) for index in range(500)], first=False)
    found = counts_of(tmp_path, truncated(log))
    assert found.answers < 500
    assert (found.shortest.tokens, found.longest.tokens) == (1, 7)


@pytest.mark.parametrize("cut", range(1, 4))
def test_a_count_that_is_cut_is_none(tmp_path, cut):
    assert counts_of(tmp_path, '[\n{ "token_count" : 123'[: -cut or None]) is None


@pytest.mark.parametrize("shift", [-30, -20, -5, 0, 5])
def test_a_count_over_the_border_of_two_blocks(tmp_path, shift):
    padding = b"x" * (BLOCK_BYTES + shift - 1) + b"\n"
    found = counts_of(tmp_path, padding + b'"token_count" : 128 }\n"token_count" : 5, \n')
    assert found == TokenCounts(2, Extreme(5, 3), Extreme(128, 2))


def test_logs_without_counts_and_no_log(tmp_path):
    assert counts_of(tmp_path, '[\n{ "seq_id" : 0, "qsl_idx" : 0, "data" : "00" }\n]\n') is None
    with pytest.raises(UnreadableFile, match="missing"):
        read_token_counts(tmp_path / "none.json")


@given(data=st.binary(max_size=300))
def test_any_bytes_are_read(data, tmp_path_factory):
    counts_of(tmp_path_factory.mktemp("any"), data)
