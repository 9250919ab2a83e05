"""The reported metric: its key, its unit and what is inferred."""

import pytest

from compliance.discovery.submission import discover
from compliance.metrics.performance import read_metric
from tests.support.trees import clean_tree

EDGE = {"benchmark": "llama3.1-8b-edge", "scenarios": ("SingleStream",), "system_type": "edge"}


def metric(tree, root, scenario):
    submission = discover(tree.write(root), tree.round)
    results = submission.submitters[0].systems[0].results
    (result,) = [one for one in results if one.scenario_dir == scenario]
    return read_metric(result, tree.round.benchmarks[tree.benchmark])


@pytest.mark.parametrize(
    ("options", "scenario", "value", "unit"),
    [
        ({}, "Offline", 27600.5, "Tokens/s"),
        ({}, "Server", 27600.5, "Tokens/s"),
        (EDGE, "SingleStream", 0.0276005, "Latency (ms)"),
    ],
)
def test_the_benchmarks_key_and_unit(options, scenario, value, unit, tmp_path):
    found = metric(clean_tree(**options), tmp_path, scenario)
    assert (found.value, found.unit, found.inferred) == (pytest.approx(value), unit, False)


@pytest.mark.parametrize(
    ("measured", "folder", "logged", "value"),
    [
        ("SingleStream", "Offline", {"result_qps_without_loadgen_overhead": 1.25}, 1.25),
        ("SingleStream", "MultiStream", {"early_stopping_latency_ms": 1_400_000_000}, 11200.0),
        ("SingleStream", "MultiStream", {"early_stopping_latency_ms": 0}, None),
        (
            "MultiStream",
            "Offline",
            {"effective_samples_per_query": 8, "result_mean_query_latency_ns": 2_000_000_000},
            4.0,
        ),
        ("MultiStream", "Offline", {"effective_samples_per_query": None}, None),
        ("Offline", "SingleStream", {}, None),
    ],
)
def test_one_scenario_inferred_from_another(measured, folder, logged, value, tmp_path):
    tree = clean_tree(**EDGE)
    tree.copy(tree.path("SingleStream"), tree.path("x")).remove(tree.path("SingleStream"))
    tree.copy(tree.path("x"), tree.path(folder)).remove(tree.path("x"))
    tree.performance(folder, effective_scenario=measured, **logged)
    found = metric(tree, tmp_path, folder)
    assert found.inferred
    assert found.value == (None if value is None else pytest.approx(value))


def test_what_cannot_be_read_has_no_value(tmp_path):
    tree = clean_tree().performance("Server", effective_scenario="Sometimes")
    assert metric(tree, tmp_path, "Server").value is None
