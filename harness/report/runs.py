"""A campaign's run folders, read: records, samples, scores, specifications. Whatever cannot be read is a problem."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import msgspec
import numpy as np
import numpy.typing as npt

from compliance.errors import ComplianceError
from compliance.logs.accuracy_txt import read_accuracy_text
from compliance.logs.detail import DetailLog, read_detail
from compliance.logs.verdicts import VerifyText, read_verify
from harness.core.spec import RunSpec
from harness.run.record import SAMPLES_DTYPE, RunRecord


@dataclass(frozen=True, slots=True)
class RunFolder:
    """One run with what stands beside its record; None where a file is missing or unreadable."""

    path: Path
    record: RunRecord
    spec: RunSpec | None
    detail: DetailLog | None
    samples: npt.NDArray[np.void] | None
    verify: VerifyText | None


def read_runs(campaign_out: Path, problems: list[str]) -> dict[tuple[str, str], dict[str, RunFolder]]:
    """Every run by (benchmark, scenario) and step, from `<out>/runs/<benchmark>/<scenario>/<step>/run.json`."""
    found: dict[tuple[str, str], dict[str, RunFolder]] = {}
    for path in sorted((campaign_out / "runs").glob("*/*/*/run.json")):
        try:
            record = msgspec.json.decode(path.read_bytes(), type=RunRecord)
        except (OSError, msgspec.MsgspecError) as error:
            problems.append(f"{_short(path.parent)}: run.json cannot be read ({error}); run the step again")
            continue
        found.setdefault((record.benchmark, record.scenario), {})[record.step] = RunFolder(
            path=path.parent,
            record=record,
            spec=_spec(path.parent / "spec.json"),
            detail=_detail(path.parent / "mlperf_log_detail.txt"),
            samples=_samples(path.parent / "samples.npy", problems),
            verify=_verify(path.parent / "verify_accuracy.txt"),
        )
    return found


def _short(folder: Path) -> str:
    """A run folder as a reader knows it: benchmark/scenario/step."""
    return "/".join(folder.parts[-3:])


def _spec(path: Path) -> RunSpec | None:
    try:
        return msgspec.json.decode(path.read_bytes(), type=RunSpec)
    except (OSError, msgspec.MsgspecError):
        return None


def _detail(path: Path) -> DetailLog | None:
    try:
        return read_detail(path)
    except ComplianceError:
        return None


def _verify(path: Path) -> VerifyText | None:
    try:
        return read_verify(path)
    except ComplianceError:
        return None


def _samples(path: Path, problems: list[str]) -> npt.NDArray[np.void] | None:
    if not path.is_file():
        return None
    try:
        array: npt.NDArray[np.void] = np.load(path, allow_pickle=False, mmap_mode="r")
    except (OSError, ValueError, EOFError) as error:
        problems.append(f"{_short(path.parent)}: samples.npy cannot be read ({error}); its figures are missing")
        return None
    if array.dtype != SAMPLES_DTYPE or array.ndim != 1:
        problems.append(f"{_short(path.parent)}: samples.npy is of another form; its figures are missing")
        return None
    return array


def read_scores(folder: Path) -> dict[str, float]:
    """The scores of an accuracy run by metric: accuracy.json's, else those of accuracy.txt; empty without either."""
    try:
        document = json.loads((folder / "accuracy.json").read_text(encoding="utf-8"))
        scores = document["scores"]
        return {str(name): float(value) for name, value in scores.items()}
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        pass
    try:
        text = read_accuracy_text(folder / "accuracy.txt")
    except ComplianceError:
        return {}
    return {metric: scores[-1].value for metric, scores in text.scores.items() if scores}


def read_campaign(campaign_out: Path) -> Mapping[str, str]:
    """The scalars of `<out>/campaign.yaml` as text: round, division, submitter, system, benchmark; empty without it."""
    import yaml  # noqa: PLC0415 - only here, and `weighbridge --help` must not wait for it

    try:
        document = yaml.safe_load((campaign_out / "campaign.yaml").read_text(encoding="utf-8"))
    except (OSError, ValueError, yaml.YAMLError):
        return {}
    if not isinstance(document, dict):
        return {}
    return {str(key): str(value) for key, value in document.items() if isinstance(value, str | int | float)}
