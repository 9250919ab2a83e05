"""A small submission tree whose logs are real LoadGen output."""

import json
import shutil
from pathlib import Path

from compliance.rulebook.rounds import load_round
from tests.support.loadgen_run import loadgen_logs

SUBMITTER, SYSTEM, BENCHMARK = "AcmeAI", "1x-demo", "llama2-70b-99.9"
_LOGS = ("mlperf_log_detail.txt", "mlperf_log_summary.txt", "mlperf_log_accuracy.json")
_VERIFY = "First token check pass: True\nEOS check pass: True\nSample length check pass: True\n"


def write_tree(root: Path, division: str = "closed", scenarios: tuple[str, ...] = ("Offline", "Server")) -> Path:
    """Writes the tree and returns the submitter's folder. The runs are far too short: it is read here, not judged."""
    base = root / division / SUBMITTER
    fields = load_round("v6.1").system_fields
    system = dict.fromkeys(fields.required, "N/A") | {
        "division": division,
        "submitter": SUBMITTER,
        "status": "available",
    }
    _put(base / "systems" / f"{SYSTEM}.json", json.dumps(system, indent=2))
    _put(base / "src" / "README.md", "How to run.\n")
    _put(base / "documentation" / "calibration.md", "FP8.\n")
    for scenario in scenarios:
        write_result(base / "results" / SYSTEM / BENCHMARK / scenario, scenario)
    return base


def write_result(folder: Path, scenario: str) -> None:
    """One results folder of Offline or Server."""
    name = scenario.title()
    _put(folder / "user.conf", f"*.{name}.target_qps = 94\n")
    _put(folder / "README.md", "Notes.\n")
    _put(folder / "measurements.json", json.dumps(dict.fromkeys(load_round("v6.1").measurements_fields, "fp8")))
    _copy_logs(loadgen_logs(name, "PerformanceOnly"), folder / "performance" / "run_1")
    _copy_logs(loadgen_logs(name, "AccuracyOnly"), folder / "accuracy")
    _put(folder / "accuracy" / "accuracy.txt", "{'rouge1': 44.4718}\n\nhash=abc\n")
    _put(folder / "TEST06" / "verify_accuracy.txt", _VERIFY)
    _copy_logs(loadgen_logs(name, "AccuracyOnly"), folder / "TEST06" / "accuracy", (_LOGS[2],))


def _copy_logs(source: Path, target: Path, names: tuple[str, ...] = _LOGS) -> None:
    target.mkdir(parents=True, exist_ok=True)
    for name in names:
        shutil.copyfile(source / name, target / name)


def _put(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
