import ast
import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compliance.errors import UnreadableFile
from compliance.logs import blocks, detail
from compliance.logs.blocks import iter_blocks
from compliance.logs.detail import read_checked, read_detail
from compliance.logs.detail_blocks import KnownLists, decode_block, is_integer_list
from compliance.logs.detail_decode import decode_strict
from compliance.logs.detail_keys import CHECKED_KEYS
from compliance.rulebook.rounds import load_round, round_names
from compliance.schema import validate
from tests.support.log_lines import mllog, raw, record

FIRST = mllog("loadgen_version", "6.0.17 @ 0123456789")
MARKER = b":::MLLOG"
CORPUS = Path(__file__).parents[4] / "shared" / "corpus"


def write(tmp_path, *lines, end="\n"):
    path = tmp_path / "mlperf_log_detail.txt"
    path.write_bytes("\n".join(lines).encode("utf-8", "surrogateescape") + end.encode())
    return path


def qsl(text):
    return raw("loaded_qsl_set", text)


@pytest.mark.parametrize(
    ("text", "good"),
    [
        ("", True),
        ("1", True),
        ("1,22,333", True),
        ("1, 22, 333", True),
        ("1,,2", False),
        (",1", False),
        ("1,", False),
        ("1 2", False),
        ("1 ,2", False),
        ("1,-2", False),
        ("1,x", False),
        ("1.5", False),
        ("1,\n2", False),
    ],
)
def test_a_list_of_integers_is_told_by_its_bytes(text, good):
    assert is_integer_list(text.encode(), 0, len(text)) is good


def test_two_commas_on_either_side_of_a_part_are_seen():
    size = 1 << 18
    digits = b"7" * (size - 1)
    assert is_integer_list(digits + b",7", 0, size + 1)
    assert not is_integer_list(digits + b",,7", 0, size + 2)


@pytest.mark.parametrize("broken", ["[1,,2]", "[1,x]", "[1,2", "[1,2]]", '["1"]', "[[1]]", "[1 2]", "{}", "7"])
@pytest.mark.parametrize("many", [1, 200_000])
def test_a_broken_list_of_the_loaded_set_is_noticed_though_it_is_not_built(tmp_path, broken, many):
    text = broken.replace("1", "1," * (many - 1) + "1", 1) if many > 1 else broken
    log = read_detail(write(tmp_path, FIRST, qsl(text), mllog("z", 1)))
    assert [problem.line for problem in log.problems] == [2]
    assert not log.problems[0].official or log.value("loaded_qsl_set") is None
    assert log.value("z") == 1


def test_a_long_list_of_the_loaded_set_is_a_record_without_its_value(tmp_path):
    log = read_detail(write(tmp_path, FIRST, qsl(f"[{','.join(map(str, range(400_000)))}]"), mllog("z", 1)))
    assert log.problems == ()
    assert log.records["loaded_qsl_set"].line == 2
    assert log.value("loaded_qsl_set") is None
    assert (log.records["z"].line, log.lines) == (3, 3)


@pytest.mark.parametrize(
    "text",
    [
        FIRST + "\n" + FIRST[9:],
        FIRST + FIRST[9:],
        FIRST.replace('"pid"', '\n:::MLLOG {"pid"'),
        FIRST + "\n\n" + FIRST,
        FIRST.replace(":::MLLOG ", ":::MLLOG"),
        FIRST[:-2],
        f':::MLLOG {{"key": "k", "value": {{"a": {{}}\n{FIRST}',
    ],
)
def test_a_block_with_anything_but_records_is_not_taken_at_once(text):
    assert decode_block(text.encode(), MARKER) is None


def test_a_block_is_taken_with_either_line_end_and_without_the_last():
    for text in (f"{FIRST}\n{FIRST}\n", f"{FIRST}\n{FIRST}", f"{FIRST}\r\n{FIRST}\r\n"):
        records = decode_block(text.encode(), MARKER)
        assert records is not None
        assert [one.key for one in records] == ["loadgen_version"] * 2


LINE = st.one_of(
    st.sampled_from([FIRST, mllog("a", 1), mllog("error_runtime", "late", error=True), qsl("[1,2,3]"), qsl("[1,,3]")]),
    st.sampled_from(
        ["", "noise", ":::MLLOG", raw("k", "nan"), raw("k", '"a\\b"'), raw("s", '"first'), 'second"}', "}"]
    ),
    st.text(st.characters(exclude_categories=["Cs"]), max_size=20),
)


