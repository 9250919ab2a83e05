"""An accuracy log as token ids per sample: one answer for every sample of the data set, or no evaluation."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from compliance.errors import UnreadableFile
from compliance.logs.accuracy import AccuracyEntry, iter_accuracy
from harness.errors import EvaluationError

TOKEN_BYTES = 4
SHOWN = 5

TokenIds = npt.NDArray[np.int32]


@dataclass(frozen=True, slots=True, eq=False)
class Responses:
    """Answers in order of sample index. `duplicates` counts entries left aside because the index had one already."""

    tokens: tuple[TokenIds, ...]
    duplicates: int

    @property
    def output_tokens(self) -> int:
        """Tokens of all answers together."""
        return sum(len(ids) for ids in self.tokens)

    def eos_fraction(self, eos_token_ids: frozenset[int]) -> float:
        """The share of answers that end with an end-of-sequence token; the rest ran into their length limit."""
        ended = sum(len(ids) > 0 and int(ids[-1]) in eos_token_ids for ids in self.tokens)
        return ended / len(self.tokens)


def read_responses(path: Path, samples: int) -> Responses:
    """The answers of a whole accuracy log, the first entry of each sample index kept as the reference scripts do.

    Raises EvaluationError when the log cannot be read, is truncated, is no int32 token ids, names a sample that the
    data set does not have, or lacks an answer.
    """
    found: dict[int, TokenIds] = {}
    duplicates = 0
    try:
        for entry in iter_accuracy(path):
            if entry.qsl_idx in found:
                duplicates += 1
            else:
                found[entry.qsl_idx] = _tokens(path, entry)
    except UnreadableFile as error:
        raise EvaluationError(f"{error}; evaluate the whole log, before it is truncated for submission") from error
    _check_coverage(path, frozenset(found), samples)
    return Responses(tuple(found[index] for index in range(samples)), duplicates)


def _tokens(path: Path, entry: AccuracyEntry) -> TokenIds:
    if len(entry.data) % TOKEN_BYTES:
        raise EvaluationError(
            f"{path}:{entry.line}: {len(entry.data)} response bytes are no int32 token ids; let the SUT answer in int32"
        )
    if entry.token_count and len(entry.data) == 2 * TOKEN_BYTES * entry.token_count:
        raise EvaluationError(f"{path}:{entry.line}: the response holds int64 token ids; let the SUT answer in int32")
    return np.frombuffer(entry.data, dtype="<i4").astype(np.int32, copy=False)


def _check_coverage(path: Path, indices: frozenset[int], samples: int) -> None:
    expected = frozenset(range(samples))
    problems = []
    if missing := sorted(expected - indices):
        problems.append(f"{len(missing)} of {samples} samples have no answer ({_some(missing)})")
    if unknown := sorted(indices - expected):
        problems.append(f"{len(unknown)} answers are for samples that the data set does not have ({_some(unknown)})")
    if problems:
        raise EvaluationError(
            f"{path}: {' and '.join(problems)}; use the data set of the run, and repeat the accuracy run if it was cut"
        )


def _some(indices: list[int]) -> str:
    shown = ", ".join(map(str, indices[:SHOWN]))
    return f"index {shown}{', ...' if len(indices) > SHOWN else ''}"
