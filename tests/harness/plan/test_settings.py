"""Settings against the rules, and against what a real LoadGen says it understood."""

import importlib.util
import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from compliance.audits import test06
from compliance.audits.base import plan_of
from compliance.rulebook.rounds import load_round
from compliance.vocabulary import AuditId, Division, Mode, Scenario
from harness.errors import PlanError
from harness.plan.prediction import early_stopping_minimum, predict
from harness.plan.settings import ScenarioChoices, loadgen_settings

PROBE = Path(__file__).parents[2] / "support" / "loadgen_probe.py"
needs_loadgen = pytest.mark.skipif(
    importlib.util.find_spec("mlperf_loadgen") is None, reason="mlcommons-loadgen has no wheel for this platform"
)
TEST06 = test06.plan()
UNIQUE = plan_of(AuditId.TEST09, {"performance_issue_unique": 1, "min_duration": 0})


def every_case():
    for round_name in ("v6.1", "demo"):
        for name, rules in load_round(round_name).benchmarks.items():
            for scenario in rules.scenarios if rules.generates_text else ():
                yield round_name, name, scenario


def choices_for(scenario, **more):
    streams = scenario in (Scenario.SINGLE_STREAM, Scenario.MULTI_STREAM)
    given = {"target_latency_ms": 12.5} if streams else {"target_qps": 100.3}
    return ScenarioChoices(**{**given, **more})


def settings(
    name="llama2-70b-99.9", scenario=Scenario.OFFLINE, mode=Mode.PERFORMANCE, audit=None, round_="v6.1", **more
):
    rules = load_round(round_)
    return loadgen_settings(rules.benchmarks[name], scenario, mode, audit, choices_for(scenario, **more), rules)


def run_loadgen(asked, folder):
    request = {
        "model": asked.model,
        "scenario": asked.scenario,
        "mode": asked.mode,
        "user_conf": asked.user_conf,
        "audit_conf": asked.audit_conf,
        "total": asked.total_sample_count,
        "performance": asked.performance_sample_count,
        "attributes": dict(asked.attributes),
        "folder": str(folder),
    }
    (folder / "request.json").write_text(json.dumps(request))
    subprocess.run([sys.executable, str(PROBE), str(folder / "request.json")], check=True, timeout=60)
    lines = (folder / "mlperf_log_detail.txt").read_text().splitlines()
    entries = [json.loads(line.removeprefix(":::MLLOG ")) for line in lines]
    assert [entry["value"] for entry in entries if entry["metadata"]["is_error"]] == []
    return {entry["key"]: entry["value"] for entry in entries}


@needs_loadgen
@pytest.mark.parametrize(("round_name", "name", "scenario"), list(every_case()))
@pytest.mark.parametrize(
    ("mode", "audit"),
    [(Mode.PERFORMANCE, None), (Mode.ACCURACY, None), (Mode.PERFORMANCE, TEST06)],
    ids=["performance", "accuracy", "TEST06"],
)
def test_loadgen_understands_every_setting(round_name, name, scenario, mode, audit, tmp_path):
    asked = settings(name, scenario, mode, audit, round_name)
    shown = run_loadgen(asked, tmp_path)
    assert {key: shown.get(key) for key in asked.expected_effective} == dict(asked.expected_effective)
    assert shown["generated_query_count"] * shown["generated_samples_per_query"] == predict(asked).samples


@needs_loadgen
@pytest.mark.parametrize(
    ("scenario", "more"),
    [
        (Scenario.OFFLINE, {"equal_issue": False, "min_query_count": 777, "scale": 0.001}),
        (Scenario.OFFLINE, {"equal_issue": True, "dataset_size": 50, "scale": 0.0201}),
        (Scenario.SERVER, {"equal_issue": False, "min_query_count": 480, "scale": 0.001}),
        (Scenario.SERVER, {"dataset_size": 200, "min_query_count": 480, "scale": 0.0001}),
        (Scenario.SERVER, {"target_qps": 0.00001234567, "min_query_count": 1, "min_duration_ms": 600_001}),
        (Scenario.OFFLINE, {"target_qps": 1e7, "min_query_count": 1, "equal_issue": False, "scale": 0.00002}),
    ],
)
def test_loadgen_understands_open_choices(scenario, more, tmp_path):
    scale = more.pop("scale", 1.0)
    asked = settings(scenario=scenario, division=Division.OPEN, duration_scale=scale, **more)
    shown = run_loadgen(asked, tmp_path)
    assert {key: shown.get(key) for key in asked.expected_effective} == dict(asked.expected_effective)
    assert shown["generated_query_count"] * shown["generated_samples_per_query"] == predict(asked).samples


