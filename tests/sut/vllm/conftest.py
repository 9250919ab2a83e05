"""Fixtures of the engine tests: one started engine for the session, since a start takes many seconds."""

import importlib.util
import os
from collections.abc import Iterator

import pytest

from harness.demo.assets import DemoAssets, find
from harness.demo.fetch import default_cache
from sut.protocol import EngineConfig, Sampling
from sut.vllm import cpu
from sut.vllm.args import read_settings
from sut.vllm.engine import VllmEngine
from tests.support.engine_sink import Recorder

SAMPLING = Sampling(min_new_tokens=2, max_new_tokens=20)


@pytest.fixture(scope="session")
def assets() -> DemoAssets:
    found = find(default_cache())
    if found is None:
        pytest.skip("the demo's model is not in the cache: run `make engine`")
    return found


@pytest.fixture(scope="session")
def engine_config(assets: DemoAssets) -> EngineConfig:
    """float32 on every processor: only there are tokens the same for every batch."""
    settings = {"model": str(assets.model), "dtype": "float32", "kv_cache_memory_bytes": 1 << 30}
    return EngineConfig(settings, str(assets.dataset), SAMPLING)


@pytest.fixture(scope="session")
def vllm_environment(engine_config: EngineConfig) -> None:
    """What must be set before vLLM is imported, by whichever test imports it first."""
    if importlib.util.find_spec("vllm") is None:
        pytest.skip("vLLM is not installed: run `make engine`")
    os.environ.update(cpu.environment(read_settings(engine_config, cpu.DEFAULTS, None), engine_config))


@pytest.fixture(scope="session")
def engine(vllm_environment: None, engine_config: EngineConfig) -> Iterator[tuple[VllmEngine, Recorder]]:
    """A started engine and its sink. Tests leave nothing in flight."""
    sink, made = Recorder(), cpu.CpuEngine(engine_config)
    sink.facts = made.start(sink)
    yield made, sink
    made.stop()
