"""A tokenizer made here, a data set folder, and accuracy logs as LoadGen writes them."""

import json
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pytest

from harness.storage import sha256_file
from sut.dataset import write_dataset

tokenizers = pytest.importorskip("tokenizers", reason="needs the extra `accuracy` (tokenizers)")

EOS = 0
WORDS = [
    "<eos>",
    "<unk>",
    "the",
    "cat",
    "cats",
    "sat",
    "on",
    "mat",
    "dog",
    "ran",
    ".",
    "answer",
    "is",
    "A",
    "B",
    "n't",
    "do",
]

Entry = tuple[int, Sequence[int]]
WriteLog = Callable[[Sequence[Entry]], Path]


def ids(text: str, *, eos: bool = True) -> list[int]:
    """The token ids of a text of known words."""
    return [WORDS.index(word) for word in text.split()] + ([EOS] if eos else [])


def hex_of(tokens: Sequence[int]) -> str:
    return np.asarray(tokens, dtype="<i4").tobytes().hex().upper()


@pytest.fixture
def tokenizer(tmp_path: Path) -> Path:
    from tokenizers import AddedToken, Tokenizer, models, pre_tokenizers

    vocabulary = {word: number for number, word in enumerate(WORDS)}
    made = Tokenizer(models.WordLevel(vocabulary, unk_token=WORDS[1]))
    made.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    made.add_special_tokens([AddedToken("<eos>", special=True)])
    folder = tmp_path / "model"
    folder.mkdir()
    made.save(str(folder / "tokenizer.json"))
    return folder / "tokenizer.json"


@pytest.fixture
def write_log(tmp_path: Path) -> WriteLog:
    def write(entries: Sequence[Entry]) -> Path:
        path = tmp_path / "mlperf_log_accuracy.json"
        lines = [
            f'{{ "seq_id" : {number}, "qsl_idx" : {index}, "data" : "{hex_of(tokens)}", "token_count" : {len(tokens)}}}'
            for number, (index, tokens) in enumerate(entries)
        ]
        path.write_text("[\n" + ",\n".join(lines) + "\n]\n", "utf-8")
        return path

    return write


@pytest.fixture
def write_set(tmp_path: Path, tokenizer: Path) -> Callable[[Sequence[dict[str, object]]], Path]:
    """A data set folder whose references are the given rows (without their index)."""

    def write(rows: Sequence[dict[str, object]]) -> Path:
        folder = tmp_path / "set"
        prompts = [[2, 3] for _ in rows]
        write_dataset(
            folder, "tiny", prompts, source="made here", licence="none", tokenizer_sha256=sha256_file(tokenizer)
        )
        lines = [json.dumps({"index": index, **row}) for index, row in enumerate(rows)]
        (folder / "references.jsonl").write_text("\n".join(lines) + "\n", "utf-8")
        return folder

    return write
