"""TEST06: the plan LoadGen takes, and answers that pass and fail."""

import pytest

from compliance.audits.test06 import plan, render_verify_text, verify
from compliance.logs.accuracy import AccuracyEntry
from compliance.logs.verdicts import read_verify
from compliance.vocabulary import Scenario

EOS = frozenset({2, 9})


def entry(tokens, *, first=None, count=None, width=4, line=2):
    data = b"".join(token.to_bytes(width, "little", signed=True) for token in tokens)
    token_data = data[:width] if first is None else b"".join(token.to_bytes(width, "little") for token in first)
    return AccuracyEntry(0, 7, data, token_data, len(tokens) if count is None else count, line)


def test_the_plan_is_the_audits_own_configuration():
    found = plan()
    assert found.settings == {
        "mode": 2,
        "accuracy_log_rng_seed": 720381539243781796,
        "accuracy_log_sampling_target": 100,
        "min_query_count": 100,
        "min_duration": 0,
        "sample_concatenate_permutation": 0,
    }
    assignments = [line for line in found.config_text.splitlines() if not line.startswith("#")]
    assert assignments == [f"*.*.{key} = {value}" for key, value in found.settings.items()]


@pytest.mark.parametrize(
    ("tokens", "options", "expected"),
    [
        ([5, 6, 2], {}, (True, True, True)),
        ([5, 6], {}, (True, True, True)),
        ([5, 2, 6, 2], {}, (True, True, True)),
        ([5, 2, 2], {}, (True, False, True)),
        ([5, 2, 9], {}, (True, False, True)),
        ([2, 2], {}, (True, False, True)),
        ([5, 6], {"first": [6]}, (False, True, True)),
        ([5, 6], {"first": []}, (False, True, True)),
        ([5, 6], {"first": [5, 6, 7]}, (False, True, True)),
        ([5, 6], {"count": 3}, (True, True, False)),
        ([-1, 6], {}, (True, True, True)),
        ([5, 6, 7], {"width": 8}, (True, True, True)),
        ([5, 2, 2], {"width": 8}, (True, False, True)),
    ],
)
def test_one_answer(tokens, options, expected):
    verdict = verify([entry(tokens, **options)], Scenario.SERVER, EOS)
    assert (verdict.first_token, verdict.eos, verdict.length) == expected
    assert verdict.passed is all(expected)
    assert bool(verdict.faults) is not verdict.passed


def test_offline_has_no_first_tokens():
    verdict = verify([AccuracyEntry(0, 1, bytes(8), None, 2, 2)], Scenario.OFFLINE, EOS)
    assert verdict.first_token is None
    assert verdict.passed


def test_a_missing_count_fails_the_length():
    verdict = verify([AccuracyEntry(0, 1, bytes(8), bytes(4), None, 2)], Scenario.SERVER, EOS)
    assert not verdict.length


def test_no_answers_pass_nothing():
    verdict = verify([], Scenario.SERVER, EOS)
    assert not verdict.passed
    assert verdict.entries == 0


def test_the_first_faults_are_kept_with_their_lines():
    verdict = verify([entry([5, 2, 2], line=line) for line in range(2, 12)], Scenario.SERVER, EOS)
    assert verdict.entries == 10
    assert [fault.line for fault in verdict.faults] == [2, 3, 4, 5, 6]


@pytest.mark.parametrize("scenario", [Scenario.OFFLINE, Scenario.SERVER, Scenario.INTERACTIVE])
@pytest.mark.parametrize("tokens", [[5, 6, 2], [5, 2, 2]])
def test_the_text_is_what_readers_read(scenario, tokens, tmp_path):
    verdict = verify([entry(tokens)], scenario, EOS)
    path = tmp_path / "verify_accuracy.txt"
    path.write_text(render_verify_text(verdict))
    read = read_verify(path)
    assert read.passed == {
        "First token": "True" if scenario.streams else "Skipped",
        "EOS": str(verdict.eos),
        "Sample length": "True",
    }
    assert read.text.endswith(f"TEST06 verification {'complete' if verdict.passed else 'failed'}\n")
