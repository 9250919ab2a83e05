"""Carry out a plan: the new tree with its manifest and the originals of what it changed, or nothing at all.

The trees that a plan is made from are only read. Everything grows beside its place under another name and takes its
name by a rename at the end.
"""

import errno
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

from compliance.errors import RenderError, TargetError
from compliance.submission.draft import Draft, DraftFile, TreePlan
from compliance.submission.manifest import Manifest, list_files, manifest_path, manifest_text
from compliance.submission.merge import clashes
from compliance.submission.originals import keep_originals
from compliance.submission.storage import sync_file, write_atomic
from compliance.submission.truncate import truncate_accuracy_log


@dataclass(frozen=True, slots=True)
class NewTree:
    """Where a plan's tree goes. `beside` are further files to write beside it, by path: a migration's record."""

    tree: Path
    round_name: str
    beside: Mapping[Path, str] = field(default_factory=dict)

    @property
    def originals(self) -> Path:
        """The folder of the originals of what the new tree changed or no longer holds, with their SHA256SUMS."""
        return self.tree.parent / f"{self.tree.name}.originals"


def write_tree(plan: TreePlan, target: NewTree) -> Manifest:
    """The tree of a plan, whole, with its manifest beside it. Originals exist only where the plan gives something up.

    Raises RenderError with the plan's problems or every path that would leave the tree, TargetError when the place is
    taken or lies in a tree that is read; then nothing has been written.
    """
    if plan.problems:
        raise RenderError(plan.problems)
    require_place(plan.draft, target)
    if problems := (*_path_problems(plan), *clashes(plan.draft.files)):
        raise RenderError(problems)
    try:
        return _write(plan, target)
    except OSError as error:
        reason = "the disk is full" if error.errno == errno.ENOSPC else error.strerror or str(error)
        place = _place_of(error, target)
        raise RenderError((f"{place}: {reason}; nothing was written; mend that or give another --out",)) from error


def _place_of(error: OSError, target: NewTree) -> object:
    """What an error is about: the file that was read, or the new tree where it is one of its parts."""
    own = f"{target.tree.parent / f'.{target.tree.name}.'}"
    return target.tree if error.filename is None or str(error.filename).startswith(own) else error.filename


def require_place(draft: Draft, target: NewTree) -> None:
    """Raises TargetError with every reason why a tree cannot be written where it is to go."""
    if problems := tuple(_target_problems(draft, target)):
        raise TargetError(problems)


def _target_problems(draft: Draft, target: NewTree) -> Iterator[str]:
    tree = target.tree
    if not tree.name or tree.name == "..":
        yield f"{tree}: name the new tree's folder"
        return
    if not tree.parent.is_dir():
        yield f"{tree.parent}: no such folder; create it or give another --out"
    for root in draft.roots:
        if tree.resolve().is_relative_to(root.resolve()):
            yield f"{tree}: lies in {root}, which is only read; give another --out"
    if tree.is_symlink() or (tree.exists() and (not tree.is_dir() or any(tree.iterdir()))):
        yield f"{tree}: exists already; remove it or give another --out"
    for path in (target.originals, manifest_path(tree), *target.beside):
        if path.exists():
            yield f"{path}: exists already; remove it or give another --out"


def _path_problems(plan: TreePlan) -> Iterator[str]:
    for path in (*plan.draft.files, *plan.draft.folders, *plan.removed):
        parts = PurePosixPath(path)
        if parts.is_absolute() or ".." in parts.parts or "\0" in path or not path:
            yield f"{path!r} would lie outside the tree"


def _write(plan: TreePlan, target: NewTree) -> Manifest:
    staging = Path(tempfile.mkdtemp(dir=target.tree.parent, prefix=f".{target.tree.name}.", suffix=".partial"))
    try:
        tree, originals = staging / "tree", staging / "originals"
        tree.mkdir()
        for folder in plan.draft.folders:
            (tree / folder).mkdir(parents=True, exist_ok=True)
        whole = {path: _carry_out(path, file, tree) for path, file in plan.draft.files.items()}
        keep_originals(plan.removed, originals)
        known = {path: digest for path, digest in whole.items() if digest is not None}
        manifest = Manifest(target.round_name, target.tree, list_files(tree), known)
        texts = {**target.beside, manifest.path: manifest_text(manifest)}
        moves = [(tree, target.tree)]
        moves += [(originals, target.originals)] if originals.exists() else []
        for number, (path, text) in enumerate(texts.items()):
            write_atomic(staging / str(number), text)
            moves.append((staging / str(number), path))
        take_names(moves)
    finally:
        shutil.rmtree(staging, ignore_errors=True)
    return manifest


def take_names(moves: list[tuple[Path, Path]]) -> None:
    """Rename each to its name; where one fails the names taken before are given up again. Raises OSError."""
    taken: list[tuple[Path, Path]] = []
    try:
        for before, after in moves:
            before.replace(after)
            taken.append((before, after))
    except OSError:
        for before, after in reversed(taken):
            after.replace(before)
        raise


def _carry_out(path: str, file: DraftFile, tree: Path) -> str | None:
    """Write one file. Returns the hash of the whole accuracy log behind it, None where there is none."""
    target = tree / path
    target.parent.mkdir(parents=True, exist_ok=True)
    if file.text is not None:
        write_atomic(target, file.text)
        return file.original_sha256
    if file.cut:
        digest = truncate_accuracy_log(file.source, target)
        if file.original_sha256 not in {None, digest}:
            raise RenderError((f"{file.source}: changed while it was read; make the plan again",))
        return digest
    before = file.source.lstat()
    shutil.copyfile(file.source, target, follow_symlinks=False)
    target.chmod((before.st_mode & 0o777) | 0o600)
    sync_file(target)
    after = file.source.lstat()
    if target.is_symlink() or (before.st_mtime_ns, before.st_size) != (after.st_mtime_ns, after.st_size):
        raise RenderError((f"{file.source}: changed while it was copied; make the plan again",))
    return file.original_sha256
