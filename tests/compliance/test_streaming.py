"""Judging system by system says what judging the whole tree at once says, and lets go of what it has judged."""

import shutil

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


def test_what_is_wrong_with_files_is_told_once_and_in_order_wherever_it_lies(tmp_path):
    tree = clean_tree()
    root = tree.write(tmp_path)
    (submitter,) = root.glob("closed/*")
    (system,) = (submitter / "results").iterdir()
    twin = system.with_name(f"a-{system.name}")
    shutil.copytree(system, twin)
    shutil.copy(submitter / "systems" / f"{system.name}.json", submitter / "systems" / f"{twin.name}.json")
    folders = [submitter, submitter / "results", system, twin, submitter / "systems", submitter / "src" / system.name]
    for folder in folders:
        (folder / "an empty folder").mkdir(parents=True)
        (folder / "__pycache__").mkdir()
        (folder / "__pycache__" / "a.pyc").write_text("x")
        (folder / ".hidden").write_text("x")
        (folder / "away").symlink_to("/none")
    judgement = judge_streaming(root, tree.round)
    assert printed(judgement) == printed(judge(discover(root, tree.round), tree.round))
    told = {one.check.id: [finding.where for finding in one.findings] for one in judgement.above if one.findings}
    for check_id, names in (("STR-003", ("away",)), ("STR-007", ("an empty folder", "__pycache__"))):
        made = sorted((folder / name).relative_to(root).as_posix() for folder in folders for name in names)
        assert [path for path in told[check_id] if path.endswith(names)] == made


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
