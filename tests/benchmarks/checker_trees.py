"""Trees of any size for the bench of the checker: few systems, made or given, under many names."""

import json
import os
import random
import shutil
from collections.abc import Iterator
from pathlib import Path

from tests.support.trees import DETAIL, SYSTEM, clean_tree

BENCHMARKS = (
    ("llama3.1-8b", ("Offline", "Server", "Interactive")),
    ("llama2-70b-99.9", ("Offline", "Server")),
    ("gpt-oss-120b", ("Offline", "Server")),
)
LINES = 290
SET_SAMPLES = 29_000
"""What makes a log of about 250 kB, two thirds of them the list of the loaded set: the average of round v5.1's logs."""

_TAIL = (
    '"time_ms": {time:.6f}, "namespace": "mlperf::logging", "event_type": "POINT_IN_TIME", "metadata": {{"is_error": '
    'false, "is_warning": false, "file": "{file}", "line_no": {line}, "pid": 345293, "tid": 345293}}}}'
)
_NOISE = (
    ("generic_message", '"Thread 0x7f2b5c registered as an issue thread"', "loadgen.cc"),
    ("logger_swap_request_slots_retry_count", "0", "logging.cc"),
    ("logger_tls_total_log_cas_fail_count", "12", "logging.cc"),
    ("generated_query_duration", "600000000000", "loadgen.cc"),
    ("requested_max_query_count", "0", "test_settings_internal.cc"),
    ("effective_target_duration_ms", "600000", "test_settings_internal.cc"),
    ("result_50.00_percentile_latency_ns", "29314873012", "results.cc"),
)


def base_tree(round_name: str, root: Path) -> Path:
    """Our own clean systems of several benchmarks, one each, with logs of a real one's size."""
    for at, (benchmark, scenarios) in enumerate(BENCHMARKS):
        tree = clean_tree(benchmark, scenarios, round_name=round_name)
        written = tree.write(root.parent / f"{root.name}-{at}")
        grow(written)
        _take_over(written, root, f"{SYSTEM}-{benchmark}")
        shutil.rmtree(written)
    return root


def grow(root: Path) -> None:
    """Fills the detail logs with what LoadGen writes beside what checks read."""
    source = random.Random(7)  # noqa: S311 - the same tree each time
    numbers = list(range(SET_SAMPLES))
    source.shuffle(numbers)
    samples = ",".join(map(str, numbers))
    for path in sorted(root.rglob(DETAIL)):
        with path.open("a", encoding="utf-8") as stream:
            for at in range(LINES):
                key, value, file = _NOISE[at % len(_NOISE)]
                stream.write(_line(f"{key}", value, file, at))
                if at == LINES // 2:
                    stream.write(_line("loaded_qsl_set", f"[{samples}]", "loadgen.cc", at))


def _line(key: str, value: str, file: str, at: int) -> str:
    tail = _TAIL.format(time=1000 + at * 1.25, file=file, line=100 + at)
    return f':::MLLOG {{"key": "{key}", "value": {value}, {tail}\n'


def break_one(root: Path, folder: Path) -> None:
    """Takes the verdict out of the performance log of the tree's first system, so that there is a finding."""
    first = next(iter(sorted(folder.glob(f"*/*/performance/run_1/{DETAIL}"))))
    text = first.read_text(encoding="utf-8").replace('"result_validity", "value": "VALID"', '"x", "value": "VALID"')
    assert first.is_relative_to(root)
    first.unlink()
    first.write_text(text, encoding="utf-8")


def multiply(source: Path, target: Path, folders: int) -> int:
    """Repeats the systems of a v6.x tree under new names until there are that many results folders; says how many.

    Files are linked, not copied: their bytes are read from memory anyway once the cache is warm.
    """
    made = copy = 0
    while made < folders:
        for submitter, system in systems(source):
            if made >= folders:
                break
            made += _link_system(source, target, submitter, system, f"{system}-{copy:04d}")
        copy += 1
    for submitter, _ in systems(source):
        for other in (source / submitter).iterdir():
            if other.name not in {"results", "systems"} and not (target / submitter / other.name).exists():
                shutil.copytree(other, target / submitter / other.name)
    return made


def systems(tree: Path) -> Iterator[tuple[str, str]]:
    """(submitter's folder, system) of each system that has results, in order."""
    for folder in sorted(tree.glob("*/*/results/*")):
        if folder.is_dir():
            yield str(folder.parents[1].relative_to(tree)), folder.name


def results_folders(tree: Path) -> int:
    """The number of results folders of a tree."""
    return sum(folder.is_dir() for folder in tree.glob("*/*/results/*/*/*"))


def detail_bytes(tree: Path) -> int:
    """The bytes of all detail logs of a tree."""
    return sum(path.stat().st_size for path in tree.rglob(DETAIL))


def _link_system(source: Path, target: Path, submitter: str, system: str, name: str) -> int:
    results = target / submitter / "results" / name
    shutil.copytree(source / submitter / "results" / system, results, copy_function=os.link)
    description = target / submitter / "systems" / f"{name}.json"
    description.parent.mkdir(parents=True, exist_ok=True)
    given = source / submitter / "systems" / f"{system}.json"
    if given.is_file():
        os.link(given, description)
    return sum(folder.is_dir() for folder in results.glob("*/*"))


def _take_over(tree: Path, root: Path, name: str) -> None:
    """Puts the one system of a tree into another tree under a name of its own."""
    for submitter, system in systems(tree):
        to = root / submitter
        _move(tree / submitter / "results" / system, to / "results" / name)
        _move(tree / submitter / "systems" / f"{system}.json", to / "systems" / f"{name}.json")
        for other in (tree / submitter).iterdir():
            if other.name not in {"results", "systems"} and not (to / other.name).exists():
                shutil.copytree(other, to / other.name)


def _move(source: Path, target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.move(source, target)


def corpus_systems(corpus: Path, round_name: str, root: Path) -> Path:
    """The real, officially valid submissions of a round as one tree."""
    for path in sorted(corpus.glob("*/case.json")):
        case = json.loads(path.read_text(encoding="utf-8"))
        if case["round"] == round_name and case["kind"] == "real" and case["official"]["overall"] == "valid":
            shutil.copytree(path.parent / "submission", root, dirs_exist_ok=True)
    for path in root.rglob("*"):
        path.chmod(0o755 if path.is_dir() else 0o644)
    return root
