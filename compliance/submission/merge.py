"""Several trees into one submitter's tree: campaigns, systems and benchmarks put side by side."""

import filecmp
from collections.abc import Mapping, Sequence

from compliance.submission.draft import Draft, DraftFile, Step, TreePlan, settled
from compliance.submission.migrate import SameBytes
from compliance.vocabulary import Division


def same_bytes(one: DraftFile, other: DraftFile) -> bool:
    """Whether two files of drafts come out byte-equal. Raises OSError when one cannot be read."""
    if one.cut != other.cut:
        return False
    if one.text is None and other.text is None:
        return one.source == other.source or filecmp.cmp(one.source, other.source, shallow=False)
    return content(one) == content(other)


def content(file: DraftFile) -> bytes:
    """The bytes of a file of a draft, before it is cut. Raises OSError when it cannot be read."""
    return file.source.read_bytes() if file.text is None else file.text


def merge(drafts: Sequence[Draft], same: SameBytes = same_bytes) -> TreePlan:
    """The union of trees. Problems: more than one submitter, and every path that two trees fill with other bytes."""
    files: dict[str, DraftFile] = {}
    origin: dict[str, int] = {}
    problems: list[str] = []
    for index, draft in enumerate(drafts):
        for path, file in draft.files.items():
            if path not in files:
                files[path], origin[path] = file, index
            elif not same(files[path], file):
                problems.append(
                    f"{path}: {_name(drafts, origin[path])} and {_name(drafts, index)} hold different files; "
                    "make them equal or leave one out"
                )
    problems += clashes(files)
    problems += _submitter_problems(files)
    steps = tuple(Step("take", _name(drafts, i), reason=f"{len(d.files)} files") for i, d in enumerate(drafts))
    folders = frozenset[str]().union(*(draft.folders for draft in drafts))
    roots = tuple(root for draft in drafts for root in draft.roots)
    return TreePlan(settled(files, folders, roots), steps, problems=tuple(problems))


def clashes(files: Mapping[str, DraftFile]) -> list[str]:
    """Paths that are a file in one tree and a folder in another."""
    folders = {"/".join(parts[:n]) for parts in (path.split("/") for path in files) for n in range(1, len(parts))}
    return [f"{path}: a file in one tree and a folder in another; rename one" for path in files if path in folders]


def _submitter_problems(files: Mapping[str, DraftFile]) -> list[str]:
    names = {parts[1] for parts in (path.split("/") for path in files) if len(parts) > 2 and parts[0] in set(Division)}  # noqa: PLR2004 - division/submitter/...
    if len(names) <= 1:
        return []
    return [f"the trees have {len(names)} submitters ({', '.join(sorted(names))}); a tree for upload has one"]


def _name(drafts: Sequence[Draft], index: int) -> str:
    return ", ".join(str(root) for root in drafts[index].roots) or f"tree {index + 1}"
