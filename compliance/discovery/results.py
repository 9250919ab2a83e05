"""One results folder into one record: its logs, its documents and its audits."""

from collections.abc import Mapping
from dataclasses import dataclass

from compliance.discovery.endpoints import find_endpoints
from compliance.discovery.files import Reading, Tree, fill
from compliance.discovery.power import find_power
from compliance.logs.accuracy import AccuracyLog, read_accuracy
from compliance.logs.accuracy_txt import AccuracyText, read_accuracy_text
from compliance.logs.detail import read_checked
from compliance.logs.documents import Document, read_document
from compliance.logs.summary import read_summary
from compliance.logs.user_conf import load_conf
from compliance.logs.verdicts import VerifyText, read_verify
from compliance.records import AuditRun, Result, RunLogs
from compliance.rulebook.model import Layout, Round
from compliance.vocabulary import AuditId, Division, Scenario

DETAIL, SUMMARY, ACCURACY_LOG = "mlperf_log_detail.txt", "mlperf_log_summary.txt", "mlperf_log_accuracy.json"
ACCURACY_TEXT = "accuracy.txt"
_AUDIT_ACCURACY_TEXTS = ("accuracy.txt", "baseline_accuracy.txt", "compliance_accuracy.txt")
_AUDIT_RUN = "performance/run_1"
_AUDIT_ACCURACY = "accuracy"
_ONLINE = "online"
"""What the folder of an endpoints run in the Server scenario may be called (loader.py:503)."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where a results folder stands: the values of the layout's placeholders."""

    division: Division
    submitter: str
    system: str
    benchmark: str
    scenario: str

    @property
    def names(self) -> Mapping[str, str]:
        """The placeholders of the layout's templates and their values."""
        return {
            "division": self.division.value,
            "submitter": self.submitter,
            "system": self.system,
            "benchmark": self.benchmark,
            "scenario": self.scenario,
        }


def find_result(
    tree: Tree, round_: Round, place: Place, rules_benchmark: str | None, siblings: tuple[str, ...]
) -> Result:
    """Reads one results folder. What cannot be read is None in its field and stands in `unreadable`."""
    layout, names = round_.layout, place.names
    reading = Reading(tree)
    benchmark = round_.benchmarks.get(rules_benchmark) if rules_benchmark else None
    performance_dir, accuracy_dir = fill(layout.performance_dir, names), fill(layout.accuracy_dir, names)
    measurements_path = _measurements(tree, layout, place)
    user_conf_path = fill(layout.user_conf, names)
    path = fill(layout.scenario_dir, names)
    performance = _run_logs(reading, performance_dir, layout.required_performance_files)
    accuracy = _run_logs(reading, accuracy_dir, layout.required_accuracy_files)
    # Endpoints files count only where both detail logs are absent (loader.py:469).
    loadgen = DETAIL in performance.files or DETAIL in accuracy.files
    endpoints = None if loadgen else find_endpoints(reading, path)
    online = endpoints is not None and place.scenario.lower() == _ONLINE
    return Result(
        path=path,
        division=place.division,
        submitter=place.submitter,
        system=place.system,
        benchmark=place.benchmark,
        rules_benchmark=rules_benchmark,
        scenario_dir=place.scenario,
        scenario=Scenario.SERVER if online else scenario_named(place.scenario),
        performance=performance,
        accuracy=accuracy,
        accuracy_text=reading.take(f"{accuracy_dir}/{ACCURACY_TEXT}", read_accuracy_text),
        measurements=_document(reading, measurements_path),
        user_conf_bytes=tree.size(user_conf_path),
        readme_bytes=tree.size(fill(layout.readme, names)),
        audits=_audits(reading, layout, names),
        siblings=siblings,
        user_conf=reading.take(user_conf_path, load_conf, required=False),
        sample_outputs=tree.files(f"{accuracy_dir}/{benchmark.accuracy_files.folder}")
        if benchmark and benchmark.accuracy_files
        else (),
        endpoints=endpoints,
        power=find_power(reading, performance_dir, measurements_path, performance.detail),
        unreadable=reading.unreadable,  # last: the lines above read
    )


def scenario_named(name: str) -> Scenario | None:
    """The scenario of a folder's name in any case, None when it is none."""
    return next((scenario for scenario in Scenario if scenario.value.lower() == name.lower()), None)


def _document(reading: Reading, path: str) -> Document | None:
    return reading.take(path, read_document)


def _measurements(tree: Tree, layout: Layout, place: Place) -> str:
    """The measurements file. A template with {file} takes the first JSON file that begins with the system's name."""
    path = fill(layout.measurements, place.names)
    if "{file}" not in path:
        return path
    names = tree.files(path.rpartition("/")[0])
    found = [name for name in names if name.startswith(place.system) and name.endswith(".json")]
    return path.replace("{file}", found[0] if found else f"{place.system}.json")


def _run_logs(reading: Reading, folder: str, required: tuple[str, ...]) -> RunLogs:
    """LoadGen's files of one test; those not in `required` are read when they are there."""
    return RunLogs(
        folder=folder,
        files=reading.tree.files(folder),
        detail=reading.take(f"{folder}/{DETAIL}", read_checked, required=DETAIL in required),
        summary=reading.take(f"{folder}/{SUMMARY}", read_summary, required=SUMMARY in required),
        accuracy=reading.take(f"{folder}/{ACCURACY_LOG}", read_accuracy, required=ACCURACY_LOG in required),
    )


def _audits(reading: Reading, layout: Layout, names: Mapping[str, str]) -> Mapping[AuditId, AuditRun]:
    """The TESTxx folders that are there."""
    found: dict[AuditId, AuditRun] = {}
    for audit in AuditId:
        folder = fill(layout.audit_dir, {**names, "audit": audit.value})
        if reading.tree.kind(folder) == "dir":
            found[audit] = _audit_run(reading, audit, folder, layout.audit_files.get(audit, ()))
    return found


def _audit_run(reading: Reading, audit: AuditId, folder: str, required: tuple[str, ...]) -> AuditRun:
    def verify(name: str) -> VerifyText | None:
        return reading.take(f"{folder}/{name}", read_verify, required=name in required)

    run_prefix, accuracy_dir = f"{_AUDIT_RUN}/", f"{folder}/{_AUDIT_ACCURACY}"
    run_files = tuple(name.removeprefix(run_prefix) for name in required if name.startswith(run_prefix))
    log_name = f"{_AUDIT_ACCURACY}/{ACCURACY_LOG}"
    accuracy: AccuracyLog | None = reading.take(f"{folder}/{log_name}", read_accuracy, required=log_name in required)
    texts: dict[str, AccuracyText] = {}
    for name in _AUDIT_ACCURACY_TEXTS:
        text = reading.take(f"{accuracy_dir}/{name}", read_accuracy_text, required=False)
        if text is not None:
            texts[name] = text
    return AuditRun(
        audit=audit,
        folder=folder,
        run=_run_logs(reading, f"{folder}/{_AUDIT_RUN}", run_files),
        accuracy=accuracy,
        verify_accuracy=verify("verify_accuracy.txt"),
        verify_output_len=verify("verify_output_len.txt"),
        verify_performance=verify("verify_performance.txt"),
        accuracy_files=reading.tree.files(accuracy_dir),
        accuracy_texts=texts,
        files=reading.tree.files(folder),
    )
