"""A tree while a plan for it is made: found by folder, changed in place, and every change written down.

A plan on a large tree takes hundreds of steps; each costs what it touches, not the whole tree.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from compliance.discovery.files import fill
from compliance.rulebook.model import Layout
from compliance.submission.draft import Draft, DraftFile, Step, TreePlan, settled
from compliance.submission.layout_paths import KEY, ResultKey, match, placeholders

if TYPE_CHECKING:
    from pathlib import Path


@dataclass(slots=True)
class _Folder:
    files: dict[str, DraftFile] = field(default_factory=dict)
    folders: dict[str, "_Folder"] = field(default_factory=dict)

    @property
    def empty(self) -> bool:
        return not self.files and not self.folders


class Edit:
    """A draft being changed. `steps`, `removed`, `notes` and `problems` become those of the plan."""

    def __init__(self, draft: Draft) -> None:
        self._top = _Folder()
        self._roots = draft.roots
        self.folders = set(draft.folders)
        self.steps: list[Step] = []
        self.removed: dict[str, Path] = {}
        self.notes: list[str] = []
        self.problems: list[str] = []
        for path, file in draft.files.items():
            self._made(path.split("/")[:-1]).files[path.rpartition("/")[2]] = file

    def plan(self) -> TreePlan:
        """The plan that makes the tree as it is now."""
        files = dict(_beneath(self._top, ""))
        return TreePlan(
            settled(files, self.folders, self._roots),
            tuple(self.steps),
            dict(self.removed),
            tuple(self.notes),
            tuple(self.problems),
        )

    def get(self, path: str) -> DraftFile | None:
        """The file at a path, None where there is none."""
        folder, _, name = path.rpartition("/")
        held = self._at(folder)
        return None if held is None else held.files.get(name)

    def put(self, path: str, file: DraftFile) -> None:
        """Put a file at a path, in the place of one that is there."""
        parts = path.split("/")
        self._made(parts[:-1]).files[parts[-1]] = file
        if self.folders:
            self.folders.difference_update("/".join(parts[:depth]) for depth in range(1, len(parts)))

    def add(self, path: str, file: DraftFile) -> None:
        """Put a file at a path where there is none yet."""
        if self.get(path) is None:
            self.put(path, file)

    def take(self, path: str) -> DraftFile:
        """Take a file out; folders that then hold none go with it. Raises KeyError where there is none."""
        parts = path.split("/")
        holders = [self._top]
        for part in parts[:-1]:
            holders.append(holders[-1].folders[part])
        file = holders[-1].files.pop(parts[-1])
        for above, part, held in zip(reversed(holders[:-1]), reversed(parts[:-1]), reversed(holders), strict=False):
            if not held.empty:
                break
            del above.folders[part]
        return file

    def give_up(self, path: str) -> None:
        """Take a file out whose original is to be kept."""
        self.removed[path] = self.take(path).source

    def under(self, folder: str) -> tuple[str, ...]:
        """The paths of the files beneath a folder, in order."""
        held = self._at(folder)
        return () if held is None else tuple(sorted(path for path, _ in _beneath(held, f"{folder}/")))

    def holds(self, folder: str) -> bool:
        """Whether a file lies beneath a folder."""
        return self._at(folder) is not None

    def names(self, folder: str) -> tuple[str, ...]:
        """What stands in a folder: its files, and its folders that hold some."""
        held = self._at(folder)
        return () if held is None else tuple(sorted({*held.files, *held.folders}))

    def drop_folders(self, beneath: Sequence[str]) -> None:
        """Forget the empty folders at or beneath some others."""
        beginnings = tuple(f"{folder}/" for folder in beneath)
        self.folders = {one for one in self.folders if not f"{one}/".startswith(beginnings)}

    def results(self, layout: Layout, names: Mapping[str, str] | None = None) -> Iterator[ResultKey]:
        """The results with a file beneath their folder, in order; only those of some names where such are given."""
        given = names or {}
        path = tuple(
            (segment, fill(segment, given) if set(placeholders(segment)) <= set(given) else None)
            for segment in layout.scenario_dir.split("/")
        )
        for found in _matching(self._top, path, given):
            yield ResultKey(*(found[part] for part in KEY))

    def _at(self, folder: str) -> _Folder | None:
        held: _Folder | None = self._top
        for part in folder.split("/") if folder else ():
            held = held.folders.get(part) if held is not None else None
        return held

    def _made(self, parts: Sequence[str]) -> _Folder:
        held = self._top
        for part in parts:
            inner = held.folders.get(part)
            if inner is None:
                inner = held.folders[part] = _Folder()
            held = inner
        return held


def _beneath(held: _Folder, prefix: str) -> Iterator[tuple[str, DraftFile]]:
    waiting = [(held, prefix)]
    while waiting:
        folder, before = waiting.pop()
        for name, file in folder.files.items():
            yield before + name, file
        waiting += [(inner, f"{before}{name}/") for name, inner in folder.folders.items()]


def _matching(
    held: _Folder, path: tuple[tuple[str, str | None], ...], names: Mapping[str, str]
) -> Iterator[Mapping[str, str]]:
    """The placeholders' values for each folder of a path's form, in order: a path of (segment, its name if known)."""
    if not path:
        yield names
        return
    (segment, known), rest = path[0], path[1:]
    if known is not None:
        inner = held.folders.get(known)
        if inner is not None:
            yield from _matching(inner, rest, names)
        return
    for name in sorted(held.folders):
        found = match(segment, name)
        if found is not None:
            yield from _matching(held.folders[name], rest, {**names, **found})
