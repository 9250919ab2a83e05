import pytest
from hypothesis import given
from hypothesis import strategies as st

from compliance.errors import UnreadableFile
from compliance.logs.verdicts import read_verify

TEST06 = "First token check pass: True\nEOS check pass: False\nSample length check pass: True\nTEST06 verification complete\n"
TEST09 = "Output Token Length Statistics\nMin check pass: True\nMax check pass: True\n\nTEST PASS\n"


def read(tmp_path, text):
    path = tmp_path / "verify_accuracy.txt"
    path.write_bytes(text.encode())
    return read_verify(path)


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_the_three_lines_of_test06(tmp_path, newline):
    found = read(tmp_path, TEST06.replace("\n", newline))
    assert found.passed == {"First token": "True", "EOS": "False", "Sample length": "True"}
    assert found.lines_by_name == {"First token": 1, "EOS": 2, "Sample length": 3}
    assert not found.test_pass
    assert found.test_pass_line is None


def test_a_skipped_first_token_check(tmp_path):
    assert read(tmp_path, TEST06.replace("True", "Skipped", 1)).passed["First token"] == "Skipped"


def test_test_pass_on_a_line_of_its_own(tmp_path):
    found = read(tmp_path, TEST09)
    assert found.passed == {"Min": "True", "Max": "True"}
    assert found.test_pass
    assert found.test_pass_line == 5


@pytest.mark.parametrize(
    ("text", "anywhere", "line"),
    [
        ("TEST PASS\n", True, 1),
        ("x TEST PASS y\n", True, None),
        ("TEST FAIL\n", False, None),
        ("test pass", False, None),
    ],
)
def test_where_test_pass_stands(tmp_path, text, anywhere, line):
    found = read(tmp_path, text)
    assert (found.test_pass, found.test_pass_line) == (anywhere, line)


def test_the_last_verdict_of_a_name_counts(tmp_path):
    found = read(tmp_path, "EOS check pass: False\nEOS check pass: True\n")
    assert (found.passed["EOS"], found.lines_by_name["EOS"]) == ("True", 2)


def test_an_empty_file_is_unreadable(tmp_path):
    with pytest.raises(UnreadableFile, match="empty"):
        read(tmp_path, "")


@given(content=st.binary(min_size=1, max_size=200).filter(bytes.strip))
def test_any_bytes_are_read(tmp_path_factory, content):
    path = tmp_path_factory.mktemp("verify") / "verify_accuracy.txt"
    path.write_bytes(content)
    assert read_verify(path).path == path
