"""Whole evaluations, accuracy.txt against the official checker's patterns, targets and preflight."""

import json
import re

import numpy as np
import pytest

from compliance.logs.accuracy_txt import read_accuracy_text
from compliance.rulebook.model import AccuracyTarget
from compliance.rulebook.rounds import load_round
from compliance.vocabulary import Division
from harness.errors import EvaluationError
from harness.evaluate import (
    Evaluation,
    TargetRow,
    accuracy_text,
    compare,
    default_evaluator,
    evaluate,
    preflight,
    refusal,
    write_accuracy_json,
    write_accuracy_text,
)
from tests.harness.evaluate.conftest import ids

pytest.importorskip("rouge_score", reason="needs the extra `accuracy` (rouge-score)")

SHA = "ab" * 32
DEMO = load_round("demo").benchmarks["smollm2-135m"]
V61 = load_round("v6.1").benchmarks
# As the official checker has them (submission_checker/constants.py:1804-1831, checks/accuracy_check.py:147-171).
PATTERNS = {
    "ROUGE1": r".*'rouge1':\s+'?([\d.]+)'?.*",
    "ROUGE2": r".*'rouge2':\s+'?([\d.]+)'?.*",
    "ROUGEL": r".*'rougeL':\s+'?([\d.]+)'?.*",
    "ROUGELSUM": r".*'rougeLsum':\s+'?([\d.]+)'?.*",
    "GEN_LEN": r".*'gen_len':\s([\d.]+).*",
    "TOKENS_PER_SAMPLE": r".*'tokens_per_sample':\s([\d.]+).*",
    "exact_match": r".*'exact_match':\s([\d.]+).*",
}


def read_as_the_checker(text):
    found = {}
    for line in text.splitlines():
        for metric, pattern in PATTERNS.items():
            if match := re.match(pattern, line):
                found[metric] = float(match[1])
    return found


def lines(text):
    """A sentence splitter for texts of known words."""
    return re.split(r"(?<=\.) ", text)


@pytest.fixture
def rouge_set(write_set):
    return write_set([{"reference": "the cat sat . the dog ran ."}, {"reference": "the cats sat"}])


@pytest.fixture
def rouge_log(write_log):
    return write_log([(1, ids("the cat sat")), (0, ids("the dog ran . the cat sat .", eos=False))])


def test_the_demo_is_scored_without_a_sentence_splitter(rouge_log, rouge_set, tokenizer):
    evaluation = evaluate(rouge_log, rouge_set, tokenizer, DEMO, "rouge", None)
    assert dict(evaluation.scores) == {"ROUGE1": 100.0, "ROUGE2": 90.0, "ROUGEL": 75.0, "TOKENS_PER_SAMPLE": 6.0}
    assert (evaluation.samples, evaluation.output_tokens, evaluation.eos_fraction) == (2, 12, 0.5)
    assert accuracy_text(evaluation, SHA) == (
        "{'rouge1': 100.0000, 'rouge2': 90.0000, 'rougeL': 75.0000, 'gen_num': 2, 'gen_tok_len': 12, "
        f"'tokens_per_sample': 6.0}}\n\nhash={SHA}\n"
    )


@pytest.mark.parametrize("name", ["llama2-70b-99.9", "llama3.1-8b", "llama3.1-8b-edge"])
def test_the_checker_reads_every_metric_it_asks_for(name, rouge_log, rouge_set, tokenizer, tmp_path):
    evaluation = evaluate(rouge_log, rouge_set, tokenizer, V61[name], "rouge", split=lines)
    path = tmp_path / "accuracy.txt"
    write_accuracy_text(evaluation, path, SHA)
    text = path.read_text("utf-8")
    found = read_as_the_checker(text)
    assert {target.metric for target in V61[name].accuracy} <= set(found)
    assert found == {"ROUGE1": 100, "ROUGE2": 90, "ROUGEL": 75, "ROUGELSUM": 100, "GEN_LEN": 38, "TOKENS_PER_SAMPLE": 6}
    assert re.fullmatch(r"hash=[\w]+", text.splitlines()[-1])
    ours = read_accuracy_text(path)
    assert ours.hash == SHA
    assert {metric: scores[0].value for metric, scores in ours.scores.items()} == found
    assert all(score.official for scores in ours.scores.values() for score in scores)


