"""The file system under a submission tree: listed, read and never left. Every refusal becomes an Unreadable."""

import os
import stat
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

from compliance.errors import UnreadableFile
from compliance.records import TreeFile, Unreadable

T = TypeVar("T")

# So many folders are remembered as no links: enough for a system, little to hold.
_REMEMBERED_FOLDERS = 4096
_NOT_A_NAME = frozenset({"", ".", ".."})
Listing = dict[str, TreeFile | None]
"""The entries of one folder by name; None for what is neither file, folder nor link."""


@dataclass(frozen=True, slots=True)
class Tree:
    """A submission tree. Paths given to it are relative to its root, with slashes.

    Once it is walked it answers from what the walk saw; links and what lies behind them are always looked up.
    """

    root: Path
    real_root: Path
    listings: dict[str, Listing] = field(default_factory=dict, compare=False, repr=False)
    _own: dict[str, bool] = field(default_factory=dict, compare=False, repr=False)

    @classmethod
    def at(cls, root: Path) -> "Tree":
        """The tree at a folder. Raises UnreadableFile when there is no such folder."""
        if not root.is_dir():
            raise UnreadableFile(root, "no such folder; give the root that holds closed/ or open/")
        return cls(root, root.resolve())

    def forget(self, folders: Iterable[str]) -> None:
        """Lets go of what was seen in some folders; they are looked up again when they are asked for."""
        for folder in folders:
            self.listings.pop(folder, None)

    def kind(self, path: str) -> str | None:
        """`file` or `dir` where a link is followed inside the tree; None for nothing, else or outside."""
        folder, _, name = path.rpartition("/")
        listing = self.listings.get(folder)
        if listing is not None and name not in _NOT_A_NAME:
            seen = listing.get(name)
            if seen is None or seen.kind in {"file", "dir"}:
                return None if seen is None else seen.kind
        mode = self._mode(path)
        if mode is not None and not stat.S_ISLNK(mode) and self.is_own(folder):
            return "dir" if stat.S_ISDIR(mode) else "file" if stat.S_ISREG(mode) else None
        return None if mode is None else self._kind_of_target(path)

    def lacks(self, path: str) -> bool:
        """Whether there is nothing at a path, not even a link that leads nowhere."""
        folder, _, name = path.rpartition("/")
        listing = self.listings.get(folder)
        if listing is not None and name not in _NOT_A_NAME:
            return name not in listing
        return not os.path.lexists(f"{self.root}/{path}")

    def _kind_of_target(self, path: str) -> str | None:
        target = self.root / path
        if not self.holds(target):
            return None
        if target.is_dir():
            return "dir"
        return "file" if target.is_file() else None

    def _mode(self, path: str) -> int | None:
        try:
            return os.lstat(f"{self.root}/{path}").st_mode
        except (OSError, ValueError):
            return None

    def is_own(self, folder: str) -> bool:
        """Whether no part of a folder's path is a link or leads upwards, so that the folder lies where it seems to."""
        if not folder:
            return True
        known = self._own.get(folder)
        if known is None:
            parent, _, name = folder.rpartition("/")
            mode = self._mode(folder)
            known = name != ".." and mode is not None and stat.S_ISDIR(mode) and self.is_own(parent)
            if len(self._own) >= _REMEMBERED_FOLDERS:
                self._own.clear()
            self._own[folder] = known
        return known

    def lies_within(self, path: str) -> bool:
        """Whether a path, its links followed, lies inside the tree; one that does not exist lies where it would be."""
        parent, _, name = path.rpartition("/")
        if name != ".." and self.is_own(parent):
            mode = self._mode(path)
            if mode is not None and not stat.S_ISLNK(mode):
                return True
        return self.holds(self.root / path)

    def holds(self, target: Path) -> bool:
        """Whether a path, its links followed, lies inside the tree."""
        try:
            return target.resolve().is_relative_to(self.real_root)
        except (OSError, RuntimeError, ValueError):
            return False

    def names(self, path: str, kind: str) -> tuple[str, ...]:
        """The names of a folder's `file` or `dir` entries, sorted; empty for no folder and for one that is refused."""
        listing = self.listings.get(path)
        if listing is not None:
            return tuple(sorted(name for name in listing if self.kind(f"{path}/{name}") == kind and is_printable(name)))
        if self.kind(path) != "dir":
            return ()
        own = self.is_own(path)
        try:
            with os.scandir(f"{self.root}/{path}") as entries:
                found = [(entry.name, self._kind_of(entry, path, own=own)) for entry in entries]
        except OSError:
            return ()
        return tuple(sorted(name for name, is_a in found if is_a == kind and is_printable(name)))

    def _kind_of(self, entry: "os.DirEntry[str]", folder: str, *, own: bool) -> str | None:
        if not own or entry.is_symlink():
            return self._kind_of_target(f"{folder}/{entry.name}")
        if entry.is_dir(follow_symlinks=False):
            return "dir"
        return "file" if entry.is_file(follow_symlinks=False) else None

    def dirs(self, path: str) -> tuple[str, ...]:
        """The folders in a folder."""
        return self.names(path, "dir")

    def files(self, path: str) -> tuple[str, ...]:
        """The files in a folder."""
        return self.names(path, "file")

    def size(self, path: str) -> int | None:
        """Bytes of a file, None when there is none."""
        folder, _, name = path.rpartition("/")
        seen = self.listings.get(folder, {}).get(name)
        if seen is not None and seen.kind == "file":
            return seen.bytes
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
        kind = self.tree.kind(path)
        if kind is None and not required and self.tree.lacks(path):
            return None
        target = self.tree.root / path
        if kind is None and not self.tree.lies_within(path):
            self.note(path, "a link that leads out of the tree is not followed; put the file itself there")
            return None
        if kind is None and target.exists():
            self.note(path, "this is no regular file; put the file itself there")
            return None
        try:
            return reader(target)
        except UnreadableFile as error:
            self._unreadable.append(Unreadable(path, error.line, error.reason, error.parsed))
            return None
        except Exception as error:  # noqa: BLE001 - a fault in a reader must cost that file, never the run
            self.note(path, f"its reader broke off ({type(error).__name__}: {error}); report this fault of weighbridge")
            return None


def shown(path: str) -> str:
    """A path that can be printed: bytes of a name that are not UTF-8 become backslash escapes."""
    if path.isascii():
        return path
    return path.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")


def is_printable(name: str) -> bool:
    """Whether a name is UTF-8, so that it is shown as it is."""
    return name.isascii() or shown(name) == name


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
