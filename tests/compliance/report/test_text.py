"""The report for people: grouping, length, the table's width, the last line."""

import re
from dataclasses import replace

import pytest

from compliance.discovery.submission import discover
from compliance.judge import judge
from compliance.report.model import build_report
from compliance.report.plain import columns, plain
from compliance.report.screen import LINES_PER_RESULT
from compliance.report.text import _findings, render_text
from compliance.rulebook.rounds import load_round
from compliance.vocabulary import Profile, Severity
from tests.support.broken_trees import CASES
from tests.support.faults import stray_folder
from tests.support.hostile_trees import hostile_tree
from tests.support.trees import SYSTEM, clean_tree


def report(made, root, profile=Profile.STRICT):
    return build_report(judge(discover(made.write(root), made.round), made.round), profile)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)
def test_the_last_line_agrees_with_the_exit_code(case, tmp_path):
    made = case.make()
    judgement = judge(discover(made.write(tmp_path), made.round), made.round)
    for profile in Profile:
        found = build_report(judgement, profile)
        last = render_text(found).splitlines()[-1]
        assert last.startswith({0: "PASS", 1: "FAIL", 3: "NOT JUDGED"}[found.exit_code])
        assert f" ({profile.value})" in last
        rejected = sum(result.official_verdict == "invalid" for result in found.results)
        denied = profile is Profile.STRICT and found.exit_code != 1 and rejected
        assert last.endswith(f"; the official checker rejects {rejected} of 2" if denied else f"({profile.value})")


@pytest.mark.parametrize("check", ["LOG-003", "SYS-002", "MEAS-005"])
def test_a_strict_pass_says_what_the_official_checker_rejects(check, tmp_path):
    case = next(case for case in CASES if case.check == check and case.verdicts == ("invalid", "valid"))
    found = report(case.make(), tmp_path)
    text = render_text(found)
    rejected = 2 if check == "SYS-002" else 1
    assert found.exit_code == 0
    assert f"{check}  " in text
    assert "the official checker rejects this; strict does not" in text
    ending = f"PASS: all 2 results valid (strict); the official checker rejects {rejected} of 2"
    assert text.splitlines()[-1] == ending


def test_a_finding_says_what_was_compared_and_by_how_much_it_failed(tmp_path):
    text = render_text(report(clean_tree().performance("Server", effective_min_duration_ms=300_000), tmp_path))
    assert "ERROR   PERF-007  the run was asked to last long enough\n" in text
    assert "wanted  effective_min_duration_ms >= 600000 ms" in text
    assert "found   effective_min_duration_ms = 300000 ms" in text
    assert "300000 ms short (50.00% of the limit)" in text
    folded = (
        "  at      closed/Acme/results/node8/llama3.1-8b/Server/performance/run_1/\n          mlperf_log_detail.txt:"
    )
    assert folded in text
    assert "fix     Set it for this scenario in user.conf" in text


def test_a_source_stands_beside_the_title_where_it_fits_and_below_only_when_asked(tmp_path):
    found = report(clean_tree().performance("Server", effective_min_duration_ms=300_000), tmp_path)
    source = "mlcommons/inference b66003e1 submission_checker/checks/performance_check.py:364"
    title = "ERROR   PERF-007  the run was asked to last long enough"
    assert source not in render_text(found)
    assert f"{title}  [{source}]\n" in render_text(found, width=160)
    told = render_text(found, verbose=True)
    assert f"{title}\n" in told
    assert f"  source  mlcommons/inference b66003e1\n{' ' * 10}{source.rsplit(maxsplit=1)[-1]}\n" in told


def test_one_cause_in_many_places_is_told_once(tmp_path):
    made = clean_tree()
    for number in range(5):
        made.texts[f"{made.submitter}/src/.hidden{number}"] = "x"
        made.texts[f"{made.submitter}/src/a {number}"] = "x"
    for scenario in made.scenarios:
        made.performance(scenario, effective_qsl_rng_seed=1)
    text = render_text(report(made, tmp_path))
    assert text.count("ERROR   PERF-002") == 1
    assert text.count("mlperf_log_detail.txt:") == 2


