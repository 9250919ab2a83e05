"""The file system under a submission tree: listed, read and never left. Every refusal becomes an Unreadable."""

import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from compliance.errors import UnreadableFile
from compliance.records import TreeFile, Unreadable

T = TypeVar("T")
_NOT_WALKED = ".git"
_RENAME = "Rename it to a name in UTF-8, best in letters, digits, dots, dashes and underscores."


@dataclass(frozen=True, slots=True)
class Tree:
    """A submission tree. Paths given to it are relative to its root, with slashes."""

    root: Path
    real_root: Path

    @classmethod
    def at(cls, root: Path) -> "Tree":
        """The tree at a folder. Raises UnreadableFile when there is no such folder."""
        if not root.is_dir():
            raise UnreadableFile(root, "no such folder; give the root that holds closed/ or open/")
        return cls(root, root.resolve())

    def kind(self, path: str) -> str | None:
        """`file` or `dir` where a link is followed inside the tree; None for nothing, else or outside."""
        target = self.root / path
        if not self.holds(target):
            return None
        if target.is_dir():
            return "dir"
        return "file" if target.is_file() else None

    def holds(self, target: Path) -> bool:
        """Whether a path, its links followed, lies inside the tree."""
        try:
            return target.resolve().is_relative_to(self.real_root)
        except (OSError, RuntimeError, ValueError):
            return False

    def names(self, path: str, kind: str) -> tuple[str, ...]:
        """The names of a folder's `file` or `dir` entries, sorted; empty for no folder and for one that is refused."""
        try:
            names = sorted(os.listdir(self.root / path)) if self.kind(path) == "dir" else []  # noqa: PTH208  # names alone
        except OSError:
            return ()
        return tuple(name for name in names if _printable(name) and self.kind(f"{path}/{name}") == kind)

    def dirs(self, path: str) -> tuple[str, ...]:
        """The folders in a folder."""
        return self.names(path, "dir")

    def files(self, path: str) -> tuple[str, ...]:
        """The files in a folder."""
        return self.names(path, "file")

    def size(self, path: str) -> int | None:
        """Bytes of a file, None when there is none."""
        try:
            return (self.root / path).stat().st_size if self.kind(path) == "file" else None
        except OSError:
            return None


class Reading:
    """Reads the files of one part of a tree and keeps what could not be read."""

    def __init__(self, tree: Tree) -> None:
        self.tree = tree
        self._unreadable: list[Unreadable] = []

    @property
    def unreadable(self) -> tuple[Unreadable, ...]:
        """What could not be read so far, in order."""
        return tuple(self._unreadable)

    def note(self, path: str, reason: str) -> None:
        """Keeps that something is not as it should be."""
        self._unreadable.append(Unreadable(path, None, reason))

    def take(self, path: str, reader: Callable[[Path], T], *, required: bool = True) -> T | None:
        """What a reader makes of a file, or None: noted when the file is there, or is required and is not."""
        target = self.tree.root / path
        if not os.path.lexists(target) and not required:
            return None
        if not self.tree.holds(target):
            self.note(path, "a link that leads out of the tree is not followed; put the file itself there")
            return None
        if target.exists() and not target.is_file() and not target.is_dir():
            self.note(path, "this is no regular file; put the file itself there")
            return None
        try:
            return reader(target)
        except UnreadableFile as error:
            self._unreadable.append(Unreadable(path, error.line, error.reason, error.parsed))
            return None


def walk(tree: Tree) -> tuple[tuple[TreeFile, ...], tuple[Unreadable, ...]]:
    """Every file, folder and link of a tree in order of path; links are listed and not followed, .git not entered."""
    files: list[TreeFile] = []
    refused: list[Unreadable] = []
    waiting = [""]
    while waiting:
        folder = waiting.pop()
        try:
            entries = list(os.scandir(tree.root / folder))
        except OSError as error:
            reason = f"the folder cannot be read ({error.strerror or error}); check its permissions"
            refused.append(Unreadable(shown(folder) or ".", None, reason))
            continue
        for entry in entries:
            path = f"{folder}/{entry.name}" if folder else entry.name
            item = _tree_file(entry, path)
            files.append(item)
            if not _printable(entry.name):
                refused.append(Unreadable(item.path, None, "the name is not UTF-8", fix=_RENAME))
            if item.kind == "dir" and path != _NOT_WALKED:
                waiting.append(path)
    return tuple(sorted(files, key=lambda file: file.path)), tuple(refused)


def _tree_file(entry: "os.DirEntry[str]", path: str) -> TreeFile:
    try:
        if entry.is_symlink():
            return TreeFile(shown(path), "link" if Path(entry.path).exists() else "broken_link", 0)
        if entry.is_dir(follow_symlinks=False):
            return TreeFile(shown(path), "dir", 0)
        return TreeFile(shown(path), "file", entry.stat(follow_symlinks=False).st_size)
    except OSError:
        return TreeFile(shown(path), "broken_link", 0)


def shown(path: str) -> str:
    """A path that can be printed: bytes of a name that are not UTF-8 become backslash escapes."""
    return path.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")


def _printable(name: str) -> bool:
    return shown(name) == name


def fill(template: str, names: Mapping[str, str]) -> str:
    """A layout's path template with its placeholders filled in; one that is not named stays as it is."""
    for name, value in names.items():
        template = template.replace(f"{{{name}}}", value)
    return template


def folder_of(template: str, placeholder: str) -> str:
    """The template of the folder whose entries a placeholder names."""
    return template.partition(f"/{{{placeholder}}}")[0]


def matching(template: str, placeholder: str, names: tuple[str, ...]) -> Iterator[tuple[str, str]]:
    """Of the file names in a placeholder's folder those that fit the template: (name, value of the placeholder)."""
    prefix, _, suffix = template.rpartition("/")[2].partition(f"{{{placeholder}}}")
    for name in names:
        if name.startswith(prefix) and name.endswith(suffix) and len(name) > len(prefix) + len(suffix):
            yield name, name[len(prefix) : len(name) - len(suffix)]
