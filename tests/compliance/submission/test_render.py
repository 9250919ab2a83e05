"""Placements become a tree by one rename, or leave nothing behind."""

import errno
import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from compliance.errors import RenderError, TargetError, UnreadableFile
from compliance.rulebook.rounds import load_round
from compliance.submission import render as module
from compliance.submission.bandwidth import bandwidth, token_bounds
from compliance.submission.manifest import manifest_path, read_manifest, verify_manifest
from compliance.submission.originals import keep_originals, read_sums
from compliance.submission.place import Action, Placement, ResultFiles, StepFiles, TreeInput, place
from compliance.submission.private import private_content, public_name
from compliance.submission.render import Target, markdown_cell, render
from compliance.submission.storage import sha256_file
from compliance.vocabulary import AuditId, Division, Scenario

ROOT = Path(__file__).parents[3]
LAYOUT = load_round("v6.1").layout


def copy(target: str, source: Path) -> Placement:
    return Placement(target, Action.COPY, source)


def page(target: str, document: object) -> Placement:
    return Placement(target, Action.TEMPLATE, template="system.json.j2", context={"document": document})


@pytest.fixture
def source(tmp_path: Path) -> Path:
    path = tmp_path / "in" / "log.txt"
    path.parent.mkdir()
    path.write_text("log\n")
    return path


@pytest.fixture
def target(tmp_path: Path) -> Target:
    (tmp_path / "to").mkdir()
    return Target(tmp_path / "to" / "tree", tmp_path / "originals", "v6.1")


def test_tree_and_manifest(source: Path, target: Target) -> None:
    manifest = render((copy("closed/X/a.txt", source), page("closed/X/b.json", {"é": 1})), target)
    assert (target.tree / "closed/X/a.txt").read_text() == "log\n"
    assert json.loads((target.tree / "closed/X/b.json").read_text()) == {"é": 1}
    assert manifest.path == target.tree.parent / "tree.manifest.json"
    assert read_manifest(target.tree).files == dict(manifest.files)
    assert manifest.files["closed/X/a.txt"].sha256 == sha256_file(source)
    assert sorted(path.name for path in target.tree.parent.iterdir()) == ["tree", "tree.manifest.json"]
    assert target.tree.stat().st_mode & 0o777 == 0o755


def test_rendering_twice_gives_the_same_bytes(source: Path, target: Target, tmp_path: Path) -> None:
    placements = (copy("a.txt", source), page("b.json", {"x": 1}))
    first = render(placements, target)
    second = render(placements, Target(tmp_path / "to" / "again", tmp_path / "originals", "v6.1"))
    assert first.files == second.files


def test_manifest_tells_what_changed(source: Path, target: Target) -> None:
    render((copy("a.txt", source), copy("b.txt", source), copy("c.txt", source)), target)
    (target.tree / "a.txt").write_text("other")
    (target.tree / "b.txt").unlink()
    (target.tree / "d.txt").write_text("new")
    assert verify_manifest(target.tree) == (
        "a.txt: changed since it was rendered",
        "b.txt: missing, it was rendered",
        "d.txt: not rendered, it was added since",
    )


@pytest.mark.parametrize("text", [None, "", "{}", '{"files": 3}', "[1]"])
def test_manifest_that_cannot_be_read(target: Target, text: str | None) -> None:
    if text is not None:
        manifest_path(target.tree).write_text(text)
    with pytest.raises(UnreadableFile, match="weighbridge package"):
        read_manifest(target.tree)


BAD_TARGETS = {
    "parent": "../evil.txt",
    "inner parent": "closed/../../evil.txt",
    "absolute": "/etc/evil.txt",
    "nul": "a\0b",
}


@pytest.mark.parametrize("path", BAD_TARGETS.values(), ids=BAD_TARGETS)
def test_nothing_leaves_the_tree(source: Path, target: Target, path: str) -> None:
    with pytest.raises(RenderError, match="outside the tree"):
        render((copy(path, source),), target)
    assert list(target.tree.parent.iterdir()) == []


def test_every_problem_is_told_and_nothing_written(source: Path, target: Target, tmp_path: Path) -> None:
    empty = tmp_path / "empty.txt"
    empty.touch()
    placements = (
        copy("a.txt", source),
        copy("a.txt", source),
        copy("b.txt", tmp_path / "none.txt"),
        copy("c.txt", empty),
        copy("d.txt", tmp_path),
        Placement("e.md", Action.TEMPLATE, template="calibration.md.j2", context={}),
        Placement("f.md", Action.TEMPLATE, template="nothing.j2", context={}),
        page("g.json", {"notes": "-----BEGIN PRIVATE KEY-----"}),
    )
    with pytest.raises(RenderError) as caught:
        render(placements, target)
    told = "\n".join(caught.value.problems)
    for part in (
        "two files claim",
        "none.txt: missing",
        "empty.txt: empty",
        "calibration.md.j2",
        "nothing.j2",
        "a private key",
    ):
        assert part in told
    assert list(target.tree.parent.iterdir()) == []


