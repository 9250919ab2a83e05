import pytest
from hypothesis import given
from hypothesis import strategies as st

from compliance.errors import UnreadableFile
from compliance.logs.summary import read_summary
from tests.support.loadgen_run import loadgen_logs

NAME = "mlperf_log_summary.txt"


def test_a_real_server_summary():
    found = read_summary(loadgen_logs("Server", "PerformanceOnly") / NAME)
    assert found.valid is False
    assert found.fields["Scenario"] == "Server"
    assert found.fields["Early stopping satisfied"] == "NO"
    assert found.fields["qsl_rng_seed"] == str(2**64 - 5)
    assert float(found.fields["Completed tokens per second"]) > 0
    assert "MLPerf Results Summary" in found.text


def test_a_real_accuracy_summary_has_no_verdict():
    found = read_summary(loadgen_logs("Server", "AccuracyOnly") / NAME)
    assert found.valid is None
    assert "No errors encountered" in found.text


@pytest.mark.parametrize(
    ("line", "valid"),
    [
        ("Result is : VALID", True),
        ("Result is : INVALID", False),
        ("Result is : maybe", None),
        ("Result : VALID", None),
    ],
)
@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_the_verdict(tmp_path, line, valid, newline):
    path = tmp_path / NAME
    path.write_bytes(f"Scenario : Offline{newline}{line}{newline}".encode())
    assert read_summary(path).valid is valid


def test_the_first_of_two_fields_counts(tmp_path):
    path = tmp_path / NAME
    path.write_text("Scenario : Offline\n  Scenario : Server\n")
    assert read_summary(path).fields == {"Scenario": "Offline"}


def test_an_empty_or_missing_file_is_unreadable(tmp_path):
    (tmp_path / NAME).write_text("")
    for path in (tmp_path / NAME, tmp_path / "none.txt"):
        with pytest.raises(UnreadableFile):
            read_summary(path)


@given(content=st.binary(min_size=1, max_size=200).filter(bytes.strip))
def test_any_bytes_are_read(tmp_path_factory, content):
    path = tmp_path_factory.mktemp("summary") / NAME
    path.write_bytes(content)
    assert all(name and value for name, value in read_summary(path).fields.items())
