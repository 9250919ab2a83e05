"""Rows to a dataset folder: prompts as token ids for the engines, references beside them for evaluation only."""

import json
import os
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import cast

import numpy as np

from harness.dataset.rows import Row, read_rows
from harness.errors import EvaluationError, StorageError
from harness.evaluate.references import FILE_NAME as REFERENCES
from harness.evaluate.tokenizer import tokenizer_file
from harness.storage import sha256_file, write_atomic
from sut.dataset import write_dataset
from sut.errors import BadDataset

# As the reference implementations name them: llama3.1-8b tok_input and output, llama2-70b tok_input and output,
# deepseek-r1 tok_input and ref_output; the others are the names of Hugging Face, vLLM and evals.
TOKEN_FIELDS = ("tok_input", "input_ids", "tokens", "token_ids", "prompt_token_ids")
REFERENCE_FIELDS = ("output", "reference", "gt_output", "ref_output", "response", "ideal")
MAX_TOKEN_ID = int(np.iinfo(np.int32).max)
OWN_FILES = frozenset({"dataset.json", "tokens.npy", "offsets.npy", REFERENCES})

Encode = Callable[[Sequence[str]], list[list[int]]]


@dataclass(frozen=True, slots=True)
class Conversion:
    """What to convert and how. A field that is None is looked for under the usual names; `text` is used when named."""

    source: Path
    out: Path
    name: str = ""
    tokens: str | None = None
    text: str | None = None
    reference: str | None = None
    tokenizer: Path | None = None
    special_tokens: bool = True
    origin: str = ""
    licence: str = ""
    replace: bool = False


@dataclass(frozen=True, slots=True)
class Converted:
    """What was written: samples, how many of them were tokenized here, how many have a reference, and the fields."""

    samples: int
    tokenized: int
    references: int
    token_field: str | None
    reference_field: str | None


@dataclass(frozen=True, slots=True)
class _Vocabulary:
    """The tokenizer in use: text to token ids, how many ids there are, and the hash that dataset.json keeps."""

    encode: Encode
    size: int
    sha256: str


def convert(asked: Conversion) -> Converted:
    """Write the dataset folder `asked.out`, whole or not at all.

    Raises BadDataset with every row that cannot be converted, or when `out` is in use; StorageError on a full disk.
    """
    _check_target(asked)
    if asked.text is not None and asked.tokenizer is None:
        raise BadDataset(f"text of field {asked.text!r} needs a tokenizer; add --tokenizer tokenizer.json")
    vocabulary = None if asked.tokenizer is None else _vocabulary(asked.tokenizer, special_tokens=asked.special_tokens)
    read = read_rows(asked.source)
    rows = read.rows
    token_field = asked.tokens or _present(rows, TOKEN_FIELDS, list)
    if token_field is None and asked.text is None:
        read.raise_problems(asked.source)
        raise BadDataset(
            f"{asked.source}: no field of token ids among {', '.join(TOKEN_FIELDS)}; the first row has "
            f"{', '.join(rows[0]) or 'no fields'}; name one with --tokens, or text with --text and --tokenizer"
        )
    reference_field = asked.reference or _present(rows, REFERENCE_FIELDS, str)
    prompts, tokenized, problems = _prompts(rows, token_field, asked.text, vocabulary)
    references = []
    for number, row in enumerate(rows, start=1):
        reference, found = _reference(row, number - 1, reference_field)
        references.append(reference)
        problems += [(number, problem) for problem in found]
    read.raise_problems(asked.source, [(read.numbers[number - 1], problem) for number, problem in problems])
    kept = references if any(len(reference) > 1 for reference in references) else []
    _write(asked, prompts, kept, vocabulary)
    return Converted(len(rows), tokenized, len(kept), token_field, reference_field)


def _check_target(asked: Conversion) -> None:
    out = asked.out
    if not out.exists() and not out.is_symlink():
        return
    if not out.is_dir() or out.is_symlink():
        raise BadDataset(f"{out} is no folder; choose another place")
    held = {path.name for path in out.iterdir()}
    if held and not asked.replace:
        raise BadDataset(f"{out} is there already; choose another folder or --replace")
    if held - OWN_FILES:
        raise BadDataset(f"{out} also holds {min(held - OWN_FILES)}, no part of a dataset; choose another folder")


def _present(rows: Sequence[Row], names: Sequence[str], kind: type) -> str | None:
    """The first of the usual names under which any row has a value of that kind."""
    return next((name for name in names if any(isinstance(row.get(name), kind) for row in rows)), None)


