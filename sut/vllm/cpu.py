"""SUT vllm-cpu: vLLM on the processor, in one process. Needs AVX2 and Linux.

Settings: `model` (folder), `threads`, `window`, and every EngineArgs field of the installed vLLM. No compilation:
on a processor it costs minutes at each start and gains a few percent.
"""

import os
import platform as host
from collections.abc import Mapping
from functools import partial
from types import MappingProxyType

from sut.preflight import PreflightProblem
from sut.protocol import EngineConfig
from sut.vllm.args import VllmSettings
from sut.vllm.checks import common_problems, version
from sut.vllm.devices import cpu_flags, cpu_name, thread_count
from sut.vllm.engine import VllmEngine
from sut.vllm.platform import QUIET, Platform, WarmUp


def defaults(flags: frozenset[str]) -> Mapping[str, object]:
    """Engine arguments of a processor with these flags.

    bfloat16 where the processor multiplies it; elsewhere it is emulated, at a third of float32's speed, so float32.
    """
    native = bool(flags & {"avx512_bf16", "amx_bf16"})
    args: dict[str, object] = {
        "dtype": "bfloat16" if native else "float32",
        "max_model_len": 1024,
        "max_num_seqs": 64,
        "enforce_eager": True,
        "enable_prefix_caching": False,
        # Setting the bytes also skips vLLM's check that most of the machine's memory is free.
        "kv_cache_memory_bytes": (512 if native else 1024) << 20,
    }
    return MappingProxyType(args)


DEFAULTS = defaults(cpu_flags())
INSTALL = "run `python -m sut.vllm.setup_cpu`, or take `--sut synthetic`, which works anywhere"
NOT_WITH_CPU_TORCH = ("torchvision", "torchaudio", "torchcodec")
"""Their builds on the package index need the CUDA build of torch; the text path never needs them."""


def environment(settings: VllmSettings, config: EngineConfig) -> Mapping[str, str]:
    """One process, threads unbound: bound threads collapse when anything else runs, and auto keeps a core idle."""
    threads = thread_count(settings.threads, config.worker_count, os.environ)
    return {
        **QUIET,
        "VLLM_ENABLE_V1_MULTIPROCESSING": "0",
        "VLLM_CPU_OMP_THREADS_BIND": "nobind",
        "OMP_NUM_THREADS": str(threads),
        # Spinning at barriers starves the thread that is waited for once cores are shared, if only with LoadGen.
        "OMP_WAIT_POLICY": os.environ.get("OMP_WAIT_POLICY", "PASSIVE"),
        "VLLM_LOGGING_LEVEL": os.environ.get("VLLM_LOGGING_LEVEL", "ERROR"),
    }


CPU = Platform(
    sut="vllm-cpu",
    defaults=DEFAULTS,
    environment=environment,
    device=cpu_name,
    # Eager kernels compile nothing: a small and a full batch of short prompts load all there is.
    warm_up=WarmUp(prompt_tokens=16, new_tokens=4, every_size=False),
)
CpuEngine = partial(VllmEngine, CPU)


def preflight(config: EngineConfig) -> tuple[PreflightProblem, ...]:
    """What stands in the way of vLLM on this machine's processor."""
    problems = list(common_problems(config, DEFAULTS, INSTALL))
    machine = (host.system(), host.machine())
    if machine[1] in {"x86_64", "AMD64"} and "avx2" not in cpu_flags():
        problems.append(PreflightProblem("processor", f"{cpu_name()} has no AVX2", INSTALL, fatal=True))
    if machine[0] != "Linux":
        problems.append(PreflightProblem("system", f"{machine[0]}: vLLM runs on Linux only", INSTALL, fatal=True))
    if version("vllm") is not None and version("vllm-cpu") is not None:
        found = "vllm and vllm-cpu are both installed, into the same folder"
        problems.append(
            PreflightProblem("vllm", found, "keep one of them: uninstall both, then " + INSTALL, fatal=True)
        )
    problems.extend(
        PreflightProblem(
            package, "installed beside torch+cpu, where it breaks transformers", f"pip uninstall {package}", fatal=True
        )
        for package in NOT_WITH_CPU_TORCH
        if version(package) is not None and (version("torch") or "").endswith("+cpu")
    )
    return tuple(problems)
