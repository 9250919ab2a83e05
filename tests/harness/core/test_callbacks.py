"""LoadGen's callbacks never raise, whatever they meet."""

import pytest
import zmq

from harness.core.callbacks import Callbacks
from harness.core.state import Inbox, RunState


@pytest.fixture
def inbox():
    context = zmq.Context()
    made = Inbox(context)
    yield made
    made.close()
    context.destroy(0)


@pytest.fixture
def bell(inbox):
    made = inbox.bell()
    yield made
    made.close()


def test_issued_samples_reach_the_inbox_and_ring_once(inbox, bell):
    callbacks = Callbacks(bell, RunState(1), 10)
    callbacks.issue([2**64 - 1], [3])
    callbacks.issue([5, 6], [1, 2])
    callbacks.flush()
    inbox.wait(1000)
    assert [(item.ids, item.indices) for item in inbox.issues] == [([2**64 - 1], [3]), ([5, 6], [1, 2])]
    assert inbox.issues[0].at_ns <= inbox.issues[1].at_ns


def test_a_bell_without_a_dispatcher_is_silent(inbox, bell):
    inbox.close()
    bell.ring()


@pytest.mark.parametrize("indices", [[0, 9], []])
def test_the_datasets_samples_may_be_loaded(bell, indices):
    state = RunState(1)
    callbacks = Callbacks(bell, state, 10)
    callbacks.load(indices)
    callbacks.unload(indices)
    assert state.failure is None


def test_a_sample_beyond_the_dataset_fails_the_test(bell):
    state = RunState(1)
    Callbacks(bell, state, 10).load([10])
    assert (state.failure.kind, state.failure.cause) == ("loadgen", "LoadGen asked for sample 10 of 10")


def test_what_goes_wrong_inside_becomes_the_failure(bell):
    state = RunState(1)
    callbacks = Callbacks(bell, state, 10)
    callbacks.load(["no number"])
    assert state.failure.kind == "internal"
    assert "load callback" in state.failure.cause
    other = RunState(1)
    Callbacks(None, other, 10).issue([1], [1])
    assert "issue callback" in other.failure.cause


def test_the_first_failure_is_the_cause():
    state = RunState(1)
    for number in range(70_000):
        state.fail("ledger", str(number))
    assert state.failure.cause == "0"
