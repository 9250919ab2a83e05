"""Token ids to text, as the reference scripts decode: special tokens skipped, spaces tidied where the model says so."""

import json
from collections.abc import Callable, Sequence
from pathlib import Path

from harness.errors import EvaluationError
from harness.evaluate.responses import TokenIds

Decode = Callable[[Sequence[TokenIds]], list[str]]

BATCH = 256
# What transformers' clean_up_tokenization replaces, in its order.
TIDIED = (
    (" .", "."),
    (" ?", "?"),
    (" !", "!"),
    (" ,", ","),
    (" ' ", "'"),
    (" n't", "n't"),
    (" 'm", "'m"),
    (" 's", "'s"),
    (" 've", "'ve"),
    (" 're", "'re"),
)


def tokenizer_file(path: Path) -> Path:
    """The tokenizer.json that `path` names: the file itself or a model folder that holds it. Raises EvaluationError."""
    file = path / "tokenizer.json" if path.is_dir() else path
    if not file.is_file():
        raise EvaluationError(
            f"{file}: missing; name the model's tokenizer.json, or the folder it is in, as `tokenizer`"
        )
    return file


def load_decoder(path: Path) -> Decode:
    """A function from answers to texts, made from the model's tokenizer.json (or the folder it is in).

    Raises EvaluationError when the tokenizers library or the file is missing, or the file is no tokenizer.
    """
    file = tokenizer_file(path)
    try:
        from tokenizers import Tokenizer  # noqa: PLC0415 - an optional dependency, only accuracy needs it
    except ImportError as error:
        raise EvaluationError(
            f"tokenizers cannot be imported ({error}); pip install 'weighbridge[accuracy]'"
        ) from error
    try:
        tokenizer = Tokenizer.from_file(str(file))
    except Exception as error:  # the library raises bare Exception
        raise EvaluationError(f"{file}: no tokenizer ({error}); copy the model's tokenizer.json anew") from error
    tidy = _tidies(file.with_name("tokenizer_config.json"))

    def decode(answers: Sequence[TokenIds]) -> list[str]:
        texts: list[str] = []
        for start in range(0, len(answers), BATCH):
            batch = [ids.tolist() for ids in answers[start : start + BATCH]]
            try:
                texts += tokenizer.decode_batch(batch, skip_special_tokens=True)
            except OverflowError as error:
                raise EvaluationError("an answer holds a negative token id; the SUT's responses are damaged") from error
        return [tidied(text) for text in texts] if tidy else texts

    return decode


def tidied(text: str) -> str:
    """The text without the spaces that some tokenizers put before punctuation and contractions."""
    for old, new in TIDIED:
        text = text.replace(old, new)
    return text


def _tidies(config: Path) -> bool:
    try:
        members = json.loads(config.read_text("utf-8"))
    except (OSError, ValueError):
        return False
    return isinstance(members, dict) and members.get("clean_up_tokenization_spaces") is True
