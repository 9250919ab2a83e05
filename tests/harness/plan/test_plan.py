from pathlib import Path

import pytest

from compliance.rulebook.rounds import load_round
from compliance.vocabulary import AuditId, Scenario
from harness.campaign.load import load_campaign, parse_campaign
from harness.errors import PlanError
from harness.plan.plan import benchmark_rules, engine_config, make_plan
from harness.plan.text import duration, render_plan

GOOD = sorted((Path(__file__).parents[2] / "data" / "campaigns" / "good").glob("*.yaml"))
BASE = """\
round: v6.1
division: closed
submitter: Example
system: capture
benchmark: llama2-70b-99.9
sut: synthetic
dataset: dataset
out: out
scenarios:
  Offline: {target_qps: 100}
  Server: {target_qps: 90}
"""


def campaign(text=BASE, **replaced):
    for key, value in replaced.items():
        text = "\n".join(f"{key}: {value}" if line.startswith(f"{key}:") else line for line in text.splitlines()) + "\n"
    return parse_campaign(text, "c.yaml", Path("/base"), {})


def plan(text=BASE, size=None, sha256="", **replaced):
    made = campaign(text, **replaced)
    return make_plan(made, load_round(made.round), size, sha256)


@pytest.mark.parametrize("path", GOOD, ids=lambda path: path.stem)
def test_good_campaigns_can_be_planned_and_shown_in_80_columns(path):
    read = load_campaign(path, {"EXAMPLE_KEY": "x"})
    made = make_plan(read, load_round(read.round))
    assert len(made.runs) == 3 * len(read.scenarios)
    for settings in (False, True):
        assert max(map(len, render_plan(read, made, settings=settings).splitlines())) <= 80


def test_the_order_is_performance_accuracy_audits_per_scenario():
    made = plan()
    assert [run.name for run in made.runs] == [
        f"{scenario}/{step}" for scenario in ("Offline", "Server") for step in ("performance", "accuracy", "TEST06")
    ]
    assert made.runs[2].audit is AuditId.TEST06
    assert made.runs[0].audit is None
    assert made.runs[0].folder == Path("/base/out/runs/llama2-70b-99.9/Offline/performance")
    assert made.duration_s == sum(run.prediction.duration_s for run in made.runs)


def test_open_runs_audits_only_when_asked():
    assert len(plan(division="open").runs) == 4
    assert len(plan(BASE + "audits: true\n", division="open").runs) == 6


def test_open_may_leave_accuracy_out():
    assert [run.step for run in plan(BASE + "accuracy: false\n", division="open").runs] == ["performance"] * 2


def test_a_plan_is_pure_and_its_hash_covers_what_decides_a_result():
    first = plan(size=24576, sha256="a" * 64)
    assert first == plan(size=24576, sha256="a" * 64)
    others = [
        plan(size=24576, sha256="b" * 64),
        plan(BASE + "policy: round_robin\n", size=24576, sha256="a" * 64),
        plan(size=24576, sha256="a" * 64, sut="{name: synthetic, settings: {window: 4}}"),
        plan(BASE + "worker: {count: 2}\n", size=24576, sha256="a" * 64),
    ]
    for other in others:
        assert {run.plan_sha256 for run in other.runs}.isdisjoint(run.plan_sha256 for run in first.runs)
    assert len({run.plan_sha256 for run in first.runs}) == len(first.runs)


def test_changing_one_scenario_leaves_the_other_scenarios_hashes():
    first = plan()
    second = plan(BASE.replace("target_qps: 90", "target_qps: 91"))
    same = {
        run.name for run, other in zip(first.runs, second.runs, strict=True) if run.plan_sha256 == other.plan_sha256
    }
    assert same == {"Offline/performance", "Offline/accuracy", "Offline/TEST06"}


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ("generation: {max_new_tokens: 4}\n", "generation is fixed by the rules"),
        ("audits: false\n", "demands TEST06"),
        ("accuracy: false\n", "demands accuracy runs"),
        ("model_name: mine\n", "model_name must be llama2-70b-99.9"),
        ("equal_issue: false\n", "equal_issue is fixed"),
        ("scale: 0.5\n", "scale is for test rounds"),
    ],
)
def test_closed_refuses_what_open_allows(more, words):
    with pytest.raises(PlanError, match=words):
        plan(BASE + more)
    assert plan(BASE + more, division="open").runs


