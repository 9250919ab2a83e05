"""accuracy.txt in the words that the official checker's patterns read, and accuracy.json for everything else."""

import json
import math
import re
from collections.abc import Sequence
from pathlib import Path

from harness.errors import EvaluationError
from harness.evaluate.base import Evaluation
from harness.evaluate.metrics import PRINTED_KEYS, TOKENS_PER_SAMPLE, fixed, in_printed_order
from harness.evaluate.targets import TargetRow
from harness.storage import write_atomic

SCHEMA_VERSION = 1
_SHA256 = re.compile(r"[0-9a-f]{64}")


def accuracy_text(evaluation: Evaluation, log_sha256: str) -> str:
    """One line with a Python dict of plain numbers, a blank line, and `hash=` with the SHA-256 of the whole log.

    The order is the reference scripts': scores, gen_len, gen_num, gen_tok_len, tokens_per_sample. Raises
    EvaluationError for a score that is no number or below zero, which the checker would misread, and for a bad hash.
    """
    if not _SHA256.fullmatch(log_sha256):
        raise EvaluationError(f"{log_sha256!r} is no SHA-256 of an accuracy log; hash the log before it is truncated")
    for metric, value in evaluation.scores.items():
        if not math.isfinite(value) or value < 0:
            raise EvaluationError(f"{metric} is {float(value)}: no score; the accuracy run's answers are damaged")
    counts = {"gen_num": evaluation.samples, "gen_tok_len": evaluation.output_tokens}
    items = [
        *_items(evaluation, [metric for metric in PRINTED_KEYS if metric != TOKENS_PER_SAMPLE]),
        *(f"'{key}': {int(value)}" for key, value in counts.items()),
        *_items(evaluation, [TOKENS_PER_SAMPLE]),
    ]
    return f"{{{', '.join(items)}}}\n\nhash={log_sha256}\n"


def write_accuracy_text(evaluation: Evaluation, path: Path, log_sha256: str) -> None:
    """Writes accuracy.txt atomically. Raises EvaluationError (see `accuracy_text`) and StorageError."""
    write_atomic(path, accuracy_text(evaluation, log_sha256))


def write_accuracy_json(evaluation: Evaluation, path: Path, log_sha256: str, targets: Sequence[TargetRow] = ()) -> None:
    """Writes the evaluation and its comparison with the targets as JSON, atomically. Raises StorageError."""
    members = {
        "schema_version": SCHEMA_VERSION,
        "evaluator": evaluation.evaluator,
        "scores": {metric: float(evaluation.scores[metric]) for metric in in_printed_order(evaluation.scores)},
        "samples": int(evaluation.samples),
        "output_tokens": int(evaluation.output_tokens),
        "eos_fraction": float(evaluation.eos_fraction),
        "duplicates": int(evaluation.duplicates),
        "accuracy_log_sha256": log_sha256,
        "targets": [
            {
                "metric": row.metric,
                "value": None if row.value is None else float(row.value),
                "minimum": row.minimum,
                "maximum": row.maximum,
                "passed": bool(row.passed),
            }
            for row in targets
        ],
    }
    write_atomic(path, json.dumps(members, indent=2, allow_nan=False) + "\n")


def _items(evaluation: Evaluation, metrics: Sequence[str]) -> list[str]:
    present = [metric for metric in metrics if metric in evaluation.scores]
    return [f"'{PRINTED_KEYS[metric]}': {fixed(metric, evaluation.scores[metric])}" for metric in present]
