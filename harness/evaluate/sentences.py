"""Sentence splitting for rougeLsum: NLTK's punkt from a folder the user names. Nothing is downloaded or guessed."""

from collections import defaultdict
from collections.abc import Callable
from pathlib import Path

from harness.errors import EvaluationError

Split = Callable[[str], list[str]]

PUNKT = Path("tokenizers", "punkt_tab", "english")
FILES = ("abbrev_types.txt", "collocations.tab", "ortho_context.tab", "sent_starters.txt")
HOW = (
    "on a machine with network run `python -m nltk.downloader -d nltk_data punkt_tab`, "
    "copy the folder here and name it as nltk_data"
)


def punkt_problem(nltk_data: Path | None) -> str | None:
    """What is missing for sentence splitting, with what to do; None when all is there."""
    if nltk_data is None:
        return f"rougeLsum and gen_len need NLTK's sentence splitter, and no nltk_data folder is named; {HOW}"
    missing = [name for name in FILES if not (nltk_data / PUNKT / name).is_file()]
    if missing:
        return f"{nltk_data / PUNKT}: {', '.join(missing)} missing, which rougeLsum and gen_len need; {HOW}"
    return None


def punkt_splitter(nltk_data: Path) -> Split:
    """NLTK's English sentence splitter as `nltk.sent_tokenize` has it, from `nltk_data`/tokenizers/punkt_tab.

    Raises EvaluationError when NLTK or the data is missing or damaged.
    """
    if problem := punkt_problem(nltk_data):
        raise EvaluationError(problem)
    try:
        from nltk.tokenize.punkt import (  # noqa: PLC0415 - an optional dependency, only accuracy needs it
            PunktParameters,
            PunktSentenceTokenizer,
        )
    except ImportError as error:
        raise EvaluationError(f"nltk cannot be imported ({error}); pip install 'weighbridge[accuracy]'") from error
    folder = nltk_data / PUNKT
    parameters = PunktParameters()
    # The four files are read here because nltk.data searches process-wide paths and its loader differs by version.
    try:
        parameters.abbrev_types = set(_lines(folder / "abbrev_types.txt"))
        parameters.sent_starters = set(_lines(folder / "sent_starters.txt"))
        parameters.collocations = {tuple(line.split("\t")) for line in _lines(folder / "collocations.tab")}
        contexts = (line.split("\t") for line in _lines(folder / "ortho_context.tab"))
        parameters.ortho_context = defaultdict(int, {word: int(flags) for word, flags in contexts})
    except (OSError, ValueError) as error:
        raise EvaluationError(f"{folder}: no punkt_tab data ({error}); {HOW}") from error
    tokenizer = PunktSentenceTokenizer(parameters)
    return lambda text: [str(sentence) for sentence in tokenizer.tokenize(text)]


def _lines(path: Path) -> list[str]:
    return [line for line in path.read_text("utf-8").split("\n") if line]
