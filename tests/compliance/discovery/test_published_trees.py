"""Published, mutated and synthetic submissions, where they lie beside the checkout: each is read without an exception."""

import json
from pathlib import Path

import pytest

from compliance.discovery.submission import discover
from compliance.rulebook.rounds import load_round

CASES_DIR = Path(__file__).parents[3].parent / "shared" / "corpus"
CASES = sorted(path.parent for path in CASES_DIR.glob("*/case.json"))
NO_CASES = "published submissions are not part of this repository; they are read where they lie beside the checkout"

pytestmark = pytest.mark.skipif(not CASES, reason=NO_CASES)


@pytest.mark.parametrize("case", CASES, ids=lambda path: path.name)
def test_a_case_is_read_whole(case):
    submission = discover(case / "submission", load_round("v6.1"))
    facts = json.loads((case / "case.json").read_text())
    (entry,) = submission.submitters
    assert (entry.division, entry.name) == (facts["division"], facts["submitter"])
    assert submission.unreadable == ()
    results = [result for system in entry.systems for result in system.results]
    assert results
    for result in results:
        assert result.scenario is not None
        for name in ("mlperf_log_detail.txt", "accuracy.txt", "mlperf_log_accuracy.json"):
            listed = name in result.accuracy.files
            assert listed != any(entry.path == f"{result.accuracy.folder}/{name}" for entry in result.unreadable)


@pytest.mark.parametrize("case", CASES, ids=lambda path: path.name)
def test_only_the_cut_log_has_lines_that_cannot_be_read(case):
    submission = discover(case / "submission", load_round("v6.1"))
    unread = [
        problem
        for entry in submission.submitters
        for system in entry.systems
        for result in system.results
        for logs in (result.performance, result.accuracy)
        for problem in (logs.detail.problems if logs.detail else ())
        if not problem.recovered
    ]
    assert bool(unread) == (case.name == "mut-detail-log-cut-mid-line")