@given(lines=st.lists(LINE, max_size=12), size=st.integers(1, 700), end=st.sampled_from(["", "\n", "\r\n"]))
def test_the_size_of_the_blocks_does_not_matter(tmp_path_factory, lines, size, end):
    path = write(tmp_path_factory.mktemp("log"), *lines, end=end)
    at_once = _outcome(path)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(blocks, "BLOCK_BYTES", size)
        assert _outcome(path) == at_once
        patch.setattr(detail, "decode_block", lambda *_: None)
        assert _outcome(path) == at_once


def _outcome(path):
    try:
        log = read_detail(path)
    except UnreadableFile as error:
        return str(error)
    told = [(one.line, one.reason, one.recovered, one.official) for one in log.problems]
    return repr((log.records, log.repeated, log.errors, log.lines, log.valid_first_line, told))


@pytest.mark.parametrize("size", [7, 13, 49])
def test_a_line_over_the_limit_is_passed_over_and_said(tmp_path, monkeypatch, size):
    monkeypatch.setattr(blocks, "BLOCK_BYTES", size)
    text = b"ab\n" + b"x" * 50 + b"\n" + b"y" * 49 + b"\nlast"
    path = tmp_path / "log.txt"
    path.write_bytes(text)
    found = list(iter_blocks(path, limit=50))
    assert [block.too_long for block in found].count(True) == 1
    kept = b"".join(block.text for block in found if not block.too_long)
    assert kept == b"ab\n" + b"y" * 49 + b"\nlast"


def test_a_log_goes_on_after_a_line_of_more_than_64_mib(tmp_path):
    path = write(tmp_path, FIRST)
    with path.open("ab") as stream:
        stream.write(b':::MLLOG {"key": "loaded_qsl_set", "value": [1')
        for _ in range(65):
            stream.write(b",1" * (1 << 19))
        stream.write(b"\n" + mllog("z", 1).encode())
    log = read_detail(path)
    assert [(one.line, one.recovered) for one in log.problems] == [(2, False)]
    assert "longer than 64 MiB" in log.problems[0].reason
    assert (log.records["z"].line, log.lines) == (3, 3)


def test_a_long_line_of_another_form_is_not_read_over_its_faults(tmp_path):
    path = write(tmp_path, FIRST, raw("k", "[" * (2 << 20)), mllog("z", 1))
    log = read_detail(path)
    assert [(one.line, one.recovered) for one in log.problems] == [(2, False)]
    assert "MiB" in log.problems[0].reason
    assert log.value("z") == 1


def test_errors_warnings_and_problems_are_counted_and_the_first_hundred_kept(tmp_path):
    error, warning = mllog("error_runtime", "late", error=True), mllog("warning", "hm", warning=True)
    log = read_detail(write(tmp_path, FIRST, *[error, warning, "noise"] * 150, raw("cut", '"')))
    assert (len(log.errors), log.error_count) == (100, 150)
    assert (len(log.warnings), log.warning_count) == (100, 150)
    assert log.problem_count == 151
    assert len(log.problems) == 101
    assert not log.problems[-1].recovered


def test_a_long_string_is_cut(tmp_path):
    log = read_detail(write(tmp_path, FIRST, mllog("error_runtime", "x" * 200_000, error=True)))
    assert log.errors[0].value == "x" * 65_536


def test_of_a_tree_only_the_checked_keys_are_kept_and_every_error(tmp_path):
    lines = (FIRST, mllog("generic_message", "x"), mllog("error_of_mine", "late", error=True))
    log = read_checked(write(tmp_path, *lines))
    assert list(log.records) == ["loadgen_version"]
    assert [one.key for one in log.errors] == ["error_of_mine"]
    assert log.value("sut_name") is None
    with pytest.raises(LookupError, match="detail_keys"):
        log.value("generic_message")


def test_every_metric_of_every_round_is_a_checked_key():
    rules = (benchmark for name in round_names() for benchmark in load_round(name).benchmarks.values())
    assert {scenario.metric_key for one in rules for scenario in one.scenarios.values()} <= CHECKED_KEYS


