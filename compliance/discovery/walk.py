"""What lies in a tree: listed folder by folder, so that a large tree need not be held at once."""

import os
from collections.abc import Container, Iterable
from dataclasses import dataclass
from operator import attrgetter
from pathlib import Path

from compliance.discovery.files import Tree, is_printable, shown
from compliance.records import TreeFile, Unreadable

_NOT_WALKED = ".git"
_RENAME = "Rename it to a name in UTF-8, best in letters, digits, dots, dashes and underscores."
PATH = attrgetter("path")
"""What records of a tree are in order of."""


@dataclass(frozen=True, slots=True)
class Walked:
    """What lies beneath some folders, in order of path: files, folders and links; `empty` are folders with nothing.

    `bytes` adds up the files; `folders` are those that were listed.
    """

    files: tuple[TreeFile, ...]
    empty: tuple[str, ...]
    refused: tuple[Unreadable, ...]
    folders: tuple[str, ...]

    @property
    def bytes(self) -> int:
        """The size of all files together."""
        return sum([file.bytes for file in self.files])


def walk(tree: Tree, folders: Iterable[str] = ("",), beyond: Container[str] = ()) -> Walked:
    """Every file, folder and link beneath some folders; links are listed and not followed, .git not entered.

    What is named in `beyond` is left out with all that it holds. The tree keeps what was seen, until it is told
    to forget it.
    """
    files: list[TreeFile] = []
    refused: list[Unreadable] = []
    listed: list[str] = []
    waiting = list(folders)
    empty: list[str] = []
    root = str(tree.root)
    while waiting:
        folder = waiting.pop()
        try:
            with os.scandir(f"{root}/{folder}") as stream:
                entries = list(stream)
        except OSError as error:
            reason = f"the folder cannot be read ({error.strerror or error}); check its permissions"
            refused.append(Unreadable(shown(folder) or ".", None, reason))
            continue
        if not entries and folder:
            empty.append(shown(folder))
        before = f"{folder}/" if folder else ""
        listing = tree.listings.setdefault(folder, {})
        listed.append(folder)
        for entry in entries:
            name = entry.name
            path = before + name
            item = _tree_file(entry, path)
            listing[name] = item if item.kind != "file" or entry.is_file(follow_symlinks=False) else None
            if path in beyond:
                continue
            files.append(item)
            if item.kind == "dir" and path != _NOT_WALKED:
                waiting.append(path)
            if not is_printable(name):
                refused.append(Unreadable(item.path, None, "the name is not UTF-8", fix=_RENAME))
    return Walked(tuple(sorted(files, key=PATH)), tuple(sorted(empty)), tuple(sorted(refused, key=PATH)), tuple(listed))


def _tree_file(entry: "os.DirEntry[str]", path: str) -> TreeFile:
    try:
        if entry.is_dir(follow_symlinks=False):
            return TreeFile(shown(path), "dir", 0)
        if entry.is_symlink():
            return TreeFile(shown(path), "link" if Path(entry.path).exists() else "broken_link", 0)
        return TreeFile(shown(path), "file", entry.stat(follow_symlinks=False).st_size)
    except OSError:
        return TreeFile(shown(path), "broken_link", 0)
