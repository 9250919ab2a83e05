"""Whether a folder is the root of a submission tree, and where the root is when it is not: looks at a few names."""

from itertools import islice
from pathlib import Path

from compliance.report.plain import plain
from compliance.vocabulary import Division
from harness.errors import UsageError

_MOST_ABOVE = 8
_MOST_BESIDE = 100
_NEAR = 0.6


def is_root(folder: Path) -> bool:
    """Whether a folder holds a division."""
    return any((folder / division).is_dir() for division in Division)


def root_above(folder: Path) -> Path | None:
    """The root of the tree that a folder lies in, spelled as the folder is; None where it lies in none, or is one."""
    whole = folder.resolve()
    if is_root(whole):
        return None
    for depth, above in enumerate(islice(whole.parents, _MOST_ABOVE)):
        if is_root(above) and whole.relative_to(above).parts[0] in set(Division):
            given = folder.parents
            return given[depth] if depth < len(given) and ".." not in folder.parts else above
    return None


def root_beneath(folder: Path) -> Path | None:
    """The root right beneath a folder that is none itself; None where there is none or more than one."""
    if is_root(folder):
        return None
    try:
        found = [inner for inner in islice(folder.iterdir(), _MOST_BESIDE) if inner.is_dir() and is_root(inner)]
    except OSError:
        return None
    return found[0] if len(found) == 1 else None


def require_root(folder: Path) -> None:
    """Raises UsageError for a folder that holds no division, with the root that was meant where it is near."""
    if is_root(folder):
        return
    near = root_above(folder) or root_beneath(folder)
    meant = f"give {near}, which does" if near is not None else "give the root of a tree"
    raise UsageError(f"{folder}: no closed/, open/ or network/ in it; {meant}")


def refuse_inner(folder: Path) -> None:
    """Raises UsageError for a folder within a tree in the place of its root."""
    above = root_above(folder)
    if above is not None:
        raise UsageError(f"{folder} lies in the tree {above}; give {above}")


def require_submitter(tree: Path, name: str | None) -> None:
    """Raises UsageError for a submitter that a tree with others does not have, with those it has."""
    folders = (tree / division for division in Division)
    known = sorted(
        {inner.name for folder in folders if folder.is_dir() for inner in folder.iterdir() if inner.is_dir()}
    )
    if name is None or name in known or not known:
        return
    from difflib import get_close_matches  # noqa: PLC0415 - for a message alone

    folded = {one.casefold(): one for one in known}
    close = get_close_matches(name.casefold(), folded, 1, _NEAR)
    meant = f"did you mean {plain(folded[close[0]])!r}? There are" if close else "there are"
    raise UsageError(f"{tree}: no submitter {name!r}; {meant}: {', '.join(map(plain, known))}")
