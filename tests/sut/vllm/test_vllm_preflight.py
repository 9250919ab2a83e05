"""Preflight of the three platforms, in a process of its own with the vendors' modules faked on its path."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from sut.dataset import write_dataset
from sut.vllm.rocm import kfd_problems, python_problems, tuning_problems, visibility_problems

ROOT = Path(__file__).parents[3]
PROGRAM = """
import importlib, json, sys
from sut.protocol import EngineConfig, Sampling
spec = json.loads(sys.argv[1])
config = EngineConfig(spec["settings"], spec["dataset"], Sampling(2, 8), spec["index"], spec["count"])
module = importlib.import_module("sut.vllm." + spec["platform"])
defaults = module.DEFAULTS
from sut.vllm.args import read_settings
found = {
    "problems": [[item.what, item.found, item.fix, item.fatal] for item in module.preflight(config)],
    "environment": dict(module.environment(read_settings(config, defaults, None), config)),
    "device": getattr(module, "device_name", lambda: "")(),
    "heavy": sorted({"torch", "vllm"} & set(sys.modules)),
}
print(json.dumps(found))
"""
AMDSMI = """
def amdsmi_init(): pass
def amdsmi_shut_down(): pass
def amdsmi_get_processor_handles(): return list(range({count}))
def amdsmi_get_gpu_asic_info(handle): return {{"market_name": "AMD Instinct MI300X"}}
"""
PYNVML = """
def nvmlInit():
    if {count} == 0: raise RuntimeError("Driver Not Loaded")