def test_failures_found_while_writing_leave_nothing(source: Path, target: Target) -> None:
    placements = (
        copy("a.txt", source),
        Placement("b.txt", Action.COPY, source, sha256="0" * 64),
        Placement("c.txt", Action.COPY),
        Placement("d.txt", Action.HASH, source),
    )
    with pytest.raises(RenderError) as caught:
        render(placements, target)
    assert len(caught.value.problems) == 3
    assert list(target.tree.parent.iterdir()) == []
    assert not target.originals.exists()


def test_a_log_truncated_before_is_refused(target: Target, tmp_path: Path) -> None:
    cut = tmp_path / "cut.json"
    cut.write_bytes(b"x" * 4096 + b"\n\n...\n\n" + b"y" * 4096)
    with pytest.raises(RenderError, match="truncated already"):
        render((Placement("a.json", Action.TRUNCATE, cut),), target)
    assert list(target.tree.parent.iterdir()) == []


def test_missing_parent(source: Path, tmp_path: Path) -> None:
    with pytest.raises(RenderError, match="no such folder"):
        render((copy("a.txt", source),), Target(tmp_path / "no" / "tree", tmp_path / "originals", "v6.1"))


@pytest.mark.skipif(sys.platform != "linux", reason="/proc, where nobody may write, is Linux's")
def test_read_only_target(source: Path, tmp_path: Path) -> None:
    with pytest.raises(RenderError, match="nothing was written"):
        render((copy("a.txt", source),), Target(Path("/proc/tree"), tmp_path / "originals", "v6.1"))
    assert not (tmp_path / "originals").exists()


def test_target_that_is_a_file(source: Path, target: Target) -> None:
    target.tree.write_text("mine")
    with pytest.raises(TargetError, match=r"exists and is not empty.*--replace"):
        render((copy("a.txt", source),), target)
    assert target.tree.read_text() == "mine"


def test_empty_folder_is_taken(source: Path, target: Target) -> None:
    target.tree.mkdir()
    render((copy("a.txt", source),), target)
    assert verify_manifest(target.tree) == ()


def test_a_foreign_tree_never_gives_way(source: Path, target: Target) -> None:
    target.tree.mkdir()
    (target.tree / "mine.txt").write_text("mine")
    with pytest.raises(RenderError, match="no manifest beside it"):
        render((copy("a.txt", source),), Target(target.tree, target.originals, "v6.1", replace=True))
    assert (target.tree / "mine.txt").read_text() == "mine"


# A process that may write files of 50 kB at most: a larger one fails, as on a full disk.
FULL_DISK = """
import resource, signal, sys
from pathlib import Path
from compliance.errors import RenderError
from compliance.submission.place import Action, Placement
from compliance.submission.render import Target, render
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (50_000, 50_000))
small, large, tree, originals = map(Path, sys.argv[1:5])
try:
    placements = (Placement("a.txt", Action.COPY, small), Placement("b.txt", Action.COPY, large))
    render(placements, Target(tree, originals, "v6.1", replace=sys.argv[5] == "True"))
except RenderError as error:
    sys.exit(str(error))
"""


