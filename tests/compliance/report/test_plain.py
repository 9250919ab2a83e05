"""What a tree holds never reaches a terminal, an XML file or a table as anything but text."""

import json
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compliance.report.plain import columns, cut, json_text, one_line, plain
from compliance.report.wrap import wrapped

ANYTHING = st.text(st.characters(codec=None, categories=None))


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("node8", "node8"),
        ("8x MI355X, é 日本", "8x MI355X, é 日本"),
        ("a\nb\tc\rd", r"a\nb\tc\rd"),
        ("\x1b[31mred\x1b]0;title\x07", r"\x1b[31mred\x1b]0;title\x07"),
        ("a\u202egnp.exe", r"a\u202egnp.exe"),
        ("a\u200bb\u2028c\ufeff", r"a\u200bb\u2028c\ufeff"),
        ("\x00\x7f\x9b\ufffe\ud800", r"\x00\x7f\x9b\ufffe\ud800"),
        ("\U000e0041", r"\U000e0041"),
        ("a\\nb", "a\\nb"),
        ("Intel\u202fXeon\u00a0", "Intel\u202fXeon\u00a0"),
    ],
)
def test_only_what_does_not_print_is_escaped(text, shown):
    assert plain(text) == shown


@given(ANYTHING)
def test_nothing_is_left_that_a_terminal_or_xml_stumbles_over(text):
    shown = plain(text)
    assert all(unicodedata.category(character)[0] != "C" for character in shown)
    assert not {"\n", "\r", "\u2028", "\u2029"} & set(shown)
    assert plain(shown) == shown
    assert one_line(f" {text}\n{text} ") == one_line(f"{text} {text}")


@given(st.dictionaries(ANYTHING, ANYTHING))
def test_json_prints_harmlessly_and_reads_back_the_same(document):
    text = json_text(document)
    assert json.loads(text) == document
    assert all(plain(line) == line for line in text.split("\n"))
    text.encode()


def test_json_has_no_nan():
    with pytest.raises(ValueError, match="not JSON compliant"):
        json_text([float("nan")])


@pytest.mark.parametrize(("text", "size"), [("abc", 3), ("日本", 4), ("e\u0301", 1), ("", 0)])
def test_columns_are_those_of_a_terminal(text, size):
    assert columns(text) == size


@pytest.mark.parametrize(
    ("text", "size", "shown"), [("abc", 3, "abc"), ("abcd", 3, "ab~"), ("日本語", 4, "日~"), ("日本語", 6, "日本語")]
)
def test_cut_says_that_it_cut(text, size, shown):
    assert cut(text, size) == shown


@given(ANYTHING, st.integers(20, 100))
def test_no_line_is_too_wide_and_nothing_is_lost(text, width):
    lines = list(wrapped(text, width, "  found   ", " " * 10))
    assert all(columns(line) <= width for line in lines)
    told = "".join(line[10:] for line in lines)
    assert "".join(told.split()) == "".join(plain(text).split())


def test_a_long_path_goes_on_behind_a_slash():
    lines = list(wrapped("in a/bb/cccc/dddddddddd.txt:7 it", 20, "at  ", "    "))
    assert lines == ["at  in a/bb/cccc/", "    dddddddddd.txt:7", "    it"]


def test_a_long_value_is_cut_to_its_lines():
    lines = list(wrapped("word " * 100, 30, "x ", "  ", most=3))
    assert len(lines) == 3
    assert lines[-1].endswith(" ...")
    assert all(len(line) <= 30 for line in lines)
