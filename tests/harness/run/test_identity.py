import pytest

from harness.cli import main
from harness.core.spec import LoadgenSettings, RunSpec
from harness.errors import UsageError
from harness.run.identity import require_audit_run
from harness.storage import write_record
from tests.support.campaign_folder import detail_text, record

AUDIT_RUN = ("smollm2-135m", "Offline", "TEST06")


@pytest.mark.parametrize(
    ("held", "words"),
    [
        (("smollm2-135m", "Offline", "performance"), "step performance, not TEST06"),
        (("smollm2-135m", "Server", "TEST06"), "scenario Server, not Offline"),
        (("llama2-70b-99", "Offline", "TEST06"), "benchmark llama2-70b-99, not smollm2-135m"),
    ],
)
def test_another_run_is_refused_and_nothing_is_written(tmp_path, capsys, held, words):
    write_record(tmp_path / "run.json", record(*held, {}))
    (tmp_path / "mlperf_log_accuracy.json").write_text("[\n]\n")
    options = ("--benchmark", "smollm2-135m", "--scenario", "Offline", "--round", "demo")
    assert main(["audit", str(tmp_path), *options]) == 2
    assert words in capsys.readouterr().err
    assert not (tmp_path / "verify_accuracy.txt").exists()


def test_the_run_that_was_asked_for_is_taken(tmp_path):
    require_audit_run(tmp_path, *AUDIT_RUN)
    write_record(tmp_path / "run.json", record(*AUDIT_RUN, {}))
    require_audit_run(tmp_path, *AUDIT_RUN)


@pytest.mark.parametrize(
    ("scenario", "audit_conf", "asked", "fine"),
    [
        ("Offline", "x", "Offline", True),
        ("Server", "x", "Interactive", True),
        ("Server", "x", "Offline", False),
        ("Offline", None, "Offline", False),
    ],
)
def test_without_a_record_the_spec_tells(tmp_path, scenario, audit_conf, asked, fine):
    settings = LoadgenSettings("m", scenario, "PerformanceOnly", "", audit_conf, 1, 1)
    write_record(tmp_path / "spec.json", RunSpec("r", "f", 1, settings, False, "e", (), "l", "p", 1))
    if fine:
        require_audit_run(tmp_path, "any", asked, "TEST06")
        return
    with pytest.raises(UsageError, match="Give the folder"):
        require_audit_run(tmp_path, "any", asked, "TEST06")


def test_without_either_the_detail_log_tells(tmp_path):
    (tmp_path / "mlperf_log_detail.txt").write_text(detail_text({"effective_scenario": "Server"}))
    require_audit_run(tmp_path, "any", "Server", "TEST06")
    with pytest.raises(UsageError, match="scenario Server, not Offline"):
        require_audit_run(tmp_path, "any", "Offline", "TEST06")
    with pytest.raises(UsageError, match="no such folder"):
        require_audit_run(tmp_path / "absent", "any", "Server", "TEST06")
