"""accuracy.txt: the scores as constants.py:1804-1831 reads them, and the hash line."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from compliance.logs.lines import read_text, split_lines


@dataclass(frozen=True, slots=True)
class Score:
    """One metric's value where it stands. `official` says whether the official checker's pattern reads it.

    `text` is the number as the official pattern takes it from the line.
    """

    metric: str
    value: float
    line: int
    official: bool
    text: str = ""


@dataclass(frozen=True, slots=True)
class AccuracyText:
    """All scores by metric in order of appearance, and the last `hash=` line.

    A line whose number the official pattern reads wrongly (`1e-05` as 1) has two scores: the official one and, after
    it, the one that is written there.
    """

    path: Path
    scores: Mapping[str, tuple[Score, ...]]
    hash: str | None
    hash_line: int | None

    def official(self, metric: str) -> tuple[Score, ...]:
        """The scores of a metric that the official checker sees, as it sees them."""
        return tuple(score for score in self.scores.get(metric, ()) if score.official)

    def written(self, metric: str) -> tuple[Score, ...]:
        """The scores of a metric as they are written, one per line, whether the official checker reads them or not."""
        by_line = {score.line: score for score in self.scores.get(metric, ())}
        return tuple(by_line.values())


_NUMBER = r"([\d.]+)"


def _keyed(key: str, *, quoted_value: bool) -> str:
    """The official form of a Python dict's item: `'key': 1.0`, the last one of the line."""
    gap = r"\s+'?" if quoted_value else r"\s"
    return rf".*'{re.escape(key)}':{gap}{_NUMBER}"


_DICT_KEYS = {
    "ROUGE1": ("rouge1", True),
    "ROUGE2": ("rouge2", True),
    "ROUGEL": ("rougeL", True),
    "ROUGELSUM": ("rougeLsum", True),
    "GEN_LEN": ("gen_len", False),
    "TOKENS_PER_SAMPLE": ("tokens_per_sample", False),
    "gsm8k_accuracy": ("gsm8k", False),
    "mbxp_accuracy": ("mbxp", False),
    "exact_match": ("exact_match", False),
    "vbench_score": ("vbench_score", False),
    "CLIP_SCORE": ("CLIP_SCORE", True),
    "FID_SCORE": ("FID_SCORE", True),
    "meanAcc": ("mean-accuracy", True),
}


@dataclass(frozen=True, slots=True)
class _Pattern:
    """The official pattern of a metric. A line without one of `marks` cannot match; `closed`: a } must come after."""

    form: str
    marks: tuple[str, ...]
    closed: bool = False

    def read(self, line: str) -> str | None:
        """The number as the official checker takes it from a line, None where the line holds none."""
        # The line is cut here since `.*}` at the pattern's end takes quadratic time over a long line.
        match = _compiled(self.form).match(line[: max(line.rfind("}"), 0)] if self.closed else line)
        return None if match is None else match[1]


def _of(form: str, *marks: str, closed: bool = False) -> _Pattern:
    return _Pattern(form, marks, closed)


_OFFICIAL: Mapping[str, _Pattern] = {
    **{metric: _Pattern(_keyed(key, quoted_value=quoted), (key,)) for metric, (key, quoted) in _DICT_KEYS.items()},
    "acc": _of(rf'(?:\{{"accuracy|accuracy)[": ]*=?\s*{_NUMBER}', "accuracy"),
    "E2E_ACCURACY": _of(rf"Accuracy:\s*{_NUMBER}", "Accuracy:"),
    "AUC": _of(rf"AUC={_NUMBER}", "AUC="),
    "DLRM_NE": _of(rf".*metric/lifetime_ne/rating:\s*{_NUMBER}", "metric/lifetime_ne/rating:"),
    "DLRM_ACC": _of(rf".*metric/lifetime_accuracy/rating:\s*{_NUMBER}", "metric/lifetime_accuracy/rating:"),
    "DLRM_AUC": _of(rf".*metric/lifetime_gauc/rating:\s*{_NUMBER}", "metric/lifetime_gauc/rating:"),
    "mAP": _of(rf".*(?:mAP=|'Total':)\s*{_NUMBER}", "mAP=", "'Total':"),
    "bleu": _of(rf"BLEU:\s*{_NUMBER}", "BLEU:"),
    "F1": _of(rf"""\{{["']exact_match["']:\s*[\d.]+,\s*["']f1["']:\s*{_NUMBER}\}}""", "exact_match"),
    "ACCURACY": _of(rf"Word Error Rate:.*, accuracy={_NUMBER}%", "Word Error Rate:"),
    "DICE": _of(rf"Accuracy:\s*mean\s*=\s*{_NUMBER}", "Accuracy:"),
    "F1_HIERARCHICAL": _of(rf'\{{.*"f1":\s*{_NUMBER}', '"f1":', closed=True),
}
# A number as people and libraries print it: signs, exponents, quotes, a NumPy 2 or torch wrapper around it.
_FLOAT = r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?|[-+]?nan|[-+]?inf"
_WRITTEN = rf"""["']?\s*(?:(?:np\.|numpy\.)?\w+\(\s*)?["']?(?P<number>{_FLOAT})(?![\w.])"""
_LENIENT: Mapping[str, str] = {
    metric: rf"""(?:^|(?<=[\s{{,"'])){re.escape(key)}["']?\s*[:=]\s*{_WRITTEN}"""
    for metric, (key, _) in _DICT_KEYS.items()
}
# Compiled when a line may hold the metric: a file holds few of them.
_compiled = cache(re.compile)
_ANY_MARK = re.compile("|".join(sorted({re.escape(mark) for one in _OFFICIAL.values() for mark in one.marks})))
_HASH = re.compile(r"hash=(\w+)")


def read_accuracy_text(path: Path) -> AccuracyText:
    """Reads accuracy.txt: what the official patterns find, and what they overlook but a reader does not.

    Raises UnreadableFile when the file is missing or empty.
    """
    scores: dict[str, list[Score]] = {}
    digest, digest_line = None, None
    for number, line in enumerate(split_lines(read_text(path)), start=1):
        for score in _scores(line, number):
            scores.setdefault(score.metric, []).append(score)
        match = _HASH.fullmatch(line)
        if match is not None:
            digest, digest_line = match[1], number
    return AccuracyText(path, {metric: tuple(found) for metric, found in scores.items()}, digest, digest_line)


def _scores(line: str, number: int) -> Iterator[Score]:
    """The scores of one line: per metric the official reading, and the written one where it differs."""
    if _ANY_MARK.search(line) is None:
        return
    for metric, pattern in _OFFICIAL.items():
        if not any(mark in line for mark in pattern.marks):
            continue
        text = pattern.read(line)
        official = None if text is None else _float(text)
        if text is not None and official is not None:
            yield Score(metric, official, number, official=True, text=text)
        lenient = _LENIENT.get(metric)
        found = None if lenient is None else _last(lenient, line)
        if found is not None and found != official:
            yield Score(metric, found, number, official=False)


def _last(pattern: str, line: str) -> float | None:
    matches = list(_compiled(pattern).finditer(line))
    return _float(matches[-1]["number"]) if matches else None


def _float(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None
