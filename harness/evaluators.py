"""Which evaluator scores a campaign's answers, by the metrics that its benchmark's rules ask for."""

from compliance.rule_types import BenchmarkRules
from harness.campaign.model import Campaign


def choose_evaluator(campaign: Campaign, rules: BenchmarkRules) -> str | None:
    """`rouge`, `choice`, or None where nothing can be scored: the campaign said none."""
    if campaign.evaluator is not None:
        return None if campaign.evaluator == "none" else campaign.evaluator
    metrics = {target.metric for target in rules.accuracy}
    return "rouge" if any(metric.startswith("ROUGE") for metric in metrics) else "choice"
