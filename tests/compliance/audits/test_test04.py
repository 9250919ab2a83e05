"""TEST04: not a tenth faster, slower at will; the fifth that the upstream script grants to slow streams too."""

import pytest

from compliance.audits.scores import RunScore
from compliance.audits.test04 import verify
from compliance.vocabulary import Scenario


def score(value, scenario, *, valid=True):
    return RunScore(scenario, "key", value, valid, 0)


@pytest.mark.parametrize(
    ("scenario", "reference", "audit", "passed", "script"),
    [
        (Scenario.OFFLINE, 100.0, 100.0, True, True),
        (Scenario.OFFLINE, 100.0, 109.99, True, True),
        (Scenario.OFFLINE, 100.0, 110.01, False, False),
        (Scenario.OFFLINE, 100.0, 1.0, True, True),
        (Scenario.SERVER, 50.0, 55.5, False, False),
        (Scenario.SINGLE_STREAM, 1_000_000, 1_000_000, True, True),
        (Scenario.SINGLE_STREAM, 1_100_000, 1_000_001, True, True),
        (Scenario.SINGLE_STREAM, 1_100_000, 999_999, False, True),
        (Scenario.SINGLE_STREAM, 1_200_000, 999_999, False, False),
        (Scenario.SINGLE_STREAM, 200_000, 166_667, True, True),
        (Scenario.SINGLE_STREAM, 200_000, 166_666, False, False),
        (Scenario.MULTI_STREAM, 1_600_000, 1_350_000, True, True),
        (Scenario.MULTI_STREAM, 1_600_001, 1_350_000, False, True),
    ],
)
def test_the_speed_of_the_audit(scenario, reference, audit, passed, script):
    verdict = verify(score(reference, scenario), score(audit, scenario))
    assert (verdict.passed, verdict.script_passes) == (passed, script)


def test_a_run_that_is_not_valid_passes_nothing():
    verdict = verify(score(1.0, Scenario.OFFLINE), score(1.0, Scenario.OFFLINE, valid=False))
    assert not verdict.passed
    assert not verdict.script_passes
    assert verdict.reason == "the audit run is not VALID"
