"""The ledger under random interleavings, and each anomaly by itself."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.core.ledger import Ledger
from harness.core.outcome import broken_ledger
from harness.core.sample_state import Verdict

IDS = (2**64 - 1, 2**63, 140_000_000_000_016)


def sent_ledger(count: int = 2, *, first_tokens: bool = True, workers: int = 1) -> Ledger:
    ledger = Ledger(workers, first_tokens=first_tokens)
    ledger.sent(list(ledger.issue(IDS[:count], list(range(count)), 5)), 0)
    return ledger


def test_a_good_sample_goes_first_then_final():
    ledger = sent_ledger(1)
    assert ledger.first(IDS[0], 11, 0, 10)
    assert ledger.final(IDS[0], 11, 3, 0, 20) == Verdict.FORWARD
    totals = ledger.totals()
    assert (totals.issued, totals.first_tokens, totals.completed, totals.output_tokens) == (1, 1, 1, 3)
    assert broken_ledger(totals, first_tokens=True) == ""
    assert ledger.fault == ""
    row = ledger.samples()[0]
    assert (row["index"], row["worker"], row["issued_ns"], row["first_ns"], row["done_ns"]) == (0, 0, 5, 10, 20)
    assert row["output_tokens"] == 3


def test_offline_needs_no_first_token():
    ledger = sent_ledger(1, first_tokens=False)
    assert ledger.final(IDS[0], 11, 2, 0, 20) == Verdict.FORWARD
    assert broken_ledger(ledger.totals(), first_tokens=False) == ""


def test_a_first_token_that_never_came_is_taken_from_the_answer_and_counted():
    ledger = sent_ledger(1)
    assert ledger.final(IDS[0], 11, 2, 0, 20) == Verdict.FORWARD_WITH_FIRST
    totals = ledger.totals()
    assert (totals.first_tokens, totals.late_first_tokens) == (1, 1)
    assert broken_ledger(totals, first_tokens=True) == ""


@pytest.mark.parametrize("count", [0, 1])
def test_answers_of_fewer_than_two_tokens_are_violations(count):
    ledger = sent_ledger(1)
    assert ledger.final(IDS[0], 11, count, 0, 20) == Verdict.DROP
    assert ledger.violations == 1
    assert f"{count} token(s)" in ledger.fault


def test_two_tokens_are_enough():
    assert sent_ledger(1).final(IDS[0], 11, 2, 0, 20) != Verdict.DROP


def test_an_answer_must_begin_with_its_first_token():
    ledger = sent_ledger(1)
    ledger.first(IDS[0], 11, 0, 10)
    assert ledger.final(IDS[0], 12, 3, 0, 20) == Verdict.DROP
    assert "begins with 12" in ledger.fault


def test_duplicates_are_counted_and_dropped():
    ledger = sent_ledger(1)
    assert ledger.first(IDS[0], 11, 0, 10)
    assert not ledger.first(IDS[0], 11, 0, 11)
    assert ledger.final(IDS[0], 11, 3, 0, 20) == Verdict.FORWARD
    assert ledger.final(IDS[0], 11, 3, 0, 21) == Verdict.DROP
    assert not ledger.first(IDS[0], 11, 0, 22)
    assert not ledger.fail(IDS[0], "late", 0, 23)
    assert ledger.duplicates == 4
    assert "4 duplicates" in broken_ledger(ledger.totals(), first_tokens=True)


def test_unknown_ids_are_counted_and_dropped():
    ledger = sent_ledger(1)
    assert not ledger.first(4, 11, 0, 10)
    assert ledger.final(4, 11, 3, 0, 20) == Verdict.DROP
    assert not ledger.fail(4, "?", 0, 20)
    assert ledger.unknown == 3
    assert "never issued" in ledger.fault


def test_only_the_worker_that_holds_a_sample_may_answer_it():
    ledger = sent_ledger(1, workers=2)
    assert ledger.final(IDS[0], 11, 3, 1, 20) == Verdict.DROP
    assert ledger.violations == 1
    assert ledger.final(IDS[0], 11, 3, 0, 20) != Verdict.DROP


def test_a_sample_that_was_not_sent_has_no_answer():
    ledger = Ledger(1, first_tokens=True)
    ledger.issue(IDS[:1], [0], 5)
    assert ledger.final(IDS[0], 11, 3, 0, 20) == Verdict.DROP
    assert ledger.violations == 1


def test_first_tokens_in_offline_are_a_violation():
    ledger = sent_ledger(1, first_tokens=False)
    assert not ledger.first(IDS[0], 11, 0, 10)
    assert ledger.violations == 1


def test_sending_twice_is_a_violation():
    ledger = sent_ledger(1)
    ledger.sent([0], 0)
    assert "sent twice" in ledger.fault


def test_failed_and_missing_samples_are_named():
    ledger = sent_ledger(2)
    ledger.issue(IDS[2:], [7], 6)
    assert ledger.fail(IDS[0], "out of memory", 0, 9)
    lines = list(ledger.unanswered())
    assert [(line.id, line.index, line.worker, line.state, line.reason) for line in lines] == [
        (str(IDS[0]), 0, 0, "failed", "out of memory"),
        (str(IDS[1]), 1, 0, "sent", ""),
        (str(IDS[2]), 7, None, "issued", ""),
    ]
    assert ledger.totals().missing == 2


def test_an_id_may_come_again_only_when_it_is_answered():
    ledger = sent_ledger(1, first_tokens=False)
    ledger.final(IDS[0], 11, 3, 0, 20)
    ledger.sent(list(ledger.issue(IDS[:1], [9], 30)), 0)
    assert ledger.fault == ""
    assert ledger.index_of(ledger.slot_of(IDS[0])) == 9
    ledger.issue(IDS[:1], [9], 31)
    assert ledger.violations == 1
    twice = Ledger(1, first_tokens=True)
    twice.issue([5, 5], [0, 1], 0)
    assert twice.violations == 1


def test_an_empty_test_does_not_reconcile():
    assert "issued no sample" in broken_ledger(Ledger(1, first_tokens=True).totals(), first_tokens=True)


EVENTS = st.lists(
    st.tuples(
        st.sampled_from(["send", "first", "final", "fail"]),
        st.integers(0, 7),
        st.integers(0, 1),
        st.integers(0, 4),
        st.integers(10, 12),
    ),
    max_size=80,
)


@settings(max_examples=200)
@given(events=EVENTS, first_tokens=st.booleans())
def test_whatever_comes_loadgen_hears_one_first_and_one_answer_in_order(events, first_tokens):
    """Events name ids 0..5 (6 and 7 were never issued), of the right worker or another, with any token count."""
    ledger = Ledger(2, first_tokens=first_tokens)
    ledger.issue(list(range(6)), list(range(6)), 0)
    held: set[int] = set()
    heard: dict[int, list[str]] = {i: [] for i in range(8)}
    for kind, sample_id, worker, count, token in events:
        if kind == "send" and sample_id < 6 and sample_id not in held:
            ledger.sent([sample_id], worker)
            held.add(sample_id)
        elif kind == "first" and ledger.first(sample_id, token, worker, 1):
            heard[sample_id].append("first")
        elif kind == "final":
            verdict = ledger.final(sample_id, token, count, worker, 2)
            if verdict == Verdict.FORWARD_WITH_FIRST:
                heard[sample_id].append("first")
            if verdict != Verdict.DROP:
                heard[sample_id].append("final")
        elif kind == "fail":
            ledger.fail(sample_id, "why", worker, 3)
    whole = ["first", "final"] if first_tokens else ["final"]
    totals = ledger.totals()
    assert all(story == whole[: len(story)] for story in heard.values())
    assert totals.completed == sum("final" in story for story in heard.values())
    assert totals.first_tokens == sum("first" in story for story in heard.values())
    assert totals.issued == totals.completed + totals.failed + totals.missing == 6
    assert len(list(ledger.unanswered())) == totals.failed + totals.missing
    good = all(heard[i] == whole for i in range(6)) and not ledger.fault and not totals.failed
    assert (broken_ledger(totals, first_tokens=first_tokens) == "") is good
    assert np.count_nonzero(ledger.samples()["done_ns"] == 2) == totals.completed