@needs_loadgen
@pytest.mark.parametrize("scenario", [Scenario.SERVER, Scenario.INTERACTIVE])
@pytest.mark.parametrize(
    ("mode", "given", "rate"),
    [
        (Mode.ACCURACY, 5000.5, 5000.5),
        (Mode.ACCURACY, 0.25, 0.25),
        (Mode.ACCURACY, None, 100.3),
        (Mode.PERFORMANCE, 5000.5, 100.3),
    ],
)
def test_the_accuracy_run_may_have_a_rate_of_its_own(scenario, mode, given, rate, tmp_path):
    asked = settings(scenario=scenario, mode=mode, accuracy_target_qps=given)
    shown = run_loadgen(asked, tmp_path)
    assert shown["effective_target_qps"] == asked.expected_effective["effective_target_qps"] == rate
    assert {key: shown.get(key) for key in asked.expected_effective} == dict(asked.expected_effective)
    assert predict(asked).duration_s == pytest.approx(predict(asked).samples / rate, rel=0.02)
    assert ("at " in predict(asked).bound) is (mode is Mode.ACCURACY)


@needs_loadgen
def test_unique_issue_takes_the_whole_loaded_set(tmp_path):
    asked = settings("gpt-oss-120b", audit=UNIQUE)
    shown = run_loadgen(asked, tmp_path)
    assert shown["effective_samples_per_query"] == asked.expected_effective["effective_samples_per_query"] == 6396


@pytest.mark.parametrize(
    ("scenario", "more", "words"),
    [
        (Scenario.OFFLINE, {"target_qps": None}, "target_qps is missing"),
        (Scenario.OFFLINE, {"accuracy_target_qps": 5.0}, "accuracy_target_qps is for Server and Interactive"),
        (Scenario.OFFLINE, {"target_latency_ms": 5.0}, "target_latency_ms is for SingleStream"),
        (Scenario.OFFLINE, {"min_duration_ms": 599_999}, "min_duration_s = 599.999 is below the 600 s"),
        (Scenario.OFFLINE, {"min_query_count": 24575}, "min_query_count = 24575 is below the 24576"),
        (Scenario.SERVER, {"performance_sample_count": 24575}, "performance_sample_count = 24575 is below the 24576"),
        (Scenario.SERVER, {"equal_issue": False}, "equal_issue is fixed to True"),
        (Scenario.SERVER, {"duration_scale": 0.5}, "scale is for test rounds"),
        (Scenario.SERVER, {"dataset_size": 24575}, "holds 24575 samples"),
        (Scenario.OFFLINE, {"target_qps": 1e7}, "more samples than fit"),
        (Scenario.SINGLE_STREAM, {}, "has no scenario SingleStream"),
        (Scenario.SERVER, {"division": Division.NETWORK, "equal_issue": False}, "equal_issue is fixed"),
        (Scenario.SERVER, {"division": Division.OPEN, "min_duration_ms": 1}, "state `scale`"),
    ],
)
def test_what_the_rules_fix_is_refused(scenario, more, words):
    with pytest.raises(PlanError, match=words.replace("(", r"\(")):
        settings(scenario=scenario, **more)


@pytest.mark.parametrize(
    "more",
    [
        {"min_duration_ms": 600_000},
        {"min_query_count": 24576},
        {"performance_sample_count": 24576},
        {"equal_issue": True},
        {"dataset_size": 24576},
        {"division": Division.OPEN, "equal_issue": False, "min_query_count": 1, "dataset_size": 7},
        {"division": Division.OPEN, "duration_scale": 0.1, "min_duration_ms": 60_000},
    ],
)
def test_what_the_rules_leave_open_is_taken(more):
    assert settings(**more).user_conf


def test_every_problem_is_told_at_once():
    with pytest.raises(PlanError) as caught:
        settings(target_qps=None, min_duration_ms=1, min_query_count=1, equal_issue=False)
    assert len(str(caught.value).splitlines()) == 4


def test_single_stream_wants_a_latency():
    with pytest.raises(PlanError, match=r"target_latency_ms is missing.*\n.*target_qps is for Offline"):
        settings("llama3.1-8b-edge", Scenario.SINGLE_STREAM, target_latency_ms=None, target_qps=1.0)


@pytest.mark.parametrize(("percentile", "count"), [(0.99, 459), (0.9, 44)])
def test_early_stopping_minimum(percentile, count):
    assert early_stopping_minimum(percentile) == count


@pytest.mark.parametrize(
    ("scenario", "more", "samples", "bound"),
    [
        (Scenario.OFFLINE, {"target_qps": 10.0}, 24576, "min_query_count = 24576"),
        (Scenario.OFFLINE, {"target_qps": 100.0}, 73728, "1.1 x target_qps x 600 s, padded to 3 whole passes of 24576"),
        (Scenario.SERVER, {"target_qps": 1.0}, 24576, "min_query_count = 1024, padded to 1 whole pass of 24576"),
        (Scenario.SERVER, {"target_qps": 50.0}, 49152, "min_duration = 600 s, padded to 2 whole passes of 24576"),
    ],
)
def test_predictions(scenario, more, samples, bound):
    prediction = predict(settings(scenario=scenario, **more))
    assert (prediction.samples, prediction.bound, prediction.notes) == (samples, bound, ())
    assert prediction.duration_s == pytest.approx(samples / more["target_qps"], rel=0.02)


