"""`weighbridge check` where nothing but the core dependencies is installed: no torch, no vLLM, no LoadGen."""

import json
import os
import re
import subprocess
import tomllib
import venv
from importlib import metadata
from pathlib import Path

import pytest

from tests.support.trees import clean_tree

ROOT = Path(__file__).parents[2]
COMMAND = ("-c", "import sys; from harness.cli import main; sys.exit(main())")
LEFT_OUT = "mlcommons-loadgen"
"""A core dependency where it has a wheel; elsewhere checking does without."""


def required(lines):
    """The names of requirements without extras; those with a marker for another platform may not be installed."""
    return [re.split(r"[\s;<>=!~\[(]", line, maxsplit=1)[0] for line in lines if "extra ==" not in line]


def core_distributions():
    """The core dependencies and what they depend on, as they are installed here."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    waiting = [name for name in required(project["dependencies"]) if name != LEFT_OUT]
    found = {}
    while waiting:
        name = waiting.pop().lower().replace("_", "-")
        if name in found:
            continue
        try:
            found[name] = metadata.distribution(name)
        except metadata.PackageNotFoundError:
            continue
        waiting += required(found[name].requires or ())
    return found.values()


@pytest.fixture(scope="module")
def python(tmp_path_factory):
    """The interpreter of a new venv that holds links to the core dependencies and to nothing else."""
    folder = tmp_path_factory.mktemp("core")
    venv.create(folder, with_pip=False, symlinks=True)
    (packages,) = folder.glob("lib/python*/site-packages")
    for distribution in core_distributions():
        for top in {file.parts[0] for file in distribution.files or () if file.parts[0] not in {"..", "__pycache__"}}:
            source = Path(str(distribution.locate_file(top)))
            if source.exists() and not (packages / top).exists():
                (packages / top).symlink_to(source)
    return folder / "bin" / "python"


def run(python, *arguments):
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "COLUMNS": "80"}
    environment.pop("COVERAGE_PROCESS_START", None)
    environment.pop("COVERAGE_PROCESS_CONFIG", None)
    return subprocess.run(
        [str(python), *arguments], env=environment, capture_output=True, text=True, timeout=120, check=False
    )


@pytest.mark.parametrize("name", ["torch", "vllm", "mlperf_loadgen", "matplotlib", "ray", "tokenizers"])
def test_what_is_heavy_is_not_there(python, name):
    done = run(python, "-c", f"import {name}")
    assert done.returncode == 1
    assert "ModuleNotFoundError" in done.stderr


@pytest.mark.parametrize("fault", [False, True])
def test_a_tree_is_judged(python, fault, tmp_path):
    tree = clean_tree()
    if fault:
        tree.performance("Server", effective_min_duration_ms=599_999)
    root = tree.write(tmp_path / "tree")
    done = run(python, *COMMAND, "check", str(root), "--format", "json")
    assert done.returncode == int(fault), done.stderr
    assert "Traceback" not in done.stderr
    verdicts = {result["scenario"]: result["verdict"] for result in json.loads(done.stdout)["results"]}
    assert verdicts == {"Offline": "valid", "Server": "invalid" if fault else "valid"}


def test_rules_and_explanations_are_shown(python):
    assert "llama3.1-8b" in run(python, *COMMAND, "rules", "v6.1").stdout
    assert "PERF-007" in run(python, *COMMAND, "explain", "PERF-007").stdout


def test_running_says_what_is_lacking(python, tmp_path):
    done = run(python, *COMMAND, "demo", "--out", str(tmp_path / "demo"))
    assert done.returncode == 2
    assert "Traceback" not in done.stderr
    assert "install" in done.stderr
