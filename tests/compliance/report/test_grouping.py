"""What the hint on the round stands for: the seeds of every run, those of the audits included."""

from dataclasses import replace

import pytest

from compliance.discovery.submission import discover
from compliance.judge import judge
from compliance.report.grouping import grouped
from compliance.report.model import build_report
from compliance.report.round_hint import Mismatch, collapsed
from compliance.rulebook.rounds import load_round
from compliance.vocabulary import Profile
from tests.support.trees import clean_tree


@pytest.mark.parametrize(
    ("benchmark", "scenarios", "audit"),
    [("whisper", ("Offline",), "AUD-014"), ("gpt-oss-120b", ("Offline", "Server"), "AUD-008")],
)
def test_the_hint_on_the_round_stands_for_the_seeds_of_audits_too(benchmark, scenarios, audit, tmp_path):
    made = clean_tree(benchmark, scenarios)
    other = load_round("v6.0")
    report = build_report(judge(discover(made.write(tmp_path), other), other), Profile.STRICT)
    hinted = replace(report, mismatch=Mismatch("v6.1"))
    seeds = [one for one in report.every_finding() if "_rng_seed" in one.expected]
    assert {one.id for one in seeds} >= {"PERF-002", audit}
    assert all(collapsed(hinted, one) and not collapsed(report, one) for one in seeds)
    assert not {group.first.id for group in grouped(hinted, every=False)} & {"PERF-002", audit}
