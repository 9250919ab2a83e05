"""The tarball for upload: the same bytes for the same tree, with its manifest and the checker's log beside it."""

import gzip
import hashlib
import json
import shutil
import tarfile
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from compliance.errors import RenderError, TargetError
from compliance.submission.draft import Draft
from compliance.submission.encrypt import encrypt, how_to_decrypt
from compliance.submission.manifest import FileEntry
from compliance.submission.storage import sync_file, write_atomic
from compliance.submission.write_draft import take_names

SCHEMA_VERSION = 1
_READ_BYTES = 1 << 20
_EXECUTABLE, _PLAIN, _FOLDER = 0o755, 0o644, 0o755
_ANY_EXECUTE = 0o111


@dataclass(frozen=True, slots=True)
class Verdict:
    """What the checker said of the tree, and its log in both forms."""

    round_name: str
    profile: str
    verdict: str
    text: str
    json: str


@dataclass(frozen=True, slots=True)
class Packed:
    """What was written: the archive, its hashes, and the files by path as they lie in it."""

    archive: Path
    sha256: str
    files: Mapping[str, FileEntry]


def beside(archive: Path) -> tuple[Path, Path, Path]:
    """Where the manifest, the checker's text log and its JSON log stand: beside the archive, under its name."""
    endings = (".manifest.json", ".check.txt", ".check.json")
    manifest, text, json_ = (archive.parent / f"{archive.name}{ending}" for ending in endings)
    return manifest, text, json_


def pack(draft: Draft, verdict: Verdict, archive: Path, secret: bytes | None = None) -> Packed:
    """Write the archive of a tree (encrypted when there is a passphrase), its manifest and the checker's log.

    Raises TargetError when a place is taken or lies in the tree, RenderError when it cannot be written, CannotEncrypt
    without the library; then nothing has been written.
    """
    if problems := tuple(_target_problems(draft, archive)):
        raise TargetError(problems)
    try:
        staging = Path(tempfile.mkdtemp(dir=archive.parent, prefix=f".{archive.name}.", suffix=".partial"))
    except OSError as error:
        reason = f"{archive.parent}: {error.strerror}; nothing was written; give another --out"
        raise RenderError((reason,)) from error
    try:
        return _pack(draft, verdict, archive, secret, staging)
    except (OSError, tarfile.TarError) as error:
        raise RenderError((f"{archive}: {error}; nothing was written; mend that or give another --out",)) from error
    finally:
        shutil.rmtree(staging, ignore_errors=True)


def _target_problems(draft: Draft, archive: Path) -> Iterator[str]:
    if not archive.parent.is_dir():
        yield f"{archive.parent}: no such folder; create it or give another --out"
    for root in draft.roots:
        if archive.resolve().is_relative_to(root.resolve()):
            yield f"{archive}: lies in the tree {root}; give another --out"
    for path in (archive, *beside(archive)):
        if path.exists() or path.is_symlink():
            yield f"{path}: exists already; remove it or give another --out"


def _pack(draft: Draft, verdict: Verdict, archive: Path, secret: bytes | None, staging: Path) -> Packed:
    plain, final = staging / "plain", staging / "final"
    with plain.open("wb") as stream:
        files = write_archive(draft, stream)
    if secret is None:
        plain.replace(final)
    else:
        encrypt(plain, final, secret)
        plain.unlink()
    final.chmod(_PLAIN)
    sync_file(final)
    document = _document(archive.name, final, verdict, files, encrypted=secret is not None)
    texts = (json.dumps(document, indent=2, sort_keys=True) + "\n", f"{verdict.text.rstrip()}\n", verdict.json)
    moves = [(final, archive)]
    for number, (path, text) in enumerate(zip(beside(archive), texts, strict=True)):
        write_atomic(staging / str(number), text)
        moves.append((staging / str(number), path))
    take_names(moves)
    sha256 = document["archive"]
    return Packed(archive, str(sha256["sha256"]) if isinstance(sha256, dict) else "", files)


def _document(
    name: str, written: Path, verdict: Verdict, files: Mapping[str, FileEntry], *, encrypted: bool
) -> dict[str, object]:
    # MLCommons asks for the SHA-1 of an upload (pack_submission.sh); it vouches for nothing.
    sha256, sha1 = hashlib.sha256(), hashlib.sha1(usedforsecurity=False)
    with written.open("rb") as stream:
        while block := stream.read(_READ_BYTES):
            sha256.update(block)
            sha1.update(block)
    archive: dict[str, object] = {"name": name, "bytes": written.stat().st_size, "encrypted": encrypted}
    archive |= {"sha256": sha256.hexdigest(), "sha1": sha1.hexdigest()}
    if encrypted:
        archive["decrypt"] = how_to_decrypt(name)
    return {
        "schema_version": SCHEMA_VERSION,
        "archive": archive,
        "round": verdict.round_name,
        "profile": verdict.profile,
        "verdict": verdict.verdict,
        "files": {path: {"sha256": entry.sha256, "bytes": entry.bytes} for path, entry in files.items()},
    }


class _Hashed:
    """A stream that keeps the hash of what was read from it: the manifest tells what went in, not what lies there."""

    def __init__(self, stream: IO[bytes]) -> None:
        self.stream, self.digest = stream, hashlib.sha256()

    def read(self, size: int = -1) -> bytes:
        block = self.stream.read(size)
        self.digest.update(block)
        return block


def write_archive(draft: Draft, stream: IO[bytes]) -> dict[str, FileEntry]:
    """A tar.gz of a draft's files and empty folders: sorted, relative paths, no owner and no time, so always the same.

    Returns the files as they went in. Raises OSError when one cannot be read or is shorter than it was.
    """
    entries: dict[str, FileEntry] = {}
    with (
        gzip.GzipFile(filename="", mode="wb", compresslevel=6, fileobj=stream, mtime=0) as packed,
        tarfile.open(fileobj=packed, mode="w", format=tarfile.PAX_FORMAT) as tar,
    ):
        for path in sorted((*draft.files, *draft.folders)):
            if path in draft.files:
                entries[path] = _add(tar, path, draft.files[path].source)
            else:
                info = tarfile.TarInfo(path)
                info.type, info.mode = tarfile.DIRTYPE, _FOLDER
                tar.addfile(info)
    return entries


def _add(tar: tarfile.TarFile, path: str, source: Path) -> FileEntry:
    info = tarfile.TarInfo(path)
    with source.open("rb") as stream:
        status = source.stat()
        info.size = status.st_size
        info.mode = _EXECUTABLE if status.st_mode & _ANY_EXECUTE else _PLAIN
        hashed = _Hashed(stream)
        tar.addfile(info, hashed)
        if stream.read(1):
            raise OSError(f"{source} grew while it was packed")
    return FileEntry(hashed.digest.hexdigest(), info.size)