def test_many_places_are_counted_not_listed(tmp_path):
    made = clean_tree("llama3.1-8b", ("Offline", "Server", "Interactive"))
    made.copy(f"{made.submitter}/results/{SYSTEM}", f"{made.submitter}/results/node9")
    made.documents[f"{made.submitter}/systems/node9.json"] = dict(made.system)
    for path in made.logs:
        if "performance" in path:
            made.change(path, {"effective_qsl_rng_seed": 1})
    found = report(made, tmp_path)
    assert "and 3 more places" in render_text(found)
    assert "more places" not in render_text(found, verbose=True)


def test_the_default_is_about_a_screen_per_result(tmp_path):
    found = report(stray_folder(), tmp_path)
    short, whole = render_text(found), render_text(found, verbose=True)
    assert short.count("\n") <= 40 * len(found.results)
    assert len(whole) >= len(short)


@pytest.mark.parametrize("name", ["node8", "8xMI355X_2xEPYC_9575F_a_very_long_name_of_a_system"])
def test_the_table_fits_80_columns(name, tmp_path):
    made = clean_tree("gpt-oss-120b", ("Offline", "Server", "Interactive"))
    old, new = f"{made.submitter}/results/{SYSTEM}", f"{made.submitter}/results/{name}"
    made.documents[f"{made.submitter}/systems/{name}.json"] = dict(made.system)
    if name != SYSTEM:
        made.copy(old, new).remove(old)
        del made.documents[made.system_path]
    lines = render_text(report(made, tmp_path)).splitlines()
    table = lines[lines.index("closed/Acme") - 2 :]
    assert all(len(line) <= 80 for line in table)
    assert "27600.5 tok/s" in table[3]
    assert "valid" in table[3]


def test_both_verdicts_stand_side_by_side(tmp_path):
    made = clean_tree().performance("Server", result_validity=None)
    lines = render_text(report(made, tmp_path)).splitlines()
    (row,) = [line for line in lines if line.startswith("node8") and "Server" in line]
    assert row.split()[-2:] == ["invalid", "valid"]


def test_notes_of_the_other_profile_wait_for_verbose(tmp_path):
    found = report(clean_tree().performance("Server", result_validity=None), tmp_path, Profile.OFFICIAL)
    assert "PERF-008" not in render_text(found)
    assert "1 note of the other profile (-v shows them)" in render_text(found)
    assert "INFO    PERF-008" in render_text(found, verbose=True)


def test_a_metric_that_cannot_be_read_shows_a_question_mark(tmp_path):
    made = clean_tree().performance("Server", result_completed_tokens_per_second=None)
    made.remove(made.path("Server", "accuracy/accuracy.txt"))
    lines = render_text(report(made, tmp_path)).splitlines()
    (row,) = [line for line in lines if line.startswith("node8") and "Server" in line]
    assert row.split()[3:5] == ["?", "?"]


def test_what_has_no_rules_ends_in_3(tmp_path):
    made = clean_tree()
    made.round = replace(made.round, benchmarks={}, unshipped=(made.benchmark,))
    found = report(made, tmp_path)
    assert found.exit_code == 3
    assert render_text(found).splitlines()[-1].startswith("NOT JUDGED: 2 of 2 results have no rules here")
    assert "no rules" in render_text(found)


@pytest.mark.parametrize(("profile", "code"), [(Profile.OFFICIAL, 0), (Profile.STRICT, 1)])
def test_an_empty_tree_is_good_officially_alone(profile, code, tmp_path):
    round_ = load_round("v6.1")
    found = build_report(judge(discover(tmp_path, round_), round_), profile)
    assert found.exit_code == code
    expected = "PASS: no results found" if code == 0 else "FAIL: no results found (strict)"
    assert render_text(found).splitlines()[-1].startswith(expected)


def test_the_demo_round_says_that_it_is_none_of_mlperfs(tmp_path):
    made = clean_tree("smollm2-135m", round_name="demo")
    assert "Round demo is no MLPerf round" in " ".join(render_text(report(made, tmp_path)).split())


def test_an_inferred_metric_is_marked(tmp_path):
    made = clean_tree("llama3.1-8b-edge", ("SingleStream",), system_type="edge")
    made.copy(made.path("SingleStream"), made.path("Offline"))
    assert "1.25 tok/s*" in render_text(report(made, tmp_path))


