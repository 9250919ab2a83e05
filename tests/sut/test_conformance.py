"""The conformance suite passes every SUT shipped here and catches every broken engine by the check that names its fault."""

import pytest

from sut.conformance import run_conformance
from sut.errors import BadSettings, UnknownSut
from tests.support.faulty_engines import FAULTS, LIFE_CYCLE_FAULTS
from tests.support.worker_process import FAULTY, engine_config, small_dataset

CAUGHT_BY = {
    "lost": "once",
    "silent": "once",
    "duplicate": "once",
    "duplicate_first": "first_before_final",
    "no_first": "first_before_final",
    "unwanted_first": "no_unwanted_first",
    "first_after_final": "first_before_final",
    "first_not_in_final": "first_in_final",
    "late": "known_ids",
    "one_token": "token_counts",
    "empty": "token_counts",
    "too_long": "token_counts",
    "int64": "dtype",
    "float": "dtype",
    "submit_raises": "calls",
    "thread_raises": "threads",
    "fails": "none_failed",
    "hang": "calls",
    "unknown_id": "known_ids",
    "start_fails": "calls",
    "start_raises": "calls",
    "start_hangs": "calls",
    "no_facts": "facts",
    "no_window": "facts",
    "warm_up_raises": "calls",
    "begin_raises": "calls",
    "empty_submit_raises": "calls",
    "repeats_collapse": "once",
    "end_raises": "calls",
    "stop_hangs": "calls",
    "second_stop_raises": "calls",
}

SILENT = {"lost", "silent", "repeats_collapse", "thread_raises", "hang", "start_hangs", "stop_hangs"}


@pytest.fixture
def dataset(tmp_path):
    return small_dataset(tmp_path / "dataset")


@pytest.mark.parametrize(
    ("name", "settings"),
    [("null", {}), ("echo", {}), ("synthetic", {}), ("synthetic", {"max_num_seqs": 1, "time_scale": 10}), (FAULTY, {})],
)
@pytest.mark.parametrize("bounds", [(1, 16), (2, 2), (8, 48)])
def test_shipped_engines_conform(dataset, name, settings, bounds):
    config = engine_config(dataset, low=bounds[0], high=bounds[1], **settings)
    report = run_conformance(name, config, samples=40, timeout_s=30)
    assert [check for check in report.checks if not check.passed] == []
    assert report.passed
    assert report.facts.dataset_size == 20


def test_every_fault_has_its_check():
    # A slow engine is a conforming one, and one that ends the process ends the suite with it.
    assert set(CAUGHT_BY) == {*FAULTS, *LIFE_CYCLE_FAULTS} - {"slow", "exit"}


@pytest.mark.parametrize("fault", sorted(CAUGHT_BY))
def test_a_broken_engine_is_caught(dataset, fault):
    config = engine_config(dataset, low=2, fault=fault, after=3, delay_s=0.25)
    # Only a fault that is silence has to wait for the bound; for the others a busy machine may take its time.
    report = run_conformance(FAULTY, config, samples=12, timeout_s=1 if fault in SILENT else 30)
    assert not report.passed
    checks = {check.name: check for check in report.checks}
    assert checks[CAUGHT_BY[fault]].passed is False
    assert checks[CAUGHT_BY[fault]].why


def test_checks_that_could_not_be_made_are_not_passed(dataset):
    report = run_conformance(FAULTY, engine_config(dataset, fault="start_fails"), timeout_s=1)
    outcomes = {check.name: check.passed for check in report.checks}
    assert outcomes["facts"] is None
    assert outcomes["once"] is None
    assert "no device found; plug one in" in {check.name: check.why for check in report.checks}["calls"]


def test_mistakes_of_the_caller_are_errors(dataset):
    with pytest.raises(UnknownSut):
        run_conformance("nul", engine_config(dataset))
    with pytest.raises(BadSettings):
        run_conformance("null", engine_config(dataset, nonsense=1))