def test_every_problem_of_every_scenario_is_told_once():
    text = BASE.replace("target_qps: 100", "min_duration_s: 1").replace("target_qps: 90", "min_duration_s: 1")
    with pytest.raises(PlanError) as caught:
        plan(text + "scale: 0.5\ngeneration: {min_new_tokens: 9, max_new_tokens: 4}\n")
    lines = str(caught.value).splitlines()
    assert len(lines) == len(set(lines)) == 7


def test_an_accuracy_rate_of_its_own_changes_the_accuracy_run_only():
    first, text = plan(), BASE.replace("target_qps: 90", "target_qps: 90, accuracy_target_qps: 500")
    second = plan(text)
    changed = [run for run, old in zip(second.runs, first.runs, strict=True) if run.plan_sha256 != old.plan_sha256]
    assert [run.name for run in changed] == ["Server/accuracy"]
    assert "at 500 per second" in " ".join(render_plan(campaign(text), second).split())


def test_generation_overrides_reach_the_engine():
    made = plan(BASE + "generation: {min_new_tokens: 3, max_new_tokens: 4}\n", division="open")
    assert (made.sampling.min_new_tokens, made.sampling.max_new_tokens) == (3, 4)
    config = engine_config(campaign(BASE + "worker: {count: 3}\n"), made)
    assert (config.worker_count, config.sampling) == (3, made.sampling)


def test_min_above_max_is_refused():
    with pytest.raises(PlanError, match="min_new_tokens = 9 is above max_new_tokens = 4"):
        plan(BASE + "generation: {min_new_tokens: 9, max_new_tokens: 4}\n", division="open")


@pytest.mark.parametrize(("given", "words"), [("llama2-70b", "did you mean 'llama2-70b-99.9'"), ("x", "choose from")])
def test_an_unknown_benchmark(given, words):
    with pytest.raises(PlanError, match=words):
        plan(benchmark=given)


@pytest.mark.parametrize("name", ["whisper", "resnet", "qwen3-vl-235b-a22b"])
def test_a_benchmark_without_text_tokens_is_not_run(name):
    with pytest.raises(
        PlanError, match=f"{name} generates no text: Weighbridge checks its results and does not run it"
    ):
        plan(benchmark=name, division="open")


def test_an_alias_is_the_benchmark():
    round_ = load_round("v6.1")
    aliases = [(alias, rules) for rules in round_.benchmarks.values() for alias in rules.aliases]
    for alias, rules in aliases:
        assert benchmark_rules(round_, alias) is rules


@pytest.mark.parametrize(
    ("more", "replaced", "words"),
    [
        ("", {"round": "demo", "benchmark": "smollm2-135m", "division": "open"}, "no MLPerf round"),
        ("scale: 0.1\n", {"division": "open"}, "scale 0.1: a test round"),
    ],
)
def test_notes_say_what_is_no_result(more, replaced, words):
    assert any(words in note for note in plan(BASE + more, **replaced).notes)


def test_notes_name_missing_scenarios_and_audits_that_are_not_run():
    without_server = BASE.replace("  Server: {target_qps: 90}\n", "")
    assert "suite datacenter also demands Server or Interactive" in plan(without_server).notes
    notes = plan(BASE.replace("llama2-70b-99.9", "gpt-oss-120b")).notes
    assert any(note.startswith("TEST07 is demanded and not run") for note in notes)


def test_a_dataset_of_another_size_is_noted_in_open():
    made = plan(division="open", size=100)
    assert any("holds 100 samples" in note for note in made.notes)
    assert made.runs[1].settings.total_sample_count == 100


def test_scenarios_are_those_of_the_campaign():
    assert {run.scenario for run in plan().runs} == {Scenario.OFFLINE, Scenario.SERVER}


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(42, "42 s"), (99.4, "99 s"), (100, "2 min"), (5940, "99 min"), (6000, "1 h 40"), (7500, "2 h 05")],
)
def test_durations(seconds, text):
    assert duration(seconds) == text