@pytest.mark.parametrize("verbose", [False, True])
def test_hostile_names_and_values_are_printed_harmlessly_within_the_width(verbose, tmp_path):
    text = render_text(report(hostile_tree(), tmp_path), verbose=verbose)
    lines = text.split("\n")
    assert all(plain(line) == line for line in lines)
    assert all(columns(line) <= 80 for line in lines)
    assert r"closed/Acme/results/n\n8\x1b[31m\u202e|`x`<&>" in text
    assert lines[-2].startswith("FAIL: 1 of 2 results invalid")


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)
def test_every_report_keeps_to_80_columns_and_a_screen_per_result(case, tmp_path):
    made = case.make()
    judgement = judge(discover(made.write(tmp_path), made.round), made.round)
    for profile in Profile:
        found = build_report(judgement, profile)
        for verbose in (False, True):
            lines = render_text(found, verbose=verbose).split("\n")
            assert [line for line in lines if columns(line) > 80] == []
        findings = sum(1 for _ in _findings(found, verbose=False, width=80))
        assert findings <= LINES_PER_RESULT * (len(found.results) + 1) + 6


def test_what_is_held_back_is_counted_and_named(tmp_path):
    made = clean_tree()
    for key in ("qsl", "sample_index", "schedule"):
        made.performance("Server", **{f"effective_{key}_rng_seed": 1})
    made.performance("Server", effective_min_duration_ms=1, result_validity="INVALID", early_stopping_met=False)
    found = report(made, tmp_path)
    short = render_text(found)
    told = re.search(r"and (\d+) more kinds? of error: ([^(;]+)(?:;[^(]+)? \(-v shows all\)", " ".join(short.split()))
    held_back = told[2].split(", ")
    assert len(held_back) == int(told[1])
    whole = render_text(found, verbose=True)
    for check_id in held_back:
        assert f"  {check_id}  " not in short.replace("ERROR   ", "  ").replace("WARNING ", "  ")
        assert re.search(rf"^(ERROR|WARNING) +{check_id}  ", whole, re.MULTILINE)


def test_one_cause_with_other_values_is_one_group(tmp_path):
    made = clean_tree().performance("Server", effective_min_duration_ms=300_000)
    made.performance("Offline", effective_min_duration_ms=400_000)
    text = render_text(report(made, tmp_path))
    assert text.count("ERROR   PERF-007") == 1
    assert text.count("wanted  effective_min_duration_ms >= 600000 ms") == 1
    found = [line.strip() for line in text.splitlines() if line.startswith("  found ")]
    assert found == ["found   effective_min_duration_ms = 400000 ms", "found   effective_min_duration_ms = 300000 ms"]
    assert "1 kind of error" in text


def test_the_next_step_is_named(tmp_path):
    text = render_text(report(clean_tree().performance("Server", effective_min_duration_ms=300_000), tmp_path))
    assert "weighbridge explain PERF-007 tells what that check asks, and why" in text
    assert "explain" not in render_text(report(clean_tree(), tmp_path / "clean"))


def test_one_check_that_wants_several_things_is_one_group(tmp_path):
    made = clean_tree()
    made.system["cooling"] = made.system["host_networking"] = "TBD"
    text = render_text(report(made, tmp_path))
    assert text.count("ERROR   SYS-011") == 1
    wishes = [line for line in text.splitlines() if line.startswith(("  wanted", "  found", "  at", "  fix"))]
    assert [line.split()[0] for line in wishes] == ["wanted", "found", "at"] * 2 + ["fix"]
    assert 'found   "cooling": "TBD"' in text
    assert "1 kind of error" in text


def test_more_wishes_than_a_screen_has_room_for_are_counted(tmp_path):
    made = clean_tree()
    fields = (
        "cooling",
        "framework",
        "host_networking",
        "host_storage_type",
        "operating_system",
        "other_software_stack",
    )
    made.system.update(dict.fromkeys(fields, "TBD"))
    found = report(made, tmp_path)
    assert "          and 2 more of that kind\n" in render_text(found)
    assert "more of that kind" not in render_text(found, verbose=True)


def test_no_error_is_left_out_for_a_warning(tmp_path):
    made = clean_tree()
    made.remove(f"{made.submitter}/documentation/bandwidth.md")
    for key in ("qsl", "sample_index", "schedule"):
        made.performance("Server", **{f"effective_{key}_rng_seed": 1})
    made.performance("Server", effective_min_duration_ms=1, early_stopping_met=False)
    found = report(made, tmp_path)
    short = render_text(found)
    errors = {finding.id for finding in found.every_finding() if finding.severity is Severity.ERROR}
    assert len(errors) > 3
    for check_id in errors:
        assert re.search(rf"^ERROR +{check_id}  ", short, re.MULTILINE), check_id
