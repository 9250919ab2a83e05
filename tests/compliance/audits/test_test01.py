"""TEST01: answers compared with the accuracy run's, scores of two metrics, speeds of two runs; to the exact bound."""

import pytest

from compliance.audits.scores import RunScore
from compliance.audits.test01 import allowed_delta_percent, delta_percent, verify, verify_score
from compliance.logs.accuracy import AccuracyEntry
from compliance.vocabulary import Scenario


def entry(qsl_idx, data, line=2):
    return AccuracyEntry(0, qsl_idx, data, None, None, line)


REFERENCE = [entry(0, b"\x05\x00"), entry(1, b""), entry(2, b"\x07"), entry(2, b"\x09")]


@pytest.mark.parametrize(
    ("audit", "counts", "passed"),
    [
        ([entry(0, b"\x05\x00"), entry(2, b"\x07")], (2, 0, 0), True),
        ([entry(0, b"\x05\xff")], (1, 0, 0), True),
        ([entry(0, b"\x06\x00")], (1, 1, 0), False),
        ([entry(0, b"\x05"), entry(0, b"\x06")], (2, 1, 0), False),
        ([entry(1, b"")], (1, 0, 0), True),
        ([entry(1, b"\x00")], (1, 1, 0), False),
        ([entry(0, b"")], (1, 1, 0), False),
        ([entry(2, b"\x09")], (1, 1, 0), False),
        ([entry(0, b"\x05"), entry(8, b"\x05")], (1, 0, 1), True),
        ([entry(8, b"\x05")], (0, 0, 1), False),
        ([], (0, 0, 0), False),
    ],
)
def test_answers(audit, counts, passed):
    verdict = verify(REFERENCE, audit)
    assert (verdict.matched, verdict.mismatched, verdict.unknown) == counts
    assert verdict.passed is passed


def test_the_first_five_that_differ_are_kept_with_their_lines():
    verdict = verify(REFERENCE, [entry(0, b"\x06", line) for line in range(2, 12)])
    assert verdict.mismatched == 10
    assert [(fault.line, fault.qsl_idx) for fault in verdict.faults] == [(line, 0) for line in range(2, 7)]


@pytest.mark.parametrize(
    ("benchmark", "own", "metric", "percent"),
    [
        ("resnet", {}, "acc", 1.0),
        ("bert-99", {}, "F1", 1.0),
        ("bert-99.9", {}, "F1", 0.1),
        ("stable-diffusion-xl", {"FID_SCORE": 2.0}, "FID_SCORE", 2.0),
        ("stable-diffusion-xl", {"FID_SCORE": 2.0}, "CLIP_SCORE", 1.0),
        ("x-99.9", {"F1": 0.5}, "F1", 0.5),
    ],
)
def test_how_far_scores_may_lie_apart(benchmark, own, metric, percent):
    assert allowed_delta_percent(benchmark, own, metric) == percent


@pytest.mark.parametrize(
    ("baseline", "compliance", "percent"),
    [(50.0, 50.0, 0.0), (99.0, 100.0, 1.0), (101.0, 100.0, 1.0), (0.0, 1.0, None), (1.0, 0.0, None), (0.0, 0.0, None)],
)
def test_the_distance_of_two_scores(baseline, compliance, percent):
    found = delta_percent(baseline, compliance)
    assert found == (None if percent is None else pytest.approx(percent))


def score(value, scenario=Scenario.OFFLINE, *, valid=True, target=0.0):
    return RunScore(scenario, "key", value, valid, target)


@pytest.mark.parametrize(
    ("scenario", "reference", "audit", "passes"),
    [
        (Scenario.OFFLINE, 100.0, 90.0, True),
        (Scenario.OFFLINE, 100.0, 89.99, False),
        (Scenario.OFFLINE, 100.0, 110.0, True),
        (Scenario.OFFLINE, 100.0, 110.01, False),
        (Scenario.SINGLE_STREAM, 200_000, 240_000, True),
        (Scenario.SINGLE_STREAM, 200_000, 240_001, False),
        (Scenario.SINGLE_STREAM, 200_001, 240_000, False),
        (Scenario.SINGLE_STREAM, 200_000, 160_000, True),
        (Scenario.SINGLE_STREAM, 200_000, 159_999, False),
        (Scenario.MULTI_STREAM, 1_600_000, 1_920_000, True),
        (Scenario.MULTI_STREAM, 1_600_001, 1_920_000, False),
        (Scenario.MULTI_STREAM, 1_600_001, 1_700_000, True),
    ],
)
def test_the_speed_of_the_audit(scenario, reference, audit, passes):
    assert (verify_score(score(reference, scenario), score(audit, scenario)) is None) is passes


@pytest.mark.parametrize(
    ("reference", "audit", "words"),
    [
        (score(1.0, valid=False), score(1.0), "the performance run is not VALID"),
        (score(1.0), score(1.0, valid=False), "the audit run is not VALID"),
        (score(1.0), score(1.0, Scenario.SERVER), "the audit ran Server"),
        (score(1.0, Scenario.SERVER), score(1.0, Scenario.SERVER, target=5.0), "target latency 5.0 ns"),
    ],
)
def test_runs_that_cannot_be_compared(reference, audit, words):
    assert words in (verify_score(reference, audit) or "")


def test_a_target_latency_counts_in_server_alone():
    assert verify_score(score(1.0), score(1.0, target=5.0)) is None
