"""The whole path without an engine: `weighbridge demo --sut synthetic`, and Llama2-70B's settings at a scale."""

import importlib.util
import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
EXAMPLE = ROOT / "tests" / "data" / "campaigns" / "good" / "synthetic-llama2-70b.yaml"
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        importlib.util.find_spec("mlperf_loadgen") is None, reason="mlcommons-loadgen has no wheel for this platform"
    ),
]


def weighbridge(*arguments, code=0):
    command = (sys.executable, "-m", "harness", *map(str, arguments))
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, timeout=280, check=False)
    assert done.returncode == code, done.stdout + done.stderr
    assert "Traceback" not in done.stderr
    return done.stdout


def test_the_demo_on_a_timing_model(tmp_path):
    out = weighbridge("demo", "--sut", "synthetic", "--out", tmp_path / "demo")
    assert "checker               pass (strict)" in out
    assert "not meaningful" in out
    assert "no figure here measures anything" in out
    assert (tmp_path / "demo" / "submission" / "open" / "Demo").is_dir()
    again = weighbridge("demo", "--sut", "synthetic", "--out", tmp_path / "demo")
    assert again.splitlines()[2:8] == out.splitlines()[2:8], "a finished demo is kept"
    judged = json.loads(weighbridge("check", tmp_path / "demo" / "submission", "--round", "demo", "--format", "json"))
    assert {result["scenario"]: result["strict_verdict"] for result in judged["results"]} == {
        "Offline": "valid",
        "Server": "valid",
    }


def test_every_phase_at_llama2_70b_settings(tmp_path):
    from tests.support.campaigns import make_dataset

    make_dataset(tmp_path / "dataset", 24576)
    shutil.copy(EXAMPLE, tmp_path / "campaign.yaml")
    out = weighbridge("run", tmp_path / "campaign.yaml")
    assert out.count("VALID") == 2
    assert out.count("PASS") == 2
    weighbridge("package", tmp_path / "campaign.yaml", "--out", tmp_path / "tree")
    judged = json.loads(weighbridge("check", tmp_path / "tree", "--format", "json", code=1))
    errors = {f["id"] for result in judged["results"] for f in result["findings"] if f["severity"] == "error"}
    assert errors == {"PERF-007"}, "only the scaled duration is against the rules"
