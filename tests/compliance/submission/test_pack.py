import hashlib
import io
import json
import os
import tarfile

import pytest

from compliance.errors import RenderError, TargetError
from compliance.submission import pack as module
from compliance.submission.draft import Draft, DraftFile, read_draft
from compliance.submission.pack import Verdict, beside, pack, write_archive
from tests.support.snapshots import snapshot
from tests.support.trees import clean_tree

VERDICT = Verdict("v6.1", "strict", "pass", "all is well", '{"verdict": "pass"}\n')


@pytest.fixture
def tree(tmp_path):
    root = clean_tree().write(tmp_path / "tree")
    (root / "closed/Acme/empty").mkdir()
    (root / "closed/Acme/src/run.sh").write_text("x")
    (root / "closed/Acme/src/run.sh").chmod(0o750)
    return root


def test_an_archive_holds_the_tree(tree, tmp_path):
    archive = tmp_path / "acme.tar.gz"
    packed = pack(read_draft(tree), VERDICT, archive)
    with tarfile.open(archive) as tar:
        members = tar.getmembers()
        tar.extractall(tmp_path / "out", filter="data")
    assert snapshot(tmp_path / "out") == snapshot(tree)
    assert all(not member.name.startswith("/") and (member.isreg() or member.isdir()) for member in members)
    assert {(m.uid, m.gid, m.uname, m.gname, m.mtime) for m in members} == {(0, 0, "", "", 0)}
    assert {m.mode for m in members} == {0o644, 0o755}
    assert packed.sha256 == hashlib.sha256(archive.read_bytes()).hexdigest()


def test_the_manifest_and_the_log_lie_beside_it(tree, tmp_path):
    archive = tmp_path / "acme.tar.gz"
    pack(read_draft(tree), VERDICT, archive)
    manifest, text, json_ = beside(archive)
    document = json.loads(manifest.read_text())
    files = {name: data for name, data in snapshot(tree).items() if data is not None}
    assert document["files"] == {
        name: {"sha256": hashlib.sha256(data).hexdigest(), "bytes": len(data)} for name, data in files.items()
    }
    data = archive.read_bytes()
    assert document["archive"] == {
        "name": "acme.tar.gz",
        "bytes": len(data),
        "encrypted": False,
        "sha256": hashlib.sha256(data).hexdigest(),
        "sha1": hashlib.sha1(data, usedforsecurity=False).hexdigest(),
    }
    assert (document["round"], document["profile"], document["verdict"]) == ("v6.1", "strict", "pass")
    assert text.read_text() == "all is well\n"
    assert json_.read_text() == VERDICT.json


def test_the_same_tree_makes_the_same_bytes(tree, tmp_path):
    pack(read_draft(tree), VERDICT, tmp_path / "one.tar.gz")
    for path in tree.rglob("*"):
        os.utime(path, (1, 1))
    (tree / "closed/Acme/src/run.sh").chmod(0o700)
    pack(read_draft(tree), VERDICT, tmp_path / "two.tar.gz")
    assert (tmp_path / "one.tar.gz").read_bytes() == (tmp_path / "two.tar.gz").read_bytes()


@pytest.mark.parametrize("taken", ["x.tar.gz", "x.tar.gz.manifest.json", "x.tar.gz.check.txt", "x.tar.gz.check.json"])
def test_a_place_that_is_taken(tree, tmp_path, taken):
    (tmp_path / taken).write_text("mine")
    before = snapshot(tmp_path)
    with pytest.raises(TargetError, match="exists already"):
        pack(read_draft(tree), VERDICT, tmp_path / "x.tar.gz")
    assert snapshot(tmp_path) == before


@pytest.mark.parametrize(("name", "words"), [("tree/x.tar.gz", "lies in the tree"), ("no/x.tar.gz", "no such folder")])
def test_no_place_for_an_archive(tree, tmp_path, name, words):
    with pytest.raises(TargetError, match=words):
        pack(read_draft(tree), VERDICT, tmp_path / name)


def test_a_failure_on_the_way_leaves_nothing(tree, tmp_path, monkeypatch):
    draft = read_draft(tree)
    (tree / "closed/Acme/src/run.sh").unlink()
    before = snapshot(tmp_path)
    with pytest.raises(RenderError, match="nothing was written"):
        pack(draft, VERDICT, tmp_path / "x.tar.gz")
    assert snapshot(tmp_path) == before
    (tree / "closed/Acme/src/run.sh").write_text("x")
    before = snapshot(tmp_path)

    def refuse(moves):
        raise OSError("no rename today")

    monkeypatch.setattr(module, "take_names", refuse)
    with pytest.raises(RenderError, match="no rename today"):
        pack(draft, VERDICT, tmp_path / "x.tar.gz")
    assert snapshot(tmp_path) == before


class Growing(os.PathLike):
    """A file that is longer when it is read than when it was looked at."""

    def __init__(self, path):
        self.path = path

    def __fspath__(self):
        return str(self.path)

    def open(self, mode):
        return io.BytesIO(b"longer")

    def stat(self):
        return self.path.stat()


def test_a_file_that_grows_meanwhile(tmp_path):
    (tmp_path / "x").write_text("x")
    with pytest.raises(OSError, match="grew while it was packed"):
        write_archive(Draft({"x": DraftFile(Growing(tmp_path / "x"))}), io.BytesIO())
