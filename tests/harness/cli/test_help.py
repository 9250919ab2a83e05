import json
import re
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


def named_commands():
    """Every command that a message or a docstring tells to give, with the options it names: (command, options)."""
    texts = (
        path.read_text("utf-8")
        for folder in ("compliance", "harness", "sut", "submission_templates")
        for path in sorted((ROOT / folder).rglob("*"))
        if path.suffix in {".py", ".j2", ".toml"}
    )
    found = (match[1] for text in texts for match in re.finditer(r"`weighbridge ([a-z][^`]*)`", text))
    return sorted(
        {
            (words[0], tuple(word for word in words if word.startswith("--")))
            for given in found
            if (words := given.split())
        }
    )


@pytest.mark.parametrize(("command", "options"), named_commands(), ids=str)
def test_what_messages_tell_to_run_is_there(command, options, capsys):
    from harness.cli import main

    assert main([command, "--help"]) == 0
    helped = capsys.readouterr().out
    group = command in {"systems", "dataset"}
    assert [option for option in options if not group and option not in helped and option != "--help"] == []


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_help(command, capsys):
    from harness.cli import main

    assert main([command, "--help"]) == 0
    assert "Usage: weighbridge" in capsys.readouterr().out
