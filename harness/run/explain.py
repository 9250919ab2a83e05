"""Why LoadGen calls a run INVALID, and what to change in the campaign. For checks see `compliance.explain`."""

import textwrap
from collections.abc import Iterator
from pathlib import Path

from compliance.errors import UnreadableFile
from compliance.logs.detail import DetailLog, read_detail
from harness.errors import StorageError
from harness.plan.prediction import early_stopping_minimum
from harness.run.record import RunRecord
from harness.storage import read_record

WIDTH = 80
NS_PER_MS = 1e6


def explain_run(folder: Path) -> str:
    """Why the run in `folder` is what it is: its record, LoadGen's verdict, and what to change, one thing per line.

    Raises UnreadableFile without a detail log that can be read.
    """
    lines: list[str] = []
    try:
        record = read_record(folder / "run.json", RunRecord)
        lines.append(f"{record.benchmark} {record.scenario} {record.step}: {record.status}. {record.cause}".rstrip())
        lines += [f"{m.key}: asked for {m.expected}, LoadGen shows {m.found}" for m in record.mismatches]
    except StorageError:
        lines.append(f"{folder}: no run.json; told from the detail log alone")
    log = read_detail(folder / "mlperf_log_detail.txt")
    verdict = log.value("result_validity")
    lines.append(f"LoadGen: {verdict if verdict is not None else 'no verdict (an accuracy run, or the run was cut)'}")
    if log.number("effective_accuracy_log_sampling_target"):
        lines.append("an audit run is short, so INVALID is expected of it; its verdict is in verify_accuracy.txt")
    reasons = list(_reasons(log))
    lines += reasons or (["no reason found in the log"] if verdict == "INVALID" else [])
    return "\n".join("\n".join(textwrap.wrap(line, WIDTH, subsequent_indent="  ")) for line in lines)


def first_reason(folder: Path) -> str:
    """Why LoadGen calls the run in `folder` INVALID, in one line; empty when its log does not say or is gone."""
    try:
        return next(_reasons(read_detail(folder / "mlperf_log_detail.txt")), "")
    except UnreadableFile:
        return ""


def _reasons(log: DetailLog) -> Iterator[str]:
    """Each bound that was missed, with what to change; LoadGen's own reason is often empty (F13)."""
    count = log.number("result_query_count") or 0
    if log.value("result_min_duration_met") is False:
        yield from _too_short(log)
    if log.value("result_min_queries_met") is False:
        yield f"too few queries: {count} of {log.value('effective_min_query_count')}; let it run longer"
    if log.value("early_stopping_met") is False:
        yield from _early_stopping(log, int(count))
    for key, name in (
        ("result_first_token_99.00_percentile_latency_ns", "TTFT"),
        ("result_time_per_output_token_99.00_percentile_ns", "TPOT"),
    ):
        limit = log.number(f"requested_server_{name.lower()}_latency")
        found = log.number(key)
        if limit is not None and found is not None and found > limit and log.value("effective_scenario") == "Server":
            yield (
                f"{name} p99 is {found / NS_PER_MS:.0f} ms and the limit {limit / NS_PER_MS:.0f} ms: "
                "lower target_qps, or give the engine smaller batches"
            )
    for record in log.errors[:5]:
        yield f"LoadGen error, line {record.line}: {record.value}"
    if log.error_count > 5:  # noqa: PLR2004 - the five that were shown
        yield f"and {log.error_count - 5} more errors"


def _too_short(log: DetailLog) -> Iterator[str]:
    asked = log.number("effective_min_duration_ms") or 0
    if log.value("effective_scenario") == "Offline":
        qps = log.number("effective_target_qps") or 0
        reached = log.number("result_samples_per_second") or 0
        yield (
            f"too short: all samples were answered within {asked / 1000:g} s, since target_qps was {qps:g} and "
            f"{reached:g} samples/s were reached; set target_qps to {reached:.4g} or more"
        )
    else:
        yield f"too short: less than {asked / 1000:g} s; raise min_query_count or min_duration_s"


def _early_stopping(log: DetailLog, count: int) -> Iterator[str]:
    least = early_stopping_minimum(log.number("effective_target_latency_percentile") or 0.99)
    if count < least:
        yield f"early stopping: {count} queries are too few; raise min_query_count to {least} at least"
    else:
        yield "early stopping: too many queries are over a latency limit for so few queries"
    for key in ("early_stopping_result", "early_stopping_ttft_result", "early_stopping_tpot_result"):
        if text := str(log.value(key) or "").strip():
            yield f"{key}: {' '.join(text.split())}"
