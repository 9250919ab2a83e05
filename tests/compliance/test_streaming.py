"""Judging system by system, in one process or two, says what judging the whole tree at once says."""

import json
import os
import pickle
import signal
import sys
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest

from compliance import discover_result, parallel
from compliance.checks.model import Check, Scope
from compliance.checks.registry import all_checks
from compliance.discover import discover, outline
from compliance.judge import INTERNAL, internal_check, judge
from compliance.parallel import fitting_jobs, judged_by
from compliance.report.csv_ import render_csv
from compliance.report.json_ import render_json
from compliance.report.junit import render_junit
from compliance.report.model import build_report
from compliance.report.text import render_text
from compliance.rulebook import load_round
from compliance.streaming import Job, judge_streaming
from compliance.vocabulary import Profile
from tests.support.broken_trees import CASES
from tests.support.trees import clean_tree

CORPUS = Path(__file__).parents[2].parent / "shared" / "corpus"


def printed(judgement):
    reports = [build_report(judgement, profile) for profile in Profile]
    renders = (render_json, partial(render_text, verbose=True), render_junit, render_csv)
    return "\n".join(render(report) for report in reports for render in renders)


def many_systems(root):
    """A tree of several submitters and systems, some of them broken."""
    tree = clean_tree()
    files = tree.write(root / "one")
    for at, case in enumerate(CASES[::9]):
        other = case.make()
        if other.round == tree.round:
            other.write(root / f"more{at}")
    for folder in sorted(root.glob("more*")):
        for division in folder.iterdir():
            for submitter in division.iterdir() if division.is_dir() else ():
                to = files / division.name / f"{submitter.name}-{folder.name}"
                to.parent.mkdir(exist_ok=True)
                submitter.rename(to)
    return files, tree.round


@pytest.mark.parametrize("case", CASES[::4], ids=lambda case: case.id)
def test_system_by_system_is_as_at_once(case, tmp_path):
    tree = case.make()
    root = tree.write(tmp_path)
    at_once = judge(discover(root, tree.round), tree.round)
    assert printed(judge_streaming(root, tree.round)) == printed(at_once)


def test_two_processes_say_what_one_says(tmp_path):
    root, round_ = many_systems(tmp_path)
    one = judge_streaming(root, round_, systems=judged_by(1))
    two = judge_streaming(root, round_, systems=judged_by(2))
    assert len(one.results) > 10
    assert printed(two) == printed(one) == printed(judge(discover(root, round_), round_))


@pytest.mark.skipif(not CORPUS.is_dir(), reason="no ../shared/corpus beside this checkout")
def test_the_corpus_is_judged_alike(tmp_path):
    for case in sorted(CORPUS.glob("v6.0-*/case.json")):
        round_ = load_round(json.loads(case.read_text())["round"])
        root = case.parent / "submission"
        at_once = printed(judge(discover(root, round_), round_))
        assert printed(judge_streaming(root, round_, systems=judged_by(2))) == at_once, case.parent.name


def test_the_logs_of_a_judged_result_are_let_go(tmp_path):
    tree = clean_tree()
    judgement = judge_streaming(tree.write(tmp_path), tree.round)
    for judged in judgement.results:
        assert judged.result.accuracy.detail is None
        assert judged.result.audits == {}
        assert len(judged.result.performance.detail.records) < 15


def test_each_system_is_told_of_as_it_is_judged(tmp_path):
    root, round_ = many_systems(tmp_path)
    seen = []
    judge_streaming(root, round_, systems=judged_by(2), seen=seen.append)
    assert [(one.submitter, one.system.name) for one in seen] == list(outline(root, round_).systems)


def test_a_killed_process_costs_nothing(tmp_path, monkeypatch):
    root, round_ = many_systems(tmp_path)
    wanted = printed(judge_streaming(root, round_))
    here, judge_one = os.getpid(), Job.system

    def dies(job, at, name):
        if os.getpid() != here and at == 1:
            os.kill(os.getpid(), signal.SIGKILL)
        return judge_one(job, at, name)

    monkeypatch.setattr(Job, "system", dies)
    assert printed(judge_streaming(root, round_, systems=judged_by(2))) == wanted


def test_a_check_that_breaks_off_in_another_process_is_named(tmp_path):
    check = next(check for check in all_checks() if check.scope is Scope.RESULT)
    internal = internal_check(check)
    again = pickle.loads(pickle.dumps(internal))  # noqa: S301 - written in this very line
    assert (again.id, again.function) == (INTERNAL, check.function)
    assert pickle.loads(pickle.dumps(check)) is check  # noqa: S301 - as above
    assert isinstance(again, Check)


def test_a_reader_that_breaks_off_costs_its_file(tmp_path, monkeypatch):
    def breaks_off(path):
        raise RecursionError("too deep")

    tree = clean_tree()
    root = tree.write(tmp_path)
    monkeypatch.setattr(discover_result, "read_summary", breaks_off)
    result = discover(root, tree.round).submitters[0].systems[0].results[0]
    noted = [entry.reason for entry in result.unreadable if entry.path.endswith("mlperf_log_summary.txt")]
    assert noted
    assert all("RecursionError: too deep" in reason for reason in noted)
    assert len(judge_streaming(root, tree.round).results) == 2


def test_a_small_tree_is_judged_in_one_process_and_a_large_one_on_every_core(tmp_path, monkeypatch):
    tree = clean_tree()
    outlined = outline(tree.write(tmp_path), tree.round)
    assert fitting_jobs(Job(tree.round, outlined)) == 1
    file = next(file for file in outlined.submission.files if file.kind == "file")
    large = replace(file, bytes=parallel.SMALL_TREE_BYTES)
    submission = replace(outlined.submission, files=(*outlined.submission.files, large))
    job = Job(tree.round, replace(outlined, submission=submission))
    for cores, jobs in ((1, 1), (3, 3), (64, 8)):
        monkeypatch.setattr(parallel, "_cores", lambda cores=cores: cores)
        assert fitting_jobs(job) == jobs


def test_no_process_is_no_way_to_judge():
    with pytest.raises(ValueError, match="one or more"):
        judged_by(0)


def test_other_processes_are_started_afresh_beside_threads(tmp_path, monkeypatch):
    monkeypatch.setattr(parallel.threading, "active_count", lambda: 2)
    assert parallel._context().get_start_method() == "spawn"
    if sys.platform == "linux":
        monkeypatch.setattr(parallel.threading, "active_count", lambda: 1)
        assert parallel._context().get_start_method() == "fork"
