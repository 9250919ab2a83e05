"""Clean trees on disk for the bug reports, to be broken by hand: our own, and the given one where it lies beside us."""

import json
import runpy
import sys
from collections.abc import Callable
from pathlib import Path
from unittest import mock

from tests.support.log_lines import mllog
from tests.support.trees import INSPECTION, clean_tree

BENCHMARK = "llama2-70b-99.9"
GIVEN = Path(__file__).parents[2].parent / "shared" / "tools" / "make_t0.py"
MARKER = ":::MLLOG "


class BugTree:
    """A clean tree of one system, one benchmark, Offline and Server."""

    def __init__(self, root: Path, round_name: str) -> None:
        self.root = root
        self.round_name = round_name
        (self.benchmark_dir,) = root.glob(f"closed/*/results/*/{BENCHMARK}")
        (self.system,) = root.glob("closed/*/systems/*.json")

    def file(self, scenario: str, rest: str) -> Path:
        return self.benchmark_dir / scenario / rest

    def detail(self, scenario: str) -> Path:
        return self.file(scenario, "performance/run_1/mlperf_log_detail.txt")

    def logged(self, scenario: str, **changes: object) -> None:
        """Change values of a performance log; a key that is not there is added."""
        lines, left = [], dict(changes)
        for line in self.detail(scenario).read_text().splitlines():
            record = json.loads(line.removeprefix(MARKER))
            if record["key"] in left:
                record["value"] = left.pop(record["key"])
            lines.append(MARKER + json.dumps(record))
        lines += [mllog(key, value) for key, value in left.items()]
        self.detail(scenario).write_text("\n".join(lines) + "\n")

    def append(self, scenario: str, *lines: str) -> int:
        """Add lines to a performance log; the number of the first one."""
        text = self.detail(scenario).read_text()
        self.detail(scenario).write_text(text + "".join(f"{line}\n" for line in lines))
        return text.count("\n") + 1

    def describe(self, **changes: object) -> None:
        """Change the system description; None takes a field out."""
        members = json.loads(self.system.read_text()) | changes
        self.system.write_text(json.dumps({k: v for k, v in members.items() if v is not None}, indent=2))

    def scores(self, scenario: str, text: str) -> None:
        """Another accuracy.txt with the same hash line."""
        path = self.file(scenario, "accuracy/accuracy.txt")
        digest = next(line for line in path.read_text().splitlines() if line.startswith("hash="))
        path.write_text(f"\nResults\n\n{text}\n\n{digest}\n")


def own_tree(root: Path, round_name: str) -> BugTree:
    clean_tree(BENCHMARK, round_name=round_name).write(root)
    return BugTree(root, round_name)


def given_tree(root: Path, round_name: str) -> BugTree:
    with mock.patch.object(sys, "argv", [GIVEN.name, str(root), round_name]):
        runpy.run_path(str(GIVEN))
    # It comes without the write-ups that the rules ask for, a warning each.
    (submitter,) = root.glob("closed/*")
    (submitter / "documentation/bandwidth.md").write_text("In and out 0.3 MB/s.\n")
    (submitter / "src/README.md").write_text(f"vLLM 0.33.\n{INSPECTION}")
    return BugTree(root, round_name)


MAKERS: dict[str, Callable[[Path, str], BugTree]] = {"own": own_tree, "given": given_tree}
