"""Which run a folder holds, for commands that are given a folder and must not take one run for another."""

from pathlib import Path

from compliance.logs.detail import read_detail
from harness.core.spec import RunSpec
from harness.errors import UsageError
from harness.run.record import RunRecord
from harness.storage import read_record

RUN_NAME, SPEC_NAME, DETAIL_NAME = "run.json", "spec.json", "mlperf_log_detail.txt"


def require_audit_run(folder: Path, benchmark: str, scenario: str, audit: str) -> None:
    """See that `folder` holds that audit's run, as far as its files tell; nothing is written.

    run.json tells all; without it spec.json tells scenario and whether it was an audit, and the detail log the
    scenario. Raises UsageError for another run, StorageError or UnreadableFile for a record that cannot be read.
    """
    if not folder.is_dir():
        raise UsageError(f"{folder}: no such folder; give the folder of the {audit} run")
    held, wanted = _held(folder, scenario), {"benchmark": benchmark, "scenario": scenario, "step": audit}
    differing = [
        f"{name} {held[name]}, not {wanted[name]}" for name in wanted if held.get(name) not in (None, wanted[name])
    ]
    if differing:
        raise UsageError(
            f"{folder}: a run of {'; '.join(differing)}. Give the folder or the options of the {audit} run"
        )


def _held(folder: Path, scenario: str) -> dict[str, str]:
    if (folder / RUN_NAME).is_file():
        record = read_record(folder / RUN_NAME, RunRecord)
        return {"benchmark": record.benchmark, "scenario": record.scenario, "step": record.step}
    if (folder / SPEC_NAME).is_file():
        asked = read_record(folder / SPEC_NAME, RunSpec).loadgen
        step = {} if asked.audit_conf else {"step": asked.mode}
        return {"scenario": _named(asked.scenario, scenario), **step}
    if (folder / DETAIL_NAME).is_file():
        found = read_detail(folder / DETAIL_NAME).value("effective_scenario")
        return {"scenario": _named(found, scenario)} if isinstance(found, str) else {}
    return {}


def _named(loadgen: str, scenario: str) -> str:
    """LoadGen's name of the scenario, as the rules call it: to LoadGen an Interactive test is a Server test."""
    return scenario if (loadgen, scenario) == ("Server", "Interactive") else loadgen
