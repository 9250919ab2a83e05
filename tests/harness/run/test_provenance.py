"""From what a run came."""

import platform
import subprocess

import pytest

from harness.run.provenance import checkout, host_facts, now_utc, package_versions, provenance


def git(folder, *arguments):
    identity = ["-c", "user.name=a", "-c", "user.email=a@b", "-c", "commit.gpgsign=false"]
    subprocess.run(["git", "-C", folder, *identity, *arguments], check=True, capture_output=True)


def test_a_checkout_tells_its_commit_and_whether_it_was_changed(tmp_path):
    git(tmp_path, "init", "-q")
    (tmp_path / "file").write_text("1")
    git(tmp_path, "add", "file")
    git(tmp_path, "commit", "-qm", "one")
    clean = checkout(tmp_path)
    assert len(clean.commit) == 40
    assert not clean.dirty
    (tmp_path / "file").write_text("2")
    assert checkout(tmp_path).dirty


@pytest.mark.parametrize("kind", ["none", "empty", "no git"])
def test_what_is_no_checkout(tmp_path, monkeypatch, kind):
    if kind == "empty":
        git(tmp_path, "init", "-q")
    if kind == "no git":
        (tmp_path / ".git").mkdir()
        monkeypatch.setenv("PATH", "")
    state = checkout(tmp_path)
    assert (state.commit, state.dirty) == ("", False)


def test_packages_that_are_not_installed_are_left_out():
    assert set(package_versions(("numpy", "no-such-distribution"))) == {"numpy"}


def test_the_machine_and_the_time():
    facts = host_facts()
    assert int(facts["memory_bytes"]) > 0
    assert int(facts["cpu_cores_usable"]) >= 1
    assert all(facts.values())
    assert now_utc().endswith("+00:00")


def test_workers_packages_are_added():
    made = provenance("2026-01-01T00:00:00+00:00", now_utc(), {"vllm": "9"})
    assert made.packages["vllm"] == "9"
    assert "numpy" in made.packages
    assert made.python == platform.python_version()
