"""Which rate is tried next: for any system the search ends, within its bounds, with what it says."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.search.decide import FLOOR_DIVISOR, Ask, Bounds, Stop, bracket, decide
from harness.search.probe import INVALID, VALID, Probe

PROBE_S, FULL_S = 30.0, 600.0


def made(qps, *, valid, full=False):
    return Probe(qps, full, VALID if valid else INVALID, 1000, 30.0, 100.0, 10.0, "" if valid else "TTFT is over")


def duration_s(qps, full):
    return max(FULL_S, 1000 / qps) if full else max(PROBE_S, 1000 / qps)


def hunt(is_valid, bounds, budget_s=float("inf")):
    """Plays a search against `is_valid(qps, full)`; returns its probes, its end and the time it took."""
    probes, spent_s = (), 0.0
    for _ in range(500):
        step = decide(probes, bounds, budget_s - spent_s, duration_s)
        if isinstance(step, Stop):
            return probes, step, spent_s
        assert 0 < step.qps <= bounds.max_qps
        assert (step.qps, step.full) not in {(probe.qps, probe.full) for probe in probes}
        spent_s += duration_s(step.qps, step.full)
        probes = (*probes, made(step.qps, valid=is_valid(step.qps, step.full), full=step.full))
    pytest.fail("the search does not end")


def test_one_server_of_0425_requests_per_second_is_found_from_1_qps():
    probes, stop, _ = hunt(lambda qps, _full: qps <= 0.425, Bounds(1.0, 1e5))
    assert probes[0].qps == 1.0
    assert 0.40 <= stop.found_qps <= 0.425
    assert 0.425 < stop.lowest_invalid_qps <= stop.found_qps * 1.03
    assert stop.found_qps not in (0, 1)


def test_a_system_that_is_never_valid_ends_with_a_statement():
    probes, stop, _ = hunt(lambda _qps, _full: False, Bounds(1.0, 1e5))
    assert stop.found_qps is None
    assert "not even" in stop.why
    assert min(probe.qps for probe in probes) >= 1.0 / FLOOR_DIVISOR
    assert len(probes) <= 14


def test_a_system_that_is_always_valid_ends_at_the_highest_rate_allowed():
    _, stop, _ = hunt(lambda _qps, _full: True, Bounds(3.0, 1000.0))
    assert (stop.found_qps, stop.lowest_invalid_qps) == (1000.0, None)
    assert "highest rate allowed" in stop.why


def test_a_short_probe_that_promised_too_much_is_stepped_down_from_in_full_runs():
    probes, stop, _ = hunt(lambda qps, full: qps <= (80 if full else 100), Bounds(10.0, 1e5))
    assert stop.found_qps <= 80 < stop.lowest_invalid_qps
    full = [probe.qps for probe in probes if probe.full]
    assert full == sorted(full, reverse=True)
    assert len(full) <= 6


def test_the_time_left_goes_to_the_confirming_run():
    probes, stop, spent_s = hunt(lambda qps, _full: qps <= 100, Bounds(10.0, 1e5), budget_s=900.0)
    assert probes[-1].full
    assert stop.found_qps == probes[-1].qps
    assert spent_s <= 900.0


def test_without_time_for_a_run_of_full_length_the_rate_is_told_as_not_confirmed():
    _, stop, _ = hunt(lambda qps, _full: qps <= 100, Bounds(10.0, 1e5), budget_s=FULL_S - 1)
    assert stop.found_qps is None
    assert "not confirmed" in stop.why


@pytest.mark.parametrize(("max_probes", "found"), [(1, None), (2, None), (30, 100.0)])
def test_no_more_probes_than_allowed(max_probes, found):
    probes, stop, _ = hunt(lambda qps, _full: qps <= 100, Bounds(10.0, 1e5, max_probes=max_probes))
    assert len(probes) <= max_probes
    assert (stop.found_qps is None) == (found is None)


def test_a_bracket_ignores_what_was_valid_above_a_failure():
    probes = [made(10, valid=True), made(40, valid=True), made(20, valid=False)]
    assert bracket(probes) == bracket(probes[::-1])
    assert (bracket(probes).low_qps, bracket(probes).high_qps) == (10, 20)


def test_the_first_rate_is_the_start_and_never_above_the_highest():
    assert decide((), Bounds(5.0, 100.0), 1e9, duration_s) == Ask(5.0, full=False)
    assert decide((), Bounds(500.0, 100.0), 1e9, duration_s) == Ask(100.0, full=False)


@given(
    start=st.floats(1e-3, 1e4),
    capacity=st.floats(1e-3, 1e4),
    loss=st.floats(0.3, 1.0),
    tolerance=st.floats(0.001, 0.3),
    budget_s=st.one_of(st.just(float("inf")), st.floats(0, 1e5)),
)
@settings(max_examples=300, deadline=None)
def test_any_monotone_system(start, capacity, loss, tolerance, budget_s):
    bounds = Bounds(start, 1e6, tolerance, 200)
    probes, stop, spent_s = hunt(lambda q, full: q <= capacity * (loss if full else 1), bounds, budget_s)
    assert spent_s <= budget_s
    if stop.found_qps is not None:
        assert any(probe.full and probe.valid and probe.qps == stop.found_qps for probe in probes)
        assert stop.found_qps <= capacity * loss
        if stop.lowest_invalid_qps is not None:
            assert stop.lowest_invalid_qps > stop.found_qps
    if budget_s == float("inf") and capacity * loss >= start / FLOOR_DIVISOR * 2:
        assert stop.found_qps is not None
        if loss == 1.0:
            assert stop.lowest_invalid_qps - stop.found_qps <= max(tolerance, 0.001) * stop.lowest_invalid_qps * 1.001


@given(st.floats(1e-3, 1e4), st.randoms(use_true_random=False), st.integers(1, 60))
@settings(max_examples=200, deadline=None)
def test_any_mad_system_ends(start, random, max_probes):
    probes, stop, _ = hunt(lambda _q, _full: random.random() < 0.5, Bounds(start, 1e6, 0.01, max_probes))
    assert len(probes) <= max_probes
    if stop.found_qps is not None:
        assert all(probe.valid for probe in probes if probe.qps <= stop.found_qps)
