"""The checker's speed and memory, alone and beside the official checker; and its calm over broken files.

A judgement is timed from the start of its process to its end, report included, with the files in the page cache and
both checkers' modules compiled.
"""

import compileall
import json
import os
import subprocess
import sys
import tempfile
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import psutil

from compliance.errors import UnreadableFile
from compliance.logs import detail_blocks
from compliance.logs.detail import read_checked
from tests.benchmarks.checker_trees import (
    base_tree,
    break_one,
    corpus_systems,
    detail_bytes,
    multiply,
    results_folders,
    systems,
)
from tests.benchmarks.stats import Row, paired
from tests.support.mutation import outcomes, reader_of
from tests.support.trees import DETAIL

ROUND = "v6.0"
FOLDERS = 1_500
STEPS = (16, 4, 1)
"""The whole tree, a quarter and a sixteenth of it."""
REPEATS = 3
MUTANTS = 20_000
MUTANT_BYTES = 40_000
ROOT = Path(__file__).parents[2]
CORPUS = ROOT.parent / "shared" / "corpus"
_SAMPLE_S = 0.02
_LIMIT_S = 900
_SPIN = "sum(range(80_000_000))"


@dataclass(frozen=True, slots=True)
class Measured:
    """One judgement. `tree_peak_mb` adds up the processes' memory, shared pages once per process."""

    seconds: float
    peak_mb: float
    tree_peak_mb: float
    first_finding_s: float | None
    cpu_s: float
    results: int
    valid: int


def measure(command: list[str], cwd: Path | None = None) -> tuple[float, float, float, float, str]:
    """Runs a command: seconds, the largest process's and all processes' peak in MB, when it began, what it printed."""
    with tempfile.TemporaryFile("w+") as printed:
        began, started = time.time(), time.perf_counter()
        process = subprocess.Popen(command, cwd=cwd, env=_environment(), stdout=printed, stderr=subprocess.DEVNULL)
        watched, single, together = psutil.Process(process.pid), 0.0, 0.0
        while process.poll() is None and time.perf_counter() - started < _LIMIT_S:
            sizes = _resident_mb(watched)
            single, together = max(single, *sizes, 0.0), max(together, sum(sizes))
            time.sleep(_SAMPLE_S)
        seconds = time.perf_counter() - started
        if process.poll() is None:
            process.kill()
            raise TimeoutError(f"no end within {_LIMIT_S} s: {' '.join(command)}")
        printed.seek(0)
        return seconds, single, together, began, printed.read()


def _environment() -> dict[str, str]:
    """That of a user, whose modules are compiled once and not at every start."""
    return {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}


def _resident_mb(process: psutil.Process) -> list[float]:
    """The memory of a process and those it started; nothing of one that has just ended."""
    sizes: list[float] = []
    with suppress(psutil.Error):
        sizes.extend(one.memory_info().rss / 1e6 for one in (process, *process.children(recursive=True)))
    return sizes


def judged(tree: Path, jobs: int, round_name: str = ROUND) -> Measured:
    """One judgement of a tree by this checker."""
    command = [sys.executable, "-m", "tests.benchmarks.checker_run", str(tree), round_name, str(jobs)]
    seconds, single, together, began, printed = measure(command)
    figures = json.loads(printed)
    first = figures["first_finding_at"]
    return Measured(
        seconds,
        single,
        together,
        None if first is None else first - began,
        figures["cpu_s"],
        figures["results"],
        figures["valid"],
    )


def speed(name: str, tree: Path, jobs: int) -> list[Row]:
    """Seconds, MB/s of detail log and peak memory of one tree with so many processes: the best of a few."""
    runs = [judged(tree, jobs) for _ in range(REPEATS)]
    best, many = min(runs, key=lambda run: run.seconds), len(runs)
    label = f"check {name}, {jobs} process{'es' if jobs > 1 else ''}"
    rows = [
        Row(f"{label}: time", best.seconds, "s", f"{best.results} results, {best.valid} valid", runs=many),
        Row(f"{label}: detail logs", detail_bytes(tree) / best.seconds / 1e6, "MB/s", "all of the time", runs=many),
        Row(f"{label}: processor time", best.cpu_s, "s", "what it would take alone on the machine", runs=many),
        Row(f"{label}: peak, largest process", max(run.peak_mb for run in runs), "MB", runs=many),
    ]
    if jobs > 1:
        rows.append(Row(f"{label}: peak, all added", max(run.tree_peak_mb for run in runs), "MB", runs=many))
    if best.first_finding_s is not None:
        rows.append(Row(f"{label}: first finding", best.first_finding_s, "s", "from the process's start", runs=many))
    return rows