def test_no_check_reads_a_key_that_is_not_kept():
    root = Path(detail.__file__).parents[1]
    sources = [*(root / "checks").glob("*.py"), *(root / "audits").glob("*.py"), root / "metrics/performance.py"]
    for source in sources:
        for node in ast.walk(ast.parse(source.read_text())):
            for key in _keys_asked(node):
                assert key in CHECKED_KEYS, f"{source.name}:{node.lineno} reads {key}"


def _keys_asked(node):
    """The keys that a call names: the first argument of detail.value and its like, the second of about and its like."""
    if not isinstance(node, ast.Call):
        return
    name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
    position = {"value": 0, "number": 0, "record": 0, "about": 1, "at_least": 1, "place": 1}.get(name)
    if position is not None and len(node.args) > position:
        argument = node.args[position]
        if isinstance(argument, ast.Constant) and isinstance(argument.value, str):
            yield argument.value


def _agree(body):
    line = b":::MLLOG " + body
    schema = not validate(json.loads(body), "detail-log-record")
    assert (decode_strict(body) is not None) == schema
    assert (decode_block(line, MARKER) is not None) == schema


VALUES = st.one_of(
    st.text(max_size=5),
    st.integers(),
    st.floats(allow_nan=False, allow_infinity=False),
    st.booleans(),
    st.none(),
    st.lists(st.integers(0, 2**70), max_size=3),
    st.dictionaries(st.text(max_size=3), st.text(max_size=3), max_size=2),
    st.lists(st.one_of(st.text(max_size=2), st.booleans(), st.floats(0, 1)), max_size=2),
    st.dictionaries(st.text(max_size=3), st.integers(), max_size=2),
)


@given(
    key=st.sampled_from(["loaded_qsl_set", "k", 7]),
    value=VALUES,
    taken=st.sampled_from([None, "key", "value", "time_ms", "namespace", "event_type", "metadata"]),
    changed=st.dictionaries(st.sampled_from(["time_ms", "namespace", "event_type", "more"]), VALUES, max_size=1),
    metadata=st.dictionaries(st.sampled_from(["is_error", "file", "line_no", "tid", "more"]), VALUES, max_size=1),
)
def test_schema_and_decoders_agree_on_any_record(key, value, taken, changed, metadata):
    made = {**record("k", value), "key": key, **changed}
    made["metadata"] = {**made["metadata"], **metadata}
    if taken:
        made.pop(taken)
    _agree(json.dumps(made).encode())


@pytest.mark.skipif(not CORPUS.is_dir(), reason="no ../shared/corpus beside this checkout")
def test_schema_and_decoders_agree_on_the_corpus():
    seen = set()
    for path in CORPUS.rglob("mlperf_log_detail.txt"):
        for line in path.read_bytes().splitlines():
            body = line.removeprefix(MARKER + b" ")
            try:
                key = json.loads(body)["key"]
            except ValueError:
                continue
            shape = (key, body.count(b'"'))
            if shape not in seen and len(body) < 20_000:
                seen.add(shape)
                _agree(body)
    assert len(seen) > 100


def test_a_list_met_before_is_told_from_one_that_is_only_alike():
    known = KnownLists()
    first = b"1,2,3," * 20 + b"4"
    text = first + b"]"
    assert known.sound(text, 0, len(first))
    assert known.sound(text, 0, len(first))
    for broken in (first[:-1] + b"x", first[:-2] + b",,", first[:-1]):
        assert not known.sound(broken + b"]", 0, len(broken))
    known.forget()
    assert known.sound(b"[" + text, 1, len(text))


def test_lists_met_before_take_a_bounded_room():
    known = KnownLists()
    for first in range(40):
        text = b"%d," % first + b"7" * (1 << 20)
        assert known.sound(text, 0, len(text))
    assert known.held_bytes <= 8 << 20
    longest = b"1" * (9 << 20)
    assert known.sound(longest, 0, len(longest))
    assert known.held_bytes <= 8 << 20


def test_a_broken_list_is_noticed_after_the_same_whole_one(tmp_path):
    whole = write(tmp_path, FIRST, qsl("[1,2,3,4]"), mllog("z", 1))
    assert read_detail(whole).problems == ()
    broken = write(tmp_path, FIRST, qsl("[1,2,,34]"), mllog("z", 1))
    assert [problem.line for problem in read_detail(broken).problems] == [2]
