"""How a test ended, and the files that say so: outcome.json, failed_queries.jsonl, samples.npy."""

import contextlib
import io
import os
import re
import sys
from dataclasses import replace
from pathlib import Path

import msgspec
import numpy as np

from harness.core.ledger import Ledger
from harness.core.progress import ProgressPipe
from harness.core.spec import LedgerTotals, RunOutcome
from harness.storage import write_atomic, write_record

OUTCOME_NAME = "outcome.json"
FAILED_NAME = "failed_queries.jsonl"
SAMPLES_NAME = "samples.npy"
LOG_NAMES = tuple(f"mlperf_log_{name}" for name in ("detail.txt", "summary.txt", "accuracy.json", "trace.json"))

NO_LEDGER = LedgerTotals(0, 0, 0, 0, 0, 0, 0, 0, 0)
_EXIT_CODES = {"ok": 0, "config": 2, "interrupted": 130}
_TAIL_BYTES = 65536
# The last record of a performance test, and of an accuracy test.
_END_MARK = re.compile(rb'"key": "(num_errors|power_end)"[^\n]*\}\}\n\Z')


def exit_code(outcome: RunOutcome) -> int:
    """0 ok, 2 wrong configuration, 130 interrupted, 1 anything else."""
    return _EXIT_CODES.get(outcome.kind, 1)


def config_outcome(run_id: str, cause: str, loadgen_version: str = "") -> RunOutcome:
    """The outcome of a test that was refused before it began."""
    return RunOutcome(run_id, "config", cause, NO_LEDGER, (), 0.0, 0.0, 0.0, loadgen_version)


def broken_ledger(totals: LedgerTotals, *, first_tokens: bool) -> str:
    """Why a ledger does not reconcile, empty when it does."""
    faults = [
        f"{count} {name}"
        for name, count in (
            ("duplicates", totals.duplicates),
            ("unknown ids", totals.unknown),
            ("violations", totals.violations),
            ("failed samples", totals.failed),
            ("missing answers", totals.missing),
        )
        if count
    ]
    if first_tokens and totals.first_tokens != totals.issued:
        faults.append(f"{totals.first_tokens} first tokens for {totals.issued} samples")
    if not totals.issued:
        faults.append("LoadGen issued no sample")
    return f"the ledger does not reconcile: {', '.join(faults)}" if faults else ""


def unfinished_log(folder: Path) -> str:
    """Why LoadGen's logs are not whole, empty when they are. LoadGen itself does not tell of a full disk (F21)."""
    for name in LOG_NAMES[:2]:
        path = folder / name
        if not path.is_file():
            return f"LoadGen wrote no {name}; free space in {folder} and make the run again"
    if not _END_MARK.search(_tail(folder / LOG_NAMES[0])):
        return f"{LOG_NAMES[0]} has no end mark: it was cut; free space in {folder} and make the run again"
    accuracy = folder / LOG_NAMES[2]
    if not accuracy.is_file() or not _tail(accuracy).rstrip().endswith(b"]"):
        return f"{LOG_NAMES[2]} has no end: it was cut; free space in {folder} and make the run again"
    return ""


def write_files(folder: Path, outcome: RunOutcome, ledger: Ledger | None) -> None:
    """Writes the three files, outcome.json last: where it is, the others are. Raises StorageError."""
    if ledger is not None:
        lines = b"".join(msgspec.json.encode(sample) + b"\n" for sample in ledger.unanswered())
        write_atomic(folder / FAILED_NAME, lines)
        buffer = io.BytesIO()
        np.save(buffer, ledger.samples(), allow_pickle=False)
        write_atomic(folder / SAMPLES_NAME, buffer.getvalue())
    write_record(folder / OUTCOME_NAME, outcome)


def finish(folder: Path, outcome: RunOutcome, ledger: Ledger | None, pipe: ProgressPipe) -> int:
    """Leaves the outcome on disk and with the runner; returns the exit code. A full disk fails a good run."""
    trace = folder / LOG_NAMES[3]
    try:
        # LoadGen makes the file even when tracing is off.
        if trace.is_file() and not trace.stat().st_size:
            trace.unlink()
        write_files(folder, outcome, ledger)
    except Exception as error:  # noqa: BLE001 whatever it is, the runner must be told
        if outcome.kind == "ok":
            outcome = replace(outcome, kind="internal", cause=str(error))
        say(f"weighbridge: {error}\nweighbridge: {outcome.kind}: {outcome.cause}")
    pipe.outcome(outcome)
    return exit_code(outcome)


def say(text: str) -> None:
    """Writes to the process's log, which may lie on the same full disk."""
    with contextlib.suppress(OSError):
        sys.stderr.write(text + "\n")
        sys.stderr.flush()


def _tail(path: Path) -> bytes:
    with path.open("rb") as file:
        size = file.seek(0, os.SEEK_END)
        file.seek(max(0, size - _TAIL_BYTES))
        return file.read()
