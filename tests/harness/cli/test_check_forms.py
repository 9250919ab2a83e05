"""`weighbridge check`: every form, to standard output or a file, with one exit code and one verdict."""

import csv
import io
import json
import subprocess
import sys
from xml.etree import ElementTree as ET

import pytest

from tests.support.hostile_trees import hostile_tree
from tests.support.trees import clean_tree

FORMS = ("text", "json", "junit", "sarif", "csv", "markdown")


def short_run():
    return clean_tree().performance("Server", effective_min_duration_ms=300_000)


def told_verdict(form, text):
    """The verdict as the form tells it: True for a pass."""
    if form == "json":
        return json.loads(text)["verdict"] == "pass"
    if form == "junit":
        return ET.fromstring(text.encode()).get("failures") == "0"  # noqa: S314 - our own
    if form == "sarif":
        return json.loads(text)["runs"][0]["invocations"][0]["exitCode"] == 0
    if form == "csv":
        return len(list(csv.DictReader(io.StringIO(text)))) == 2
    return "PASS: " in text.splitlines()[-1 if form == "text" else 0]


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(("make", "code"), [(clean_tree, 0), (short_run, 1)])
def test_every_form_tells_what_the_exit_code_tells(weighbridge, tmp_path, form, make, code):
    tree = make().write(tmp_path / "tree")
    found, out, _ = weighbridge("check", tree, "--format", form)
    assert found == code
    assert told_verdict(form, out) is (code == 0)


@pytest.mark.parametrize("form", FORMS)
def test_a_report_in_a_file_leaves_the_verdict_on_the_terminal(weighbridge, tmp_path, form):
    tree = short_run().write(tmp_path / "tree")
    _, printed, _ = weighbridge("check", tree, "--format", form)
    code, out, _ = weighbridge("check", tree, "--format", form, "--output", tmp_path / "report")
    assert code == 1
    assert out == "FAIL: 1 of 2 results invalid, 1 kind of error (strict)\n"
    assert (tmp_path / "report").read_text().rstrip("\n") == printed.rstrip("\n")


@pytest.mark.parametrize("given", ["tree", "./tree", "tree/", "{tmp}/tree"])
def test_the_official_table_has_the_tree_as_it_was_given(weighbridge, tmp_path, monkeypatch, given):
    clean_tree().write(tmp_path / "tree")
    monkeypatch.chdir(tmp_path)
    given = given.format(tmp=tmp_path)
    code, out, _ = weighbridge("check", given, "--csv-official", "official.csv")
    assert (code, out.splitlines()[-1]) == (0, "PASS: all 2 results valid (strict)")
    data = (tmp_path / "official.csv").read_bytes().decode()
    rows = list(csv.DictReader(io.StringIO(data)))
    below = "closed/Acme/results/node8/llama3.1-8b/{}/performance/run_1"
    assert [row["Location"] for row in rows] == [
        f"{given.rstrip('/')}/{below.format(name)}" for name in ("Offline", "Server")
    ]
    assert data.count("\n") == 3
    assert "\r" not in data


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--output", "tree/report.txt"), "lies in the tree"),
        (("--csv-official", "tree/closed/summary.csv"), "lies in the tree"),
        (("--output", "absent/report.txt"), "absent is no folder"),
        (("--output", "folder"), "folder is a folder"),
        (("--format", "yaml"), "yaml is none of text, json, junit, sarif, csv, markdown"),
    ],
)
def test_what_cannot_be_written_is_said_before_anything_is_judged(weighbridge, tmp_path, monkeypatch, arguments, words):
    clean_tree().write(tmp_path / "tree")
    (tmp_path / "folder").mkdir()
    monkeypatch.chdir(tmp_path)
    code, out, err = weighbridge("check", "tree", *arguments)
    assert (code, out) == (2, "")
    assert words in " ".join(err.replace("│", " ").split())


def test_a_full_disk_is_said(weighbridge, tmp_path):
    tree = clean_tree().write(tmp_path / "tree")
    code, _, err = weighbridge("check", tree, "--output", "/dev/full")
    assert code == 2
    assert "/dev/full: cannot be written" in err


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("encoding", ["utf-8", "ascii"])
def test_hostile_names_are_printed_in_any_encoding(tmp_path, form, encoding):
    tree = hostile_tree().write(tmp_path / "tree")
    arguments = ["check", str(tree), "--format", form, "--round", "v6.1"]
    done = subprocess.run(
        [sys.executable, "-c", "import sys; from harness.cli import main; sys.exit(main(sys.argv[1:]))", *arguments],
        capture_output=True,
        env={"PYTHONIOENCODING": encoding, "PATH": "", "PYTHONPATH": ":".join(sys.path)},
        check=False,
    )
    assert done.returncode == 1, done.stderr
    assert b"Traceback" not in done.stderr
    text = done.stdout.decode(encoding)
    assert not any(not (line.isprintable() or line == "") for line in text.split("\n"))
