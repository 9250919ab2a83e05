"""A tree to be: each file by its path and what its bytes come from. Plans turn one draft into another.

`read_draft` is the only function here that looks at the disk, and it reads names alone.
"""

import os
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from compliance.errors import RenderError, UnreadableFile
from compliance.submission.manifest import manifest_path, read_manifest

_NOT_CARRIED = ".git"


@dataclass(frozen=True, slots=True)
class DraftFile:
    """What one file of a tree is made from: `source`, byte for byte, unless `text` stands in its place.

    `cut` makes it the truncated form of an accuracy log; `original_sha256` is the hash of the whole log where the file
    is a truncated one (a manifest beside the source tree says so), or of what the source must still be when it is cut.
    """

    source: Path
    text: bytes | None = None
    cut: bool = False
    original_sha256: str | None = None


@dataclass(frozen=True, slots=True)
class Draft:
    """A tree to be: `files` by path relative to its root, `folders` that hold nothing, `roots` that it is made from."""

    files: Mapping[str, DraftFile]
    folders: frozenset[str] = frozenset()
    roots: tuple[Path, ...] = ()

    def under(self, folder: str) -> Iterator[str]:
        """The paths of the files beneath a folder, in the draft's order."""
        beginning = f"{folder}/"
        return (path for path in self.files if path.startswith(beginning))

    def holds(self, folder: str) -> bool:
        """Whether a file lies beneath a folder."""
        return next(self.under(folder), None) is not None


@dataclass(frozen=True, slots=True)
class Step:
    """One action of a plan, as a dry run prints it: what is done (`verb`), to which path, whereto, and why."""

    verb: str
    path: str
    to: str = ""
    reason: str = ""

    def line(self) -> str:
        """The step on one line."""
        return " ".join((f"{self.verb:<8} {self.path}", *self._rest()))

    def lines(self, width: int) -> tuple[str, ...]:
        """The step on one line where so many columns hold it; else whereto and why on the next, or on one each."""
        line = self.line()
        if len(line) <= width:
            return (line,)
        together = f"      {' '.join(self._rest()).strip()}"
        apart = (f"      {part.strip()}" for part in self._rest())
        rest = (together,) if self._rest() and len(together) <= width else apart
        return (f"{self.verb:<8} {self.path}", *rest)

    def _rest(self) -> tuple[str, ...]:
        whereto = (f"-> {self.to}",) if self.to else ()
        return (*whereto, f" ({self.reason})") if self.reason else whereto


@dataclass(frozen=True, slots=True)
class TreePlan:
    """A plan: the tree that it makes, its steps in order, and what it gives up or changes of the tree before.

    `removed` maps paths of the tree before to the files that the new tree no longer holds as they were: their originals
    are kept. `notes` are sentences for whoever reads the plan; `problems` keep it from being carried out.
    """

    draft: Draft
    steps: tuple[Step, ...] = ()
    removed: Mapping[str, Path] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    problems: tuple[str, ...] = ()

    def then(self, later: "TreePlan") -> "TreePlan":
        """The plan followed by one made from its draft."""
        return TreePlan(
            later.draft,
            (*self.steps, *later.steps),
            {**self.removed, **later.removed},
            (*self.notes, *later.notes),
            (*self.problems, *later.problems),
        )


def read_draft(root: Path) -> Draft:
    """The draft that leaves a tree as it is. The root's .git is no part of it.

    Raises UnreadableFile when `root` is no folder, RenderError naming every link, device and unprintable name in it:
    what cannot be carried whole is carried not at all.
    """
    if not root.is_dir():
        raise UnreadableFile(root, "no such folder; give the root that holds closed/ or open/")
    files: dict[str, DraftFile] = {}
    folders: list[str] = []
    problems: list[str] = []
    originals = _originals(root)
    waiting = [""]
    while waiting:
        folder = waiting.pop()
        entries = _entries(root / folder, problems)
        if not entries and folder:
            folders.append(folder)
        for entry in entries:
            path = f"{folder}/{entry.name}" if folder else entry.name
            problem = _problem(entry, path)
            if problem:
                problems.append(problem)
            elif entry.is_dir(follow_symlinks=False):
                waiting += [] if path == _NOT_CARRIED else [path]
            else:
                files[path] = DraftFile(Path(entry.path), original_sha256=originals.get(path))
    if problems:
        raise RenderError(tuple(sorted(problems)))
    return Draft(dict(sorted(files.items())), frozenset(folders), (root,))


def _originals(root: Path) -> Mapping[str, str]:
    """The hashes of whole logs that a manifest beside the tree knows; none where there is no manifest to be read."""
    try:
        return read_manifest(root).originals if manifest_path(root).is_file() else {}
    except UnreadableFile:
        return {}


def _entries(folder: Path, problems: list[str]) -> "list[os.DirEntry[str]]":
    try:
        return sorted(os.scandir(folder), key=lambda entry: entry.name)
    except OSError as error:
        problems.append(f"{harmless(str(folder))}: cannot be read ({error.strerror}); check its permissions")
        return []


def _problem(entry: "os.DirEntry[str]", path: str) -> str | None:
    if harmless(entry.name) != entry.name:
        return f"{harmless(path)}: the name cannot be printed; rename it to letters, digits, dots and dashes"
    if entry.is_symlink():
        return f"{path}: a link; put the file itself there"
    if not entry.is_dir(follow_symlinks=False) and not entry.is_file(follow_symlinks=False):
        return f"{path}: no regular file; take it out of the tree"
    return None


def harmless(name: str) -> str:
    """A name that a terminal can print: what is no printable character becomes an escape."""
    if name.isprintable():
        return name
    text = name.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")
    return "".join(char if char.isprintable() else char.encode("unicode_escape").decode() for char in text)


def settled(files: Mapping[str, DraftFile], folders: Iterable[str], roots: tuple[Path, ...]) -> Draft:
    """A draft of these files; of the folders those that are still empty, and no folder that holds another one."""
    paths = sorted(files)
    given = sorted(set(folders))
    empty = (one for one in given if not _something_under(one, paths) and not _something_under(one, given))
    return Draft({path: files[path] for path in paths}, frozenset(empty), roots)


def _something_under(folder: str, paths: list[str]) -> bool:
    """Whether one of the sorted paths lies beneath a folder."""
    index = bisect_left(paths, f"{folder}/")
    return index < len(paths) and paths[index].startswith(f"{folder}/")
