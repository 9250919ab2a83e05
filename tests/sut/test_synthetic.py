"""The timing model against its own arithmetic, and the synthetic engine's answers."""

import math
import threading
import time

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sut.errors import BadSettings, EngineLost
from sut.protocol import RunContext, Sample, Sampling
from sut.synthetic import PRESETS, SyntheticEngine, answer_tokens, output_counts, read_settings
from sut.timing import BatchModel, Rates, StepEvent
from tests.support.worker_process import engine_config, small_dataset

RATES = Rates(
    prefill_tokens_per_s=1000, prefill_chunk_tokens=100, decode_base_s=0.01, decode_per_sequence_s=0.001, max_num_seqs=2
)


def played(model, until_s=1e9):
    """Every event with its time."""
    events = []
    while (due_s := model.next_event_s()) is not None and due_s <= until_s:
        events += [(due_s, event) for event in model.advance(due_s)]
    return events


def test_one_sequence_alone():
    model = BatchModel(RATES)
    model.add(1, 100, 5)
    (first_s, first), (final_s, final) = played(model)
    assert (first, final) == (StepEvent(1, final=False), StepEvent(1, final=True))
    # One chunk: base 0.01 + 100/1000; then four steps of 0.01 + 0.001.
    assert first_s == pytest.approx(0.11)
    assert final_s - first_s == pytest.approx(4 * 0.011)


def test_a_prompt_that_waits_slows_those_that_decode():
    model = BatchModel(RATES)
    model.add(1, 100, 5)
    model.add(2, 200, 2)
    times = {event: at_s for at_s, event in played(model)}
    # The second prompt takes two steps of 0.01 + 0.001 + 0.1, in which the first gets two of its four tokens; then two
    # sequences share steps of 0.012: one until the second is done, one more of 0.011 for the first.
    assert times[StepEvent(2, final=False)] == pytest.approx(0.11 + 2 * 0.111)
    assert times[StepEvent(2, final=True)] == pytest.approx(0.11 + 2 * 0.111 + 0.012)
    assert times[StepEvent(1, final=True)] == pytest.approx(0.11 + 2 * 0.111 + 0.012 + 0.011)


def test_no_more_than_max_num_seqs_decode_at_once():
    model = BatchModel(RATES)
    for key in range(6):
        model.add(key, 10, 50)
    running = most = 0
    for _, event in played(model):
        running += -1 if event.final else 1
        most = max(most, running)
    assert most == 2
    assert len(model) == 0


def test_an_answer_of_one_token_is_first_and_final_at_once():
    model = BatchModel(RATES)
    model.add(7, 10, 1)
    assert [event for _, event in played(model)] == [StepEvent(7, final=False), StepEvent(7, final=True)]
    assert model.next_event_s() is None


@given(
    st.lists(st.tuples(st.floats(0, 3), st.integers(1, 400), st.integers(1, 60)), min_size=1, max_size=30),
    st.lists(st.floats(0, 5), max_size=20),
)
def test_when_the_model_is_looked_at_changes_nothing(sequences, looks):
    arrivals = sorted((at_s, key, prompt, output) for key, (at_s, prompt, output) in enumerate(sequences))

    def play(extra):
        model, events = BatchModel(RATES), []
        stops = [(at_s, (key, prompt, output)) for at_s, key, prompt, output in arrivals] + [
            (at_s, None) for at_s in extra
        ]
        for at_s, arrival in sorted(stops, key=lambda stop: stop[0]):
            events += model.advance(at_s)
            if arrival:
                model.add(*arrival)
        return events + [event for _, event in played(model)]

    plain, looked = play([]), play(looks)
    assert sorted(plain) == sorted(looked)
    for key in range(len(sequences)):
        assert [event.final for event in looked if event.key == key] == [False, True]


@pytest.mark.parametrize(
    ("preset", "published"), [("llama2-70b-mi300x", 27_854 / 8), ("llama2-70b-mi355x", 103_480 / 8)]
)
def test_presets_reach_the_published_offline_rates(tmp_path, preset, published):
    settings = read_settings(engine_config(str(tmp_path), preset=preset))
    sampling = Sampling(1, 1024)
    counts = output_counts(settings, sampling, 24_576)
    assert counts.mean() == pytest.approx(294.45, rel=0.03)
    model = BatchModel(settings.rates)
    for key, count in enumerate(counts.tolist()):
        model.add(key, 290, count)
    last_s = max(at_s for at_s, _ in played(model))
    assert counts.sum() / last_s == pytest.approx(published, rel=0.05)


