"""What LoadGen's detail log says of a run: settings in force, errors, metrics, validity."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from compliance.errors import UnreadableFile
from compliance.logs.detail import DetailLog, LogValue, read_detail
from harness.core.spec import LoadgenSettings, RunOutcome
from harness.run.record import SettingMismatch

DETAIL_NAME = "mlperf_log_detail.txt"
_SHOWN_ERRORS = 3
# Settings are printed with six significant digits.
_RELATIVE_TOLERANCE = 1e-5


@dataclass(frozen=True, slots=True)
class Judged:
    """`cause` is why the run cannot count, empty when the log has nothing against it. Other fields as in RunRecord."""

    cause: str
    validity: str | None = None
    invalid_reason: str = ""
    metrics: Mapping[str, float] = field(default_factory=dict)
    effective: Mapping[str, str] = field(default_factory=dict)
    mismatches: tuple[SettingMismatch, ...] = ()


def judge_logs(folder: Path, asked: LoadgenSettings, outcome: RunOutcome) -> Judged:
    """Reads the detail log of a run and compares it with what was asked. A run that failed has no log to speak of."""
    try:
        log = read_detail(folder / DETAIL_NAME)
    except UnreadableFile as error:
        return Judged(cause="" if outcome.kind != "ok" else f"{error}; make the run again")
    mismatches = tuple(
        SettingMismatch(key, str(expected), "absent" if log.record(key) is None else str(log.value(key)))
        for key, expected in asked.expected_effective.items()
        if not _agrees(expected, log.value(key))
    )
    validity = log.value("result_validity")
    return Judged(
        cause=_cause(log, mismatches),
        validity=validity if isinstance(validity, str) else None,
        invalid_reason=str(log.value("result_invalid_reason") or ""),
        metrics=_metrics(log),
        effective={key: str(record.value) for key, record in log.records.items() if key.startswith("effective_")},
        mismatches=mismatches,
    )


def _cause(log: DetailLog, mismatches: tuple[SettingMismatch, ...]) -> str:
    if mismatches:
        shown = "; ".join(f"{item.key} is {item.found}, not {item.expected}" for item in mismatches)
        return f"settings are not in force: {shown}; correct the plan"
    count = log.number("num_errors") or log.error_count
    if count:
        shown = "; ".join(str(record.value) for record in log.errors[:_SHOWN_ERRORS])
        return f"LoadGen logged {count} error(s): {shown}"
    return ""


def _agrees(expected: LogValue, found: LogValue) -> bool:
    if isinstance(expected, bool) or isinstance(found, bool):
        return expected is found or (isinstance(found, bool) and expected in (0, 1) and bool(expected) is found)
    if isinstance(expected, int) and isinstance(found, int):
        return expected == found
    if isinstance(expected, int | float) and isinstance(found, int | float):
        return math.isclose(expected, found, rel_tol=_RELATIVE_TOLERANCE)
    return expected == found


def _metrics(log: DetailLog) -> dict[str, float]:
    """The result_* numbers; a bool is no number."""
    return {
        key: float(value)
        for key in log.records
        if key.startswith(("result_", "early_stopping_latency")) and (value := log.number(key)) is not None
    }
