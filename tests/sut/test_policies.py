"""Dispatch policies as pure functions: who gets the next sample, and that Offline work is dealt out whole and fairly."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sut.dispatch.policies import POLICIES, WorkerLoad, choose_server, offline_order, pull_quota
from sut.errors import BadSettings

LOADS = st.lists(
    st.tuples(st.integers(1, 50), st.integers(0, 60), st.integers(0, 9999), st.integers(0, 99)), min_size=1, max_size=8
).map(lambda rows: [WorkerLoad(i, *row) for i, row in enumerate(rows)])


@pytest.mark.parametrize(
    ("policy", "loads", "chosen"),
    [
        ("round_robin", [(8, 0, 0, 3), (8, 9, 9, 2), (8, 0, 0, 3)], 1),
        ("round_robin", [(8, 0, 0, 3), (8, 0, 0, 3)], 0),
        ("least_requests", [(8, 3, 10, 0), (8, 2, 900, 0), (8, 3, 0, 0)], 1),
        ("least_requests", [(8, 2, 10, 0), (8, 2, 9, 0)], 1),
        ("least_requests", [(2, 2, 10, 0), (8, 3, 900, 0)], 1),
        ("least_outstanding_tokens", [(8, 1, 500, 0), (8, 5, 499, 0)], 1),
        ("least_outstanding_tokens", [(8, 5, 499, 0), (8, 1, 499, 0)], 1),
        ("least_outstanding_tokens", [(4, 4, 5, 0), (8, 1, 499, 0)], 1),
        ("least_outstanding_tokens", [(4, 4, 5, 0), (4, 4, 6, 0)], 0),
        ("least_outstanding_tokens", [(8, 1, 499, 3), (8, 1, 499, 2)], 1),
        ("least_outstanding_tokens", [(8, 1, 499, 2), (8, 1, 499, 2)], 0),
        ("least_requests", [(8, 1, 499, 3), (8, 1, 499, 2)], 1),
    ],
)
def test_the_least_loaded_worker_is_chosen(policy, loads, chosen):
    assert choose_server([WorkerLoad(i, *load) for i, load in enumerate(loads)], policy) == chosen


@given(LOADS, st.sampled_from(POLICIES), st.randoms())
def test_the_choice_does_not_depend_on_the_order_given(loads, policy, random):
    shuffled = list(loads)
    random.shuffle(shuffled)
    assert choose_server(shuffled, policy) == choose_server(loads, policy)


@given(LOADS, st.sampled_from(POLICIES[1:]))
def test_a_full_worker_is_chosen_only_when_all_are(loads, policy):
    chosen = next(load for load in loads if load.index == choose_server(loads, policy))
    if chosen.in_flight_samples >= chosen.window:
        assert all(load.in_flight_samples >= load.window for load in loads)


@given(st.integers(1, 8), st.integers(0, 200), st.sampled_from(POLICIES))
def test_idle_workers_are_given_the_same(workers, queries, policy):
    sent = [0] * workers
    for _ in range(queries):
        loads = [WorkerLoad(i, 4, 0, 0, sent[i]) for i in range(workers)]
        sent[choose_server(loads, policy)] += 1
    assert max(sent) - min(sent) <= 1


@pytest.mark.parametrize(
    ("policy", "says"), [("least_request", "did you mean 'least_requests'"), ("zz", "take one of")]
)
def test_an_unknown_policy_is_named(policy, says):
    with pytest.raises(BadSettings, match=says):
        choose_server([WorkerLoad(0, 1, 0, 0)], policy)


def test_no_worker_is_an_error():
    with pytest.raises(BadSettings, match="no worker"):
        choose_server([], "round_robin")


@given(st.lists(st.integers(1, 9), min_size=1, max_size=20), st.data())
def test_offline_order_is_longest_first_and_stable(lengths, data):
    indices = data.draw(st.lists(st.integers(0, len(lengths) - 1), max_size=30))
    order = offline_order(np.array(lengths, np.int32), indices).tolist()
    assert sorted(order) == list(range(len(indices)))
    keys = [(-lengths[indices[position]], position) for position in order]
    assert keys == sorted(keys)


@pytest.mark.parametrize(
    ("load", "remaining", "workers", "total", "quota"),
    [
        ((8, 0), 100, 2, 0, 8),
        ((8, 8), 100, 2, 8, 0),
        ((8, 9), 100, 2, 9, 0),
        ((8, 0), 0, 2, 0, 0),
        ((100, 0), 100, 2, 0, 50),
        ((100, 0), 50, 2, 50, 50),
        ((100, 40), 10, 2, 80, 5),
        ((100, 60), 10, 2, 80, 0),
        ((8, 0), 1, 2, 0, 1),
        ((8, 0), 1, 4, 20, 1),
        ((8, 0), 3, 1, None, 3),
        ((8, 2), 100, 2, None, 6),
    ],
)
def test_a_quota_is_the_free_window_at_most_a_fair_share(load, remaining, workers, total, quota):
    assert pull_quota(WorkerLoad(0, *load, 0), remaining, workers, total) == quota


@given(st.lists(st.integers(1, 20), min_size=1, max_size=6), st.integers(0, 300), st.randoms())
def test_all_samples_are_dealt_out_within_the_windows(windows, samples, random):
    held = [0] * len(windows)
    remaining, steps = samples, 0
    while remaining or any(held):
        for worker, window in enumerate(windows):
            load = WorkerLoad(worker, window, held[worker], 0)
            quota = pull_quota(load, remaining, len(windows), sum(held))
            assert 0 <= quota <= remaining
            held[worker] += quota
            remaining -= quota
            assert held[worker] <= window
        busy = [worker for worker, count in enumerate(held) if count]
        assert busy, "work remains but nobody holds any"
        held[random.choice(busy)] -= 1
        steps += 1
    assert steps == samples
