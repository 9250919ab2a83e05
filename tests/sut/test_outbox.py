"""The outbox: coalesced, in order per sample, never across tests, and woken exactly when a drain is due."""

import threading

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from sut import messages, wire
from sut.outbox import MAX_EVENTS_PER_FRAME, Outbox

TOKENS = np.array([4, 5], np.int32)


def opened(epoch=1):
    wakes = []
    outbox = Outbox(2, lambda: wakes.append(1))
    outbox.open(epoch)
    return outbox, wakes


def drained(outbox):
    return [wire.decode(frame) for frame in outbox.drain()]


def test_one_wake_and_one_frame_for_many_answers():
    outbox, wakes = opened()
    outbox.submitted(range(50))
    for sample_id in range(50):
        outbox.first_token(sample_id, 4)
        outbox.final(sample_id, TOKENS)
    assert len(wakes) == 1
    assert outbox.in_flight == 0
    (events,) = drained(outbox)
    assert (events.epoch, events.worker, len(events.first_ids), len(events.final_ids)) == (1, 2, 50, 50)
    outbox.first_token(51, 4)
    assert len(wakes) == 2


def test_a_large_burst_is_cut_into_frames():
    outbox, _ = opened()
    for sample_id in range(MAX_EVENTS_PER_FRAME + 1):
        outbox.final(sample_id, TOKENS)
    assert [len(events.final_ids) for events in drained(outbox)] == [MAX_EVENTS_PER_FRAME, 1]


def test_answers_after_the_end_are_dropped_and_late_items_keep_their_epoch():
    outbox, _ = opened(1)
    outbox.final(1, TOKENS)
    outbox.close()
    outbox.final(2, TOKENS)
    outbox.open(2)
    outbox.final(3, TOKENS)
    assert [(events.epoch, list(events.final_ids)) for events in drained(outbox)] == [(1, [1]), (2, [3])]


def test_a_ready_frame_keeps_its_place():
    outbox, _ = opened()
    outbox.final(1, TOKENS)
    outbox.put_frame(wire.encode_goodbye(1, 2))
    outbox.final(2, TOKENS)
    first, goodbye, second = drained(outbox)
    assert (list(first.final_ids), goodbye, list(second.final_ids)) == ([1], messages.Goodbye(1, 2), [2])


def test_what_is_in_flight_can_be_failed():
    outbox, _ = opened()
    outbox.submitted([1, 2, 3])
    outbox.final(2, TOKENS)
    outbox.fail_all("device lost")
    (events,) = drained(outbox)
    assert sorted(events.failures) == [(1, "device lost"), (3, "device lost")]
    assert outbox.in_flight == 0


def test_an_answer_that_is_no_array_of_int32_is_a_failed_sample():
    outbox, _ = opened()
    for sample_id, answer in enumerate(([1, 2], None, np.zeros(2), np.zeros((1, 2), np.int32))):
        outbox.final(sample_id, answer)
    (events,) = drained(outbox)
    assert [reason.split(";")[0] for _, reason in events.failures] == [
        "the engine answered with list",
        "the engine answered with NoneType",
        "the engine answered with an array of float64 with 1 dimensions",
        "the engine answered with an array of int32 with 2 dimensions",
    ]


@given(st.lists(st.tuples(st.integers(0, 3), st.booleans()), max_size=30))
def test_the_order_of_each_sample_survives(calls):
    outbox, _ = opened()
    for sample_id, is_final in calls:
        if is_final:
            outbox.final(sample_id, TOKENS)
        else:
            outbox.first_token(sample_id, 4)
    arrived = []
    for events in drained(outbox):
        arrived += [(i, False) for i in events.first_ids] + [(i, True) for i in events.final_ids]
    # Within a frame firsts come before finals, so a sample's order can only improve a pair that was first, final.
    for sample_id in range(4):
        sent = [kind for i, kind in calls if i == sample_id]
        assert [kind for i, kind in arrived if i == sample_id] == sent


def test_no_answer_is_lost_between_threads():
    outbox, wakes = opened()
    total, threads = 2000, 4
    got = []

    def answer(base):
        for i in range(total):
            outbox.final(base + i, TOKENS)

    producers = [threading.Thread(target=answer, args=(n * total,)) for n in range(threads)]
    for producer in producers:
        producer.start()
    while any(producer.is_alive() for producer in producers):
        got += [i for events in drained(outbox) for i in events.final_ids]
    for producer in producers:
        producer.join()
    got += [i for events in drained(outbox) for i in events.final_ids]
    assert sorted(got) == list(range(total * threads))
    assert wakes
