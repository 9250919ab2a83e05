import pytest
from hypothesis import given
from hypothesis import strategies as st

from compliance.errors import UnreadableFile
from compliance.logs.accuracy_txt import read_accuracy_text

CLEAN = "{'rouge1': 44.4718, 'rouge2': 22.0358, 'rougeL': 28.668, 'rougeLsum': 42.0482, 'gen_len': 28560284, 'gen_num': 24576, 'gen_tok_len': 7252858, 'tokens_per_sample': 295.1}"
VALUES = {
    "ROUGE1": 44.4718,
    "ROUGE2": 22.0358,
    "ROUGEL": 28.668,
    "ROUGELSUM": 42.0482,
    "GEN_LEN": 28560284,
    "TOKENS_PER_SAMPLE": 295.1,
}
DIGEST = "0131112d541f8a0423ae1ba10a6abf23d3a6e4dffe2e96e1bf619a86e9dbb93a"


def read(tmp_path, text):
    path = tmp_path / "accuracy.txt"
    path.write_bytes(text.encode())
    return read_accuracy_text(path)


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_the_usual_file(tmp_path, newline):
    found = read(tmp_path, f"\nResults\n\n{CLEAN}\n\nhash={DIGEST}\n".replace("\n", newline))
    assert {metric: [s.value for s in scores] for metric, scores in found.scores.items()} == {
        metric: [value] for metric, value in VALUES.items()
    }
    assert all(score.official and score.line == 4 for scores in found.scores.values() for score in scores)
    assert (found.hash, found.hash_line) == (DIGEST, 6)


def test_numpy_2_reprs_are_read_but_not_by_the_official_patterns(tmp_path):
    text = CLEAN
    for number in ("44.4718", "22.0358", "28.668", "42.0482", "295.1"):
        text = text.replace(f": {number}", f": np.float64({number})")
    found = read(tmp_path, text.replace("28560284", "np.int64(28560284)"))
    assert {metric: [s.value for s in scores] for metric, scores in found.scores.items()} == {
        metric: [value] for metric, value in VALUES.items()
    }
    assert not any(score.official for scores in found.scores.values() for score in scores)
    assert found.official("ROUGE1") == ()
    assert [score.value for score in found.written("ROUGE1")] == [44.4718]


# What is written, and what the official pattern and a reader make of it (None: not read).
WRITTEN = [
    ("'rouge1': '44.4'", "ROUGE1", 44.4, 44.4),
    ("'rouge1':  44.4", "ROUGE1", 44.4, 44.4),
    ("'rouge1':44.4", "ROUGE1", None, 44.4),
    ('"rouge1": 44.4', "ROUGE1", None, 44.4),
    ("rouge1: 44.4", "ROUGE1", None, 44.4),
    ("rouge1 = 44.4", "ROUGE1", None, 44.4),
    ("'rouge1': -44.4", "ROUGE1", None, -44.4),
    ("'rouge1': 4.44e1", "ROUGE1", 4.44, 44.4),
    ("'tokens_per_sample': 1e-05", "TOKENS_PER_SAMPLE", 1.0, 1e-05),
    ("'tokens_per_sample': '295.1'", "TOKENS_PER_SAMPLE", None, 295.1),
    ("'tokens_per_sample':  295.1", "TOKENS_PER_SAMPLE", None, 295.1),
    ("'tokens_per_sample': numpy.float32(295.1)", "TOKENS_PER_SAMPLE", None, 295.1),
    ("'tokens_per_sample': np.float64('295.1')", "TOKENS_PER_SAMPLE", None, 295.1),
    ("'exact_match': tensor(83.8)", "exact_match", None, 83.8),
    ("'exact_match': 83.813", "exact_match", 83.813, 83.813),
    ("'exact_match': 1.2.3", "exact_match", None, None),
    ("'gsm8k': 73.8, 'mbxp': 60.1", "gsm8k_accuracy", 73.8, 73.8),
    ("'gsm8k': 73.8, 'mbxp': 60.1", "mbxp_accuracy", 60.1, 60.1),
    ("'CLIP_SCORE': '31.7'", "CLIP_SCORE", 31.7, 31.7),
    ("accuracy=76.5%, good=1", "acc", 76.5, 76.5),
    ('{"accuracy": 76.5}', "acc", 76.5, 76.5),
    ("mAP=54.7%", "mAP", 54.7, 54.7),
    ("AUC=80.3%", "AUC", 80.3, 80.3),
    ("BLEU: 27.1", "bleu", 27.1, 27.1),
    ('{"exact_match": 83.3, "f1": 90.1}', "F1", 90.1, 90.1),
    ('{"f1": 0.79, "x": 1}', "F1_HIERARCHICAL", 0.79, 0.79),
    ("Accuracy: mean = 0.86236, kidney = 0.9350", "DICE", 0.86236, 0.86236),
    ("Accuracy: 61.2", "E2E_ACCURACY", 61.2, 61.2),
    ("Word Error Rate: 2.1%, accuracy=97.9%", "ACCURACY", 97.9, 97.9),
    ("x metric/lifetime_ne/rating: 0.86", "DLRM_NE", 0.86, 0.86),
    ("'mean-accuracy': 0.4", "meanAcc", 0.4, 0.4),
]


@pytest.mark.parametrize(("text", "metric", "official", "written"), WRITTEN)
def test_each_way_of_writing(tmp_path, text, metric, official, written):
    found = read(tmp_path, f"{text}\n")
    assert [score.value for score in found.official(metric)] == ([] if official is None else [official])
    assert [score.value for score in found.written(metric)] == ([] if written is None else [written])


def test_of_two_on_one_line_the_last_counts_as_officially(tmp_path):
    found = read(tmp_path, "'rouge1': 1.5, 'rouge1': 2.5\n")
    assert [(s.value, s.official) for s in found.scores["ROUGE1"]] == [(2.5, True)]


def test_each_line_is_a_score_of_its_own(tmp_path):
    found = read(tmp_path, "'exact_match': 80.1\n'exact_match': 83.2\n")
    assert [(s.value, s.line) for s in found.scores["exact_match"]] == [(80.1, 1), (83.2, 2)]


@pytest.mark.parametrize(
    ("line", "digest"),
    [("hash=abc_1", "abc_1"), ("hash= abc", None), (" hash=abc", None), ("hash=abc ", None), ("HASH=abc", None)],
)
def test_the_hash_line_is_exact(tmp_path, line, digest):
    assert read(tmp_path, f"x\n{line}\n").hash == digest


def test_the_last_hash_line_counts(tmp_path):
    found = read(tmp_path, "hash=a\nhash=b\n")
    assert (found.hash, found.hash_line) == ("b", 2)


def test_an_empty_or_missing_file_is_unreadable(tmp_path):
    with pytest.raises(UnreadableFile, match="empty"):
        read(tmp_path, " \n")
    with pytest.raises(UnreadableFile, match="missing"):
        read_accuracy_text(tmp_path / "none.txt")


@given(content=st.one_of(st.binary(max_size=300), st.text(max_size=100).map(lambda text: f"'rouge1': {text}".encode())))
def test_any_bytes_are_read_or_unreadable(tmp_path_factory, content):
    path = tmp_path_factory.mktemp("accuracy_txt") / "accuracy.txt"
    path.write_bytes(content)
    try:
        found = read_accuracy_text(path)
    except UnreadableFile:
        assert not content.strip()
        return
    assert all(scores for scores in found.scores.values())
