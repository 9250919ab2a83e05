"""What CUDA and ROCm share: default engine arguments, warm-up, a worker's devices, and the count of what is there."""

from collections.abc import Callable, Iterator, Mapping
from types import MappingProxyType

from sut.errors import BadSettings
from sut.preflight import PreflightProblem
from sut.protocol import EngineConfig
from sut.vllm.args import VllmSettings, read_settings
from sut.vllm.devices import numbers, share
from sut.vllm.platform import WarmUp
from sut.vllm.probe import Probe

DEFAULTS: Mapping[str, object] = MappingProxyType(
    {"max_num_seqs": 256, "enable_prefix_caching": False, "gpu_memory_utilization": 0.9}
)
WARM_UP = WarmUp(prompt_tokens=None, new_tokens=16, every_size=True)
"""Whole prompts: kernels compile by shape, and none may do so in the timed run."""


def own_devices(
    settings: VllmSettings, config: EngineConfig, visible: str | None, count: Callable[[], int]
) -> tuple[int, ...] | None:
    """The devices of this worker, or None to leave the choice as it is (one worker, nothing stated).

    The campaign's `devices` come first, then the numbers in *_VISIBLE_DEVICES, then all that the machine has.
    """
    if not settings.devices and config.worker_count == 1:
        return None
    devices = settings.devices or numbers(visible)
    if devices is None:
        devices = tuple(range(count())) if not visible else ()
    return share(devices, settings.devices_per_worker, config.worker_index) or None


def visible_list(devices: tuple[int, ...]) -> str:
    """The value of a *_VISIBLE_DEVICES variable."""
    return ",".join(map(str, devices))


def count_problems(config: EngineConfig, probe: Probe, install: str, vendor: str) -> Iterator[PreflightProblem]:
    """Too few devices, or none that can be seen."""
    if not probe.devices:
        found = probe.trouble or "the driver's library lists none"
        yield PreflightProblem(f"{vendor} devices", found, install, fatal=True)
        return
    try:
        settings = read_settings(config, DEFAULTS, None)
    except BadSettings:
        return  # sut.vllm.checks tells them
    if settings.devices_per_worker > len(probe.devices):
        yield PreflightProblem(
            f"{vendor} devices",
            f"{len(probe.devices)} here, one engine spans {settings.devices_per_worker}",
            "lower tensor_parallel_size or pipeline_parallel_size, or make more devices visible",
            fatal=True,
        )
    missing = [number for number in settings.devices if number >= len(probe.devices)]
    if missing:
        found = f"{visible_list(tuple(missing))} asked for, {len(probe.devices)} here (numbered from 0)"
        yield PreflightProblem("setting 'devices'", found, "name devices that exist", fatal=True)