@pytest.mark.parametrize(("count", "doomed"), [(458, True), (459, False)])
def test_a_run_too_short_for_early_stopping_is_foretold(count, doomed):
    asked = settings(
        scenario=Scenario.SERVER,
        division=Division.OPEN,
        duration_scale=0.001,
        equal_issue=False,
        min_query_count=count,
        target_qps=1.0,
    )
    assert bool(predict(asked).notes) is doomed


def test_an_accuracy_run_takes_each_sample_once_and_an_audit_run_says_whose_verdict_counts():
    assert predict(settings("gpt-oss-120b", mode=Mode.ACCURACY)).samples == 4395
    assert "the audit's" in predict(settings(audit=TEST06)).notes[0]


def test_interactive_runs_as_server_of_the_interactive_model():
    asked = settings(scenario=Scenario.INTERACTIVE)
    assert (asked.model, asked.scenario) == ("llama2-70b-interactive", "Server")
    assert asked.user_conf.startswith("llama2-70b-interactive.Server.target_qps = 100.3\n")


@pytest.mark.parametrize(
    ("scenario", "values", "words"),
    [
        (Scenario.OFFLINE, {"target_qps": 1.0, "min_query_count": 4 * 10**9}, "min_query_count is above 2147483648"),
        (Scenario.SERVER, {"target_qps": 1.0, "min_query_count": 10**400}, "min_query_count is above 2147483648"),
        (Scenario.SERVER, {"target_qps": 1e30}, "asks for more samples than fit"),
        (Scenario.OFFLINE, {"target_qps": 1e-300}, "target_qps = 1e-300 takes over a year"),
        (Scenario.SERVER, {"target_qps": 1.0, "accuracy_target_qps": 1e-300}, "accuracy_target_qps = 1e-300 takes"),
        (Scenario.SINGLE_STREAM, {"target_latency_ms": 1e300}, "takes over a year; lower"),
        (Scenario.SINGLE_STREAM, {"target_latency_ms": 1e-300}, "asks for more samples than fit; raise it"),
    ],
)
def test_slips_of_the_pen(scenario, values, words):
    round_ = load_round("demo")
    rules = round_.benchmarks["smollm2-135m"]
    choices = ScenarioChoices(**values, division=Division.OPEN)
    with pytest.raises(PlanError, match=words):
        loadgen_settings(rules, scenario, Mode.PERFORMANCE, None, choices, round_)


def test_a_test_of_exactly_a_year_is_planned():
    round_ = load_round("demo")
    count = 365 * 86400
    for qps, good in ((1.0, True), (0.999, False)):
        choices = ScenarioChoices(target_qps=qps, min_query_count=count, division=Division.OPEN)
        rules = round_.benchmarks["smollm2-135m"]
        if good:
            loadgen_settings(rules, Scenario.OFFLINE, Mode.PERFORMANCE, None, choices, round_)
        else:
            with pytest.raises(PlanError, match="over a year"):
                loadgen_settings(rules, Scenario.OFFLINE, Mode.PERFORMANCE, None, choices, round_)


@pytest.mark.parametrize("scenario", [Scenario.SERVER, Scenario.INTERACTIVE, Scenario.OFFLINE])
def test_overdue_queries_are_coalesced_where_queries_have_a_schedule(scenario):
    asked = settings(scenario=scenario)
    wanted = scenario is not Scenario.OFFLINE
    assert ("Server.coalesce_queries = 1\n" in asked.user_conf) == wanted
    assert asked.expected_effective.get("requested_server_coalesce_queries", False) is wanted


def many_settings():
    """Settings of every kind, drawn once: rates below one and with fractions, counts, durations, sets, passes."""
    random = np.random.default_rng(11)
    for case in range(40):
        size = int(random.integers(2, 3000))
        qps = float(10 ** random.uniform(-1, 4.5))
        yield pytest.param(
            [Scenario.SERVER, Scenario.INTERACTIVE, Scenario.OFFLINE][case % 3],
            {
                "target_qps": round(qps, int(random.integers(0, 9))) or 0.5,
                "min_query_count": int(10 ** random.uniform(0, 4)),
                "min_duration_ms": int(random.integers(1, 20_000)),
                "dataset_size": size,
                "performance_sample_count": int(random.integers(1, size + 1)),
                "equal_issue": bool(random.integers(0, 2)),
            },
            id=str(case),
        )


@needs_loadgen
@pytest.mark.parametrize(("scenario", "more"), list(many_settings()))
def test_the_plan_is_what_loadgen_does_to_the_sample(scenario, more, tmp_path):
    asked = settings(scenario=scenario, division=Division.OPEN, duration_scale=1e-9, **more)
    shown = run_loadgen(asked, tmp_path)
    prediction = predict(asked)
    assert shown["generated_query_count"] * shown["generated_samples_per_query"] == prediction.samples
    if scenario is not Scenario.OFFLINE:
        # LoadGen logs when the query after the last would have been due.
        assert prediction.duration_s <= shown["generated_query_duration"] / 1e9


def test_a_schedule_too_long_to_compute_is_estimated():
    asked = settings(scenario=Scenario.SERVER, division=Division.OPEN, target_qps=100_000.0, dataset_size=100)
    assert predict(asked).samples == 60_000_000
