"""TEST08: entropies of paired predictions, against the formula worked out by hand and on logs that do not pair."""

import math
import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compliance.audits.test08 import NotPaired, normalized_entropy, verify
from compliance.logs.accuracy import AccuracyEntry


def entry(*values):
    return AccuracyEntry(0, 0, struct.pack(f"<{len(values)}f", *values), None, None, 2)


def reference(key, predictions, labels, weights):
    return entry(*key, *predictions, *labels, *weights, len(predictions))


def answer(key, predictions):
    return entry(*key, *predictions)


LABELS, WEIGHTS = (1.0, 0.0, 1.0, 0.0), (1.0, 1.0, 1.0, 1.0)
RUN = [reference((3, at), (0.9, 0.1, 0.8, 0.3), LABELS, WEIGHTS) for at in range(4)]
SAME = [answer((3, at), (0.9, 0.1, 0.8, 0.3)) for at in range(4)]


def test_the_entropy_of_a_coin_is_one():
    assert normalized_entropy((0.5, 0.5), (1.0, 0.0), (1.0, 1.0)) == pytest.approx(1)


def test_the_entropy_by_hand():
    cross = -(math.log(0.9) + math.log(0.9) + math.log(0.8) + math.log(0.7))
    expected = cross / (4 * math.log(2))
    assert normalized_entropy((0.9, 0.1, 0.8, 0.3), LABELS, WEIGHTS) == pytest.approx(expected, rel=1e-5)


def test_no_weight_has_no_entropy():
    assert normalized_entropy((0.5,), (1.0,), (0.0,)) == 0


def test_the_same_predictions_pass():
    verdict = verify(RUN, SAME[1:3])
    assert (verdict.entries, verdict.matched, verdict.unmatched, verdict.mismatched) == (2, 2, 0, 0)
    assert verdict.passed


@pytest.mark.parametrize(("prediction", "passed"), [(0.9003, True), (0.91, False), (0.0, False), (math.nan, False)])
def test_predictions_within_a_tenth_of_a_percent(prediction, passed):
    verdict = verify(RUN, [answer((3, 0), (prediction, 0.1, 0.8, 0.3))])
    assert verdict.passed == passed
    assert [fault.key for fault in verdict.faults] == ([] if passed else [(3, 0)])


def test_an_answer_of_no_sample_of_the_accuracy_run_fails():
    verdict = verify(RUN, [*SAME, answer((4, 0), (0.9,))])
    assert (verdict.unmatched, verdict.passed) == (1, False)


def test_no_answer_passes_nothing():
    assert not verify(RUN, []).passed


@pytest.mark.parametrize(
    ("run", "log"),
    [
        (RUN, [AccuracyEntry(0, 0, bytes(13), None, None, 2)]),
        (RUN, [entry(math.inf, 0, 0.5)]),
        (RUN, [answer((3, 0), (0.9, 0.1))]),
        ([entry(3, 0, 0.5, 7)], SAME[:1]),
        ([entry(3, 0, 0.5, math.nan)], SAME[:1]),
    ],
)
def test_logs_of_another_form_are_not_compared(run, log):
    with pytest.raises(NotPaired):
        verify(run, log)


@given(st.lists(st.binary(max_size=40), max_size=4), st.lists(st.binary(max_size=40), max_size=4))
def test_any_answers_are_compared_or_said_not_to_pair(run, log):
    try:
        verify(*([AccuracyEntry(0, 0, data, None, None, 2) for data in datas] for datas in (run, log)))
    except NotPaired:
        return
