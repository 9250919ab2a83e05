"""Trees made to hurt the checker: it ends with a report, in bounded memory, inside the tree, and prints harmlessly."""

import json
import os
import re
import socket
import subprocess
import sys
import unicodedata

import pytest

from compliance.discovery.submission import discover
from compliance.judge import INTERNAL, judge
from compliance.report.csv_ import render_csv
from compliance.report.json_ import render_json
from compliance.report.junit import render_junit
from compliance.report.markdown import render_markdown
from compliance.report.model import build_report
from compliance.report.sarif import render_sarif
from compliance.report.text import render_text
from compliance.rulebook.rounds import load_round
from compliance.vocabulary import Profile
from harness.cli import main
from tests.support.mutator import Mutator
from tests.support.trees import clean_tree

ROUND = load_round("v6.1")
FORMS = {
    "text": lambda report: render_text(report, verbose=True),
    "json": render_json,
    "junit": render_junit,
    "sarif": render_sarif,
    "markdown": render_markdown,
    "csv": render_csv,
}
GIB = 1 << 30
PERFORMANCE, ACCURACY = "performance/run_1/mlperf_log_detail.txt", "accuracy/mlperf_log_detail.txt"
DEEP = "[" * 200_000


def reported(root):
    judgement = judge(discover(root, ROUND), ROUND)
    reports = [build_report(judgement, profile) for profile in Profile]
    for report in reports:
        assert not [one for one in report.every_finding() if one.id == INTERNAL]
        for render in FORMS.values():
            assert render(report)
    return reports[1]


def said(report):
    return " ".join(f"{one.place} {one.found} {one.message}" for one in report.every_finding())


def written(tmp_path, **options):
    tree = clean_tree(**options)
    return tree, tree.write(tmp_path / "tree")


# Links


@pytest.mark.parametrize(
    "rest", ["performance", "performance/run_1", PERFORMANCE, "accuracy/accuracy.txt", "measurements.json", "user.conf"]
)
@pytest.mark.parametrize("kind", ["itself", "parent", "each-other", "root"])
def test_links_in_a_circle_are_not_followed(tmp_path, rest, kind):
    tree, root = written(tmp_path)
    place = root / tree.path("Server", rest)
    place.rename(tmp_path / "aside")
    other = place.with_name("other")
    target = {
        "itself": place.name,
        "parent": "..",
        "each-other": other.name,
        "root": os.path.relpath(root, place.parent),
    }
    place.symlink_to(target[kind])
    if kind == "each-other":
        other.symlink_to(place.name)
    report = reported(root)
    assert report.exit_code == 1
    assert {one.scenario: one.strict_verdict for one in report.results}["Server"] == "invalid"


@pytest.mark.parametrize(
    "path",
    [
        "closed/Acme",
        "closed/Acme/results",
        "closed/Acme/systems/node8.json",
        "closed/Acme/results/node8/llama3.1-8b/Server",
        f"closed/Acme/results/node8/llama3.1-8b/Server/{PERFORMANCE}",
        "closed/Acme/results/node8/llama3.1-8b/Server/accuracy/accuracy.txt",
    ],
)
def test_the_tree_is_never_left(tmp_path, path):
    _, root = written(tmp_path)
    (tmp_path / "outside").mkdir()
    (root / path).rename(tmp_path / "outside/it")
    (root / path).symlink_to(tmp_path / "outside/it")
    report = reported(root)
    assert report.exit_code == 1
    assert "outside" not in "".join(render(report) for render in FORMS.values()).replace("outside the", "")


def test_a_thousand_links_to_folders_are_walked_once(tmp_path):
    _, root = written(tmp_path)
    source = root / "closed/Acme/src"
    for number in range(1000):
        (source / f"l{number}").symlink_to("../..")
    report = reported(root)
    assert len([one for one in report.every_finding() if one.id == "STR-019"]) == 1000


# Things that are no files


@pytest.mark.parametrize("rest", [PERFORMANCE, "accuracy/accuracy.txt", "measurements.json", "user.conf", "README.md"])
@pytest.mark.parametrize("kind", ["fifo", "socket", "folder"])
def test_what_is_no_file_is_not_opened(tmp_path, monkeypatch, rest, kind):
    tree, root = written(tmp_path)
    place = root / tree.path("Server", rest)
    place.unlink()
    monkeypatch.chdir(place.parent)
    if kind == "fifo":
        os.mkfifo(place.name)
    elif kind == "folder":
        place.mkdir()
    else:
        with socket.socket(socket.AF_UNIX) as listener:
            listener.bind(place.name)
    report = reported(root)
    assert {one.scenario: one.strict_verdict for one in report.results}["Server"] == "invalid"


