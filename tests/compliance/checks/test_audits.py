"""The audits' checks: what passes at the bound, what an inner finding keeps, and which bytes nobody reads."""

import pytest

from compliance.checks.audit_runs import RUN_CHECKS
from compliance.checks.model import Scope, State
from compliance.checks.registry import all_checks
from compliance.discovery.submission import discover
from compliance.judge import judge
from tests.support.audit_faults import audited, differing, diffusion, line_cut, resnet
from tests.support.faults import texts
from tests.support.trees import ACCURACY, DETAIL

SAMPLES = "result_completed_samples_per_sec"
RUN = "TEST01/performance/run_1"


def failing(made, root, scenario="Server"):
    """The checks that fail in one result, with their findings."""
    judgement = judge(discover(made.write(root), made.round), made.round)
    (judged,) = [one for one in judgement.results if one.result.scenario_dir == scenario]
    return {one.check.id: one.findings for one in judged.verdicts.outcomes if one.state is State.FAIL}


@pytest.mark.parametrize(
    "make",
    [
        differing(),
        differing(acc=76.46 * 1.0100),
        differing(acc=76.46 / 1.0099),
        differing(extra="results.json"),
        differing(base=diffusion, FID_SCORE=23.4),
        texts("TEST01/verify_accuracy.txt", "x\n  TEST PASS  \r\n", base=resnet),
        texts("TEST04/verify_performance.txt", "all of it: TEST PASS!\n", base=resnet),
        texts(f"{RUN}/{ACCURACY}", "[\n]\n", base=resnet),
        texts(f"{RUN}/.gitkeep", "", base=resnet),
        audited(resnet, "TEST01", **{SAMPLES: 74.5 * 0.9001}),
        audited(resnet, "TEST01", **{SAMPLES: 74.5 * 1.0999}),
        audited(resnet, "TEST04", **{SAMPLES: 74.5 * 0.2}),
        audited(resnet, "TEST04", **{SAMPLES: 74.5 * 1.0999}),
    ],
    ids=range(13),
)
def test_audits_that_just_pass(make, tmp_path):
    assert failing(make(), tmp_path) == {}


def test_what_is_asked_of_an_audits_run_are_checks_of_a_performance_run():
    by_id = {entry.id: entry for entry in all_checks()}
    assert set(by_id) >= RUN_CHECKS
    assert {by_id[check_id].scope for check_id in RUN_CHECKS} == {Scope.RESULT}


def test_an_inner_finding_names_its_check_and_keeps_place_and_remedy(tmp_path):
    made = audited(resnet, "TEST04", effective_qsl_rng_seed=1)()
    (finding,) = failing(made, tmp_path)["AUD-014"]
    log = made.path("Server", f"TEST04/performance/run_1/{DETAIL}")
    lines = (tmp_path / log).read_text().splitlines()
    assert finding.where == log
    assert '"effective_qsl_rng_seed"' in lines[(finding.line or 0) - 1]
    assert finding.message.startswith("PERF-002: ")
    assert finding.found == "effective_qsl_rng_seed = 1"
    assert "LoadGen release" in finding.fix


def test_every_fault_of_an_audits_run_is_told(tmp_path):
    made = audited(resnet, "TEST01", effective_qsl_rng_seed=1, effective_min_duration_ms=1)()
    made = made.change(made.path("Server", f"TEST04/performance/run_1/{DETAIL}"), {"effective_schedule_rng_seed": 1})
    found = failing(made, tmp_path)["AUD-014"]
    assert sorted(finding.message[:8] for finding in found) == ["PERF-002", "PERF-004", "PERF-007"]


def test_a_line_that_cannot_be_read_keeps_its_number(tmp_path):
    made = line_cut(resnet, "TEST04")()
    log = made.path("Server", f"TEST04/performance/run_1/{DETAIL}")
    found = failing(made, tmp_path)["AUD-014"]
    last = len((tmp_path / log).read_text().splitlines())
    assert {(finding.where, finding.line) for finding in found} == {(log, last)}


def test_the_performance_run_itself_is_not_told_twice(tmp_path):
    made = resnet().performance("Server", effective_qsl_rng_seed=1)
    assert set(failing(made, tmp_path)) == {"PERF-002"}


@pytest.mark.parametrize(
    ("compliance", "official", "strict"),
    [(76.46 * 1.0102, True, True), (75.69, True, True), (0.0, True, True), (76.0, False, False)],
)
def test_scores_of_test01_around_one_percent(compliance, official, strict, tmp_path):
    findings = failing(differing(acc=compliance)(), tmp_path).get("AUD-011", ())
    profiles = {profile.value for finding in findings for profile in finding.profiles}
    assert ("official" in profiles, "strict" in profiles) == (official, strict)


def test_a_score_in_numpys_form_fails_officially_and_is_a_warning_in_strict(tmp_path):
    made = differing(base=diffusion)()
    path = made.path("Server", "TEST01/accuracy/compliance_accuracy.txt")
    text = made.texts[path]
    number = text.partition("'CLIP_SCORE': ")[2].partition(",")[0]
    made.replace(path, number, f"np.float64({number})")
    found = failing(made, tmp_path)["AUD-011"]
    assert {(finding.severity.value, finding.profiles[0].value) for finding in found} == {
        ("error", "official"),
        ("warning", "strict"),
    }
