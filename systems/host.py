"""What the kernel tells of a machine to anyone who asks: /proc and /sys, read without root. Pure over a root folder.

Each reader takes the folder that stands for `/`, so that a test or a copied set of files serves as well as the machine.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

UNKNOWN = "unknown"
_SECTOR_BYTES = 512
_DISK_KINDS = (("nvme", "NVMe SSD"), ("vd", "virtual disk"), ("xvd", "virtual disk"))
# ARPHRD_ETHER and ARPHRD_INFINIBAND of linux/if_arp.h.
_LINK_TYPES = {"1": "Ethernet", "32": "InfiniBand"}
_NO_DISK = re.compile(r"loop|ram|zram|dm-|md|sr|fd|nbd")


@dataclass(frozen=True, slots=True)
class Processor:
    """The host processors: model, sockets, cores of one socket, hardware threads of all, and what caches there are."""

    model: str
    sockets: int
    cores_per_socket: int
    threads: int
    frequency_mhz: float | None
    caches: str


@dataclass(frozen=True, slots=True)
class Disk:
    """One disk. `kind`: NVMe SSD | SSD | HDD | virtual disk (what a hypervisor shows says nothing of the medium)."""

    name: str
    model: str
    kind: str
    bytes: int


@dataclass(frozen=True, slots=True)
class NetworkCard:
    """One interface with hardware behind it. `speed_mbit` is None where the link is down or does not say."""

    name: str
    link: str
    driver: str
    speed_mbit: int | None


def read_processor(root: Path) -> Processor:
    """The processors by /proc/cpuinfo and /sys. What is not told counts as one socket and as many cores as threads."""
    blocks = _cpu_blocks(_text(root / "proc/cpuinfo"))
    first = blocks[0] if blocks else {}
    threads = max(1, len(blocks))
    sockets = max(1, len({block["physical id"] for block in blocks if "physical id" in block}))
    cores = {(block.get("physical id"), block["core id"]) for block in blocks if "core id" in block}
    per_socket = len(cores) // sockets if cores else threads // sockets
    khz = _text(root / "sys/devices/system/cpu/cpu0/cpufreq/cpuinfo_max_freq")
    mhz = int(khz) / 1000 if khz.isdigit() else _number(first.get("cpu MHz", ""))
    model = first.get("model name") or first.get("cpu model") or UNKNOWN
    return Processor(" ".join(model.split()), sockets, max(1, per_socket), threads, mhz, _caches(root))


def _cpu_blocks(text: str) -> list[dict[str, str]]:
    blocks = []
    for block in text.split("\n\n"):
        pairs = (line.partition(":") for line in block.splitlines())
        fields = {key.strip(): value.strip() for key, colon, value in pairs if colon}
        if "processor" in fields:
            blocks.append(fields)
    return blocks


def _caches(root: Path) -> str:
    """The caches of the first processor, smallest level first: "L1d 48K, L1i 32K, L2 2048K, L3 98304K"."""
    found = []
    for index in sorted((root / "sys/devices/system/cpu/cpu0/cache").glob("index*")):
        level, kind, size = (_text(index / name) for name in ("level", "type", "size"))
        if level and size:
            letter = {"Data": "d", "Instruction": "i"}.get(kind, "")
            found.append(f"L{level}{letter} {size}")
    return ", ".join(found) or UNKNOWN


def read_memory_bytes(root: Path) -> int | None:
    """The memory the kernel has, None where /proc/meminfo does not say."""
    match = re.search(r"^MemTotal:\s+(\d+) kB", _text(root / "proc/meminfo"), re.MULTILINE)
    return int(match[1]) * 1024 if match else None


def read_disks(root: Path) -> tuple[Disk, ...]:
    """The disks with hardware (or a hypervisor) behind them, by name."""
    disks = []
    for block in sorted((root / "sys/block").glob("*")):
        sectors = _text(block / "size")
        if _NO_DISK.match(block.name) or not sectors.isdigit() or int(sectors) == 0:
            continue
        rotational = _text(block / "queue/rotational") == "1"
        kind = next(
            (word for prefix, word in _DISK_KINDS if block.name.startswith(prefix)), "HDD" if rotational else "SSD"
        )
        disks.append(Disk(block.name, _text(block / "device/model") or UNKNOWN, kind, int(sectors) * _SECTOR_BYTES))
    return tuple(disks)


def read_network_cards(root: Path) -> tuple[NetworkCard, ...]:
    """The network interfaces with a device behind them, by name."""
    cards = []
    for interface in sorted((root / "sys/class/net").glob("*")):
        device = interface / "device"
        if not device.exists():
            continue
        driver = (device / "driver").resolve().name if (device / "driver").exists() else UNKNOWN
        speed = _text(interface / "speed")
        link = _LINK_TYPES.get(_text(interface / "type"), UNKNOWN)
        cards.append(NetworkCard(interface.name, link, driver, int(speed) if speed.isdigit() and int(speed) else None))
    return tuple(cards)


def read_operating_system(root: Path) -> str:
    """Distribution and kernel: "Ubuntu 24.04.2 LTS, Linux 6.8.0"."""
    release = dict(_pairs(_text(root / "etc/os-release")))
    kernel = _text(root / "proc/sys/kernel/osrelease")
    parts = (release.get("PRETTY_NAME") or release.get("NAME"), f"Linux {kernel}" if kernel else None)
    return ", ".join(part for part in parts if part) or UNKNOWN


def read_product(root: Path) -> Mapping[str, str]:
    """The parts of the DMI tables that need no root: maker, product, firmware. A missing one is left out."""
    names = ("sys_vendor", "product_name", "bios_vendor", "bios_version")
    found = {name: _text(root / "sys/class/dmi/id" / name) for name in names}
    return {name: value for name, value in found.items() if value}


def _pairs(text: str) -> Iterator[tuple[str, str]]:
    for line in text.splitlines():
        key, equals, value = line.partition("=")
        if equals:
            yield key.strip(), value.strip().strip("\"'")


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None


def _text(path: Path) -> str:
    """A file's text without the blanks around it; empty where it cannot be read, which a capture must live with."""
    try:
        return path.read_text(encoding="utf-8", errors="replace").strip()
    except OSError:
        return ""
