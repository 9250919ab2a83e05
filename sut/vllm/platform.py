"""What differs between vLLM's platforms, as data: environment, default engine arguments, warm-up, the device's name.

CPU, CUDA and ROCm run the same engine (sut.vllm.engine); their modules hold one `Platform` and a preflight each.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from sut.protocol import EngineConfig
from sut.vllm.args import VllmSettings


@dataclass(frozen=True, slots=True)
class WarmUp:
    """Warm-up batches: prompts cut to `prompt_tokens` (None: whole), `new_tokens` generated."""

    prompt_tokens: int | None
    new_tokens: int


@dataclass(frozen=True, slots=True)
class Platform:
    """One way to run vLLM. `environment` is set before vLLM is imported; `device` is asked after the start."""

    sut: str
    defaults: Mapping[str, object]
    environment: Callable[[VllmSettings, EngineConfig], Mapping[str, str]]
    device: Callable[[], str]
    warm_up: WarmUp


QUIET: Mapping[str, str] = {
    "HF_HUB_OFFLINE": "1",
    "TRANSFORMERS_OFFLINE": "1",
    "VLLM_NO_USAGE_STATS": "1",
    "DO_NOT_TRACK": "1",
    "TOKENIZERS_PARALLELISM": "false",
    "VLLM_LOGGING_STREAM": "ext://sys.stderr",
}
"""On every platform: nothing is fetched or sent while a benchmark runs, and standard output stays the worker's."""