@pytest.mark.parametrize("older", [False, True], ids=["no tree", "a tree of before"])
def test_full_disk_leaves_the_state_of_before(source: Path, target: Target, *, older: bool) -> None:
    if older:
        render((copy("old.txt", source),), target)
    before = {p.relative_to(target.tree.parent): p.stat().st_size for p in target.tree.parent.rglob("*")}
    large = source.with_name("large.txt")
    large.write_bytes(b"x" * 100_000)
    arguments = [str(p) for p in (source, large, target.tree, target.originals)]
    command = [sys.executable, "-B", "-c", FULL_DISK, *arguments, str(older)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert (done.returncode, "nothing was written" in done.stderr) == (1, True), done.stderr
    assert {p.relative_to(target.tree.parent): p.stat().st_size for p in target.tree.parent.rglob("*")} == before


def test_no_space_is_said_in_words(source: Path, target: Target, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_args: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device", "x")

    monkeypatch.setattr(module.shutil, "copyfile", refuse)
    with pytest.raises(RenderError, match="the disk is full"):
        render((copy("a.txt", source),), target)
    assert list(target.tree.parent.iterdir()) == []


def test_originals_can_be_verified_and_grow(tmp_path: Path, source: Path) -> None:
    folder = tmp_path / "originals"
    keep_originals({"a/log.json": source}, folder)
    source.write_text("second\n")
    keep_originals({"b/log.json": source}, folder)
    sums = read_sums(folder / "SHA256SUMS")
    assert set(sums) == {"a/log.json", "b/log.json"}
    assert all(sha256_file(folder / path) == digest for path, digest in sums.items())
    shutil.rmtree(folder / "a")
    keep_originals({"b/log.json": source}, folder)
    assert set(read_sums(folder / "SHA256SUMS")) == {"b/log.json"}


def test_templates_escape_cells() -> None:
    assert markdown_cell("a|b\nc`d<e>") == "a&#124;b c&#96;d&#60;e&#62;"


PRIVATE = {
    "export X=hf_" + "a" * 34: "a Hugging Face token",
    "sk-" + "b" * 24: "an API key",
    "ghp_" + "c" * 36: "a GitHub token",
    "AKIA" + "D" * 16: "an AWS access key",
    "postgres://me:secret@db/x": "a password in a URL",
    "cd /home/kim/run": "the private path /home/kim",
    "/root/.cache": "the private path /root",
}
PUBLIC = ("--device /dev/kfd", "https://example.org/home/kim", "/opt/rocm", "hf_hub_download", "see docs/root/x", "")


@pytest.mark.parametrize(("text", "what"), PRIVATE.items(), ids=PRIVATE.values())
def test_private_content_is_found_and_not_repeated(text: str, what: str) -> None:
    assert private_content(text) == (what,)


@pytest.mark.parametrize("text", PUBLIC)
def test_public_content_passes(text: str) -> None:
    assert private_content(text) == ()


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("/data/models/llama", "llama"),
        ("CPU", "CPU"),
        ("model at /a/b/c.gguf, int8", "model at c.gguf, int8"),
        ("https://example.org/a/b", "https://example.org/a/b"),
        ("amd/mi300x", "amd/mi300x"),
    ],
)
def test_public_name(text: str, name: str) -> None:
    assert public_name(text) == name


def step(folder: str, *names: str) -> StepFiles:
    return StepFiles(Path(folder), dict.fromkeys(names, "f" * 64))


RESULT = ResultFiles(
    benchmark="gpt-oss-120b",
    scenario=Scenario.OFFLINE,
    performance=step("p", "mlperf_log_accuracy.json", "mlperf_log_trace.json", ".gitkeep"),
    accuracy=step("a", "mlperf_log_accuracy.json"),
    audits={
        AuditId.TEST07: step("t7", "mlperf_log_accuracy.json"),
        AuditId.TEST09: step("t9", "mlperf_log_accuracy.json"),
    },
    measurements={},
    user_conf={},
    readme={},
)
TREE = TreeInput(Division.CLOSED, "X", "S", {}, (RESULT,), {}, {}, {"other": "gpt-oss-120b"})


def test_place_follows_the_layout() -> None:
    placements = {p.target: p for p in place(TREE, LAYOUT, (AuditId.TEST07, AuditId.TEST09))}
    base = "closed/X/results/S/gpt-oss-120b/Offline"
    assert list(placements) == sorted(placements)
    assert placements[f"{base}/TEST07/accuracy/mlperf_log_accuracy.json"].action is Action.TRUNCATE
    assert placements[f"{base}/TEST07/verify_accuracy.txt"].source == Path("t7/verify_accuracy.txt")
    assert placements[f"{base}/TEST09/verify_output_len.txt"].action is Action.COPY
    assert placements[f"{base}/accuracy/accuracy.txt"].log == Path("a/mlperf_log_accuracy.json")
    assert placements[f"{base}/performance/run_1/mlperf_log_accuracy.json"].sha256 == "f" * 64
    assert not any(name in target for target in placements for name in ("trace", ".gitkeep", "model_mapping"))


def test_place_refuses_a_missing_audit_in_closed_only() -> None:
    with pytest.raises(RenderError, match="TEST06 was not run"):
        place(TREE, LAYOUT, (AuditId.TEST06,))
    opened = TreeInput(Division.OPEN, "X", "S", {}, (RESULT,), {}, {}, {"other": "gpt-oss-120b"})
    assert any(p.target == "open/X/model_mapping.json" for p in place(opened, LAYOUT, (AuditId.TEST06,)))


def test_bandwidth_at_the_rules_sizes() -> None:
    found = bandwidth("Offline", 10.0, token_bounds()["llama3.1-8b"])
    assert (found.ingress_bytes_per_s, found.egress_bytes_per_s) == (10 * 2048 * 4, 10 * 128 * 4)