@pytest.mark.parametrize("name", ["llama3.1-8b", "llama3.1-8b-edge"])
def test_rouge_lsum_is_refused_without_punkt(name, rouge_log, rouge_set, tokenizer, tmp_path):
    with pytest.raises(EvaluationError, match=r"no nltk_data folder is named.*nltk\.downloader"):
        evaluate(rouge_log, rouge_set, tokenizer, V61[name], "rouge", None)
    with pytest.raises(EvaluationError, match=r"abbrev_types\.txt, .* missing, which rougeLsum and gen_len need"):
        evaluate(rouge_log, rouge_set, tokenizer, V61[name], "rouge", tmp_path)


def test_punkt_data_is_used_where_it_is_named(rouge_log, rouge_set, tokenizer, tmp_path):
    folder = tmp_path / "tokenizers" / "punkt_tab" / "english"
    folder.mkdir(parents=True)
    for name in ("abbrev_types.txt", "collocations.tab", "ortho_context.tab", "sent_starters.txt"):
        (folder / name).write_text("", "utf-8")
    evaluation = evaluate(rouge_log, rouge_set, tokenizer, V61["llama2-70b-99.9"], "rouge", tmp_path)
    assert {"ROUGELSUM", "GEN_LEN"} <= set(evaluation.scores)


@pytest.mark.parametrize("name", ["deepseek-r1", "gpt-oss-120b"])
def test_official_graders_are_not_imitated(name, write_log, write_set, tokenizer):
    folder = write_set(
        [{"reference": "", "answer": "A", "choices": ["A", "B"]}, {"answer": "B", "choices": ["A", "B"]}]
    )
    log = write_log([(0, ids("the answer is A")), (1, ids("A"))])
    assert default_evaluator(V61[name]) is None
    for evaluator in ("rouge", "choice"):
        with pytest.raises(EvaluationError, match=r"LiveCodeBench.* open division evaluator 'choice'"):
            evaluate(log, folder, tokenizer, V61[name], evaluator)
    evaluation = evaluate(log, folder, tokenizer, V61[name], "choice", division=Division.OPEN)
    assert dict(evaluation.scores) == {"exact_match": 50.0, "TOKENS_PER_SAMPLE": 3.5}
    assert read_as_the_checker(accuracy_text(evaluation, SHA)) == dict(evaluation.scores)


@pytest.mark.parametrize(
    ("name", "evaluator", "division", "message"),
    [
        ("llama3.1-8b", "rouge", Division.CLOSED, None),
        ("llama3.1-8b", "choice", Division.CLOSED, "is scored by evaluator 'rouge' in the closed division"),
        ("llama3.1-8b", "choice", Division.OPEN, None),
        ("llama3.1-8b", "bleu", Division.OPEN, "no evaluator 'bleu'; known: rouge, choice"),
        ("deepseek-r1", "rouge", Division.OPEN, "prm800k"),
        ("gpt-oss-120b", "choice", Division.NETWORK, "harmony"),
    ],
)
def test_refusals(name, evaluator, division, message):
    found = refusal(V61[name], evaluator, division)
    assert (found is None) if message is None else (message in found)


def test_another_tokenizer_is_refused(rouge_log, rouge_set, tokenizer):
    tokenizer.write_text(tokenizer.read_text("utf-8") + "\n", "utf-8")
    with pytest.raises(EvaluationError, match="not the tokenizer that made"):
        evaluate(rouge_log, rouge_set, tokenizer, DEMO, "rouge")


def test_a_folder_that_is_no_data_set_is_refused(rouge_log, tokenizer, tmp_path):
    with pytest.raises(EvaluationError, match=r"dataset\.json"):
        evaluate(rouge_log, tmp_path, tokenizer, DEMO, "rouge")