def nvmlShutdown(): pass
def nvmlDeviceGetCount(): return {count}
def nvmlDeviceGetHandleByIndex(index): return index
def nvmlDeviceGetName(handle): return b"NVIDIA H200"
def nvmlSystemGetDriverVersion(): return "580.1"
"""
VLLM = "class EngineArgs:\n    model: str\n    max_num_seqs: int\n    tensor_parallel_size: int\n    enable_prefix_caching: bool\n"


class Machine:
    """A fake machine: modules on the path, a model, a dataset, and its environment."""

    def __init__(self, folder: Path) -> None:
        self.path, self.environment = folder / "modules", {}
        self.model, self.dataset = folder / "model", folder / "dataset"
        self.path.mkdir()
        self.model.mkdir()
        (self.model / "model.safetensors").write_bytes(b"weights")
        write_dataset(self.dataset, "d", [[1, 2, 3]], source="", licence="", tokenizer_sha256="")

    def module(self, name: str, text: str) -> None:
        target = self.path / (name + ".py")
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text)
        for parent in target.relative_to(self.path).parents:
            if parent.name:
                (self.path / parent / "__init__.py").touch()

    def ask(self, platform: str, *, index: int = 0, count: int = 1, **settings: object) -> dict[str, object]:
        spec = {"platform": platform, "settings": {"model": str(self.model), **settings}, "dataset": str(self.dataset)}
        spec |= {"index": index, "count": count}
        environment = {name: value for name, value in os.environ.items() if "VISIBLE_DEVICES" not in name}
        environment |= {"PYTHONPATH": f"{self.path}:{ROOT}", **self.environment}
        command = [sys.executable, "-c", PROGRAM, json.dumps(spec)]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True, cwd=ROOT)
        found = json.loads(done.stdout)
        assert found["heavy"] == []
        return found


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    made = Machine(tmp_path)
    made.module("vllm/engine/arg_utils", VLLM)
    return made


def whats(found: dict[str, object], *, fatal: bool = True) -> set[str]:
    return {what for what, _, _, is_fatal in found["problems"] if is_fatal is fatal}


def test_cpu_tells_settings_model_and_lengths(machine: Machine) -> None:
    (machine.model / "model.safetensors").unlink()
    found = machine.ask("cpu", max_num_seqs=4, max_model_len=10, max_num_seq=1)
    assert "settings" in whats(found)
    good = machine.ask("cpu", max_model_len=10, max_num_seqs=4)
    assert "settings" in whats(good)  # the fake EngineArgs has no max_model_len
    model_only = machine.ask("cpu", max_num_seqs=4)
    assert {"model"} <= whats(model_only)


def test_cpu_environment_shares_cores(machine: Machine) -> None:
    machine.environment = {"OMP_NUM_THREADS": ""}
    found = machine.ask("cpu", threads=3, count=2)["environment"]
    assert found["OMP_NUM_THREADS"] == "3"
    assert found["VLLM_ENABLE_V1_MULTIPROCESSING"] == "0"
    assert found["VLLM_CPU_OMP_THREADS_BIND"] == "nobind"
    assert found["HF_HUB_OFFLINE"] == found["VLLM_NO_USAGE_STATS"] == "1"


def test_prefix_caching_is_a_warning(machine: Machine) -> None:
    assert "enable_prefix_caching" in whats(machine.ask("cpu", enable_prefix_caching=True), fatal=False)


def test_cuda_devices_are_counted_and_shared(machine: Machine) -> None:
    machine.module("pynvml", PYNVML.format(count=4))
    machine.module("torch/version", "__version__ = '2.13.0'\ncuda: str | None = '13.0'\nhip = None\n")
    found = machine.ask("cuda", tensor_parallel_size=2, index=1, count=2)
    assert found["device"] == "NVIDIA H200"
    assert found["environment"]["CUDA_VISIBLE_DEVICES"] == "2,3"
    assert not {"NVIDIA devices", "torch", "system", "CUDA_VISIBLE_DEVICES"} & whats(found)
    alone = machine.ask("cuda", tensor_parallel_size=8)
    assert "CUDA_VISIBLE_DEVICES" not in alone["environment"]
    assert "NVIDIA devices" in whats(alone)
    stated = machine.ask("cuda", devices=[3, 9])
    assert stated["environment"]["CUDA_VISIBLE_DEVICES"] == "3"
    assert "setting 'devices'" in whats(stated)


def test_cuda_without_driver_or_with_another_torch(machine: Machine) -> None:
    machine.module("pynvml", PYNVML.format(count=0))
    machine.module("torch/version", "__version__ = '2.13.0+cpu'\ncuda: str | None = None\n")
    machine.environment = {"CUDA_VISIBLE_DEVICES": ""}
    found = machine.ask("cuda")
    assert {"NVIDIA devices", "torch", "CUDA_VISIBLE_DEVICES"} <= whats(found)
    assert any("Driver Not Loaded" in text for _, text, _, _ in found["problems"])
    assert found["device"] == "NVIDIA GPU"


def test_rocm_devices_builds_and_visibility(machine: Machine) -> None:
    machine.module("amdsmi", AMDSMI.format(count=8))
    machine.module("torch/version", "__version__ = '2.11.0+rocm7.2'\ncuda = None\nhip = '7.2'\n")
    machine.environment = {
        "HIP_VISIBLE_DEVICES": "4,5,6,7",
        "CUDA_VISIBLE_DEVICES": "4,5,6,7",
        "SAFETENSORS_FAST_GPU": "0",
    }
    found = machine.ask("rocm", index=3, count=4)
    environment = found["environment"]
    assert found["device"] == "AMD Instinct MI300X"
    assert environment["HIP_VISIBLE_DEVICES"] == environment["CUDA_VISIBLE_DEVICES"] == "7"
    assert (environment["SAFETENSORS_FAST_GPU"], environment["HIP_FORCE_DEV_KERNARG"]) == ("0", "1")
    assert not {"AMD devices", "torch", "HIP_VISIBLE_DEVICES"} & whats(found)


def test_rocm_with_the_cuda_build_and_without_devices(machine: Machine) -> None:
    machine.module("amdsmi", AMDSMI.format(count=0))
    machine.module("torch/version", "__version__ = '2.13.0'\ncuda = '13.0'\nhip = None\n")
    machine.environment = {"HIP_VISIBLE_DEVICES": "0", "CUDA_VISIBLE_DEVICES": "1"}
    found = machine.ask("rocm")
    assert {"AMD devices", "torch", "HIP_VISIBLE_DEVICES"} <= whats(found)
    assert found["device"] == "AMD GPU"


def test_rocm_without_amdsmi(machine: Machine) -> None:
    machine.module("amdsmi", "raise ImportError('libamd_smi.so')\n")
    found = machine.ask("rocm")
    assert any("amdsmi is not installed" in text for _, text, _, _ in found["problems"])


@pytest.mark.parametrize(
    ("environ", "words"),
    [
        ({}, None),
        ({"HIP_VISIBLE_DEVICES": "0"}, None),
        ({"HIP_VISIBLE_DEVICES": "0", "CUDA_VISIBLE_DEVICES": "0"}, None),
        ({"HIP_VISIBLE_DEVICES": "0", "CUDA_VISIBLE_DEVICES": "1"}, "refuses to be imported"),
        ({"HIP_VISIBLE_DEVICES": ""}, "no GPU is visible"),
    ],
)
def test_rocm_visibility(environ: dict[str, str], words: str | None) -> None:
    found = [problem.found for problem in visibility_problems(environ)]
    assert found == [] if words is None else words in found[0]


def test_rocm_python_kfd_and_tuning(tmp_path: Path) -> None:
    assert list(python_problems((3, 12))) == []
    assert [problem.fatal for problem in python_problems((3, 11))] == [True]
    (present := tmp_path / "kfd").touch()
    assert list(kfd_problems(present)) == []
    assert next(kfd_problems(tmp_path / "none")).found == "does not exist"
    assert [problem.fatal for problem in tuning_problems({})] == [False]
    assert list(tuning_problems({"VLLM_ROCM_USE_AITER": "1"})) == []
