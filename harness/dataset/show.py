"""A dataset folder in words: what it is, how long its prompts are, and how many samples have a reference."""

from pathlib import Path

import numpy as np

from harness.evaluate.references import FILE_NAME, read_references
from sut.dataset import TokenDataset

PERCENTILES = (50, 90, 99)


def describe_dataset(folder: Path) -> str:
    """The text of `weighbridge dataset show`; the hash is computed again.

    Raises BadDataset when the folder is no dataset, EvaluationError when its references cannot be read.
    """
    dataset = TokenDataset.open(folder)
    info, lengths = dataset.info, dataset.lengths()
    # The value that at least that share of the prompts does not exceed, so that it is a length that occurs.
    middle = [f"p{percent} {int(np.percentile(lengths, percent, method='inverted_cdf'))}" for percent in PERCENTILES]
    total = int(lengths.sum(dtype=np.int64))
    rows = (
        ("name", info.name),
        ("samples", str(info.size)),
        ("input tokens", f"min {lengths.min()}, {', '.join(middle)}, max {lengths.max()}, {total} in all"),
        ("sha256", info.sha256),
        ("tokenizer", f"sha256 {info.tokenizer_sha256}" if info.tokenizer_sha256 else "not stated"),
        ("source", info.source or "not stated"),
        ("licence", info.licence or "not stated"),
        ("references", _coverage(folder, info.size)),
    )
    return "".join(f"{name:<14}{value}\n" for name, value in rows)


def _coverage(folder: Path, size: int) -> str:
    if not (folder / FILE_NAME).is_file():
        return "none: accuracy cannot be scored"
    references = read_references(folder)
    texts = sum(bool(row.reference) for row in references)
    answers = sum(bool(row.answer and row.choices) for row in references)
    extra = f", {answers} with an answer and choices" if answers else ""
    wrong = "" if len(references) == size else f"; {len(references)} rows for {size} samples: convert again"
    return f"{texts} of {size} samples with a text{extra}{wrong}"
