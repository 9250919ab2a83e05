"""What follows a good run: an accuracy run is scored, an audit run is verified. Done again only when it must be."""

from dataclasses import dataclass
from pathlib import Path

from compliance.errors import ComplianceError
from compliance.rulebook.model import BenchmarkRules
from harness.campaign.model import Campaign
from harness.errors import HarnessError, StorageError
from harness.evaluate import Evaluation, compare, default_evaluator
from harness.evaluate.metrics import TOKENS_PER_SAMPLE
from harness.evaluate.report import write_accuracy_json, write_accuracy_text
from harness.evaluate.responses import read_responses
from harness.evaluate.targets import TargetRow
from harness.evaluate.token_counts import count_tokens
from harness.plan.audits import verify
from harness.plan.plan import ACCURACY, PlannedRun
from harness.run.record import RunRecord
from harness.run.scoring import score_log
from harness.storage import read_record, sha256_file, write_record

ACCURACY_LOG = "mlperf_log_accuracy.json"
SCORED_NAME = "scored.json"


@dataclass(frozen=True, slots=True)
class Verdict:
    """What was found of a run beyond LoadGen's word: `passed` is None where there is nothing to judge."""

    passed: bool | None
    text: str


@dataclass(frozen=True, slots=True)
class Scored:
    """A verdict that was reached, and what it was reached from."""

    identity: str
    verdict: Verdict


def evaluator_name(campaign: Campaign, rules: BenchmarkRules) -> str | None:
    """Which evaluator scores the campaign: the one it names, else the benchmark's own; None for none."""
    name = default_evaluator(rules) if campaign.evaluator is None else campaign.evaluator
    return None if name == "none" else name


def follow_up(campaign: Campaign, rules: BenchmarkRules, run: PlannedRun, record: RunRecord) -> Verdict:
    """Score or verify the run in its folder. What cannot be read or scored is a failed verdict, no exception.

    A score is kept beside the log while log, evaluator and tokenizer stay the same: scoring takes minutes.
    """
    identity = f"{record.files.get(ACCURACY_LOG)} {evaluator_name(campaign, rules)} {campaign.tokenizer}"
    kept = _kept(run.folder, identity)
    if kept is not None:
        return kept
    verdict = _judged(campaign, rules, run)
    if run.step == ACCURACY and verdict.passed is not False:
        write_record(run.folder / SCORED_NAME, Scored(identity, verdict))
    return verdict


def _kept(folder: Path, identity: str) -> Verdict | None:
    try:
        scored = read_record(folder / SCORED_NAME, Scored)
    except StorageError:
        return None
    there = (folder / "accuracy.txt").is_file()
    return scored.verdict if there and scored.identity == identity else None


def _judged(campaign: Campaign, rules: BenchmarkRules, run: PlannedRun) -> Verdict:
    try:
        if run.audit is not None:
            passed, text = verify(run.audit, run.folder, rules, run.scenario)
            return Verdict(passed, " | ".join(text.strip().splitlines()))
        if run.step == ACCURACY:
            return _score(campaign, rules, run.folder)
    except (HarnessError, ComplianceError) as error:
        return Verdict(passed=False, text=str(error))
    return Verdict(None, "")


def _score(campaign: Campaign, rules: BenchmarkRules, folder: Path) -> Verdict:
    log = folder / ACCURACY_LOG
    name = evaluator_name(campaign, rules)
    if name is None or campaign.tokenizer is None:
        return _count(rules, log, campaign)
    score = score_log(log, campaign.dataset, campaign.tokenizer, rules, name, campaign.nltk_data, campaign.division)
    return Verdict(score.passed, ", ".join(_against(row) for row in score.targets))


def _against(row: TargetRow) -> str:
    """A score beside its target: "ROUGE1 30.0436 (>= 27.0392)", or which bound it misses."""
    if row.value is None:
        return f"{row.metric} not computed"
    value = f"{row.metric} {row.value:.6g}"
    if row.minimum is not None and row.value < row.minimum:
        return f"{value} is BELOW {row.minimum:.6g}"
    if row.maximum is not None and row.value > row.maximum:
        return f"{value} is ABOVE {row.maximum:.6g}"
    bounds = [f"{sign} {bound:.6g}" for sign, bound in ((">=", row.minimum), ("<=", row.maximum)) if bound is not None]
    return f"{value} ({', '.join(bounds)})"


def _count(rules: BenchmarkRules, log: Path, campaign: Campaign) -> Verdict:
    """Without an evaluator only the tokens can be counted: that much stands in accuracy.txt, and nothing else."""
    size = min(rules.accuracy_sample_count, _dataset_size(campaign))
    counts = count_tokens(responses := read_responses(log, size))
    evaluation = Evaluation(
        evaluator="none",
        scores={TOKENS_PER_SAMPLE: counts.tokens_per_sample},
        samples=counts.gen_num,
        output_tokens=counts.gen_tok_len,
        eos_fraction=responses.eos_fraction(frozenset(rules.generation.eos_token_ids)),
    )
    digest = sha256_file(log)
    write_accuracy_text(evaluation, log.with_name("accuracy.txt"), digest)
    write_accuracy_json(evaluation, log.with_name("accuracy.json"), digest, compare(evaluation.scores, ()))
    return Verdict(None, f"not scored, no evaluator: {counts.tokens_per_sample:.1f} tokens per sample")


def _dataset_size(campaign: Campaign) -> int:
    from sut.dataset import TokenDataset  # noqa: PLC0415 - its arrays are of no use here

    return len(TokenDataset.open(campaign.dataset, verify=False))
