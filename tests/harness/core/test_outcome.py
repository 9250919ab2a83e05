"""What a test leaves behind, and what is seen in logs that were cut."""

import os
import resource

import pytest

from harness.core.ledger import Ledger
from harness.core.outcome import config_outcome, exit_code, finish, unfinished_log, write_files
from harness.core.progress import ProgressPipe
from harness.core.spec import RunOutcome
from harness.errors import StorageError
from harness.storage import read_record
from tests.support.loadgen_run import loadgen_logs

DETAIL, SUMMARY, ACCURACY = "mlperf_log_detail.txt", "mlperf_log_summary.txt", "mlperf_log_accuracy.json"


@pytest.mark.parametrize("mode", ["PerformanceOnly", "AccuracyOnly"])
@pytest.mark.parametrize("scenario", ["Offline", "Server"])
def test_whole_logs(scenario, mode):
    assert unfinished_log(loadgen_logs(scenario, mode)) == ""


@pytest.mark.parametrize(
    ("name", "keep", "said"),
    [
        (DETAIL, None, f"wrote no {DETAIL}"),
        (SUMMARY, None, f"wrote no {SUMMARY}"),
        (ACCURACY, None, "has no end"),
        (DETAIL, 0, "has no end mark"),
        (DETAIL, -1, "has no end mark"),
        (DETAIL, -200, "has no end mark"),
        (ACCURACY, -3, "has no end"),
    ],
)
def test_logs_that_were_cut(tmp_path, name, keep, said):
    for path in loadgen_logs("Server", "AccuracyOnly").iterdir():
        (tmp_path / path.name).write_bytes(path.read_bytes())
    if keep is None:
        (tmp_path / name).unlink()
    else:
        (tmp_path / name).write_bytes((tmp_path / name).read_bytes()[:keep])
    assert said in unfinished_log(tmp_path)
    assert "free space" in unfinished_log(tmp_path)


@pytest.mark.parametrize(
    ("kind", "code"),
    [("ok", 0), ("config", 2), ("interrupted", 130), ("stalled", 1), ("ledger", 1), ("loadgen", 1), ("internal", 1)],
)
def test_exit_codes(kind, code):
    outcome = config_outcome("r", "c")
    assert exit_code(RunOutcome("r", kind, "", outcome.ledger, (), 0.0, 0.0, 0.0, "")) == code


def ok_outcome():
    return RunOutcome("r", "ok", "", config_outcome("r", "").ledger, (), 0.0, 0.0, 0.0, "")


def test_files_of_a_good_run(tmp_path):
    ledger = Ledger(1, first_tokens=False)
    ledger.issue([2**64 - 1], [3], 1)
    write_files(tmp_path, ok_outcome(), ledger)
    assert '"id":"18446744073709551615","index":3,"worker":null' in (tmp_path / "failed_queries.jsonl").read_text()
    assert read_record(tmp_path / "outcome.json", RunOutcome) == ok_outcome()


def test_a_disk_that_is_full_at_the_end_fails_a_good_run(tmp_path, capfd):
    pipe = ProgressPipe.__new__(ProgressPipe)
    reading, pipe._descriptor = os.pipe()
    ledger = Ledger(1, first_tokens=False)
    ledger.issue(range(1000), [0] * 1000, 1)
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, hard))
    try:
        code = finish(tmp_path, ok_outcome(), ledger, pipe)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    os.close(pipe._descriptor)
    with os.fdopen(reading) as told:
        assert '"kind":"internal"' in told.read()
    assert code == 1
    with pytest.raises(StorageError):
        read_record(tmp_path / "outcome.json", RunOutcome)
