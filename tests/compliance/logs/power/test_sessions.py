"""client.json, server.json, client.log, server.log and ptd_logs.txt."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compliance.errors import UnreadableFile
from compliance.logs.power.ptd import PtdKind, read_ptd_log
from compliance.logs.power.session import REQUIRED, SESSION_LIMIT_BYTES, read_session
from compliance.logs.power.text_log import read_session_log
from tests.support.power_trees import NAME, RANGING_BEGIN, power_tree, ptd_line, ptd_log


def server():
    tree = power_tree()
    return tree.documents[tree.path("Server", "performance/power/server.json")]


def read(tmp_path, document):
    path = tmp_path / "server.json"
    path.write_text(json.dumps(document), encoding="utf-8")
    return read_session(path)


def test_a_whole_session(tmp_path):
    session = read(tmp_path, server())
    assert session.missing == ()
    assert (session.name, session.timezone_s, session.debug) == (NAME, 0, False)
    assert str(session.client_uuid).startswith("7c3f")
    assert [len(begins) for begins in (session.ranging_begins_s, session.testing_begins_s)] == [4, 4]
    assert session.messages[0].reply == "mlcommons/power server v3"
    assert session.ptd_messages[2].cmd == "RR"
    (analyzer,) = session.analyzers
    assert (analyzer.device_type, analyzer.channel, analyzer.channels) == (49, None, "")


@pytest.mark.parametrize(
    ("member", "value", "field"),
    [
        ("uuid", {"client": "x", "server": 3}, "client_uuid"),
        ("uuid", [], "server_uuid"),
        ("session_name", 5, "name"),
        ("timezone", "UTC", "timezone_s"),
        ("timezone", [], "timezone_s"),
        ("messages", {"cmd": "x"}, "messages"),
        ("messages", [{"reply": "x"}], "messages"),
        ("messages", ["x"], "messages"),
        ("ptd_messages", [{"cmd": 5}], "ptd_messages"),
        ("results", [], "results"),
        ("phases", {"ranging": [[True]]}, "ranging_begins_s"),
        ("phases", {"ranging": [[]]}, "ranging_begins_s"),
        ("phases", {"testing": [5]}, "testing_begins_s"),
        ("phases", None, "testing_begins_s"),
        ("ptd_config", [{}], "analyzers"),
        ("ptd_config", {}, "analyzers"),
    ],
)
def test_a_member_of_another_form_is_none(member, value, field, tmp_path):
    assert getattr(read(tmp_path, {**server(), member: value}), field) is None


def test_numbers_beyond_floats_are_read(tmp_path):
    session = read(tmp_path, {**server(), "phases": {"ranging": [[10**400]]}, "timezone": "3600"})
    assert session.ranging_begins_s == (float("inf"),)
    assert session.timezone_s == 3600


@pytest.mark.parametrize(
    ("command", "channels"),
    [(["ptd", "-c", "1,2"], "1,2"), (["ptd", "-c"], ""), (["-c", 5, "-c", "1,2"], ""), ("-c 1,2", ""), (None, "")],
)
def test_the_channels_of_a_command_line(command, channels, tmp_path):
    document = {**server(), "ptd_config": [{"device_type": 77, "command": command}]}
    assert read(tmp_path, document).analyzers[0].channels == channels


def test_what_is_no_session_is_refused(tmp_path):
    for content, reason in ((b"[]", "an array"), (b"{", "not JSON"), (b"", "empty")):
        (tmp_path / "client.json").write_bytes(content)
        with pytest.raises(UnreadableFile, match=reason):
            read_session(tmp_path / "client.json")
    with (tmp_path / "client.json").open("wb") as stream:
        stream.truncate(SESSION_LIMIT_BYTES + 1)
    with pytest.raises(UnreadableFile, match="at most"):
        read_session(tmp_path / "client.json")
    with pytest.raises(UnreadableFile, match="missing"):
        read_session(tmp_path / "none.json")


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=4),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["cmd", "0", "ranging"]), inner),
    max_leaves=8,
)


@given(st.dictionaries(st.sampled_from([*REQUIRED, "ptd_messages", "ptd_config", "debug"]), JSON))
def test_any_members_are_read(tmp_path_factory, members):
    session = read(tmp_path_factory.mktemp("session"), members)
    assert set(session.missing) == set(REQUIRED) - set(members)


def ptd(tmp_path, text):
    path = tmp_path / "ptd_logs.txt"
    path.write_text(text, encoding="utf-8")
    return read_ptd_log(path)


def test_a_whole_ptd_log(tmp_path):
    log = ptd(tmp_path, ptd_log())
    kinds = [event.kind for event in log.events]
    assert kinds == [PtdKind.UNCERTAINTY, PtdKind.GO, PtdKind.COMPLETED, PtdKind.GO, PtdKind.COMPLETED]
    assert (log.lines, log.impossible_time_line) == (7, None)
    assert log.of(PtdKind.GO)[0].text == f": Go with mark '{NAME}_ranging'"


def test_a_line_may_warn_and_err_and_have_no_time(tmp_path):
    log = ptd(tmp_path, "WARNING: a ERROR: b\nWARNING:\n99-99-2026 00:00:00.000: ERROR:c\n")
    assert [(one.line, one.kind.value, one.text, one.time) for one in log.events] == [
        (1, "warning", "a ERROR: b", None),
        (1, "error", "b", None),
        (3, "error", "c", None),
    ]
    assert log.impossible_time_line == 3


def test_a_ptd_log_that_complains_without_end_is_refused(tmp_path):
    with pytest.raises(UnreadableFile, match="more than 100000"):
        ptd(tmp_path, ptd_line(RANGING_BEGIN, "ERROR: x") * 100_001)
    with pytest.raises(UnreadableFile, match="empty"):
        ptd(tmp_path, "")


@given(st.lists(st.sampled_from(["11-28-2026 20:00:00.000: ", "WARNING:", "ERROR:", "x", "\n", "Go with mark 'a'"])))
def test_any_words_are_read(tmp_path_factory, words):
    log = ptd(tmp_path_factory.mktemp("ptd"), "".join(words) + "\n")
    assert all(1 <= event.line <= log.lines for event in log.events)


def test_errors_of_a_session_log(tmp_path):
    path = tmp_path / "client.log"
    path.write_text("client [INFO] x\nclient [ERROR] lost\n" + "client [CRITICAL] y\n" * 200, encoding="utf-8")
    log = read_session_log(path)
    assert (log.lines, len(log.errors), log.errors[0].line, log.errors[0].text) == (202, 100, 2, "client [ERROR] lost")
    path.write_bytes(b"")
    with pytest.raises(UnreadableFile, match="empty"):
        read_session_log(path)
