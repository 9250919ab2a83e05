"""The dataset of `demo --full`: as many samples as deepseek-r1 has, for official counts and durations.

Short two-choice questions (at most 64 tokens with the chat markers) keep an official-length run within about an hour on
a CPU: the open division allows another model and another dataset of the same size. Only sets that the data package's
licence file does not list under another licence are used.
"""

from collections.abc import Iterable
from pathlib import Path

from harness.demo.fetch import AssetError
from harness.demo.prompts import Encoder, Question, Row, chat, read_rows

FULL_SAMPLES = 4388
"""Samples of the deepseek-r1 dataset (submission_checker constants.py:187)."""
MAX_PROMPT_TOKENS = 64
LETTERS = ("A", "B")
_SETS = "evals/registry/data"
QUARTZ = f"{_SETS}/quartz/samples.jsonl"
HEAVIER = f"{_SETS}/which_is_heavier/which_is_heavier.jsonl"
FOOD = f"{_SETS}/food/samples.jsonl"
INSTRUCTION = "Answer A or B."
_YES_NO = {"Yes": "A", "No": "B"}


def full_questions(wheel: Path, encode: Encoder) -> list[Question]:
    """Exactly 4388 distinct questions of at most 64 tokens, quartz first. Raises AssetError when fewer fit."""
    rows = [*map(lettered, read_rows(wheel, QUARTZ))]
    for member in (HEAVIER, FOOD):
        rows += map(yes_or_no, read_rows(wheel, member))
    return choose(rows, encode, FULL_SAMPLES)


def lettered(row: Row) -> Question:
    """A question whose text already lists its choices A and B."""
    body = "\n".join(line.strip() for line in row.text.strip().splitlines() if line.strip())
    return Question(chat(f"{body}\n{INSTRUCTION}"), row.ideal, LETTERS)


def yes_or_no(row: Row) -> Question:
    """A yes-or-no question, as a choice between A and B. Raises AssetError for another answer."""
    if row.ideal not in _YES_NO:
        raise AssetError(f"{row.ideal!r} is neither Yes nor No: use the package the demo pins")
    body = row.text.strip().removesuffix("Answer Yes or No").strip()
    return Question(chat(f"{body}\nA: Yes\nB: No\n{INSTRUCTION}"), _YES_NO[row.ideal], LETTERS)


def choose(questions: Iterable[Question], encode: Encoder, count: int) -> list[Question]:
    """The first `count` questions that fit and whose prompt did not occur before. Raises AssetError when fewer do."""
    chosen: dict[str, Question] = {}
    for question in questions:
        if len(chosen) == count:
            break
        if question.prompt not in chosen and len(encode(question.prompt)) <= MAX_PROMPT_TOKENS:
            chosen[question.prompt] = question
    if len(chosen) < count:
        raise AssetError(f"only {len(chosen)} questions fit, {count} are needed: use the pinned package and tokenizer")
    return list(chosen.values())