def _prompts(
    rows: Sequence[Row], token_field: str | None, text_field: str | None, vocabulary: _Vocabulary | None
) -> tuple[list[list[int]], int, list[tuple[int, str]]]:
    """Every row's prompt, how many were tokenized here, and the problems by row number."""
    prompts: list[list[int]] = []
    texts: dict[int, str] = {}
    problems: list[tuple[int, str]] = []
    for number, row in enumerate(rows, start=1):
        prompts.append([])
        ids = None if token_field is None else row.get(token_field)
        text = None if text_field is None else row.get(text_field)
        if ids is None and isinstance(text, str) and text:
            texts[number - 1] = text
        elif ids is None:
            wanted = " and ".join(repr(field) for field in (token_field, text_field) if field)
            problems.append((number, f"has neither token ids nor text; looked in {wanted}"))
        elif problem := _wrong_ids(ids, vocabulary):
            problems.append((number, f"{token_field}: {problem}"))
        else:
            prompts[-1] = cast("list[int]", ids)
    if texts and vocabulary is not None:
        for index, encoded in zip(texts, vocabulary.encode(tuple(texts.values())), strict=True):
            prompts[index] = encoded
            if not encoded:
                problems.append((index + 1, f"{text_field}: the tokenizer makes no tokens of this text"))
    return prompts, len(texts), problems


def _wrong_ids(ids: object, vocabulary: _Vocabulary | None) -> str | None:
    """Why this is no prompt, None when it is one."""
    if not isinstance(ids, list):
        return f"is a {type(ids).__name__}, not a list of token ids"
    if not ids:
        return "the prompt is empty"
    for place, token in enumerate(ids):
        if problem := _wrong_id(token):
            return f"{token!r} at place {place} {problem}"
    if vocabulary is not None and max(ids) >= vocabulary.size:
        return f"{max(ids)} is no token of the tokenizer, whose ids end at {vocabulary.size - 1}"
    return None


def _wrong_id(token: object) -> str | None:
    if type(token) is not int:  # a bool is an int to isinstance
        return "is no integer"
    if token < 0:
        return "is negative"
    return f"is above the largest int32, {MAX_TOKEN_ID}" if token > MAX_TOKEN_ID else None


def _reference(row: Row, index: int, field: str | None) -> tuple[dict[str, object], list[str]]:
    """The line of references.jsonl (harness.evaluate.references.Reference), and what is wrong with the row."""
    line: dict[str, object] = {"index": index}
    problems = []
    if field is not None:
        line["reference"] = row.get(field)
        if not isinstance(row.get(field), str):
            problems.append(f"{field}: no reference text")
    answer, choices = row.get("answer"), row.get("choices")
    if isinstance(answer, str):
        line["answer"] = answer
    if choices is None:
        return line, problems
    line["choices"] = choices
    if not isinstance(choices, list) or not all(isinstance(choice, str) for choice in choices):
        problems.append("choices: no list of texts")
    elif answer not in choices:
        problems.append(f"answer: {answer!r} is none of the row's choices")
    return line, problems


def _vocabulary(path: Path, *, special_tokens: bool) -> _Vocabulary:
    try:
        file = tokenizer_file(path)
    except EvaluationError as error:
        raise BadDataset(str(error).replace("`tokenizer`", "--tokenizer")) from None
    try:
        from tokenizers import Tokenizer  # noqa: PLC0415 - an optional dependency, only text needs it
    except ImportError as error:
        raise BadDataset(f"tokenizers cannot be imported ({error}); pip install 'weighbridge[accuracy]'") from error
    try:
        tokenizer = Tokenizer.from_file(str(file))
    except Exception as error:  # the library raises bare Exception
        raise BadDataset(f"{file}: no tokenizer ({error}); copy the model's tokenizer.json anew") from error
    # A tokenizer.json may ask to pad or cut for training; a prompt is neither.
    tokenizer.no_padding()
    tokenizer.no_truncation()

    def encode(texts: Sequence[str]) -> list[list[int]]:
        return [one.ids for one in tokenizer.encode_batch(list(texts), add_special_tokens=special_tokens)]

    return _Vocabulary(encode, max(tokenizer.get_vocab(with_added_tokens=True).values()) + 1, sha256_file(file))


def _write(
    asked: Conversion, prompts: list[list[int]], references: list[dict[str, object]], vocabulary: _Vocabulary | None
) -> None:
    """A folder beside `out`, filled and then renamed: `out` is never half a dataset."""
    try:
        asked.out.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=asked.out.parent, prefix=f".{asked.out.name}.") as work:
            new, old = Path(work) / "new", Path(work) / "old"
            write_dataset(
                new,
                asked.name or asked.out.resolve().name,
                prompts,
                source=asked.origin or f"{asked.source.name}, sha256 {sha256_file(asked.source)}",
                licence=asked.licence or "not stated",
                tokenizer_sha256="" if vocabulary is None else vocabulary.sha256,
            )
            if references:
                lines = [json.dumps(line, ensure_ascii=False) for line in references]
                write_atomic(new / REFERENCES, "\n".join(lines) + "\n")
            _exchange(new, asked.out, old)
    except OSError as error:
        reason = error.strerror or os.strerror(error.errno or 0)
        raise StorageError(f"{asked.out} cannot be written: {reason}; choose another folder") from error


def _exchange(new: Path, out: Path, old: Path) -> None:
    """Put `new` where `out` is. What was there goes to `old`, and comes back when the new one cannot be put there."""
    if not out.exists():
        new.rename(out)
        return
    out.rename(old)
    try:
        new.rename(out)
    except BaseException:
        old.rename(out)
        raise
