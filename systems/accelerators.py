"""The accelerators of a machine by their vendors' tools: what to ask, and how to read the answer. Parsers are pure."""

import csv
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

NVIDIA_FIELDS = (
    "name",
    "memory.total",
    "driver_version",
    "clocks.max.sm",
    "power.limit",
    "pcie.link.gen.max",
    "pcie.link.width.max",
)
NVIDIA_QUERY = ("nvidia-smi", f"--query-gpu={','.join(NVIDIA_FIELDS)}", "--format=csv,noheader,nounits")
NVIDIA_TOPOLOGY = ("nvidia-smi", "topo", "-m")
AMD_QUERY = ("amd-smi", "static", "--json")
AMD_TOPOLOGY = ("amd-smi", "topology", "--json")
_MB_PER_GB = 1024
# GT/s of a PCIe lane by generation, which amd-smi states instead of the generation.
_PCIE_GENERATION = {2.5: 1, 5.0: 2, 8.0: 3, 16.0: 4, 32.0: 5, 64.0: 6}


@dataclass(frozen=True, slots=True)
class Accelerator:
    """One accelerator as its vendor's tool states it; None where it does not."""

    vendor: str
    name: str
    memory_gib: float | None
    driver: str | None
    frequency_mhz: float | None
    power_w: float | None
    pcie_generation: int | None
    pcie_width: int | None


def parse_nvidia_smi(text: str) -> tuple[Accelerator, ...]:
    """The lines of NVIDIA_QUERY. A line with another number of fields is passed over; "[N/A]" fields are None."""
    found = []
    for row in csv.reader(text.splitlines(), skipinitialspace=True):
        if len(row) != len(NVIDIA_FIELDS):
            continue
        name, memory, driver, clock, power, generation, width = (value.strip() for value in row)
        memory_mib = _number(memory)
        found.append(
            Accelerator(
                vendor="NVIDIA",
                name=name,
                memory_gib=None if memory_mib is None else memory_mib / _MB_PER_GB,
                driver=driver if driver and not driver.startswith("[") else None,
                frequency_mhz=_number(clock),
                power_w=_number(power),
                pcie_generation=_whole(_number(generation)),
                pcie_width=_whole(_number(width)),
            )
        )
    return tuple(found)


def parse_nvidia_topology(text: str) -> str | None:
    """How the GPUs of `nvidia-smi topo -m` are joined: "NVLink (NV18)", "PCIe", None for one GPU or no table."""
    rows = [line.split() for line in text.splitlines() if line.startswith("GPU")]
    cells = {cell for row in rows for cell in row[1 : len(rows) + 1]} - {"X"}
    links = sorted(cell for cell in cells if re.fullmatch(r"NV\d+", cell))
    if links:
        return f"NVLink ({', '.join(links)})"
    return "PCIe" if cells else None


def parse_amd_smi(text: str) -> tuple[Accelerator, ...]:
    """The JSON of `amd-smi static --json`, as ROCm 6.1 (a list) to 7.x (an object with gpu_data) write it."""
    return tuple(_amd_accelerator(gpu) for gpu in _gpus(text))


def _gpus(text: str) -> Iterator[Mapping[str, object]]:
    try:
        document = json.loads(text)
    except ValueError:
        return
    entries = document.get("gpu_data", []) if isinstance(document, dict) else document
    for entry in entries if isinstance(entries, list) else []:
        if isinstance(entry, dict) and "asic" in entry:
            yield entry


def _amd_accelerator(gpu: Mapping[str, object]) -> Accelerator:
    vram = _group(gpu, "vram")
    memory_mib = _first_number(vram.get("size"), vram.get("vram_size_mb"))
    bus, driver = _group(gpu, "bus"), _group(gpu, "driver")
    lane = _first_number(bus.get("max_pcie_speed"), bus.get("pcie_speed"))
    limit = _group(gpu, "limit")
    return Accelerator(
        vendor="AMD",
        name=str(_group(gpu, "asic").get("market_name") or "AMD accelerator"),
        memory_gib=None if memory_mib is None else memory_mib / _MB_PER_GB,
        driver=str(driver.get("version") or driver.get("driver_version") or "") or None,
        frequency_mhz=_amd_clock(gpu),
        power_w=_first_number(limit.get("max_power"), limit.get("power"), limit.get("socket_power")),
        pcie_generation=None if lane is None else _PCIE_GENERATION.get(lane),
        pcie_width=_whole(_first_number(bus.get("max_pcie_width"), bus.get("pcie_width"))),
    )


def _amd_clock(gpu: Mapping[str, object]) -> float | None:
    """The highest level of the system clock, where this version of amd-smi lists levels."""
    levels = _group(_group(_group(gpu, "clock"), "sys"), "frequency_levels")
    speeds = [speed for speed in (_first_number(level) for level in levels.values()) if speed is not None]
    return max(speeds, default=None)


def parse_amd_topology(text: str) -> str | None:
    """How the GPUs of `amd-smi topology --json` are joined: "XGMI", "PCIe", None for one GPU or no answer."""
    kinds = set(re.findall(r'"link_type"\s*:\s*"(\w+)"', text))
    if "XGMI" in kinds:
        return "XGMI"
    return "PCIe" if kinds & {"PCIE", "PCIe"} else None


def _group(mapping: Mapping[str, object], name: str) -> Mapping[str, object]:
    value = mapping.get(name)
    return value if isinstance(value, dict) else {}


def _first_number(*values: object) -> float | None:
    """The first value that holds a number: bare, as "32.0 GT/s", or as {"value": 32, "unit": "GT/s"}."""
    for value in values:
        bare = value.get("value") if isinstance(value, dict) else value
        number = _number(str(bare).split(maxsplit=1)[0]) if bare not in (None, "") else None
        if number is not None:
            return number
    return None


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None


def _whole(value: float | None) -> int | None:
    return None if value is None else int(value)
