"""The sentence on a wrong round or layout, and which findings it stands for."""

from dataclasses import replace

import pytest

from compliance.discovery.submission import discover
from compliance.judge import judge
from compliance.report.model import build_report
from compliance.report.round_hint import Mismatch, collapsed, hint_text
from compliance.rulebook.rounds import load_round
from compliance.vocabulary import Profile
from tests.support.trees import clean_tree

SEEDS = {"PERF-002", "PERF-003", "PERF-004", "ACC-010", "LOG-011"}
PACKAGE = "weighbridge package --from TREE"
LAYOUT = {"MEAS-001", "MEAS-002", "MEAS-003", "AUD-001", "STR-010"}


@pytest.mark.parametrize(
    ("mismatch", "text"),
    [
        (Mismatch(), ""),
        (Mismatch("v5.1"), "these seeds are v5.1's, not v6.1's: check with --round v5.1"),
        (Mismatch("v5.1", "v5.1"), "these seeds and this layout are v5.1's, not v6.1's: check with --round v5.1"),
        (
            Mismatch(layout_of="v5.1"),
            f"this layout is v5.1's, not v6.1's: bring it there with `{PACKAGE} --to-layout v6.1 --out NEW_TREE`",
        ),
        (Mismatch(unknown="LoadGen 7.0"), "these logs are of no round known here: LoadGen 7.0"),
    ],
)
def test_the_hint_says_what_is_wrong_and_what_to_run(mismatch, text):
    assert hint_text(mismatch, "v6.1") == text


@pytest.mark.parametrize(
    ("mismatch", "stands_for"),
    [
        (Mismatch(), set()),
        (Mismatch("v5.1"), SEEDS),
        (Mismatch("v5.1", "v5.1"), SEEDS | LAYOUT),
        (Mismatch(layout_of="v5.1"), LAYOUT),
        (Mismatch(unknown="LoadGen 7.0"), SEEDS),
    ],
)
def test_the_hint_stands_for_what_follows_from_it_alone(mismatch, stands_for, tmp_path):
    tree = clean_tree("llama2-70b-99.9", round_name="v5.1").write(tmp_path)
    round_ = load_round("v6.1")
    report = replace(build_report(judge(discover(tree, round_), round_), Profile.STRICT), mismatch=mismatch)
    ids = {one.id for one in report.every_finding()}
    assert ids >= SEEDS | LAYOUT - {"AUD-001"}
    assert {one.id for one in report.every_finding() if collapsed(report, one)} == stands_for & ids


def test_an_empty_file_is_no_matter_of_the_layout(tmp_path):
    tree = clean_tree()
    tree.texts[tree.path("Server", "README.md")] = ""
    round_ = load_round("v6.1")
    report = build_report(judge(discover(tree.write(tmp_path), round_), round_), Profile.STRICT)
    hinted = replace(report, mismatch=Mismatch(layout_of="v5.1"))
    assert [collapsed(hinted, one) for one in report.every_finding() if one.id == "MEAS-003"] == [False]
