import importlib.util
import os
import shlex
import shutil
import subprocess
import sys
import tarfile

import pytest

from compliance.submission.draft import read_draft
from compliance.submission.encrypt import (
    ITERATIONS,
    CannotEncrypt,
    encrypt,
    how_to_decrypt,
    passphrase,
    require_library,
)
from compliance.submission.pack import Verdict, beside, pack
from tests.support.snapshots import snapshot

PHRASE = "correct horse battery"
HAS_LIBRARY = importlib.util.find_spec("cryptography") is not None
needs_library = pytest.mark.skipif(not HAS_LIBRARY, reason="the extra `pack` (cryptography) is not installed")


@pytest.fixture
def no_library(monkeypatch):
    for name in [name for name in sys.modules if name.partition(".")[0] == "cryptography"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "cryptography", None)


def test_without_the_library_the_extra_is_named(no_library, tmp_path):
    with pytest.raises(CannotEncrypt, match=r"weighbridge\[pack\]"):
        require_library()
    (tmp_path / "x").write_text("x")
    with pytest.raises(CannotEncrypt, match="cryptography"):
        encrypt(tmp_path / "x", tmp_path / "y", b"s")
    assert not (tmp_path / "y").exists()


def test_nothing_is_packed_without_the_library(no_library, tmp_path):
    (tmp_path / "tree").mkdir()
    (tmp_path / "tree/x").write_text("x")
    before = snapshot(tmp_path)
    with pytest.raises(CannotEncrypt):
        pack(read_draft(tmp_path / "tree"), Verdict("v6.1", "strict", "pass", "", "{}"), tmp_path / "x.enc", b"secret")
    assert snapshot(tmp_path) == before


def test_where_a_passphrase_comes_from(tmp_path, monkeypatch):
    monkeypatch.setenv("WB_SECRET", PHRASE)
    (tmp_path / "secret").write_text(f"{PHRASE}\r\nmore\n")
    assert passphrase("WB_SECRET", None) == passphrase(None, tmp_path / "secret") == PHRASE.encode()


@pytest.mark.parametrize(
    ("variable", "name", "words"),
    [
        (None, None, "give the passphrase by"),
        ("WB_SECRET", "short", "give the passphrase by"),
        ("WB_UNSET", None, "environment variable WB_UNSET holds no passphrase"),
        (None, "short", "no passphrase of at least 12"),
        (None, "absent", "cannot be read"),
        (None, "binary", "cannot be read"),
    ],
)
def test_no_passphrase(tmp_path, monkeypatch, variable, name, words):
    monkeypatch.delenv("WB_UNSET", raising=False)
    (tmp_path / "short").write_text("elevenchars\n")
    (tmp_path / "binary").write_bytes(b"\xff\xfe" * 20)
    with pytest.raises(CannotEncrypt, match=words):
        passphrase(variable, tmp_path / name if name else None)


@needs_library
@pytest.mark.skipif(shutil.which("openssl") is None, reason="openssl is not installed")
@pytest.mark.parametrize("size", [0, 16, (1 << 20) + 5])
def test_openssl_decrypts_it(tmp_path, monkeypatch, size):
    plain = os.urandom(size)
    (tmp_path / "x").write_bytes(plain)
    encrypt(tmp_path / "x", tmp_path / "y.enc", PHRASE.encode())
    monkeypatch.setenv("WB_SECRET", PHRASE)
    command = [*how_to_decrypt("y.enc").split(), "-pass", "env:WB_SECRET"]
    subprocess.run(command, cwd=tmp_path, check=True, capture_output=True)
    assert (tmp_path / "y").read_bytes() == plain
    assert (tmp_path / "y.enc").read_bytes().startswith(b"Salted__")


@needs_library
def test_an_encrypted_archive_and_what_stands_beside_it(tmp_path):
    (tmp_path / "tree").mkdir()
    (tmp_path / "tree/x").write_text("x")
    archive = tmp_path / "x.tar.gz.enc"
    verdict = Verdict("v6.1", "strict", "pass", "log", "{}")
    packed = pack(read_draft(tmp_path / "tree"), verdict, archive, PHRASE.encode())
    assert list(packed.files) == ["x"]
    text = beside(archive)[0].read_text()
    assert f"-iter {ITERATIONS}" in text
    assert PHRASE not in text
    assert not tarfile.is_tarfile(archive)
    again = tmp_path / "again.enc"
    pack(read_draft(tmp_path / "tree"), verdict, again, PHRASE.encode())
    assert again.read_bytes() != archive.read_bytes()


@pytest.mark.parametrize("name", ["t.tar.gz.enc", "t.tar.gz", "with blank.tar.gz"])
def test_the_archive_is_never_decrypted_into_itself(name):
    words = shlex.split(how_to_decrypt(name))
    given, written = words[words.index("-in") + 1], words[words.index("-out") + 1]
    assert given == name
    assert written != name