def test_numpy_numbers_do_not_leak(tmp_path):
    scores = {
        "ROUGE1": np.float64(1e-05),
        "ROUGE2": np.float64(-0.0),
        "exact_match": np.float32(81.5),
        "GEN_LEN": np.int64(8167644),
        "TOKENS_PER_SAMPLE": np.float64(294.45),
    }
    evaluation = Evaluation("rouge", scores, np.int64(24576), np.int64(7236403), np.float64(0.5))
    text = accuracy_text(evaluation, SHA)
    assert "np." not in text
    assert text.splitlines()[0] == (
        "{'rouge1': 0.0000, 'rouge2': 0.0000, 'exact_match': 81.5000, 'gen_len': 8167644, 'gen_num': 24576, 'gen_tok_len': 7236403, "
        "'tokens_per_sample': 294.4}"
    )
    path = tmp_path / "accuracy.json"
    write_accuracy_json(
        evaluation, path, SHA, (TargetRow("ROUGE1", np.float64(2.0), 1.0, None, passed=np.bool_(True)),)
    )
    members = json.loads(path.read_text("utf-8"))
    assert members["scores"]["GEN_LEN"] == 8167644
    assert members["targets"] == [{"metric": "ROUGE1", "value": 2.0, "minimum": 1.0, "maximum": None, "passed": True}]
    assert members["accuracy_log_sha256"] == SHA


@pytest.mark.parametrize(
    ("scores", "sha", "message"),
    [
        ({"ROUGE1": float("nan")}, SHA, "ROUGE1 is nan: no score"),
        ({"ROUGE1": float("inf")}, SHA, "ROUGE1 is inf"),
        ({"ROUGE1": -1.0}, SHA, "no score"),
        ({"ROUGE1": 1.0}, "abc", "'abc' is no SHA-256"),
    ],
)
def test_what_the_checker_would_misread_is_not_written(scores, sha, message, tmp_path):
    with pytest.raises(EvaluationError, match=message):
        write_accuracy_text(Evaluation("rouge", scores, 1, 1, 1.0), tmp_path / "accuracy.txt", sha)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("value", "minimum", "maximum", "passed"),
    [
        (9.0, 9.0, None, True),
        (8.999, 9.0, None, False),
        (11.0, 9.0, 11.0, True),
        (11.001, 9.0, 11.0, False),
        (8.0, None, 11.0, True),
        (12.0, None, 11.0, False),
        (None, 9.0, None, False),
        (None, None, 11.0, True),
    ],
)
def test_targets_are_inclusive(value, minimum, maximum, passed):
    target = AccuracyTarget("X", 1.0, minimum, maximum)
    scores = {} if value is None else {"X": value}
    assert compare(scores, (target,)) == (TargetRow("X", value, minimum, maximum, passed),)


def test_preflight_names_everything_that_is_missing(tokenizer, tmp_path):
    assert preflight(DEMO, "rouge", tokenizer, None) == ()
    assert preflight(DEMO, "rouge", tokenizer.parent, None) == ()
    assert preflight(V61["llama2-70b-99.9"], "rouge", tokenizer, None) == ()
    problems = preflight(V61["llama3.1-8b"], "rouge", None, None)
    assert len(problems) == 2
    assert "no nltk_data folder is named" in problems[0]
    assert "no tokenizer named" in problems[1]
    (missing,) = preflight(V61["deepseek-r1"], "choice", tmp_path, None, Division.OPEN)
    assert missing.endswith("or the folder it is in, as `tokenizer`")
    (refused,) = preflight(V61["deepseek-r1"], "choice", tmp_path, None)
    assert "open division" in refused
    assert "abbrev_types.txt" in preflight(DEMO, "rouge", tokenizer, tmp_path)[0]


def test_preflight_names_missing_libraries(tokenizer, monkeypatch):
    monkeypatch.setattr("harness.evaluate.policy.find_spec", lambda name: None)
    (problem,) = preflight(DEMO, "rouge", tokenizer, None)
    assert problem == "tokenizers, rouge_score, nltk not installed; pip install 'weighbridge[accuracy]'"
