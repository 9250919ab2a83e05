"""ROUGE on cases worked out by hand, exact match, sentence splitting and decoding."""

import json
import sys

import numpy as np
import pytest

from harness.errors import EvaluationError
from harness.evaluate.choice import chosen, exact_match
from harness.evaluate.references import Reference
from harness.evaluate.rouge import prepared, rouge_scores
from harness.evaluate.sentences import FILES, punkt_problem, punkt_splitter
from harness.evaluate.tokenizer import load_decoder, tidied
from tests.harness.evaluate.conftest import ids

pytest.importorskip("rouge_score", reason="needs the extra `accuracy` (rouge-score)")
ALL = ("ROUGE1", "ROUGE2", "ROUGEL", "ROUGELSUM")


# F of precision p and recall r is 2pr / (p + r); texts are stemmed, so "cats" is "cat".
@pytest.mark.parametrize(
    ("answer", "reference", "expected"),
    [
        ("the cat sat", "the cat sat", (100, 100, 100, 100)),
        ("the cat sat", "the cats sat down", (85.7143, 80.0, 85.7143, 85.7143)),
        ("dog ran", "the cat sat", (0, 0, 0, 0)),
        ("", "the cat sat", (0, 0, 0, 0)),
        ("sat cat", "cat sat", (100, 0, 50, 50)),
        # In two lines each sentence finds its own subsequence: only rougeLsum sees both.
        ("the dog ran\nthe cat sat", "the cat sat\nthe dog ran", (100, 80.0, 50.0, 100)),
    ],
)
def test_rouge_by_hand(answer, reference, expected):
    scores = rouge_scores([answer], [reference], ALL)
    assert tuple(scores[metric] for metric in ALL) == pytest.approx(expected, abs=5e-5)
    assert {type(value) for value in scores.values()} == {float}


def test_rouge_is_the_mean_over_samples_rounded_to_four_decimals():
    scores = rouge_scores(["the cat sat", "x", "the cat"], ["the cats sat down", "x", "the dog"], ("ROUGE1",))
    assert scores == {"ROUGE1": round(100 * (6 / 7 + 1 + 1 / 2) / 3, 4)}


def test_processes_change_no_score_and_report_progress():
    answers = ["the cat sat on the mat", "a dog ran"] * 70
    references = ["the cats sat on a mat", "the dogs run"] * 70
    told = []
    alone = rouge_scores(answers, references, ALL, progress=lambda done, total: told.append((done, total)))
    assert rouge_scores(answers, references, ALL, processes=2) == alone
    assert told == [(64, 140), (128, 140), (140, 140)]


def test_texts_are_stripped_and_split():
    assert prepared([" a. b. "], None) == ["a. b."]
    assert prepared([" a. b. "], lambda text: text.split(" ")) == ["a.\nb."]


def test_punkt_data_is_named_or_refused(tmp_path):
    assert "no nltk_data folder is named; on a machine with network run" in (punkt_problem(None) or "")
    with pytest.raises(EvaluationError, match=r"punkt_tab.english: abbrev_types.txt, .*missing, which rougeLsum"):
        punkt_splitter(tmp_path)


def test_a_punkt_folder_splits_as_nltk_does(tmp_path):
    folder = tmp_path / "tokenizers" / "punkt_tab" / "english"
    folder.mkdir(parents=True)
    contents = dict.fromkeys(FILES, "")
    contents |= {"abbrev_types.txt": "dr\nmr\n", "ortho_context.tab": "smith\t46\n", "collocations.tab": "st\tlouis\n"}
    for name, text in contents.items():
        (folder / name).write_text(text, "utf-8")
    split = punkt_splitter(tmp_path)
    assert split("Dr. Smith sat. The cat ran!  It slept.") == ["Dr. Smith sat.", "The cat ran!", "It slept."]
    (folder / "ortho_context.tab").write_text("smith\n", "utf-8")
    with pytest.raises(EvaluationError, match="no punkt_tab data"):
        punkt_splitter(tmp_path)


@pytest.mark.parametrize(
    ("text", "choices", "choice"),
    [
        ("B", ("A", "B"), "B"),
        ("A or B? The answer is B.", ("A", "B"), "B"),
        ("Answer: A. No, the answer: B because A is wrong", ("A", "B"), "B"),
        ("I think B is the answer", ("A", "B"), "B"),
        ("Banana", ("A", "B"), None),
        ("a dog", ("A", "B"), None),
        ("YES, it is.", ("yes", "no"), "yes"),
        ("nothing known", ("yes", "no"), None),
        ("not equal", ("equal", "not equal"), "not equal"),
        ("(C)", ("A", "B", "C"), "C"),
        ("", ("A", "B"), None),
    ],
)
def test_the_chosen_answer(text, choices, choice):
    assert chosen(text, choices) == choice


def test_exact_match_is_a_percentage():
    rows = [Reference(index, answer="A", choices=("A", "B")) for index in range(3)]
    assert exact_match(["A", "B", "A."], rows) == 66.6667
    with pytest.raises(EvaluationError, match="2 reference rows, index 1 first, have no `answer`"):
        exact_match(["A"] * 3, [rows[0], Reference(1, answer="C", choices=("A",)), Reference(2)])


def test_decoding_skips_special_tokens(tokenizer):
    answers = [np.asarray(ids("the cat sat"), np.int32), np.asarray([], np.int32)]
    assert load_decoder(tokenizer)(answers) == ["the cat sat", ""]
    assert load_decoder(tokenizer.parent)(answers * 200) == ["the cat sat", ""] * 200


def test_spaces_are_tidied_where_the_model_says_so(tokenizer):
    answers = [np.asarray(ids("do n't . sat"), np.int32)]
    config = tokenizer.with_name("tokenizer_config.json")
    for text, expected in (
        ("no json", "do n't . sat"),
        (json.dumps({"clean_up_tokenization_spaces": False}), "do n't . sat"),
        (json.dumps({"clean_up_tokenization_spaces": True}), "don't. sat"),
    ):
        config.write_text(text, "utf-8")
        assert load_decoder(tokenizer)(answers) == [expected]
    assert tidied("it 's here , is n't it ?") == "it's here, isn't it?"


def test_a_tokenizer_that_cannot_be_used_is_refused(tokenizer, tmp_path, monkeypatch):
    with pytest.raises(EvaluationError, match=r"tokenizer.json: missing; name the model's"):
        load_decoder(tmp_path)
    with pytest.raises(EvaluationError, match="negative token id"):
        load_decoder(tokenizer)([np.asarray([-1], np.int32)])
    bad = tmp_path / "tokenizer.json"
    bad.write_text("{}", "utf-8")
    with pytest.raises(EvaluationError, match="no tokenizer"):
        load_decoder(bad)
    monkeypatch.setitem(sys.modules, "tokenizers", None)
    with pytest.raises(EvaluationError, match=r"pip install 'weighbridge\[accuracy\]'"):
        load_decoder(tokenizer)


@pytest.mark.parametrize("module", ["rouge_score.rouge_scorer", "nltk.tokenize.punkt"])
def test_missing_libraries_are_named(module, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, module, None)
    folder = tmp_path / "tokenizers" / "punkt_tab" / "english"
    folder.mkdir(parents=True)
    for name in FILES:
        (folder / name).write_text("", "utf-8")
    with pytest.raises(EvaluationError, match=r"pip install 'weighbridge\[accuracy\]'"):
        rouge_scores(["a"], ["a"], ALL) if module.startswith("rouge") else punkt_splitter(tmp_path)
