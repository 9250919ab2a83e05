"""Early stopping: against the rules' table, published runs and the plain sum of binomial terms."""

import math
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compliance.logs.detail import read_detail
from compliance.metrics.early_stopping import discarded_queries, enough_queries, fewest_queries
from tests.support.loadgen_run import loadgen_logs

TABLE = {0: 459, 1: 662, 2: 838, 3: 1001, 5: 1307, 10: 2010, 50: 6898, 100: 12571, 245: 28376}


@pytest.mark.parametrize(("over", "queries"), TABLE.items())
def test_the_rules_table_at_the_99th_percentile(over, queries):
    assert fewest_queries(over, 0.99) == queries
    assert enough_queries(queries, over, 0.99)
    assert not enough_queries(queries - 1, over, 0.99)


def test_single_stream_needs_64_queries():
    assert fewest_queries(1, 0.9) == 64
    assert discarded_queries(63, 0.9) is None
    assert discarded_queries(64, 0.9) == 0


@pytest.mark.parametrize(("queries", "discarded"), [(1849, 153), (3354, 294), (6020, 546)])
def test_published_runs_discard_as_many(queries, discarded):
    assert discarded_queries(queries, 0.9) == discarded


@given(queries=st.integers(1, 600), over=st.integers(0, 700), percentile=st.sampled_from([0.9, 0.95, 0.97, 0.99]))
def test_it_is_the_sum_of_binomial_terms(queries, over, percentile):
    terms = (math.comb(queries, k) * (1 - percentile) ** k * percentile ** (queries - k) for k in range(over + 1))
    odds = sum(terms) if over < queries else 1.0
    if abs(odds - 0.01) > 1e-9:
        assert enough_queries(queries, over, percentile) == (odds < 0.01)


@given(queries=st.integers(64, 10**12))
def test_one_more_would_be_one_too_many(queries):
    discarded = discarded_queries(queries, 0.9)
    assert discarded is not None
    assert enough_queries(queries, discarded + 1, 0.9)
    assert not enough_queries(queries, discarded + 2, 0.9)


def test_any_number_of_queries_comes_to_an_end():
    assert enough_queries(2**63, 0, 0.99)
    assert discarded_queries(2**63, 0.99) is not None


@pytest.mark.parametrize("scenario", ["SingleStream", "MultiStream"])
def test_loadgen_itself_discards_as_many(scenario):
    log = read_detail(loadgen_logs(scenario, "PerformanceOnly", tokens=False) / "mlperf_log_detail.txt")
    text, queries = log.value("early_stopping_result"), log.value("result_query_count")
    percentile = log.number("effective_target_latency_percentile")
    said = re.search(r"Would discard (\d+) highest", text)
    assert (None if said is None else int(said[1])) == discarded_queries(queries, percentile)
    assert log.value("early_stopping_met") == (discarded_queries(queries, percentile) is not None)
