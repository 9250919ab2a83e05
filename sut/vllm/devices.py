"""Sharing out a machine's devices among its workers, and reading the processor's name. Pure but for the readers."""

import os
from collections.abc import Mapping, Sequence
from pathlib import Path

CPUINFO = Path("/proc/cpuinfo")


def share(devices: Sequence[int], per_worker: int, worker_index: int) -> tuple[int, ...]:
    """The devices of one worker: the `worker_index`-th group of `per_worker`, counted round when groups run out.

    Workers on several machines count on through all of them; each machine then takes its own in order.
    """
    groups = len(devices) // per_worker
    if groups < 1:
        return tuple(devices)
    first = worker_index % groups * per_worker
    return tuple(devices[first : first + per_worker])


def numbers(value: str | None) -> tuple[int, ...] | None:
    """Device numbers of a *_VISIBLE_DEVICES value; None when it is unset or names devices in another way (UUIDs)."""
    if not value:
        return None
    parts = [part.strip() for part in value.split(",")]
    return tuple(int(part) for part in parts) if all(part.isdigit() for part in parts) else None


def cpu_flags(cpuinfo: Path = CPUINFO) -> frozenset[str]:
    """The processor's feature flags; empty where the system does not tell."""
    for line in _lines(cpuinfo):
        name, _, value = line.partition(":")
        if name.strip() in {"flags", "Features"}:
            return frozenset(value.split())
    return frozenset()


def cpu_name(cpuinfo: Path = CPUINFO) -> str:
    """The processor's name; "CPU" where the system does not tell."""
    for line in _lines(cpuinfo):
        name, _, value = line.partition(":")
        if name.strip() == "model name":
            return value.strip()
    return "CPU"


def cpu_class(flags: frozenset[str]) -> str:
    """The widest instructions vLLM's CPU kernels choose between: what equal tokens can be expected on."""
    for wanted, name in (
        ("amx_bf16", "amx-bf16"),
        ("avx512_bf16", "avx512-bf16"),
        ("avx512f", "avx512"),
        ("avx2", "avx2"),
    ):
        if wanted in flags:
            return name
    return "other"


def cores() -> int:
    """Processor cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def thread_count(given: int | None, workers: int, environment: Mapping[str, str]) -> int:
    """Threads of one CPU worker: what the campaign says, what OMP_NUM_THREADS says, or an equal part of the cores."""
    stated = environment.get("OMP_NUM_THREADS", "")
    if given is not None:
        return given
    if stated.isdigit() and int(stated) > 0:
        return int(stated)
    return max(1, cores() // max(1, workers))


def _lines(path: Path) -> list[str]:
    try:
        return path.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return []
