"""Installs the CPU engine into the running virtual environment: `python -m sut.vllm.setup_cpu`. Standard library only.

The lock pins every package by hash. torch is apart: the engine needs its +cpu build, whose local version only PyTorch's
own index has, so it is looked for where pip is configured to look first, and then there. Where the machine cannot run
the engine it says so in one line and ends with 2; a second run finds its stamp and ends at once.
"""

import argparse
import hashlib
import platform
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path

from sut.vllm.devices import cpu_flags

ROOT = Path(__file__).resolve().parents[2]
LOCK = ROOT / "requirements" / "cpu-py311.lock"
TORCH_INDEX = "https://download.pytorch.org/whl/cpu"
UNWANTED = ("torchvision", "torchaudio", "torchcodec")
"""Their builds on the package index break transformers beside torch+cpu."""
NEEDED_BYTES = 4_000_000_000
ELSEWHERE = "`make demo SUT=synthetic` works anywhere"
UNFIT = 2


@dataclass(frozen=True, slots=True)
class Machine:
    """What the engine's wheels depend on."""

    system: str
    processor: str
    python: tuple[int, int]
    flags: frozenset[str]
    free_bytes: int

    @classmethod
    def here(cls) -> "Machine":
        """The machine it runs on, and the disk of this environment."""
        return cls(
            system=platform.system(),
            processor=platform.machine(),
            python=sys.version_info[:2],
            flags=cpu_flags(),
            free_bytes=shutil.disk_usage(sys.prefix).free,
        )


@dataclass(frozen=True, slots=True)
class SplitLock:
    """The lock in two parts: what is installed by hash, and torch's own line, without hashes."""

    hashed: str
    torch: str


def unfit(machine: Machine) -> str | None:
    """Why the engine cannot be installed here and what to do, in one line; None when it can."""
    if (machine.system, machine.processor) != ("Linux", "x86_64"):
        return f"the CPU engine has wheels for Linux on x86-64 and this is {machine.system} on {machine.processor}"
    if machine.python != (3, 11):
        have = ".".join(map(str, machine.python))
        return f"the CPU engine is pinned for Python 3.11 and this is {have}: make the venv with PYTHON=python3.11"
    if "avx2" not in machine.flags:
        return "the CPU engine needs AVX2, which this processor has not"
    if machine.free_bytes < NEEDED_BYTES:
        return (
            f"the CPU engine needs {NEEDED_BYTES / 1e9:.0f} GB of disk and "
            f"{machine.free_bytes / 1e9:.1f} GB are free: free some"
        )
    return None


def split(lock: str) -> SplitLock:
    """Take torch out of the lock. Raises ValueError when the lock does not pin it exactly once."""
    requirements: list[list[str]] = []
    for line in lock.splitlines():
        if line and not line.startswith((" ", "\t", "#")):
            requirements.append([line])
        elif line.strip() and not line.lstrip().startswith("#") and requirements:
            requirements[-1].append(line)
    torch = [lines for lines in requirements if lines[0].startswith("torch==")]
    if len(torch) != 1:
        raise ValueError(f"the lock pins torch {len(torch)} times, not once: restore requirements/{LOCK.name}")
    rest = [line for lines in requirements if lines not in torch for line in lines]
    return SplitLock("\n".join(rest) + "\n", torch[0][0].rstrip("\\").strip())


def commands(pip: list[str], torch: str, hashed: Path) -> tuple[tuple[list[str], ...], list[str]]:
    """The ways to get torch, to be tried in order, and the command for the rest."""
    install = [*pip, "install", "--quiet", "--no-deps", "--compile", "--only-binary=:all:"]
    here = [*install, torch]
    there = [*install, "--extra-index-url", TORCH_INDEX, torch]
    return (here, there), [*install, "--require-hashes", "--requirement", str(hashed)]


def stamp_of(lock: bytes) -> str:
    """What the stamp file holds when this lock is installed."""
    return hashlib.sha256(lock).hexdigest() + "\n"


def install(lock: Path, stamp: Path) -> str | None:
    """Install the lock; one line that says what went wrong, or None. Needs a virtual environment."""
    parts = split(lock.read_text(encoding="utf-8"))
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--no-input"]
    with tempfile.TemporaryDirectory() as folder:
        hashed = Path(folder) / "requirements.txt"
        hashed.write_text(parts.hashed, encoding="utf-8")
        torch_ways, rest = commands(pip, parts.torch, hashed)
        errors = []
        for way in torch_ways:
            error = _run(way)
            if error is None:
                break
            errors.append(error)
        else:
            return f"pip found no {parts.torch}: {errors[-1]}; put its wheel where pip's find-links points"
        error = _run(rest)
    if error is not None:
        return f"pip could not install the lock: {error}; see the network and run this again"
    stray = [name for name in UNWANTED if _installed(name)]
    if stray:
        _say(f"removing {', '.join(stray)}: they do not work beside torch+cpu")
        _run([*pip, "uninstall", "--quiet", "--yes", *stray])
    stamp.write_text(stamp_of(lock.read_bytes()), encoding="utf-8")
    return None


def main(arguments: list[str] | None = None) -> int:
    """The command: 0 when the engine is installed, 2 with one line when it cannot be."""
    parser = argparse.ArgumentParser(prog="python -m sut.vllm.setup_cpu", description=__doc__)
    parser.add_argument("--lock", type=Path, default=LOCK, help="default: %(default)s")
    lock = parser.parse_args(arguments).lock
    stamp = Path(sys.prefix) / ".weighbridge-cpu"
    if not lock.is_file():
        _say(f"{lock} does not exist: run this in a checkout, or name the lock with --lock; {ELSEWHERE}")
        return UNFIT
    if stamp.is_file() and stamp.read_text(encoding="utf-8") == stamp_of(lock.read_bytes()):
        return 0
    reason = unfit(Machine.here())
    if reason is None and sys.prefix == sys.base_prefix:
        reason = "this Python is not in a virtual environment: run `make setup`, then use .venv/bin/python"
    if reason is None:
        _say("installing the CPU engine (2.7 GB, once)")
        reason = install(lock, stamp)
    if reason is not None:
        _say(f"{reason}; {ELSEWHERE}")
        return UNFIT
    return 0


def _run(command: list[str]) -> str | None:
    """The last error line of a command that failed, None when it did not."""
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode == 0:
        return None
    lines = [line for line in done.stderr.splitlines() if line.startswith("ERROR")] or done.stderr.splitlines()
    return lines[-1].removeprefix("ERROR: ").strip() if lines else f"exit code {done.returncode}"


def _installed(name: str) -> bool:
    try:
        metadata.version(name)
    except metadata.PackageNotFoundError:
        return False
    return True


def _say(line: str) -> None:
    sys.stderr.write(f"{line}\n")
    sys.stderr.flush()


if __name__ == "__main__":
    sys.exit(main())
