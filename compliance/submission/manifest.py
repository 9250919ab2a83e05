"""The manifest beside a rendered tree: every file with its SHA-256, so that a changed tree shows."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from compliance.errors import UnreadableFile
from compliance.submission.storage import sha256_file

SCHEMA_VERSION = 1


@dataclass(frozen=True, slots=True)
class FileEntry:
    """One file of a tree."""

    sha256: str
    bytes: int


@dataclass(frozen=True, slots=True)
class Difference:
    """One file that a tree and its manifest disagree on, by its path in the tree, and how."""

    path: str
    what: str


@dataclass(frozen=True, slots=True)
class Manifest:
    """A rendered tree: the round it is for, its files by path, and the whole logs its truncated ones come from.

    `originals` maps the path in the tree to the SHA-256 of the untruncated file, as the tree's accuracy.txt states it.
    """

    round_name: str
    tree: Path
    files: Mapping[str, FileEntry]
    originals: Mapping[str, str]

    @property
    def path(self) -> Path:
        """Where the manifest stands: beside the tree, since checkers complain of unknown files inside it."""
        return manifest_path(self.tree)


def manifest_path(tree: Path) -> Path:
    """The manifest's place for a tree."""
    # A tree given as "." or ".." has its name only in the full path.
    named = tree if tree.name not in {"", ".."} else tree.resolve()
    return named.parent / f"{named.name}.manifest.json"


def list_files(tree: Path) -> dict[str, FileEntry]:
    """Every file below a folder with its hash and size, by relative path. Raises OSError when one cannot be read."""
    paths = sorted(path for path in tree.rglob("*") if path.is_file() and not path.is_symlink())
    return {p.relative_to(tree).as_posix(): FileEntry(sha256_file(p), p.stat().st_size) for p in paths}


def manifest_text(manifest: Manifest) -> str:
    """The manifest as JSON. It names no path but those inside the tree."""
    files = {path: {"sha256": entry.sha256, "bytes": entry.bytes} for path, entry in manifest.files.items()}
    document = {
        "schema_version": SCHEMA_VERSION,
        "round": manifest.round_name,
        "files": files,
        "originals": dict(manifest.originals),
    }
    return json.dumps(document, indent=2, sort_keys=True) + "\n"


def read_manifest(tree: Path) -> Manifest:
    """The manifest that stands beside a tree. Raises UnreadableFile when there is none or it is of another form."""
    path = manifest_path(tree)
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
        files = {name: FileEntry(str(e["sha256"]), int(e["bytes"])) for name, e in document["files"].items()}
        originals = {str(name): str(digest) for name, digest in document["originals"].items()}
        return Manifest(str(document["round"]), tree, files, originals)
    except OSError as error:
        raise UnreadableFile(path, f"{error.strerror}; render the tree with `weighbridge package`") from error
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise UnreadableFile(path, "not a manifest; render the tree anew with `weighbridge package`") from error


def verify_manifest(tree: Path) -> tuple[str, ...]:
    """What differs between a tree and the manifest beside it, one sentence per file. Empty when nothing does.

    Raises UnreadableFile when there is no manifest to compare with, OSError when a file of the tree cannot be read.
    """
    return tuple(f"{difference.path}: {difference.what}" for difference in differences(tree))


def differences(tree: Path) -> tuple[Difference, ...]:
    """What differs between a tree and the manifest beside it, by path; raises as `verify_manifest` does."""
    recorded = read_manifest(tree).files
    present = list_files(tree)
    found = [Difference(path, "missing, it was rendered") for path in recorded if path not in present]
    found += [Difference(path, "not rendered, it was added since") for path in present if path not in recorded]
    found += [
        Difference(path, "changed since it was rendered")
        for path in recorded
        if path in present and recorded[path] != present[path]
    ]
    return tuple(sorted(found, key=lambda difference: difference.path))
