"""Judging system by system says what judging the whole tree at once says, and lets go of what it has judged."""

import pytest

from compliance.discovery import results as results_of
from compliance.discovery.submission import discover
from compliance.judge import judge
from compliance.streaming import judge_streaming
from tests.support.broken_trees import CASES
from tests.support.judged_trees import printed
from tests.support.trees import clean_tree


@pytest.mark.parametrize("case", CASES[::4], ids=lambda case: case.id)
def test_system_by_system_is_as_at_once(case, tmp_path):
    tree = case.make()
    root = tree.write(tmp_path)
    at_once = judge(discover(root, tree.round), tree.round)
    assert printed(judge_streaming(root, tree.round)) == printed(at_once)


def test_the_logs_of_a_judged_result_are_let_go(tmp_path):
    tree = clean_tree()
    judgement = judge_streaming(tree.write(tmp_path), tree.round)
    for judged in judgement.results:
        assert judged.result.accuracy.detail is None
        assert judged.result.audits == {}
        assert len(judged.result.performance.detail.records) < 15


def test_a_reader_that_breaks_off_costs_its_file(tmp_path, monkeypatch):
    def breaks_off(path):
        raise RecursionError("too deep")

    tree = clean_tree()
    root = tree.write(tmp_path)
    monkeypatch.setattr(results_of, "read_summary", breaks_off)
    result = discover(root, tree.round).submitters[0].systems[0].results[0]
    noted = [entry.reason for entry in result.unreadable if entry.path.endswith("mlperf_log_summary.txt")]
    assert noted
    assert all("RecursionError: too deep" in reason for reason in noted)
    assert len(judge_streaming(root, tree.round).results) == 2