def two_processes() -> Row:
    """How much more two processes get done here than one, both at work in no memory: what no checker can go beyond."""
    alone = min(_spins(1) for _ in range(REPEATS))
    return Row("two processes over one, an empty loop", 2 * alone / min(_spins(2) for _ in range(REPEATS)), "times")


def _spins(count: int) -> float:
    started = time.perf_counter()
    running = [subprocess.Popen([sys.executable, "-c", _SPIN]) for _ in range(count)]
    for process in running:
        process.wait()
    return time.perf_counter() - started


def scaling(whole: Path, folder: Path, source: Path, folders: int) -> list[Row]:
    """Time per results folder at a sixteenth, a quarter and the whole, beside that of the sixteenth."""
    rows: list[Row] = []
    least: float | None = None
    for step in reversed(STEPS):
        tree = whole if step == max(STEPS) else folder / f"x{step}"
        if tree != whole:
            multiply(source, tree, folders * step // max(STEPS))
        each_ms = 1e3 * min(judged(tree, 1).seconds for _ in range(REPEATS)) / results_folders(tree)
        least = least or each_ms
        rows.append(Row(f"check x{step}: time per result", each_ms, "ms", "x1", each_ms / least, REPEATS))
    return rows


def reader(name: str, tree: Path) -> list[Row]:
    """The detail reader alone over all logs of a tree, in this process: with lists met before, and with none."""
    paths, total = sorted(tree.rglob(DETAIL)), detail_bytes(tree)
    rows: list[Row] = []
    for label, fresh in (("lists met before", False), ("each list new", True)):
        best = float("inf")
        for _ in range(REPEATS):
            started = time.process_time()
            for path in paths:
                if fresh:
                    detail_blocks.KNOWN_LISTS.forget()
                read_checked(path)
            best = min(best, time.process_time() - started)
        rows.append(Row(f"detail reader, {name}, {label}", total / best / 1e6, "MB/s", "processor time", runs=REPEATS))
    return rows


def official(name: str, tree: Path, checker: Path, folder: Path) -> list[Row]:
    """The official checker and this one in turn on one tree."""
    theirs, ours = [], {1: list[float](), 2: list[float]()}
    command = [sys.executable, "-m", "submission_checker.main", "--input", str(tree), "--version", ROUND]
    for _ in range(REPEATS):
        theirs.append(measure([*command, "--csv", str(folder / "official.csv")], checker)[0])
        for jobs, seconds in ours.items():
            seconds.append(judged(tree, jobs).seconds)
    rows = [Row(f"official checker, {name}, {results_folders(tree)} results", min(theirs), "s", runs=REPEATS)]
    for jobs, seconds in ours.items():
        label = f"official over this one, {name}, {jobs} process{'es' if jobs > 1 else ''}"
        rows.append(paired(label, "s", theirs, seconds, "this checker on the same tree"))
    return rows


def broken_files(tree: Path, folder: Path) -> list[Row]:
    """Twenty thousand files broken byte by byte: read or unreadable, and how long the slowest took."""
    seeds = [path for path in sorted(tree.rglob("*")) if path.is_file() and reader_of(path)]
    seeds = [path for path in seeds if path.stat().st_size <= MUTANT_BYTES]
    refused, slowest, last = 0, 0.0, time.perf_counter()
    for _, outcome in outcomes(seeds, folder / "mutant", MUTANTS):
        refused += isinstance(outcome, UnreadableFile)
        now = time.perf_counter()
        slowest, last = max(slowest, now - last), now
    return [
        Row("broken files read without a traceback", MUTANTS - refused, "files", f"{refused} refused with a reason"),
        Row("broken files: the slowest", 1e3 * slowest, "ms", "the time of one file, made, written and read"),
    ]


def checker(folder: Path, official_checker: Path | None = None, folders: int = FOLDERS) -> list[Row]:
    """All figures of the checker. `official_checker` is a folder that holds the package submission_checker."""
    for package in ("compliance", "harness", "systems"):
        compileall.compile_dir(ROOT / package, quiet=2)
    source = base_tree(ROUND, folder / "base")
    whole = folder / "whole"
    multiply(source, whole, folders)
    submitter, system = next(systems(whole))
    break_one(whole, whole / submitter / "results" / system)
    trees = {"own tree": whole}
    small = source
    if CORPUS.is_dir():
        small = corpus_systems(CORPUS, ROUND, folder / "corpus")
        multiply(small, folder / "corpus-whole", folders)
        trees["corpus"] = folder / "corpus-whole"
    rows = [two_processes()]
    for name, tree in trees.items():
        rows += [*speed(name, tree, 1), *speed(name, tree, 2), *reader(name, tree)]
        if official_checker is not None:
            rows += official(name, tree, official_checker.resolve(), folder)
    return [*rows, *scaling(whole, folder, source, folders), *broken_files(small, folder)]
