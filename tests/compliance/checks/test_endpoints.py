"""Endpoints runs: good trees pass every check, a broken one fails the check it is for."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from compliance.judge import INTERNAL
from compliance.metrics.performance import read_metric
from compliance.report.model import build_report
from compliance.vocabulary import Profile
from tests.compliance.checks.test_broken_trees import failed, judged, speaks
from tests.support.broken_endpoints import ENDPOINTS_CASES
from tests.support.endpoint_trees import (
    CONFIG,
    SCORES,
    SUMMARY,
    changed,
    endpoints_tree,
    gpt,
    online,
    opened,
    qwen_vl,
    respelled,
)

GOOD = [
    {},
    {"scenarios": ("Offline", "Server", "Interactive")},
    {"division": "open"},
    {"benchmark": "gpt-oss-120b", "scenarios": ("Offline", "Server", "Interactive")},
    {"benchmark": "deepseek-r1"},
    {"benchmark": "qwen3-vl-235b-a22b", "scenarios": ("Offline", "Server", "Interactive")},
    {"benchmark": "wan-2.2-t2v-a14b", "scenarios": ("Offline", "SingleStream")},
    {"benchmark": "qwen3.6-27b", "scenarios": ("SingleStream",), "system_type": "edge"},
    {"benchmark": "llama3.1-8b-edge", "scenarios": ("Offline", "SingleStream"), "system_type": "edge"},
]


def verdicts(judgement):
    return {(one.verdicts.official, one.verdicts.strict) for one in judgement.results}


@pytest.mark.parametrize("options", GOOD, ids=lambda options: "-".join(map(str, options.values())) or "closed")
def test_a_good_tree_passes_every_check(options, tmp_path):
    judgement = judged(endpoints_tree(**options), tmp_path)
    assert failed(judgement) == set()
    assert verdicts(judgement) == {("valid", "valid")}


@pytest.mark.parametrize("case", ENDPOINTS_CASES, ids=lambda case: case.id)
def test_one_fault_fails_one_check(case, tmp_path):
    judgement = judged(case.make(), tmp_path)
    assert failed(judgement) == {case.check, *case.also}
    found = [one.verdicts for one in judgement.results if one.result.scenario_dir == case.at]
    assert [(one.official, one.strict) for one in found] == [case.verdicts]
    speaks(judgement, tmp_path)


def of_server(judgement):
    return next(one for one in judgement.results if one.result.scenario_dir in {"Server", "online"})


def findings(judgement, check_id):
    outcomes = of_server(judgement).verdicts.outcomes
    return [finding for one in outcomes if one.check.id == check_id for finding in one.findings]


def test_the_folder_online_is_the_server_scenario(tmp_path):
    judgement = judged(online(opened), tmp_path / "open")
    assert failed(judgement) == set()
    assert of_server(judgement).result.scenario == "Server"
    report = build_report(judged(online(endpoints_tree), tmp_path / "closed"), Profile.STRICT)
    assert {(one.scenario, one.verdict, one.official_verdict) for one in report.results} == {
        ("Offline", "valid", "invalid"),
        ("Server", "valid", "invalid"),
    }


@pytest.mark.parametrize("key", ["99", "99.0"])
def test_a_summary_without_rate_and_estimates_shows_what_is_there(key, tmp_path):
    """A public report: qps null, plain percentiles alone, keys in either form."""
    plain = {
        "n_samples_issued": 13368,
        "n_samples_completed": 13368,
        "n_samples_failed": 0,
        "duration_ns": 610_000_000_000,
        "qps": None,
        "tps": 2805.2,
        "ttft": {"percentiles": {key: 812_000_000.0}},
        "tpot": {"percentiles": {key: 61_000_000.0}},
    }
    judgement = judged(respelled(SUMMARY, lambda _: json.dumps(plain, indent=1))(), tmp_path)
    assert failed(judgement) == {"LAT-102", "LAT-103"}
    (ttft,), (tpot,) = findings(judgement, "LAT-102"), findings(judgement, "LAT-103")
    assert "is 812 ms" in ttft.message
    assert "is 61 ms" in tpot.message
    summary = of_server(judgement).result.endpoints.summary
    assert summary.qps == pytest.approx(21.91, abs=0.01)


def test_keys_of_an_unknown_form_are_listed(tmp_path):
    tree = changed(SUMMARY, "ttft/early_stopping_percentiles", {"p99": 1, "p50": 1})()
    (finding,) = findings(judged(tree, tmp_path), "LAT-102")
    assert "p99, p50" in finding.found


@pytest.mark.parametrize(
    ("change", "failing"),
    [
        (changed(SUMMARY, "ttft/early_stopping_percentiles/99.0", 1_999_999_999), set()),
        (changed(SUMMARY, "tpot/early_stopping_percentiles/99.0", 99_999_999.9), set()),
        (changed(SUMMARY, "latency/early_stopping_percentiles/99.0", 12_000_000_000, base=qwen_vl), set()),
        (changed(SUMMARY, "duration_ns", 600_000_000_000), set()),
        (changed(SUMMARY, "output_sequence_lengths/avg", 1150.38, base=gpt), set()),
        (changed(SUMMARY, "output_sequence_lengths/avg", 1406.02, base=gpt), set()),
        (changed(SCORES, "accuracy_scores/0/score", 0.782397, base=qwen_vl), set()),
        (changed(SCORES, "accuracy_scores/0/score", "0.79", base=qwen_vl), set()),
        (changed(SCORES, "accuracy_scores/0/score", 82.2987, base=gpt), set()),
        (changed(SCORES, "accuracy_scores/0/score", 0.822987, base=gpt), set()),
        (changed(CONFIG, "type", "ONLINE"), set()),
        (changed(SUMMARY, "qps", None), set()),
        (changed(SUMMARY, "qps", "many"), {"LOG-105", "PERF-106"}),
        (changed(CONFIG, "type", 3), {"LOG-105", "PERF-101", "PERF-106"}),
        (changed(SCORES, "accuracy_scores/0/dataset_type", "performance"), {"ACC-101", "ACC-102", "ACC-104"}),
    ],
)
def test_the_exact_boundary_and_other_spellings(change, failing, tmp_path):
    assert failed(judged(change(), tmp_path)) == failing


@pytest.mark.parametrize(
    ("options", "scenario", "value", "unit"),
    [
        ({}, "Server", 2805.25, "Tokens/s"),
        ({}, "Offline", 49152 / 610, "Samples/s"),
        ({"scenarios": ("Offline", "Interactive")}, "Interactive", 49152 / 610, "Queries/s"),
        (
            {"benchmark": "llama3.1-8b-edge", "scenarios": ("Offline", "SingleStream"), "system_type": "edge"},
            "SingleStream",
            4500.0,
            "Latency (ms)",
        ),
        (
            {"benchmark": "wan-2.2-t2v-a14b", "scenarios": ("Offline", "SingleStream")},
            "SingleStream",
            3.375,
            "Latency (s)",
        ),
    ],
)
def test_the_metric_is_the_official_one_with_the_unit_it_has(options, scenario, value, unit, tmp_path):
    judgement = judged(endpoints_tree(**options), tmp_path)
    (one,) = [one for one in judgement.results if one.result.scenario == scenario]
    metric = read_metric(one.result, judgement.round.benchmarks[one.result.rules_benchmark])
    assert (metric.value, metric.unit, metric.inferred) == (pytest.approx(value), unit, False)


def test_the_scores_of_several_data_sets_count_by_their_unit_samples(tmp_path):
    tree = gpt()
    entries = [
        {"dataset_name": "a", "score": 0.8, "unit_samples": 30, "total_samples": 240},
        {"dataset_name": "b", "score": 0.9, "unit_samples": 70, "total_samples": 4155},
    ]
    tree.documents[tree.path("Server", SCORES)] = {"accuracy_scores": entries}
    report = build_report(judged(tree, tmp_path), Profile.STRICT)
    (server,) = [one for one in report.results if one.scenario == "Server"]
    assert server.accuracy["exact_match"].value == pytest.approx(87.0)
    assert server.verdict == "valid"


def test_a_config_yml_stands_for_a_missing_or_broken_config_yaml(tmp_path):
    tree = endpoints_tree()
    path = tree.path("Server", CONFIG)
    tree.texts[path.replace(".yaml", ".yml")] = tree.texts[path]
    tree.texts[path] = "a: ["
    judgement = judged(tree, tmp_path)
    assert failed(judgement) == set()
    assert of_server(judgement).result.endpoints.config_path.endswith("config.yml")


def test_rounds_before_admit_no_endpoints_runs(tmp_path):
    judgement = judged(endpoints_tree(round_name="v6.0"), tmp_path)
    assert failed(judgement) == {"PERF-107"}
    assert verdicts(judgement) == {("invalid", "invalid")}


POINTERS = [
    (CONFIG, "type"),
    (CONFIG, "settings"),
    (CONFIG, "settings/runtime"),
    (CONFIG, "settings/runtime/min_duration_ms"),
    (SUMMARY, "n_samples_issued"),
    (SUMMARY, "duration_ns"),
    (SUMMARY, "qps"),
    (SUMMARY, "tps"),
    (SUMMARY, "ttft"),
    (SUMMARY, "ttft/early_stopping_percentiles/99.0"),
    (SUMMARY, "output_sequence_lengths"),
    (SCORES, "accuracy_scores"),
    (SCORES, "accuracy_scores/0/score"),
    (SCORES, "accuracy_scores/0/total_samples"),
    (SCORES, "accuracy_scores/0/unit_samples"),
    (SCORES, "accuracy_scores/0/response_counts"),
    ("audit/audit_accuracy_in_performance_full_test.json", "passed"),
]
LEAVES = st.none() | st.booleans() | st.integers() | st.just(10**400) | st.floats() | st.text("online9.", max_size=6)
VALUES = st.recursive(LEAVES, lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=2), inner))


@settings(max_examples=40)
@given(st.sampled_from(POINTERS), VALUES)
def test_no_value_breaks_a_check(tmp_path_factory, pointer, value):
    judgement = judged(changed(*pointer, value, base=gpt)(), tmp_path_factory.mktemp("tree"))
    assert INTERNAL not in failed(judgement)
    build_report(judgement, Profile.STRICT)
