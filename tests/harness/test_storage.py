"""Files that are whole or absent."""

import hashlib
import resource

import pytest

from harness.core.spec import WorkerEndpoint
from harness.errors import StorageError
from harness.storage import decode_record, encode_record, manifest, read_record, sha256_file, write_atomic, write_record


@pytest.mark.parametrize("data", ["text é\n", b"\x00\xff", "", b"x" * 3_000_000])
def test_a_file_is_written_whole(tmp_path, data):
    path = tmp_path / "file"
    path.write_text("older")
    write_atomic(path, data)
    content = data.encode() if isinstance(data, str) else data
    assert path.read_bytes() == content
    assert sha256_file(path) == hashlib.sha256(content).hexdigest()
    assert [found.name for found in tmp_path.iterdir()] == ["file"]


def test_a_file_that_cannot_be_written_leaves_the_old_one(tmp_path):
    path = tmp_path / "file"
    path.write_text("older")
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, hard))
    try:
        with pytest.raises(StorageError, match="free space"):
            write_atomic(path, b"x" * 2000)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert path.read_text() == "older"
    assert [found.name for found in tmp_path.iterdir()] == ["file"]


def test_folders_that_are_missing(tmp_path):
    with pytest.raises(StorageError, match="cannot be written"):
        write_atomic(tmp_path / "none" / "file", "x")
    with pytest.raises(StorageError, match="cannot be read"):
        sha256_file(tmp_path / "none")


def test_a_manifest_names_files_by_path_and_leaves_links_out(tmp_path):
    (tmp_path / "b").mkdir()
    (tmp_path / "b" / "c").write_text("1")
    (tmp_path / "a").write_text("2")
    (tmp_path / "skip").write_text("3")
    (tmp_path / "link").symlink_to(tmp_path / "a")
    found = manifest(tmp_path, exclude=frozenset({"skip"}))
    assert found == {"a": hashlib.sha256(b"2").hexdigest(), "b/c": hashlib.sha256(b"1").hexdigest()}


def test_records_come_back_as_they_were(tmp_path):
    record = WorkerEndpoint(2**16, "ipc://x", 8)
    write_record(tmp_path / "record.json", record)
    assert read_record(tmp_path / "record.json", WorkerEndpoint) == record
    assert encode_record(record).endswith(b"}\n")


@pytest.mark.parametrize(
    "data", [b"", b"{", b"[]", b'{"index": "one", "tasks": "", "window": 1}', b"\xff", b'{"index": 1}']
)
def test_records_of_another_form_are_refused(tmp_path, data):
    with pytest.raises(StorageError, match="not a WorkerEndpoint"):
        decode_record(data, WorkerEndpoint)
    (tmp_path / "record.json").write_bytes(data)
    with pytest.raises(StorageError, match=r"record\.json"):
        read_record(tmp_path / "record.json", WorkerEndpoint)


def test_a_record_that_is_missing(tmp_path):
    with pytest.raises(StorageError, match="make the run again"):
        read_record(tmp_path / "none.json", WorkerEndpoint)
