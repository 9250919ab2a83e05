"""A description of this machine in MLPerf's form (submission_rules.adoc:443-512), from what can be read without root.

What cannot be read says "unknown", so that a reader sees what is left to fill in; nothing is guessed.
"""

import re
import subprocess
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import psutil

from systems import accelerators as tools
from systems.accelerators import Accelerator
from systems.catalogue import find_accelerator
from systems.host import (
    UNKNOWN,
    Disk,
    NetworkCard,
    Processor,
    read_disks,
    read_memory_bytes,
    read_network_cards,
    read_operating_system,
    read_processor,
    read_product,
)

NOT_APPLICABLE = "N/A"
_TOOL_TIMEOUT_S = 30
Tool = Callable[[Sequence[str]], str]


@dataclass(frozen=True, slots=True)
class Stated:
    """What no machine can say of itself: availability, class, software and cooling, as the submitter states them."""

    status: str = "available"
    system_type: str = "datacenter"
    system_type_detail: str = UNKNOWN
    number_of_nodes: int = 1
    framework: str = UNKNOWN
    other_software_stack: str = UNKNOWN
    cooling: str = UNKNOWN
    host_networking_topology: str = NOT_APPLICABLE
    hw_notes: str = ""
    sw_notes: str = ""


def run_tool(command: Sequence[str]) -> str:
    """What a vendor's tool prints; empty where it is missing, fails or hangs: no such device to describe."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=_TOOL_TIMEOUT_S, check=False)
    except (OSError, subprocess.SubprocessError):
        return ""
    return done.stdout if done.returncode == 0 else ""


def find_accelerators(tool: Tool = run_tool) -> tuple[tuple[Accelerator, ...], str | None]:
    """The accelerators of this machine and how they are joined, by nvidia-smi, else by amd-smi; none is no error."""
    nvidia = tools.parse_nvidia_smi(tool(tools.NVIDIA_QUERY))
    if nvidia:
        return nvidia, tools.parse_nvidia_topology(tool(tools.NVIDIA_TOPOLOGY))
    amd = tools.parse_amd_smi(tool(tools.AMD_QUERY))
    return amd, tools.parse_amd_topology(tool(tools.AMD_TOPOLOGY)) if amd else None


def capture(
    name: str,
    submitter: str,
    division: str,
    *,
    stated: Stated | None = None,
    root: Path = Path("/"),
    tool: Tool = run_tool,
) -> dict[str, str | int]:
    """Describe this machine under a system name. `root` stands for `/`; `tool` runs a vendor's tool.

    Every required field is there. A CPU-only machine states "0" accelerators and N/A, as the checker wants it.
    """
    said = stated or Stated()
    found, joined = find_accelerators(tool)
    product = read_product(root)
    return {
        "division": division,
        "submitter": submitter,
        "status": said.status,
        "system_type": said.system_type,
        "system_type_detail": said.system_type_detail,
        "system_name": name,
        "number_of_nodes": said.number_of_nodes,
        **_processor_fields(read_processor(root)),
        **_memory_fields(root),
        **_disk_fields(read_disks(root)),
        **_network_fields(read_network_cards(root), said),
        **_accelerator_fields(found, joined),
        "cooling": said.cooling,
        "framework": said.framework,
        "operating_system": read_operating_system(root),
        "other_software_stack": _software(said, found),
        "hw_notes": said.hw_notes or " ".join(product[key] for key in ("sys_vendor", "product_name") if key in product),
        "sw_notes": said.sw_notes,
        "boot_firmware_version": product.get("bios_version", UNKNOWN),
    }


def _software(said: Stated, found: tuple[Accelerator, ...]) -> str:
    driver = next((f"{a.vendor} driver {a.driver}" for a in found if a.driver), "")
    known = ", ".join(text for text in (said.other_software_stack, driver) if text and text != UNKNOWN)
    return known or UNKNOWN


def _processor_fields(processor: Processor) -> dict[str, str | int]:
    mhz = processor.frequency_mhz
    return {
        "host_processor_model_name": processor.model,
        "host_processors_per_node": processor.sockets,
        "host_processor_core_count": processor.cores_per_socket,
        "host_processor_vcpu_count": processor.threads,
        "host_processor_frequency": UNKNOWN if mhz is None else f"{mhz:.0f} MHz",
        "host_processor_caches": processor.caches,
        "host_processor_interconnect": NOT_APPLICABLE if processor.sockets == 1 else UNKNOWN,
    }


def _memory_fields(root: Path) -> dict[str, str | int]:
    found = read_memory_bytes(root)
    total = psutil.virtual_memory().total if found is None and root == Path("/") else found
    return {
        "host_memory_capacity": UNKNOWN if total is None else f"{total / 2**30:.0f} GiB",
        "host_memory_configuration": UNKNOWN,
    }


def _disk_fields(disks: tuple[Disk, ...]) -> dict[str, str | int]:
    sizes = Counter(f"{_decimal(disk.bytes)} {disk.kind}" for disk in disks)
    models = Counter(disk.model for disk in disks if disk.model != UNKNOWN)
    return {
        "host_storage_capacity": _decimal(sum(disk.bytes for disk in disks)) if disks else UNKNOWN,
        "host_storage_type": ", ".join(dict.fromkeys(disk.kind for disk in disks)) or UNKNOWN,
        "disk_drives": _counted(sizes) + (f" ({_counted(models)})" if models else ""),
    }


def _network_fields(cards: tuple[NetworkCard, ...], said: Stated) -> dict[str, str | int]:
    speeds = sorted({card.speed_mbit for card in cards if card.speed_mbit}, reverse=True)
    links = Counter(
        f"{card.link}, {card.speed_mbit / 1000:g} Gb/s" if card.speed_mbit else f"{card.link}, speed unknown"
        for card in cards
    )
    return {
        "host_networking": _counted(links) if cards else NOT_APPLICABLE,
        "host_network_card_count": str(len(cards)),
        "host_networking_topology": said.host_networking_topology,
        "number_of_type_nics_installed": _counted(Counter(card.driver for card in cards)),
        "network_speed_mbit": ", ".join(str(speed) for speed in speeds) or UNKNOWN,
    }


def _accelerator_fields(found: tuple[Accelerator, ...], joined: str | None) -> dict[str, str | int]:
    names = (
        "model_name",
        "frequency",
        "host_interconnect",
        "interconnect",
        "interconnect_topology",
        "memory_capacity",
        "memory_configuration",
        "on-chip_memories",
    )
    if not found:
        return {"accelerators_per_node": "0", **{f"accelerator_{name}": NOT_APPLICABLE for name in names}}
    first = found[0]
    model = find_accelerator(first.name)
    values = (
        _model_names(found),
        UNKNOWN if first.frequency_mhz is None else f"{first.frequency_mhz:.0f} MHz",
        _pcie(first),
        joined or (NOT_APPLICABLE if len(found) == 1 else UNKNOWN),
        NOT_APPLICABLE if len(found) == 1 else UNKNOWN,
        UNKNOWN if first.memory_gib is None else f"{first.memory_gib:.0f} GiB",
        UNKNOWN if model is None else model.memory_type,
        UNKNOWN,
    )
    fields = {f"accelerator_{name}": value for name, value in zip(names, values, strict=True)}
    return {"accelerators_per_node": len(found), **fields}


def _model_names(found: tuple[Accelerator, ...]) -> str:
    """One name, or for a mixed node every name with its count, as published trees write it."""
    counts = Counter(accelerator.name for accelerator in found)
    return next(iter(counts)) if len(counts) == 1 else ", ".join(f"{name} (x{n})" for name, n in counts.items())


def _pcie(accelerator: Accelerator) -> str:
    generation, width = accelerator.pcie_generation, accelerator.pcie_width
    return UNKNOWN if generation is None or width is None else f"PCIe Gen{generation} x{width}"


def _counted(counts: Counter[str]) -> str:
    return ", ".join(f"{number}x {re.sub(' +', ' ', name)}" for name, number in counts.items()) or UNKNOWN


def _decimal(size_bytes: int) -> str:
    """A size as disk makers print it: decimal GB or TB."""
    return f"{size_bytes / 1e12:.1f} TB" if size_bytes >= 1e12 else f"{size_bytes / 1e9:.0f} GB"  # noqa: PLR2004 - one TB
