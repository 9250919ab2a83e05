import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
HEAVY = (
    "numpy",
    "torch",
    "vllm",
    "mlperf_loadgen",
    "matplotlib",
    "jsonschema",
    "pydantic",
    "rich",
    "yaml",
    "msgspec",
    "zmq",
)
PROBE = f"""
import json, sys
from harness.cli import main
code = main(sys.argv[1:])
sys.stderr.write(json.dumps([code, [name for name in {HEAVY!r} if name in sys.modules]]))
"""
COMMANDS = [
    "demo", "init", "doctor", "plan", "run", "package", "check", "report", "explain", "rules", "sut-test", "accuracy",
    "audit", "truncate", "systems", "dataset", "preprocess", "pack",
]  # fmt: skip


def probe(*arguments):
    done = subprocess.run(
        (sys.executable, "-c", PROBE, *arguments), capture_output=True, text=True, cwd=ROOT, check=True
    )
    code, heavy = json.loads(done.stderr.splitlines()[-1])
    return code, heavy, done.stdout


@pytest.mark.parametrize(
    "arguments", [("--help",), ("--version",), ("run", "--help"), ("check", "-h"), ("systems", "list")]
)
def test_light_commands_import_nothing_heavy(arguments):
    code, heavy, out = probe(*arguments)
    # typer reads the arguments of a command with pydantic, so that alone may be there.
    allowed = {"pydantic"} if len(arguments) > 1 else set()
    assert code == 0
    assert set(heavy) <= allowed
    assert out


def test_help_names_every_command_and_the_exit_codes():
    _, _, out = probe("--help")
    for command in COMMANDS:
        assert f"\n  {command} " in out
    assert "130 interrupted" in out


def test_rules_and_check_need_neither_engine_nor_loadgen():
    code, heavy, _ = probe("rules", "demo")
    assert code == 0
    assert {"torch", "vllm", "mlperf_loadgen", "matplotlib"}.isdisjoint(heavy)


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_help(command, capsys):
    from harness.cli import main

    assert main([command, "--help"]) == 0
    assert "Usage: weighbridge" in capsys.readouterr().out
