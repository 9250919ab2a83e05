"""What differs between vLLM's platforms, as data: environment, default engine arguments, warm-up, the device's name.

CPU, CUDA and ROCm run the same engine (sut.vllm.engine); their modules hold one `Platform` and a preflight each.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from sut.protocol import EngineConfig
from sut.vllm.args import VllmSettings


@dataclass(frozen=True, slots=True)
class WarmUp:
    """Warm-up batches: prompts cut to `prompt_tokens` (None: whole), `new_tokens` generated.

    `every_size`: all powers of two up to max_num_seqs, where kernels are made per shape; else one and max_num_seqs.
    """

    prompt_tokens: int | None
    new_tokens: int
    every_size: bool

    def sizes(self, max_num_seqs: int) -> tuple[int, ...]:
        """The batch sizes, ascending, max_num_seqs always the last."""
        powers = (1 << power for power in range(max_num_seqs.bit_length())) if self.every_size else (1,)
        return (*(size for size in powers if size < max_num_seqs), max_num_seqs)


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
