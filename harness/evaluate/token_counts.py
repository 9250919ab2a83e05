"""Lengths of answers as the reference scripts report them."""

from collections.abc import Sequence
from dataclasses import dataclass

from harness.evaluate.metrics import DECIMALS, TOKENS_PER_SAMPLE
from harness.evaluate.responses import Responses


@dataclass(frozen=True, slots=True)
class TokenCounts:
    """`gen_num` answers of `gen_tok_len` tokens together; `tokens_per_sample` is rounded to one decimal."""

    gen_num: int
    gen_tok_len: int
    tokens_per_sample: float


def count_tokens(responses: Responses) -> TokenCounts:
    """Counts over every answer, end-of-sequence tokens included where the SUT returned them."""
    samples, tokens = len(responses.tokens), responses.output_tokens
    return TokenCounts(samples, tokens, round(tokens / samples, DECIMALS[TOKENS_PER_SAMPLE]))


def gen_len(prepared_texts: Sequence[str]) -> int:
    """Characters of all answers after sentence splitting: what the reference scripts print as gen_len."""
    return sum(len(text) for text in prepared_texts)