# Size

# The peak is asked of the kernel's own memory map: getrusage also counts what the process that started this one held.
JUDGE = r"""
import re, sys
from pathlib import Path
from compliance.discovery.submission import discover
from compliance.judge import judge
from compliance.report.model import build_report
from compliance.report.text import render_text
from compliance.rulebook.rounds import load_round
from compliance.vocabulary import Profile
round_ = load_round("v6.1")
report = build_report(judge(discover(Path(sys.argv[1]), round_), round_), Profile.STRICT)
sys.stdout.write(render_text(report, verbose=True))
peak_kib = int(re.search(r"VmHWM:\s*(\d+) kB", Path("/proc/self/status").read_text())[1])
sys.stdout.write(f"peak {peak_kib >> 10} MiB")
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    "rests",
    [
        (PERFORMANCE, "accuracy/mlperf_log_accuracy.json"),
        ("accuracy/accuracy.txt", "measurements.json", "user.conf", "README.md", "TEST06/verify_accuracy.txt"),
        ("TEST06/accuracy/mlperf_log_accuracy.json", "performance/run_1/mlperf_log_summary.txt"),
    ],
)
def test_a_gibibyte_of_one_line_is_passed_over_in_bounded_memory(tmp_path, rests):
    tree, root = written(tmp_path, benchmark="llama2-70b-99.9")
    paths = [root / tree.path("Server", rest) for rest in rests]
    paths += [root / tree.system_path] if len(rests) > 2 else []
    for path in paths:
        with path.open("r+b") as stream:
            stream.truncate(0)
            stream.write(b":::MLLOG {")
            stream.truncate(GIB)
    done = subprocess.run([sys.executable, "-c", JUDGE, str(root)], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert "\nFAIL: " in done.stdout
    peak = int(re.search(r"peak (\d+) MiB", done.stdout)[1])
    assert peak < 120 + 64


# Depth and bombs


@pytest.mark.parametrize("deep", [DEEP, '{"a":' * 200_000, '{"a":' + DEEP + "]" * 200_000 + "}", "[" * 900 + "]" * 900])
@pytest.mark.parametrize(
    "rest", ["system", "measurements.json", "accuracy/mlperf_log_accuracy.json", "accuracy/accuracy.txt"]
)
def test_deep_nesting_is_a_finding(tmp_path, rest, deep):
    tree, root = written(tmp_path)
    (root / (tree.system_path if rest == "system" else tree.path("Server", rest))).write_text(deep)
    assert reported(root).exit_code == 1


@pytest.mark.parametrize("deep", [DEEP, DEEP + "]" * 200_000, '{"a":' * 100_000])
def test_deep_nesting_in_a_record_is_a_broken_line(tmp_path, deep):
    tree, root = written(tmp_path)
    with (root / tree.path("Server", PERFORMANCE)).open("a") as stream:
        stream.write(f':::MLLOG {{"key": "x", "value": {deep}, "time_ms": 1}}\n')
    report = reported(root)
    assert "LOG-003" in {one.id for one in report.every_finding()}


BOMB = "a: &a [x, x, x, x, x, x, x, x, x]\n" + "".join(
    f"{name}: &{name} [{', '.join([f'*{before}'] * 9)}]\n"
    for before, name in zip("abcdefghijkl", "bcdefghijklm", strict=True)
)
YAMLS = {
    "bomb": BOMB,
    "loop": "a: &a\n  b: *a\nsettings: *a\n",
    "merge": "a: &a {b: 1}\n" + "".join(f"c{n}: &c{n} {{<<: [*a, *a]}}\n" for n in range(500)),
    "tag": "a: !!python/object/apply:os.system ['touch harmed']\n",
    "deep": "a: " + "[" * 5000 + "]" * 5000,
    "number": "a: !!int ''\nb: !!float x\n? [1, 2]\n: 3\n",
    "long": f"a: {'9' * 100_000}\n",
}


@pytest.mark.parametrize("name", YAMLS)
def test_a_yaml_bomb_does_not_go_off(tmp_path, monkeypatch, name):
    monkeypatch.chdir(tmp_path)
    tree, root = written(tmp_path)
    for rest in (PERFORMANCE, ACCURACY):
        (root / tree.path("Server", rest)).unlink()
    (root / tree.path("Server", "config.yaml")).write_text(YAMLS[name])
    (root / tree.path("Server", "performance/result_summary.json")).write_text("{}")
    assert reported(root).exit_code == 1
    assert not (tmp_path / "harmed").exists()


# Names

NAMES = {
    "newline": "a\nFAIL: 0 of 0",
    "escape": "\x1b[2J\x1b]0;owned\x07",
    "direction": "\u202egnp.exe",
    "bell": "\x07\x08\x7f",
    "csv": '=cmd|"/c calc"!A1',
    "markup": "</testsuite><script>alert(1)</script>",
    "markdown": "[x](javascript:alert(1))|`a`",
    "controls": "\x85\u2028\u200b",
}


def harmless(text, *, line_breaks="\n"):
    return not [c for c in text if c not in line_breaks and unicodedata.category(c) in {"Cc", "Cf", "Zl", "Zp", "Cs"}]


@pytest.mark.parametrize("name", NAMES)
def test_names_are_printed_harmlessly_in_every_form(tmp_path, name):
    tree, root = written(tmp_path)
    submitter = root / tree.submitter
    (submitter / "src" / f"f{NAMES[name].replace('/', '')}").write_text("")
    wild = NAMES[name].replace("/", "")
    (submitter / "results/node8").rename(submitter / "results" / wild)
    (submitter / "results" / wild / "llama3.1-8b/Server").rename(submitter / "results" / wild / f"llama3.1-8b/{wild}")
    report = reported(root)
    for form, render in FORMS.items():
        assert harmless(render(report), line_breaks="\r\n" if form == "csv" else "\n"), form
    if name == "newline":
        last = [line for line in render_text(report).splitlines() if line.startswith("FAIL: ")]
        assert len(last) == 1


@pytest.mark.parametrize("name", ["newline", "escape", "direction"])
@pytest.mark.parametrize("form", ["text", "json"])
def test_the_command_prints_them_harmlessly_too(tmp_path, capsys, name, form):
    tree = clean_tree(round_name="v6.0").performance("Server", loadgen_version="5.1.0 @ x")
    root = tree.write(tmp_path / "tree")
    (root / "closed/Acme/results/node8").rename(root / "closed/Acme/results" / NAMES[name])
    assert main(["check", str(root), "--format", form]) == 1
    out, err = capsys.readouterr()
    assert harmless(out)
    assert harmless(err)
    assert "LoadGen 5.1.0 is" in out + err


def test_names_that_are_no_utf_8_are_printed_as_escapes(tmp_path):
    _, root = written(tmp_path)
    (root / os.fsdecode(b"closed/Acme/results/node8/\xff\xfe")).mkdir()
    (root / os.fsdecode(b"closed/Acme/src/\xe9.py")).write_text("")
    report = reported(root)
    assert "\\xff\\xfe" in said(report)
    assert json.loads(render_json(report))


def test_values_of_a_log_are_printed_harmlessly(tmp_path):
    tree = clean_tree().performance("Server", loadgen_version="\x1b[31m6\n.0", result_validity="\x1b]0;x\x07\u202e")
    report = reported(tree.write(tmp_path))
    for render in FORMS.values():
        assert harmless(render(report), line_breaks="\r\n")


# Bytes


@pytest.mark.parametrize("benchmark", ["llama2-70b-99.9", "gpt-oss-120b"])
@pytest.mark.parametrize("batch", range(8))
def test_broken_bytes_never_stop_the_report(tmp_path, benchmark, batch):
    _, root = written(tmp_path, benchmark=benchmark)
    mutator = Mutator(root)
    for seed in range(batch * 20, batch * 20 + 20):
        broken = mutator.break_one(seed)
        judgement = judge(discover(root, ROUND), ROUND)
        report = build_report(judgement, Profile.STRICT)
        internal = [one for one in report.every_finding() if one.id == INTERNAL]
        assert not internal, (seed, broken, internal)
        assert harmless(render_text(report, verbose=True)), (seed, broken)
        assert json.loads(render_json(report)), (seed, broken)
        mutator.mend(broken)
