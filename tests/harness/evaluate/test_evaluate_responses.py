import numpy as np
import pytest

from harness.errors import EvaluationError
from harness.evaluate.references import read_references
from harness.evaluate.responses import read_responses
from harness.evaluate.token_counts import TokenCounts, count_tokens, gen_len


def test_answers_come_in_order_of_index(write_log):
    responses = read_responses(write_log([(2, [7, 0]), (0, [5, 6, 0]), (1, [9])]), 3)
    assert [tokens.tolist() for tokens in responses.tokens] == [[5, 6, 0], [9], [7, 0]]
    assert all(tokens.dtype == np.int32 for tokens in responses.tokens)
    assert responses.output_tokens == 6
    assert responses.duplicates == 0
    assert responses.eos_fraction(frozenset({0})) == pytest.approx(2 / 3)
    assert responses.eos_fraction(frozenset()) == 0.0


def test_the_first_entry_of_an_index_counts(write_log):
    responses = read_responses(write_log([(0, [1, 2]), (1, [3, 4]), (0, [5, 6])]), 2)
    assert [tokens.tolist() for tokens in responses.tokens] == [[1, 2], [3, 4]]
    assert responses.duplicates == 1


def test_an_empty_answer_ends_with_nothing(write_log):
    responses = read_responses(write_log([(0, [])]), 1)
    assert responses.eos_fraction(frozenset({0})) == 0.0


@pytest.mark.parametrize(
    ("entries", "samples", "message"),
    [
        ([(0, [1])], 2, r"1 of 2 samples have no answer \(index 1\); use the data set of the run"),
        (
            [(8, [1])],
            8,
            r"8 of 8 samples have no answer \(index 0, 1, 2, 3, 4, \.\.\.\) and 1 answers are for samples .*index 8",
        ),
        ([(0, [1]), (3, [1])], 1, r"1 answers are for samples that the data set does not have \(index 3\)"),
    ],
)
def test_coverage_is_complete_or_nothing(write_log, entries, samples, message):
    with pytest.raises(EvaluationError, match=message):
        read_responses(write_log(entries), samples)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            '[\n{ "seq_id" : 0, "qsl_idx" : 0, "data" : "0102030405", "token_count" : 1}\n]\n',
            ":2: 5 response bytes are no int32",
        ),
        ('[\n{ "seq_id" : 0, "qsl_idx" : 0, "data" : "0100000000000000", "token_count" : 1}\n]\n', "int64 token ids"),
        ('[\n{ "seq_id" : 0, "qsl_idx" : 0, "data" : "01', "evaluate the whole log"),
        ('[\n{ "seq_id" : 0, "qsl_idx" : 0, "data" : "0G000000"}\n]\n', "hex"),
    ],
)
def test_a_damaged_log_is_refused(tmp_path, text, message):
    path = tmp_path / "mlperf_log_accuracy.json"
    path.write_text(text, "utf-8")
    with pytest.raises(EvaluationError, match=message):
        read_responses(path, 1)


def test_a_missing_log_is_refused(tmp_path):
    with pytest.raises(EvaluationError, match=r"none\.json"):
        read_responses(tmp_path / "none.json", 1)


@pytest.mark.parametrize(
    ("lengths", "counts"),
    [
        ([3], TokenCounts(1, 3, 3.0)),
        ([1, 2], TokenCounts(2, 3, 1.5)),
        ([1, 1, 2], TokenCounts(3, 4, 1.3)),
        ([1] * 19 + [2], TokenCounts(20, 21, 1.1)),
    ],
)
def test_tokens_per_sample_has_one_decimal(write_log, lengths, counts):
    entries = [(index, [1] * length) for index, length in enumerate(lengths)]
    assert count_tokens(read_responses(write_log(entries), len(lengths))) == counts


def test_gen_len_counts_characters():
    assert gen_len(["ab\nc", "", "é"]) == 5


def test_references_are_sorted_by_index(tmp_path):
    (tmp_path / "references.jsonl").write_text(
        '{"index": 1, "reference": "b"}\n\n{"index": 0, "reference": "a", "answer": "A", "choices": ["A", "B"], "extra": 1}\n',
        "utf-8",
    )
    rows = read_references(tmp_path)
    assert [(row.index, row.reference) for row in rows] == [(0, "a"), (1, "b")]
    assert rows[0].choices == ("A", "B")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (None, "accuracy needs the references"),
        ("", "does not hold each index"),
        ('{"index": 0}\n{"index": 0}\n', "does not hold each index"),
        ('{"index": 1}\n', "does not hold each index"),
        ('{"index": 0}\n{"index": "x"}\n', r"jsonl:2: no reference row"),
        ('{"index": 0\n', r"jsonl:1: no reference row"),
    ],
)
def test_bad_references_are_refused(tmp_path, text, message):
    if text is not None:
        (tmp_path / "references.jsonl").write_text(text, "utf-8")
    with pytest.raises(EvaluationError, match=message):
        read_references(tmp_path)
