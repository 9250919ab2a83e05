"""Preflight: everything that would end a campaign badly and can be seen before it starts.

Each finding is ok, warn or fail and ends in what to do. The machine is looked at always, a campaign when one is given.
"""

import importlib.metadata
import importlib.util
import os
import platform
import resource
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

import psutil

from compliance.rulebook.model import Round
from harness.campaign.model import Campaign
from harness.doctor.campaign import campaign_findings
from harness.doctor.finding import Finding, Level, fail, ok, warn

__all__ = ["Finding", "Level", "diagnose", "render"]

MIN_FILES = 4096
MIN_FREE_BYTES = 2 << 30
LOADGEN = "mlcommons-loadgen"
STRAY = ("audit.config", "audit.conf", "mlperf.conf", "user.conf")


class _Extra(StrEnum):
    """What an optional module is for, and the extra that brings it."""

    rouge_score = "ROUGE scores; install weighbridge[accuracy]"
    tokenizers = "decoding answers; install weighbridge[accuracy]"
    matplotlib = "plots in the report; install weighbridge[report]"


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """All findings of one look."""

    findings: tuple[Finding, ...]

    @property
    def failed(self) -> bool:
        """Whether a run would fail."""
        return any(finding.level is Level.FAIL for finding in self.findings)


def diagnose(campaign: Campaign | None, round_: Round | None, folder: Path) -> Diagnosis:
    """Look at this machine and, when given, at the campaign. `folder` is the working directory of the command."""
    findings = [*_loadgen(round_), *_limits(), *_memory(), *_load(), *_disk(folder), *_stray(folder), *_extras()]
    if campaign is not None and round_ is not None:
        findings += campaign_findings(campaign, round_)
    return Diagnosis(tuple(findings))


def render(diagnosis: Diagnosis) -> str:
    """The findings as text, one or two lines each, the totals last."""
    lines = []
    for finding in diagnosis.findings:
        lines.append(f"{finding.level:<5}{finding.what}: {finding.found}")
        if finding.fix:
            lines.append(f"     -> {finding.fix}")
    counts = {level: sum(finding.level is level for finding in diagnosis.findings) for level in Level}
    lines.append(f"{counts[Level.OK]} ok, {counts[Level.WARN]} warnings, {counts[Level.FAIL]} failures")
    return "\n".join(lines) + "\n"


def _loadgen(round_: Round | None) -> Iterator[Finding]:
    if importlib.util.find_spec("mlperf_loadgen") is None:
        yield fail(
            "LoadGen",
            f"not installed for {platform.machine()}, Python {platform.python_version()}",
            f"pip install {LOADGEN} on x86-64 with Python 3.9-3.13; build it from source elsewhere",
        )
        return
    try:
        version = importlib.metadata.version(LOADGEN)
    except importlib.metadata.PackageNotFoundError:
        yield warn("LoadGen", "built from source, version unknown", "make sure that it is the round's release")
        return
    if round_ is None or round_.admits_loadgen(version):
        yield ok("LoadGen", version)
    else:
        wanted = ", ".join(round_.loadgen_versions)
        yield warn("LoadGen", f"{version}; round {round_.name} has {wanted}", f"pip install {LOADGEN}=={wanted}")


def _limits() -> Iterator[Finding]:
    files, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    if files == resource.RLIM_INFINITY or files >= MIN_FILES:
        yield ok("open files", f"limit {files}")
    else:
        yield warn("open files", f"limit {files}", f"ulimit -n {MIN_FILES} before you run")


def _memory() -> Iterator[Finding]:
    memory = psutil.virtual_memory()
    found = f"{memory.available / 2**30:.1f} of {memory.total / 2**30:.1f} GiB free"
    if memory.available < MIN_FREE_BYTES:
        yield warn("memory", found, "end other programs: LoadGen and the engine need at least 2 GiB")
    else:
        yield ok("memory", found)


def _load() -> Iterator[Finding]:
    cores, load = os.cpu_count() or 1, os.getloadavg()[0]
    found = f"{cores} cores, load {load:.1f}"
    if load > cores / 2 + 0.5:
        yield warn("processor", found, "end other work: latencies are measured on these cores")
    else:
        yield ok("processor", found)


def _disk(folder: Path) -> Iterator[Finding]:
    free = shutil.disk_usage(folder).free
    found = f"{free / 2**30:.1f} GiB free in {folder}"
    yield ok("disk", found) if free >= MIN_FREE_BYTES else warn("disk", found, "free space before you run")


def _stray(folder: Path) -> Iterator[Finding]:
    found = [name for name in STRAY if (folder / name).exists()]
    if found:
        yield warn(
            "stray files",
            f"{', '.join(found)} in {folder}",
            "LoadGen reads such files from its working directory; Weighbridge's runs have their own and ignore these, "
            "other tools do not: remove them",
        )
    else:
        yield ok("stray files", "none")


def _extras() -> Iterator[Finding]:
    for extra in _Extra:
        if importlib.util.find_spec(extra.name) is None:
            yield warn(extra.name, "not installed", f"needed for {extra.value}")
