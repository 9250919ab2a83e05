"""A machine described from copies of /proc and /sys, and from what the vendors' tools print."""

import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from compliance.rulebook.rounds import load_round
from systems import accelerators as tools
from systems.capture import Stated, capture, find_accelerators, run_tool
from systems.host import read_disks, read_network_cards, read_processor

CPU = """processor\t: {n}
model name\t: AMD EPYC 9534  64-Core Processor
cpu MHz\t\t: 2450.000
physical id\t: {socket}
core id\t\t: {core}
"""
NVIDIA = "NVIDIA H200, 143771, 570.86.15, 1980, 700.00, 5, 16\n" * 8
NVIDIA_TOPOLOGY = """\tGPU0\tGPU1\tNIC0\tCPU Affinity
GPU0\t X \tNV18\tSYS\t0-55
GPU1\tNV18\t X \tSYS\t0-55
NIC0\tSYS\tSYS\t X
"""
AMD_6 = json.dumps(
    [
        {
            "gpu": n,
            "asic": {"market_name": "AMD Instinct MI300X"},
            "bus": {"max_pcie_width": 16, "max_pcie_speed": {"value": 32.0, "unit": "GT/s"}},
            "vram": {"type": "HBM3", "size": {"value": 196592, "unit": "MB"}},
            "driver": {"name": "amdgpu", "version": "6.10.5"},
            "limit": {"max_power": {"value": 750, "unit": "W"}},
        }
        for n in range(8)
    ]
)
AMD_7 = json.dumps(
    {
        "gpu_data": [
            {
                "gpu": 0,
                "asic": {"market_name": "AMD Instinct MI355X"},
                "bus": {"max_pcie_width": "16", "max_pcie_speed": "32.0 GT/s"},
                "vram": {"vram_size_mb": "294896"},
                "driver": {"driver_version": "6.14.14"},
                "clock": {"sys": {"frequency_levels": {"Level 0": "500 MHz", "Level 1": "2400 MHz"}}},
            },
            {"cpu": 0},
        ]
    }
)


