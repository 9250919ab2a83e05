"""Metric names: as the rules have them (ROUGE1) and as accuracy.txt prints them (rouge1), with their fixed formats."""

from collections.abc import Iterable, Mapping

ROUGE1, ROUGE2, ROUGEL, ROUGELSUM = "ROUGE1", "ROUGE2", "ROUGEL", "ROUGELSUM"
GEN_LEN, TOKENS_PER_SAMPLE, EXACT_MATCH = "GEN_LEN", "TOKENS_PER_SAMPLE", "exact_match"

# In the order in which the reference scripts print them.
PRINTED_KEYS: Mapping[str, str] = {
    ROUGE1: "rouge1",
    ROUGE2: "rouge2",
    ROUGEL: "rougeL",
    ROUGELSUM: "rougeLsum",
    EXACT_MATCH: "exact_match",
    GEN_LEN: "gen_len",
    TOKENS_PER_SAMPLE: "tokens_per_sample",
}
RULE_NAMES: Mapping[str, str] = {key: metric for metric, key in PRINTED_KEYS.items()}
ROUGE_METRICS = frozenset({ROUGE1, ROUGE2, ROUGEL, ROUGELSUM})
COUNT_METRICS = frozenset({GEN_LEN, TOKENS_PER_SAMPLE})

DECIMALS: Mapping[str, int] = {GEN_LEN: 0, TOKENS_PER_SAMPLE: 1}
SCORE_DECIMALS = 4


def in_printed_order(metrics: Iterable[str]) -> tuple[str, ...]:
    """The metrics in the order of the reference scripts."""
    wanted = set(metrics)
    return tuple(metric for metric in PRINTED_KEYS if metric in wanted)


def fixed(metric: str, value: float) -> str:
    """The value in the metric's fixed format: never an exponent, never a NumPy repr, which no checker reads."""
    # Adding zero takes the sign from -0.0, which the patterns would not read.
    return f"{float(value) + 0.0:.{DECIMALS.get(metric, SCORE_DECIMALS)}f}"
