"""Which evaluator may score which benchmark, and whether this machine has what it needs."""

from importlib.util import find_spec
from pathlib import Path

from compliance.rulebook.model import BenchmarkRules
from compliance.vocabulary import Division
from harness.errors import EvaluationError
from harness.evaluate.metrics import COUNT_METRICS, GEN_LEN, ROUGE_METRICS, ROUGELSUM
from harness.evaluate.sentences import punkt_problem
from harness.evaluate.tokenizer import tokenizer_file

EVALUATORS = ("rouge", "choice")
# What each benchmark's own script grades with that this installation does not have.
OFFICIAL_GRADERS = {
    "deepseek-r1": "prm800k for MATH500 and code execution for LiveCodeBench",
    "gpt-oss-120b": "code execution for LiveCodeBench and the harmony channels",
}


def default_evaluator(benchmark: BenchmarkRules) -> str | None:
    """The evaluator that computes the benchmark's own metrics; None when this installation has none."""
    return "rouge" if _is_rouge(benchmark) else None


def needs_sentences(benchmark: BenchmarkRules) -> bool:
    """Whether the benchmark's targets depend on NLTK's sentence splitter."""
    return any(target.metric in (ROUGELSUM, GEN_LEN) for target in benchmark.accuracy)


def refusal(benchmark: BenchmarkRules, evaluator: str, division: Division = Division.CLOSED) -> str | None:
    """Why the evaluator may not score the benchmark in the division, with what to do; None when it may.

    Closed and network results are scored by the benchmark's own metrics or not at all; the open division may name
    `choice`, whose exact_match is then its own metric and no official one.
    """
    if evaluator not in EVALUATORS:
        return f"no evaluator {evaluator!r}; known: {', '.join(EVALUATORS)}"
    own = default_evaluator(benchmark)
    if evaluator == own or (evaluator == "choice" and division is Division.OPEN):
        return None
    if own is not None:
        return f"{benchmark.name} is scored by evaluator {own!r} in the {division} division; name that one"
    grader = OFFICIAL_GRADERS.get(benchmark.name, "graders of its own")
    return (
        f"{benchmark.name} is graded by {grader}, which Weighbridge does not include: score the accuracy log with the "
        "benchmark's own script and place its accuracy.txt; in the open division evaluator 'choice' may be named"
    )


def preflight(
    benchmark: BenchmarkRules,
    evaluator: str,
    tokenizer_path: Path | None,
    nltk_data: Path | None,
    division: Division = Division.CLOSED,
) -> tuple[str, ...]:
    """Everything that would keep `evaluate` from scoring, each with its next step; found before any run is made."""
    refused = refusal(benchmark, evaluator, division)
    if refused:
        return (refused,)
    libraries = ["tokenizers"]
    problems = []
    if evaluator == "rouge":
        libraries += ["rouge_score", "nltk"]
        if needs_sentences(benchmark) or nltk_data is not None:
            problems.append(punkt_problem(nltk_data))
    missing = [name for name in libraries if find_spec(name) is None]
    if missing:
        problems.append(f"{', '.join(missing)} not installed; pip install 'weighbridge[accuracy]'")
    problems.append(_tokenizer_problem(tokenizer_path))
    return tuple(problem for problem in problems if problem)


def _is_rouge(benchmark: BenchmarkRules) -> bool:
    metrics = {target.metric for target in benchmark.accuracy}
    return bool(metrics & ROUGE_METRICS) and metrics <= ROUGE_METRICS | COUNT_METRICS


def _tokenizer_problem(path: Path | None) -> str | None:
    if path is None:
        return "no tokenizer named; set `tokenizer` to the model's tokenizer.json or the folder it is in"
    try:
        tokenizer_file(path)
    except EvaluationError as error:
        return str(error)
    return None
