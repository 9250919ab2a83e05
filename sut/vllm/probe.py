"""Asking the machine for its accelerators, by the vendors' own libraries, without touching a device's memory."""

import ast
import importlib
import importlib.util
from dataclasses import dataclass
from pathlib import Path
from typing import Any


@dataclass(frozen=True, slots=True)
class Probe:
    """What a vendor's library said: the names of the devices in its order, and the driver; or why it could not say."""

    devices: tuple[str, ...]
    driver: str = ""
    trouble: str = ""


def nvidia() -> Probe:
    """The NVIDIA devices by NVML."""
    try:
        nvml: Any = importlib.import_module("pynvml")
    except ImportError:
        return Probe((), trouble="the Python module pynvml (package nvidia-ml-py) is not installed")
    try:
        nvml.nvmlInit()
        try:
            handles = [nvml.nvmlDeviceGetHandleByIndex(index) for index in range(nvml.nvmlDeviceGetCount())]
            names = tuple(_text(nvml.nvmlDeviceGetName(handle)) for handle in handles)
            return Probe(names, driver=_text(nvml.nvmlSystemGetDriverVersion()))
        finally:
            nvml.nvmlShutdown()
    except Exception as error:  # noqa: BLE001  (a vendor's library has exceptions of its own)
        return Probe((), trouble=f"NVML: {error}")


def amd() -> Probe:
    """The AMD devices by amdsmi."""
    try:
        smi: Any = importlib.import_module("amdsmi")
    except ImportError:
        return Probe((), trouble="the Python module amdsmi is not installed (ROCm brings it in share/amd_smi)")
    try:
        smi.amdsmi_init()
        try:
            handles = smi.amdsmi_get_processor_handles()
            names = tuple(str(smi.amdsmi_get_gpu_asic_info(handle)["market_name"]) for handle in handles)
            return Probe(names)
        finally:
            smi.amdsmi_shut_down()
    except Exception as error:  # noqa: BLE001
        return Probe((), trouble=f"amdsmi: {error}")


def torch_build(folder: Path | None = None) -> dict[str, str | None]:
    """torch/version.py as data ({version, cuda, hip}), read and not imported; empty where there is no torch."""
    where = folder or _package_folder("torch")
    if where is None:
        return {}
    try:
        tree = ast.parse((where / "version.py").read_text(encoding="utf-8"))
    except (OSError, SyntaxError):
        return {}
    found: dict[str, str | None] = {}
    for node in tree.body:
        targets = (
            node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AnnAssign) else []
        )
        value = node.value if isinstance(node, ast.Assign | ast.AnnAssign) else None
        for target in targets:
            if isinstance(target, ast.Name) and isinstance(value, ast.Constant):
                found[target.id] = value.value if isinstance(value.value, str) else None
    return {name: found.get(name) for name in ("__version__", "cuda", "hip")}


def _package_folder(name: str) -> Path | None:
    spec = importlib.util.find_spec(name)
    if spec is None or not spec.submodule_search_locations:
        return None
    return Path(spec.submodule_search_locations[0])


def _text(value: str | bytes) -> str:
    return value.decode() if isinstance(value, bytes) else value
