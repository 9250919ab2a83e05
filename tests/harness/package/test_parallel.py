"""Judging in two processes says what judging in one says."""

import json
import os
import pickle
import signal
import sys
from pathlib import Path

import pytest

from compliance.checks.model import Check, Scope
from compliance.checks.registry import all_checks
from compliance.discovery.submission import discover, outline
from compliance.judge import INTERNAL, internal_check, judge
from compliance.rulebook.rounds import load_round
from compliance.streaming import Job, judge_streaming
from harness.package import parallel
from harness.package.parallel import fitting_jobs, judged_by
from tests.support.judged_trees import many_systems, printed

CORPUS = Path(__file__).parents[3].parent / "shared" / "corpus"


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


def test_what_is_left_decides_how_many_processes_judge_it(monkeypatch):
    for cores, jobs in ((1, 1), (3, 3), (64, 8)):
        monkeypatch.setattr(parallel, "_cores", lambda cores=cores: cores)
        assert fitting_jobs(parallel.SMALL_TREE_BYTES - 1) == 1
        assert fitting_jobs(parallel.SMALL_TREE_BYTES) == jobs


@pytest.mark.parametrize(("small_tree_bytes", "processes"), [(1, 2), (1 << 40, 1)])
def test_a_small_tree_is_judged_in_one_process_and_a_large_one_on_every_core(
    small_tree_bytes, processes, tmp_path, monkeypatch
):
    root, round_ = many_systems(tmp_path)
    monkeypatch.setattr(parallel, "SMALL_TREE_BYTES", small_tree_bytes)
    monkeypatch.setattr(parallel, "_cores", lambda: 2)
    started = []
    in_processes = parallel._in_processes

    def counted(job, count, systems):
        started.append((count, len(systems)))
        return in_processes(job, count, systems)

    monkeypatch.setattr(parallel, "_in_processes", counted)
    judgement = judge_streaming(root, round_, systems=judged_by())
    systems = outline(root, round_).systems
    assert started == ([(2, len(systems) - 1)] if processes > 1 else [])
    assert printed(judgement) == printed(judge(discover(root, round_), round_))


def test_no_process_is_no_way_to_judge():
    with pytest.raises(ValueError, match="one or more"):
        judged_by(0)


def test_other_processes_are_started_afresh_beside_threads(tmp_path, monkeypatch):
    monkeypatch.setattr(parallel.threading, "active_count", lambda: 2)
    assert parallel._context().get_start_method() == "spawn"
    if sys.platform == "linux":
        monkeypatch.setattr(parallel.threading, "active_count", lambda: 1)
        assert parallel._context().get_start_method() == "fork"