def write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """Two sockets of four cores with two threads each, two NVMe disks, one 100 Gb/s card, one loop device and `lo`."""
    blocks = [CPU.format(n=n, socket=n % 2, core=(n // 2) % 4) for n in range(16)]
    write(tmp_path / "proc/cpuinfo", "\n".join(blocks))
    write(tmp_path / "proc/meminfo", "MemTotal:       2415919104 kB\nMemFree: 1 kB\n")
    write(tmp_path / "proc/sys/kernel/osrelease", "6.8.0-31-generic\n")
    write(tmp_path / "etc/os-release", 'NAME="Ubuntu"\nPRETTY_NAME="Ubuntu 24.04.2 LTS"\n')
    cpu0 = tmp_path / "sys/devices/system/cpu/cpu0"
    write(cpu0 / "cpufreq/cpuinfo_max_freq", "3718066\n")
    for index, (level, kind, size) in enumerate(
        [("1", "Data", "32K"), ("1", "Instruction", "32K"), ("3", "Unified", "32M")]
    ):
        for name, text in (("level", level), ("type", kind), ("size", size)):
            write(cpu0 / f"cache/index{index}" / name, text)
    for name, rotational, sectors in (("nvme0n1", "0", 7501476528), ("sda", "1", 1953525168), ("loop0", "0", 8)):
        write(tmp_path / f"sys/block/{name}/size", f"{sectors}\n")
        write(tmp_path / f"sys/block/{name}/queue/rotational", rotational)
    write(tmp_path / "sys/block/nvme0n1/device/model", "SAMSUNG MZQL23T8\n")
    write(tmp_path / "sys/block/sdb/size", "0\n")
    net = tmp_path / "sys/class/net"
    write(net / "ens1/speed", "100000\n")
    write(net / "ens1/type", "1\n")
    write(net / "ib0/type", "32\n")
    write(net / "ib0/speed", "-1\n")
    (net / "lo").mkdir()
    for name in ("ens1", "ib0"):
        (net / name / "device").mkdir()
    (tmp_path / "drivers/mlx5_core").mkdir(parents=True)
    (net / "ens1/device/driver").symlink_to(tmp_path / "drivers/mlx5_core")
    write(tmp_path / "sys/class/dmi/id/sys_vendor", "Dell Inc.\n")
    write(tmp_path / "sys/class/dmi/id/product_name", "PowerEdge XE9680\n")
    write(tmp_path / "sys/class/dmi/id/bios_version", "2.1.5\n")
    return tmp_path


def tool(answers: dict[tuple[str, ...], str]):
    return lambda command: answers.get(tuple(command), "")


def nothing(_command: Sequence[str]) -> str:
    return ""


def test_host_of_two_sockets(root: Path) -> None:
    found = capture("XE9680", "Dell", "closed", root=root, tool=nothing)
    assert found["host_processor_model_name"] == "AMD EPYC 9534 64-Core Processor"
    assert (found["host_processors_per_node"], found["host_processor_core_count"]) == (2, 4)
    assert found["host_processor_vcpu_count"] == 16
    assert found["host_processor_frequency"] == "3718 MHz"
    assert found["host_processor_caches"] == "L1d 32K, L1i 32K, L3 32M"
    assert found["host_memory_capacity"] == "2304 GiB"
    assert found["operating_system"] == "Ubuntu 24.04.2 LTS, Linux 6.8.0-31-generic"
    assert found["hw_notes"] == "Dell Inc. PowerEdge XE9680"
    assert found["boot_firmware_version"] == "2.1.5"


def test_disks_and_cards(root: Path) -> None:
    assert [(disk.name, disk.kind) for disk in read_disks(root)] == [("nvme0n1", "NVMe SSD"), ("sda", "HDD")]
    assert [(c.name, c.link, c.driver, c.speed_mbit) for c in read_network_cards(root)] == [
        ("ens1", "Ethernet", "mlx5_core", 100_000),
        ("ib0", "InfiniBand", "unknown", None),
    ]
    found = capture("x", "y", "open", root=root, tool=nothing)
    assert found["host_networking"] == "1x Ethernet, 100 Gb/s, 1x InfiniBand, speed unknown"
    assert found["host_network_card_count"] == "2"
    assert found["host_storage_capacity"] == "4.8 TB"
    assert found["host_storage_type"] == "NVMe SSD, HDD"
    assert found["disk_drives"] == "1x 3.8 TB NVMe SSD, 1x 1.0 TB HDD (1x SAMSUNG MZQL23T8)"


def test_cpu_only_states_the_string_zero(root: Path) -> None:
    found = capture("x", "y", "open", root=root, tool=nothing)
    assert found["accelerators_per_node"] == "0"
    accelerator = {name: value for name, value in found.items() if name.startswith("accelerator_")}
    assert set(accelerator.values()) == {"N/A"}


@pytest.mark.parametrize("empty", [True, False], ids=["nothing readable", "a whole machine"])
def test_every_field_of_the_rules_says_something(root: Path, tmp_path: Path, *, empty: bool) -> None:
    fields = load_round("v6.1").system_fields
    found = capture("x", "y", "open", root=tmp_path / "nowhere" if empty else root, tool=nothing)
    assert set(fields.required) <= set(found)
    assert [name for name in fields.meaningful if not found[name]] == []
    assert set(found) <= set(fields.known) | set(fields.required)
    assert not any("TBD" in str(value) for value in found.values())


def test_nothing_readable_is_unknown_and_not_guessed(tmp_path: Path) -> None:
    found = capture("x", "y", "open", root=tmp_path / "nowhere", tool=nothing)
    for name in ("host_processor_model_name", "host_processor_caches", "host_memory_capacity", "host_storage_type"):
        assert found[name] == "unknown"
    assert found["operating_system"] == "unknown"


def test_this_machine() -> None:
    found = capture("here", "me", "open", stated=Stated(framework="vLLM"))
    assert found["framework"] == "vLLM"
    assert found["host_memory_capacity"] != "unknown"
    assert read_processor(Path("/")).threads >= 1


def test_nvidia(root: Path) -> None:
    answers = {tools.NVIDIA_QUERY: NVIDIA, tools.NVIDIA_TOPOLOGY: NVIDIA_TOPOLOGY}
    found = capture("x", "y", "closed", stated=Stated(other_software_stack="CUDA 12.8"), root=root, tool=tool(answers))
    assert found["accelerators_per_node"] == 8
    assert found["accelerator_model_name"] == "NVIDIA H200"
    assert found["accelerator_memory_capacity"] == "140 GiB"
    assert found["accelerator_memory_configuration"] == "HBM3e"
    assert found["accelerator_frequency"] == "1980 MHz"
    assert found["accelerator_host_interconnect"] == "PCIe Gen5 x16"
    assert found["accelerator_interconnect"] == "NVLink (NV18)"
    assert found["other_software_stack"] == "CUDA 12.8, NVIDIA driver 570.86.15"


def test_amd(root: Path) -> None:
    answers = {tools.AMD_QUERY: AMD_6, tools.AMD_TOPOLOGY: '{"links": [{"link_type": "XGMI"}]}'}
    found = capture("x", "y", "closed", root=root, tool=tool(answers))
    assert found["accelerators_per_node"] == 8
    assert found["accelerator_model_name"] == "AMD Instinct MI300X"
    assert found["accelerator_memory_capacity"] == "192 GiB"
    assert found["accelerator_host_interconnect"] == "PCIe Gen5 x16"
    assert found["accelerator_interconnect"] == "XGMI"
    assert found["other_software_stack"] == "AMD driver 6.10.5"


def test_amd_smi_of_rocm_7() -> None:
    (one,) = tools.parse_amd_smi(AMD_7)
    assert (one.name, round(one.memory_gib or 0), one.frequency_mhz) == ("AMD Instinct MI355X", 288, 2400)
    assert (one.driver, one.pcie_generation, one.pcie_width, one.power_w) == ("6.14.14", 5, 16, None)


@pytest.mark.parametrize("text", ["", "{", "[]", "[1]", '{"gpu_data": 3}', '[{"gpu": 0}]', "3", "null"])
def test_amd_smi_that_says_nothing(text: str) -> None:
    assert tools.parse_amd_smi(text) == ()


def test_nvidia_smi_with_gaps() -> None:
    (one,) = tools.parse_nvidia_smi("GH200 480GB, [N/A], [N/A], [N/A], [N/A], [N/A], [N/A]\nNo devices were found\n")
    assert one == tools.Accelerator("NVIDIA", "GH200 480GB", None, None, None, None, None, None)


@pytest.mark.parametrize(
    ("text", "joined"),
    [
        ("", None),
        ("GPU0\t X \t0-5\n", None),
        ("GPU0\t X \tPHB\nGPU1\tPHB\t X \n", "PCIe"),
        (NVIDIA_TOPOLOGY, "NVLink (NV18)"),
    ],
)
def test_nvidia_topology(text: str, joined: str | None) -> None:
    assert tools.parse_nvidia_topology(text) == joined


@pytest.mark.parametrize(
    ("text", "joined"), [("", None), ('{"link_type": "PCIE"}', "PCIe"), ('"link_type": "XGMI"', "XGMI"), ("{}", None)]
)
def test_amd_topology(text: str, joined: str | None) -> None:
    assert tools.parse_amd_topology(text) == joined


def test_mixed_node_counts_its_models(root: Path) -> None:
    lines = "NVIDIA H200, 143771, 1, 1, 1, 5, 16\nNVIDIA B200, 183359, 1, 1, 1, 5, 16\n"
    found = capture("x", "y", "closed", root=root, tool=tool({tools.NVIDIA_QUERY: lines}))
    assert found["accelerator_model_name"] == "NVIDIA H200 (x1), NVIDIA B200 (x1)"
    assert found["accelerator_interconnect"] == "unknown"


def test_tools_that_are_missing_or_fail() -> None:
    assert run_tool(["weighbridge-no-such-tool"]) == ""
    assert run_tool(["false"]) == ""
    assert find_accelerators(nothing) == ((), None)
