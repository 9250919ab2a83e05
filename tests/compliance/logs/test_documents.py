import contextlib
import json
import os

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compliance.errors import UnreadableFile
from compliance.logs.documents import pointer_of, read_document

CLEAN = '{\n  "a": 1,\n  "b": {"a": [1, {"c": ":"}]},\n  "c\\n/~": "}",\n  "d": ""\n}\n'


def read(tmp_path, data):
    path = tmp_path / "x.json"
    path.write_bytes(data.encode() if isinstance(data, str) else data)
    return read_document(path)


def test_a_clean_document_and_its_lines(tmp_path):
    found = read(tmp_path, CLEAN)
    assert found.members == json.loads(CLEAN)
    assert found.lines == {"/a": 2, "/b": 3, "/c\n~1~0": 4, "/d": 5}
    assert found.problems == ()
    assert (found.line("b"), found.line("none")) == (3, None)
    assert (found.text("d"), found.text("a"), found.text("none")) == ("", None, None)


FAULTS = [
    ("\ufeff" + CLEAN, 1, "byte order mark", False),
    (CLEAN.replace('""\n', '"",\n'), 5, "trailing comma", False),
    (CLEAN.replace("1, {", '1, 2,  ], "x": [{').replace("}]}", "}]}"), 3, "trailing comma", False),
    (CLEAN.replace('"d"', '"a"'), 5, "stands already in line 2", True),
    (CLEAN.replace('"d": ""', '"d": "x\n y"'), 5, "Invalid control character", False),
    (CLEAN.encode().replace(b'""', b'"caf\xe9"'), 5, "not UTF-8", False),
]


@pytest.mark.parametrize(("data", "line", "word", "official"), FAULTS)
def test_a_fault_of_form_is_read_over_and_kept(tmp_path, data, line, word, official):
    found = read(tmp_path, data)
    (problem,) = found.problems
    assert (problem.line, problem.official) == (line, official)
    assert word in problem.reason
    assert found.members["a"] in {1, ""}


def test_the_last_of_duplicate_members_counts(tmp_path):
    found = read(tmp_path, '{"a": 1,\n"a": 2,\n"a": 3}')
    assert found.members == {"a": 3}
    assert found.lines == {"/a": 3}
    assert [problem.line for problem in found.problems] == [2, 3]


def test_several_faults_at_once(tmp_path):
    found = read(tmp_path, b'\xef\xbb\xbf{"a": [1,],\n"a": "\xe9",}')
    assert found.members == {"a": "\xe9"}
    assert [problem.line for problem in found.problems] == [1, 1, 2, 2, 2]


def test_a_comma_in_a_string_is_not_trailing(tmp_path):
    found = read(tmp_path, '{"a": ",}", "b": ",]",}')
    assert found.members == {"a": ",}", "b": ",]"}


@pytest.mark.parametrize(
    ("data", "word", "line"),
    [
        ("", "empty", None),
        ("  \n", "empty", None),
        ("[1]", "an array", 1),
        ('"x"', "a string", 1),
        ("1", "a single value", 1),
        ('{\n"a": 1\n"b": 2\n}', "column 1", 3),
        ('{\n"a": }', "column 6", 2),
        ("{'a': 1}", "double quotes", 1),
        ("{" * 100_000, "not JSON", None),
        ('{"a": ' + "[" * 100_000, "too long", None),
        ('{"a": ' + "9" * 5000 + "}", "too long", None),
    ],
)
def test_what_is_no_object_is_unreadable(tmp_path, data, word, line):
    with pytest.raises(UnreadableFile, match=word) as caught:
        read(tmp_path, data)
    assert line is None or caught.value.line == line


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read any file")
def test_a_file_without_permission_is_unreadable(tmp_path):
    path = tmp_path / "x.json"
    path.write_text("{}")
    path.chmod(0)
    with pytest.raises(UnreadableFile, match="permissions"):
        read_document(path)


def test_a_name_too_long_is_unreadable(tmp_path):
    with pytest.raises(UnreadableFile, match="cannot be read"):
        read_document(tmp_path / ("x" * 300))


JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


@given(
    members=st.dictionaries(st.text(), JSON_VALUES, max_size=5),
    indent=st.sampled_from([None, 2]),
    ascii_only=st.booleans(),
)
def test_any_object_is_read_as_json_reads_it(tmp_path_factory, members, indent, ascii_only):
    path = tmp_path_factory.mktemp("document") / "x.json"
    path.write_bytes(json.dumps(members, indent=indent, ensure_ascii=ascii_only).encode())
    found = read_document(path)
    assert found.members == members
    assert found.problems == ()
    assert set(found.lines) == {pointer_of(name) for name in members}


PIECES = st.one_of(
    st.binary(max_size=8), st.sampled_from([b"{", b"}", b"[", b"]", b",", b'"a"', b":", b"1", b"\n", b"\\"])
)


@given(pieces=st.lists(PIECES, max_size=14))
def test_any_bytes_are_read_or_unreadable(tmp_path_factory, pieces):
    path = tmp_path_factory.mktemp("document") / "x.json"
    path.write_bytes(b"".join(pieces))
    with contextlib.suppress(UnreadableFile):
        found = read_document(path)
        assert len(found.lines) == len(found.members)
