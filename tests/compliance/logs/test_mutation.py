"""Files broken byte by byte are read or are unreadable, and a tree that holds one is judged to the end."""

import random
from pathlib import Path

import pytest

from compliance.errors import UnreadableFile
from compliance.judge import INTERNAL
from compliance.streaming import judge_streaming
from tests.support.mutation import mutated, outcomes, reader_of
from tests.support.trees import clean_tree

CORPUS = Path(__file__).parents[4] / "shared" / "corpus"
SMALL_BYTES = 40_000


def readable_files(root):
    return sorted(path for path in root.rglob("*") if path.is_file() and reader_of(path) is not None)


def test_broken_files_of_our_own_tree(tmp_path):
    seeds = readable_files(clean_tree(benchmark="gpt-oss-120b").write(tmp_path / "tree"))
    found = [outcome for _, outcome in outcomes(seeds, tmp_path / "file", 400)]
    refused = sum(isinstance(outcome, UnreadableFile) for outcome in found)
    assert 0 < refused < len(found) == 400


@pytest.mark.skipif(not CORPUS.is_dir(), reason="no ../shared/corpus beside this checkout")
def test_broken_files_of_the_corpus(tmp_path):
    seeds = [path for path in readable_files(CORPUS) if path.stat().st_size < SMALL_BYTES]
    assert len(list(outcomes(seeds, tmp_path / "file", 400, seed=2))) == 400


@pytest.mark.parametrize("seed", range(12))
def test_a_tree_with_a_broken_file_is_judged_to_the_end(seed, tmp_path):
    tree = clean_tree()
    root = tree.write(tmp_path)
    source = random.Random(seed)  # noqa: S311 - repeatable, not secret
    path = source.choice(readable_files(root))
    path.write_bytes(mutated(path.read_bytes(), source))
    judgement = judge_streaming(root, tree.round)
    outcomes_ = (*judgement.above, *(one for result in judgement.results for one in result.verdicts.outcomes))
    assert INTERNAL not in {outcome.check.id for outcome in outcomes_}
    assert judgement.results
