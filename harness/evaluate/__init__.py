"""From accuracy log to scores to accuracy.txt."""

from harness.evaluate.base import Evaluation, evaluate
from harness.evaluate.policy import EVALUATORS, default_evaluator, preflight, refusal
from harness.evaluate.report import accuracy_text, write_accuracy_json, write_accuracy_text
from harness.evaluate.targets import TargetRow, compare

__all__ = [
    "EVALUATORS",
    "Evaluation",
    "TargetRow",
    "accuracy_text",
    "compare",
    "default_evaluator",
    "evaluate",
    "preflight",
    "refusal",
    "write_accuracy_json",
    "write_accuracy_text",
]
