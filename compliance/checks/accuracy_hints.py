"""Why scores are off, as far as the lengths of the answers tell."""

from compliance.checks.facts import amount, benchmark_of, result_of
from compliance.checks.model import Subject
from compliance.logs.accuracy_txt import AccuracyText
from compliance.rulebook.model import AccuracyTarget

_LENGTHS = ("TOKENS_PER_SAMPLE", "GEN_LEN")
# Answers whose mean comes so near the greatest length are cut there, nearly each of them.
_AT_CAP = 0.9


def length_hint(subject: Subject, text: AccuracyText) -> str:
    """What to look at first where answers are longer or shorter than the benchmark's bounds; empty where neither."""
    benchmark = benchmark_of(subject)
    targets = {target.metric: target for target in benchmark.targets(result_of(subject).scenario)}
    for metric in _LENGTHS:
        written = text.written(metric)
        if metric in targets and written:
            hint = _of_mean(written[-1].value, targets[metric], metric, benchmark.generation.max_new_tokens)
            if hint:
                return hint
    return ""


def _of_mean(mean: float, target: AccuracyTarget, metric: str, most_tokens: int) -> str:
    unit = "tokens" if metric == "TOKENS_PER_SAMPLE" else "characters in all"
    if target.maximum is not None and mean > target.maximum:
        said = f"The answers are too long ({amount(mean, unit)})"
        if metric == "TOKENS_PER_SAMPLE" and mean >= _AT_CAP * most_tokens:
            said = f"The answers average {amount(mean)} of at most {most_tokens} tokens: nearly each one hits the cap"
        return (
            f"{said}. Look at EOS, the stop tokens and the chat template first, then at max_new_tokens; repeat the run."
        )
    if target.minimum is not None and mean < target.minimum:
        return (
            f"The answers are too short ({amount(mean, unit)}). Look at max_new_tokens, min_new_tokens and stop tokens"
            " first, then at whether special tokens were left out; repeat the run."
        )
    return ""
