"""Scoring an accuracy log: evaluation, accuracy.txt and accuracy.json beside it, and the targets it is held against."""

from dataclasses import dataclass
from pathlib import Path

from compliance.rulebook.model import BenchmarkRules
from compliance.vocabulary import Division
from harness.errors import EvaluationError
from harness.evaluate import Evaluation, TargetRow, compare, default_evaluator, evaluate
from harness.evaluate.report import write_accuracy_json, write_accuracy_text
from harness.storage import sha256_file


@dataclass(frozen=True, slots=True)
class Score:
    """An accuracy run's scores and how they stand to the targets."""

    evaluation: Evaluation
    targets: tuple[TargetRow, ...]

    @property
    def passed(self) -> bool:
        """Whether every target is met."""
        return all(row.passed for row in self.targets)


def score_log(
    log: Path,
    dataset: Path,
    tokenizer: Path,
    rules: BenchmarkRules,
    evaluator: str | None = None,
    nltk_data: Path | None = None,
    division: Division = Division.CLOSED,
    *,
    write: bool = True,
) -> Score:
    """Score a whole accuracy log; `write` leaves accuracy.txt and accuracy.json beside it. Raises EvaluationError."""
    name = evaluator or default_evaluator(rules)
    if name is None:
        raise EvaluationError(f"{rules.name} has graders of its own; name an evaluator, or use the benchmark's script")
    evaluation = evaluate(log, dataset, tokenizer, rules, name, nltk_data, division=division)
    rows = compare(evaluation.scores, rules.accuracy)
    if write:
        digest = sha256_file(log)
        write_accuracy_text(evaluation, log.with_name("accuracy.txt"), digest)
        write_accuracy_json(evaluation, log.with_name("accuracy.json"), digest, rows)
    return Score(evaluation, rows)


def render_scores(score: Score) -> str:
    """One line per target: value, bounds, and whether it passes."""
    lines = [f"{score.evaluation.samples} samples, {score.evaluation.output_tokens} tokens"]
    for row in score.targets:
        value = "not measured" if row.value is None else f"{row.value:.4f}"
        bounds = [f">= {row.minimum:.4f}"] if row.minimum is not None else []
        bounds += [f"<= {row.maximum:.4f}"] if row.maximum is not None else []
        lines.append(f"{row.metric:<20}{value:>14}  {' and '.join(bounds):<34}{'pass' if row.passed else 'FAIL'}")
    return "\n".join(lines) + "\n"
