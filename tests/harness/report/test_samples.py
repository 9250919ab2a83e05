"""Distributions and series by hand-made samples, where every figure can be computed in the head."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.report import samples as q
from harness.run.record import SAMPLES_DTYPE

MS = 1_000_000
SECOND = 1_000_000_000


def rows(*values: tuple[int, int, int, int]) -> np.ndarray:
    """Samples as (issued ms, first ms, done ms, tokens); 0 where it never happened."""
    array = np.zeros(len(values), dtype=SAMPLES_DTYPE)
    for row, (issued, first, done, tokens) in zip(array, values, strict=True):
        row["issued_ns"], row["first_ns"], row["done_ns"] = issued * MS, first * MS, done * MS
        row["output_tokens"] = tokens
    return array


def test_latencies_of_one_sample() -> None:
    one = rows((1000, 1250, 1650, 5))
    assert q.first_token_ms(one).tolist() == [250]
    assert q.per_token_ms(one).tolist() == [100]
    assert q.latency_ms(one).tolist() == [650]


def test_what_never_happened_is_left_out() -> None:
    some = rows((1000, 0, 2000, 4), (1000, 1500, 0, 0), (1000, 1500, 1500, 1))
    assert q.first_token_ms(some).tolist() == [500, 500]
    assert q.per_token_ms(some).size == 0
    assert q.latency_ms(some).tolist() == [1000, 500]
    assert q.output_tokens(some).tolist() == [4, 1]


def test_tokens_spread_from_first_token_to_end() -> None:
    series = q.throughput(rows((1000, 1000, 3000, 20), (1000, 3000, 4000, 30)))
    assert series is not None
    assert series.times_s[0] == 0
    assert series.times_s[-1] == pytest.approx(3.0)
    assert series.values[0] == pytest.approx(10)
    assert series.values[-1] == pytest.approx(30)
    assert sum(series.values) * 3.0 / len(series.values) == pytest.approx(50)


def test_offline_tokens_count_at_completion() -> None:
    series = q.throughput(rows((1000, 0, 2000, 20), (1000, 0, 3000, 20)))
    assert series is not None
    step = series.times_s[1]
    assert sum(value * step for value in series.values) == pytest.approx(40)
    assert series.values[0] == 0


def test_in_flight_counts_issued_but_not_completed() -> None:
    series = q.in_flight(rows((1000, 0, 2000, 1), (1000, 0, 3000, 1)))
    assert series is not None
    assert series.values[0] == 2
    assert series.values[-1] == 1


def test_a_run_without_answers_has_no_figures() -> None:
    none = rows((1000, 0, 0, 0))
    assert q.throughput(none) is None
    assert q.in_flight(none) is None
    assert q.distribution("x", "ms", q.latency_ms(none)) is None


def test_far_limit_makes_the_scale_logarithmic() -> None:
    values = np.linspace(10, 20, 50)
    near = q.distribution("x", "ms", values, q.Limit(30.0))
    far = q.distribution("x", "ms", values, q.Limit(2000.0))
    assert near is not None
    assert far is not None
    assert (near.log_scale, far.log_scale) == (False, True)


@given(st.lists(st.floats(min_value=-1e6, max_value=1e9, allow_nan=False), min_size=1, max_size=60))
def test_every_sample_is_in_exactly_one_bar(values: list[float]) -> None:
    found = q.distribution("x", "ms", np.array(values))
    assert found is not None
    assert sum(found.counts) == len(values)
    assert len(found.edges) == len(found.counts) + 1
    assert list(found.edges) == sorted(set(found.edges))


@given(st.lists(st.integers(min_value=0, max_value=40_000), min_size=1, max_size=60))
def test_whole_numbers_get_bars_of_equal_whole_width(values: list[int]) -> None:
    found = q.distribution("x", "tokens", np.array(values, dtype=np.float64))
    assert found is not None
    assert sum(found.counts) == len(values)
    if not found.log_scale:
        widths = {round(b - a, 6) for a, b in zip(found.edges, found.edges[1:], strict=False)}
        assert len(widths) == 1
        assert widths.pop() >= 1
