"""One evaluation: accuracy log, data set and tokenizer in, scores out."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from compliance.rulebook.model import BenchmarkRules
from compliance.vocabulary import Division
from harness.errors import EvaluationError
from harness.evaluate.choice import exact_match
from harness.evaluate.metrics import EXACT_MATCH, GEN_LEN, ROUGE_METRICS, ROUGELSUM, TOKENS_PER_SAMPLE, in_printed_order
from harness.evaluate.policy import needs_sentences, refusal
from harness.evaluate.references import Reference, read_references
from harness.evaluate.responses import read_responses
from harness.evaluate.rouge import Progress, prepared, rouge_scores
from harness.evaluate.sentences import Split, punkt_problem, punkt_splitter
from harness.evaluate.token_counts import count_tokens, gen_len
from harness.evaluate.tokenizer import load_decoder, tokenizer_file
from harness.storage import sha256_file
from sut.dataset import TokenDataset
from sut.errors import BadDataset


@dataclass(frozen=True, slots=True)
class Evaluation:
    """What an accuracy run scored. `scores` goes by rule names (ROUGE1, TOKENS_PER_SAMPLE), plain floats.

    `eos_fraction` is the share of answers that ended by themselves, not by their length limit; `duplicates` counts log
    entries left aside because their sample had an answer already.
    """

    evaluator: str
    scores: Mapping[str, float]
    samples: int
    output_tokens: int
    eos_fraction: float
    duplicates: int = 0


def evaluate(  # noqa: PLR0913 - the files of one evaluation, and what a caller may put in their place
    accuracy_log: Path,
    dataset_path: Path,
    tokenizer_path: Path,
    benchmark: BenchmarkRules,
    evaluator: str,
    nltk_data: Path | None = None,
    *,
    division: Division = Division.CLOSED,
    split: Split | None = None,
    progress: Progress | None = None,
) -> Evaluation:
    """Scores a whole accuracy log with the benchmark's metrics.

    `split` stands in for NLTK's splitter. With a splitter, rougeLsum and gen_len are computed also where no target asks
    for them, as the reference scripts do; without one they are left out, and refused where a target needs them.
    Raises EvaluationError.
    """
    problem = refusal(benchmark, evaluator, division)
    if problem is None and evaluator == "rouge" and needs_sentences(benchmark) and split is None:
        problem = punkt_problem(nltk_data)
    if problem:
        raise EvaluationError(problem)
    if split is None and nltk_data is not None and evaluator == "rouge":
        split = punkt_splitter(nltk_data)
    decode = load_decoder(tokenizer_path)
    _check_tokenizer(dataset_path, tokenizer_file(tokenizer_path))
    references = read_references(dataset_path)
    responses = read_responses(accuracy_log, len(references))
    counts = count_tokens(responses)
    texts = decode(responses.tokens)
    if evaluator == "rouge":
        scores = _rouge(texts, references, benchmark, split, progress)
    else:
        scores = {EXACT_MATCH: exact_match(texts, references)}
    return Evaluation(
        evaluator=evaluator,
        scores={**scores, TOKENS_PER_SAMPLE: counts.tokens_per_sample},
        samples=counts.gen_num,
        output_tokens=counts.gen_tok_len,
        eos_fraction=responses.eos_fraction(frozenset(benchmark.generation.eos_token_ids)),
        duplicates=responses.duplicates,
    )


def _rouge(
    texts: Sequence[str],
    references: Sequence[Reference],
    benchmark: BenchmarkRules,
    split: Split | None,
    progress: Progress | None,
) -> dict[str, float]:
    answers = prepared(texts, split)
    wanted = {target.metric for target in benchmark.accuracy} & ROUGE_METRICS
    if split is not None:
        wanted.add(ROUGELSUM)
    expected = prepared([row.reference for row in references], split)
    scores = rouge_scores(answers, expected, in_printed_order(wanted), progress=progress)
    return scores if split is None else {**scores, GEN_LEN: float(gen_len(answers))}


def _check_tokenizer(dataset_path: Path, tokenizer: Path) -> None:
    """Another tokenizer than the data set's would decode to other words and a score that means nothing."""
    try:
        expected = TokenDataset.open(dataset_path, verify=False).info.tokenizer_sha256
    except BadDataset as error:
        raise EvaluationError(str(error)) from error
    if expected and sha256_file(tokenizer) != expected:
        raise EvaluationError(
            f"{tokenizer}: not the tokenizer that made {dataset_path}, whose SHA-256 is {expected}; "
            "name that model's tokenizer.json"
        )
