"""Ctrl-C before a command has begun: the imports are interrupted, and still there is one line and 130."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
# Stands for a Ctrl-C at the moment the module is looked for.
INTERRUPTING = """
import importlib.abc, runpy, sys

class Interrupt(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path, target=None):
        if name == {module!r}:
            raise KeyboardInterrupt

sys.meta_path.insert(0, Interrupt())
sys.argv = ["weighbridge", "rules"]
runpy.run_module("harness", run_name="__main__")
"""


@pytest.mark.parametrize("module", ["harness.cli", "harness.cli.app", "typer", "compliance.rulebook.rounds"])
def test_interrupted_imports_end_in_order(module):
    done = subprocess.run(
        (sys.executable, "-c", INTERRUPTING.format(module=module)),
        capture_output=True,
        text=True,
        cwd=ROOT,
        check=False,
    )
    assert done.returncode == 130
    assert "Traceback" not in done.stderr
