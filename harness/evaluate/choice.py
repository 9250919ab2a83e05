"""Exact match of a chosen answer: a letter or a word out of the choices that a question offers."""

import re
from collections.abc import Sequence

from harness.errors import EvaluationError
from harness.evaluate.metrics import SCORE_DECIMALS
from harness.evaluate.references import Reference

_MARKER = re.compile(r"\banswer\b", re.IGNORECASE)


def chosen(text: str, choices: Sequence[str]) -> str | None:
    """The choice that the text makes, None when it makes none.

    The first choice after the last word "answer", or else the first of the whole text. A choice counts as a whole word;
    single letters as they are written ("a" is no "A"), longer ones in any case; the longest of several at one place.
    """
    markers = list(_MARKER.finditer(text))
    tail = text[markers[-1].end() :] if markers else text
    return _first(tail, choices) or (_first(text, choices) if markers else None)


def exact_match(texts: Sequence[str], references: Sequence[Reference]) -> float:
    """The percentage of answers that make the right choice, rounded to four decimals.

    Raises EvaluationError where a reference row has no answer, no choices, or an answer that is none of them.
    """
    bad = [row.index for row in references if row.answer not in row.choices]
    if bad:
        raise EvaluationError(
            f"{len(bad)} reference rows, index {bad[0]} first, have no `answer` that is one of their `choices`; "
            "evaluator `choice` needs both: convert the data set with them or name another evaluator"
        )
    right = sum(chosen(text, row.choices) == row.answer for text, row in zip(texts, references, strict=True))
    return round(100 * right / len(references), SCORE_DECIMALS)


def _first(text: str, choices: Sequence[str]) -> str | None:
    places = [(match.start(), -len(choice), choice) for choice in choices if (match := _pattern(choice).search(text))]
    return min(places)[2] if places else None


def _pattern(choice: str) -> re.Pattern[str]:
    flags = re.NOFLAG if len(choice) == 1 else re.IGNORECASE
    return re.compile(rf"(?<!\w){re.escape(choice)}(?!\w)", flags)