@given(st.integers(0, 10**6), st.integers(1, 64))
def test_answers_hold_eos_only_at_the_end_of_a_short_one(index, count):
    settings = read_settings(engine_config("nowhere"))
    tokens = answer_tokens(settings, Sampling(1, 64), index, count)
    assert tokens.dtype == np.int32
    assert len(tokens) == count
    assert tokens.min() >= 0
    assert tokens.max() < settings.vocabulary
    assert (tokens == settings.eos_token_id).tolist() == [False] * (count - 1) + [1 < count < 64]


@pytest.mark.parametrize(("seed", "same"), [(0, True), (1, False)])
def test_lengths_are_reproducible_and_within_bounds(seed, same):
    config = engine_config("nowhere", output_tokens_mean=20, output_tokens_sigma=1.0)
    settings = read_settings(config)
    other = read_settings(engine_config("nowhere", output_tokens_mean=20, output_tokens_sigma=1.0, seed=seed))
    counts = output_counts(settings, Sampling(2, 40), 1000)
    assert (counts.tolist() == output_counts(other, Sampling(2, 40), 1000).tolist()) == same
    assert counts.min() >= 2
    assert counts.max() <= 40


def test_ignore_eos_gives_the_maximum():
    settings = read_settings(engine_config("nowhere"))
    assert set(output_counts(settings, Sampling(1, 33, ignore_eos=True), 10).tolist()) == {33}


def test_settings_override_a_preset():
    settings = read_settings(engine_config("nowhere", preset="llama2-70b-mi300x", max_num_seqs=100))
    assert settings.rates.max_num_seqs == 100
    assert settings.window == 113
    assert settings.rates.prefill_tokens_per_s == PRESETS["llama2-70b-mi300x"].prefill_tokens_per_s


@pytest.mark.parametrize("settings", [{"preset": "fst"}, {"max_num_seqs": 0}, {"time_scale": 0}, {"vocab": 3}])
def test_wrong_settings_are_refused(settings):
    with pytest.raises(BadSettings):
        SyntheticEngine(engine_config("nowhere", **settings))


class Sink:
    """Keeps finals with the time they came."""

    def __init__(self):
        self.finals = {}
        self.firsts = {}
        self.changed = threading.Condition()

    def first_token(self, sample_id, token):
        self.firsts[sample_id] = time.monotonic()

    def final(self, sample_id, tokens):
        with self.changed:
            self.finals[sample_id] = tokens.tolist()
            self.changed.notify()

    def wait(self, count):
        with self.changed:
            assert self.changed.wait_for(lambda: len(self.finals) >= count, 30)


def test_answers_are_the_same_in_every_run_and_at_any_speed(tmp_path):
    dataset = small_dataset(tmp_path / "dataset")
    answers = []
    for scale in (1, 50):
        engine, sink = SyntheticEngine(engine_config(dataset, time_scale=scale)), Sink()
        engine.start(sink)
        engine.warm_up()
        for epoch in (1, 2):
            engine.begin(RunContext("Server", first_tokens=True, epoch=epoch))
            engine.submit([Sample(1000 * epoch + i, i) for i in range(20)])
            sink.wait(20 * epoch)
            engine.end()
        engine.stop()
        assert set(sink.firsts) == set(sink.finals)
        answers += [[sink.finals[1000 * epoch + i] for i in range(20)] for epoch in (1, 2)]
    assert all(run == answers[0] for run in answers)


def test_no_answer_comes_before_its_simulated_time(tmp_path):
    dataset = small_dataset(tmp_path / "dataset")
    config = engine_config(dataset, low=8, high=8, decode_step_ms=10, decode_step_per_sequence_ms=0)
    engine, sink = SyntheticEngine(config), Sink()
    engine.start(sink)
    engine.begin(RunContext("Server", first_tokens=True, epoch=1))
    began = time.monotonic()
    engine.submit([Sample(5, 0)])
    sink.wait(1)
    assert time.monotonic() - began >= 0.07
    assert math.isclose(len(sink.finals[5]), 8)
    engine.stop()


def test_a_wrong_call_is_told_at_once(tmp_path):
    engine = SyntheticEngine(engine_config(small_dataset(tmp_path / "dataset")))
    with pytest.raises(EngineLost, match="start it first"):
        engine.submit([Sample(1, 1)])
    engine.start(Sink())
    with pytest.raises(IndexError, match="outside a dataset of 20"):
        engine.submit([Sample(1, 20)])
    engine.stop()
    engine.stop()
