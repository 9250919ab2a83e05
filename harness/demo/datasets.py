"""Writing a dataset folder: token ids for the workers (sut.dataset), references beside them for evaluation only."""

import json
from collections.abc import Sequence
from pathlib import Path

from harness.demo.prompts import Encoder, Question
from harness.storage import sha256_file, write_atomic
from sut.dataset import write_dataset

REFERENCES = "references.jsonl"


def write_questions(
    out: Path, name: str, questions: Sequence[Question], encode: Encoder, *, tokenizer: Path, source: str, licence: str
) -> None:
    """A dataset folder with references.jsonl: {index, reference} and, where there is a choice, {answer, choices}."""
    prompts = [encode(question.prompt) for question in questions]
    write_dataset(out, name, prompts, source=source, licence=licence, tokenizer_sha256=sha256_file(tokenizer))
    lines = [json.dumps(_reference(index, question), ensure_ascii=False) for index, question in enumerate(questions)]
    write_atomic(out / REFERENCES, "\n".join(lines) + "\n")


def _reference(index: int, question: Question) -> dict[str, object]:
    line: dict[str, object] = {"index": index, "reference": question.reference}
    if question.choices:
        line |= {"answer": question.reference, "choices": list(question.choices)}
    return line
