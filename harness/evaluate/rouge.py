"""ROUGE as the reference scripts compute it: rouge_score with the Porter stemmer, mean F-measure times 100."""

import multiprocessing
import os
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor

import numpy as np

from harness.errors import EvaluationError
from harness.evaluate.metrics import PRINTED_KEYS, SCORE_DECIMALS
from harness.evaluate.sentences import Split

Pair = tuple[str, str]
Progress = Callable[[int, int], None]

CHUNK = 64
# Below this, starting processes costs more than they save.
PARALLEL_FROM = 1024


def prepared(texts: Sequence[str], split: Split | None) -> list[str]:
    """The texts stripped and, with a splitter, with one sentence a line, which is what rougeLsum compares."""
    stripped = [text.strip() for text in texts]
    return stripped if split is None else ["\n".join(split(text)) for text in stripped]


def rouge_scores(
    answers: Sequence[str],
    references: Sequence[str],
    metrics: Sequence[str],
    *,
    processes: int | None = None,
    progress: Progress | None = None,
) -> dict[str, float]:
    """Mean F-measure x 100, rounded to four decimals, by rule name (ROUGE1, ...), over prepared texts.

    `processes` is 1 for small sets and else the number of cores unless given; `progress` gets (done, all) samples.
    Raises EvaluationError when rouge-score is not installed.
    """
    keys = tuple(PRINTED_KEYS[metric] for metric in metrics)
    pairs = list(zip(references, answers, strict=True))
    chunks = [(keys, pairs[start : start + CHUNK]) for start in range(0, len(pairs), CHUNK)]
    if processes is None:
        processes = 1 if len(pairs) < PARALLEL_FROM else os.cpu_count() or 1
    rows: list[tuple[float, ...]] = []
    if processes == 1:
        for chunk in chunks:
            rows += _score_chunk(chunk)
            _tell(progress, len(rows), len(pairs))
    else:
        # Spawned, because the caller may have threads and sockets that a fork would copy.
        with ProcessPoolExecutor(processes, mp_context=multiprocessing.get_context("spawn")) as pool:
            for scored in pool.map(_score_chunk, chunks):
                rows += scored
                _tell(progress, len(rows), len(pairs))
    means = np.asarray(rows, dtype=np.float64).reshape(len(pairs), len(keys)).mean(axis=0)
    return {metric: round(float(mean) * 100, SCORE_DECIMALS) for metric, mean in zip(metrics, means, strict=True)}


def _score_chunk(chunk: tuple[tuple[str, ...], list[Pair]]) -> list[tuple[float, ...]]:
    try:
        from rouge_score.rouge_scorer import RougeScorer  # noqa: PLC0415 - an optional dependency, only accuracy needs it
    except ImportError as error:
        raise EvaluationError(
            f"rouge-score cannot be imported ({error}); pip install 'weighbridge[accuracy]'"
        ) from error
    keys, pairs = chunk
    scorer = RougeScorer(list(keys), use_stemmer=True)
    scored = (scorer.score(reference, answer) for reference, answer in pairs)
    return [tuple(float(scores[key].fmeasure) for key in keys) for scores in scored]


def _tell(progress: Progress | None, done: int, total: int) -> None:
    if progress is not None:
        progress(done, total)
