import contextlib
import hashlib
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compliance.errors import UnreadableFile
from compliance.logs import accuracy
from compliance.logs.accuracy import iter_accuracy, read_accuracy
from compliance.submission.truncate import truncate_accuracy_log
from tests.support.loadgen_run import ANSWER, SAMPLES, loadgen_logs

NAME = "mlperf_log_accuracy.json"


def entry(index, data="AF740000", **more):
    return {"seq_id": index, "qsl_idx": 100 + index, "data": data, **more}


def write(tmp_path, text):
    path = tmp_path / NAME
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path


def whole(count):
    return "[\n" + ",\n".join(json.dumps(entry(i)) for i in range(count)) + "\n]\n"


def test_a_real_log_holds_each_sample_once():
    path = loadgen_logs("Server", "AccuracyOnly") / NAME
    entries = list(iter_accuracy(path))
    assert sorted(item.qsl_idx for item in entries) == list(range(SAMPLES))
    assert {item.data for item in entries} == {ANSWER.tobytes()}
    assert {item.token_data for item in entries} == {ANSWER.tobytes()[:4]}
    assert {item.token_count for item in entries} == {len(ANSWER)}
    assert [item.line for item in entries] == list(range(2, SAMPLES + 2))


def test_a_real_log_is_summed_up():
    path = loadgen_logs("Server", "AccuracyOnly") / NAME
    log = read_accuracy(path)
    assert log.entries == SAMPLES
    assert not log.truncated
    assert log.problem == ""
    assert log.bytes == path.stat().st_size
    assert log.sha256 == hashlib.sha256(path.read_bytes()).hexdigest()


def test_a_performance_run_logs_an_empty_array():
    log = read_accuracy(loadgen_logs("Offline", "PerformanceOnly") / NAME)
    assert (log.entries, log.truncated, log.bytes) == (0, False, 4)


def test_members_that_are_not_logged_are_none(tmp_path):
    (found,) = iter_accuracy(write(tmp_path, whole(1)))
    assert (found.token_data, found.token_count) == (None, None)


@pytest.mark.parametrize(
    "text",
    [
        json.dumps([entry(i) for i in range(5)]),
        json.dumps([entry(i) for i in range(5)], indent=2),
        whole(5).replace("\n", "\r\n"),
        whole(5).rstrip("\n"),
        whole(5).replace("\n", "\n\n"),
    ],
)
def test_the_array_may_be_laid_out_in_any_way(tmp_path, text):
    path = write(tmp_path, text)
    assert [item.seq_id for item in iter_accuracy(path)] == list(range(5))
    assert read_accuracy(path).entries == 5


def test_a_truncated_log_is_known_as_such(tmp_path):
    source = write(tmp_path, whole(400))
    target = tmp_path / "cut.json"
    truncate_accuracy_log(source, target)
    log = read_accuracy(target)
    assert (log.truncated, log.entries, log.bytes) == (True, None, 8199)
    assert "truncated" in log.problem
    assert log.sha256 == hashlib.sha256(target.read_bytes()).hexdigest()
    with pytest.raises(UnreadableFile, match="truncated"):
        list(iter_accuracy(target))


@pytest.mark.parametrize("kept", [2, 30, 80, 200, len(whole(4)) - 3])
def test_a_log_without_its_end_is_truncated(tmp_path, kept):
    path = write(tmp_path, whole(4)[:kept])
    log = read_accuracy(path)
    assert (log.truncated, log.entries) == (True, None)
    assert "cut" in log.problem
    with pytest.raises(UnreadableFile, match="cut"):
        list(iter_accuracy(path))


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("[\n" + json.dumps({"seq_id": 1}) + "\n]\n", "qsl_idx"),
        ("[\n" + json.dumps({**entry(1), "seq_id": "x"}) + "\n]\n", "seq_id"),
        ("junk\n" + whole(1), "belongs to no entry"),
        (json.dumps(entry(1)), "outside the array"),
        (whole(1) + "]", "belongs to no entry"),
        ('{"a": {"b": 1}}', "belongs to no entry"),
    ],
)
def test_a_log_of_another_form_is_not_counted(tmp_path, text, word):
    log = read_accuracy(write(tmp_path, text))
    assert log.entries is None
    assert word in log.problem
    assert not log.truncated
    assert log.sha256 == hashlib.sha256(text.encode()).hexdigest()
    assert log.bytes == len(text)


@pytest.mark.parametrize("data", ["ABC", "XY"])
def test_a_response_that_is_no_hex_names_its_line(tmp_path, data):
    path = write(tmp_path, "[\n" + json.dumps(entry(0)) + ",\n" + json.dumps(entry(1, data)) + "\n]\n")
    with pytest.raises(UnreadableFile, match="hex") as caught:
        list(iter_accuracy(path))
    assert caught.value.line == 3


@pytest.mark.parametrize("reader", [read_accuracy, lambda path: list(iter_accuracy(path))])
def test_nothing_to_read_is_unreadable(tmp_path, reader):
    with pytest.raises(UnreadableFile, match="missing"):
        reader(tmp_path / "none.json")
    with pytest.raises(UnreadableFile, match="folder"):
        reader(tmp_path)
    with pytest.raises(UnreadableFile, match="empty"):
        reader(write(tmp_path, b""))


PIECES = st.one_of(
    st.binary(max_size=30),
    st.sampled_from([b"[", b"]", b"{", b"}", b"\n", b",", b"...\n", b'"', json.dumps(entry(1)).encode()]),
)


@given(pieces=st.lists(PIECES, max_size=12))
def test_any_bytes_are_read_or_unreadable(tmp_path_factory, pieces):
    path = write(tmp_path_factory.mktemp("accuracy"), b"".join(pieces))
    try:
        log = read_accuracy(path)
    except UnreadableFile:
        assert path.stat().st_size == 0
        return
    assert log.sha256 == hashlib.sha256(path.read_bytes()).hexdigest()
    assert (log.entries is None) == bool(log.problem)
    with contextlib.suppress(UnreadableFile):
        assert len(list(iter_accuracy(path))) == log.entries


def _outcomes(path):
    """What both readers say of a log, faults included."""
    with contextlib.suppress(UnreadableFile):
        yield read_accuracy(path)
    try:
        yield list(iter_accuracy(path))
    except UnreadableFile as error:
        yield error.reason, error.line


PIECE = st.sampled_from(
    [
        "[",
        "]",
        "\n",
        ",\n",
        "...",
        "\n...\n",
        " ... ",
        json.dumps(entry(1)),
        json.dumps(entry(2, "zz")),
        '{"seq_id"',
        "}",
        "x",
    ]
)


@given(pieces=st.lists(PIECE, max_size=12), count=st.integers(0, 90), cut=st.booleans())
def test_a_small_log_in_one_step_says_what_a_long_one_does_entry_by_entry(tmp_path_factory, pieces, count, cut):
    path = write(tmp_path_factory.mktemp("log"), "".join(pieces) or whole(count))
    if cut and not pieces:
        source = path.rename(path.with_name("whole.json"))
        truncate_accuracy_log(source, path)
    at_once = list(_outcomes(path))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(accuracy, "_ONE_STEP_BYTES", 0)
        assert list(_outcomes(path)) == at_once
