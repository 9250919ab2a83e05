"""What is left of a system or a submitter once its results have gone: the official checker fails on it, or stops."""

from compliance.discovery.files import fill
from compliance.rulebook.model import Layout
from compliance.submission.draft import Draft, Step, TreePlan
from compliance.submission.edit import Edit
from compliance.submission.layout_paths import ResultKey
from compliance.vocabulary import Division

OPEN = Division.OPEN.value


def without_leftovers(draft: Draft, layout: Layout, key: ResultKey) -> TreePlan:
    """The tree without what stood for the key's results alone; see `clear_leftovers`."""
    edit = Edit(draft)
    clear_leftovers(edit, layout, key)
    return edit.plan()


def clear_leftovers(edit: Edit, layout: Layout, key: ResultKey) -> None:
    """Takes out what stood for the key's results alone.

    That is the system's description when the system has no results left in its division, and the submitter's folder
    when the submitter has none there: what open lacks of it goes to open if that has results, the rest is given up.
    """
    holder = {"division": key.division, "submitter": key.submitter}
    if _any(edit, layout, {**holder, "system": key.system}):
        return
    path = fill(layout.system, key.names)
    if edit.get(path) is not None:
        _give_up(edit, path, "its system has no results left")
    if not _any(edit, layout, holder):
        _clear_submitter(edit, layout, key)


def _any(edit: Edit, layout: Layout, names: dict[str, str]) -> bool:
    return next(edit.results(layout, names), None) is not None


def _clear_submitter(edit: Edit, layout: Layout, key: ResultKey) -> None:
    folder = fill(layout.submitter, key.names)
    opened = fill(layout.submitter, {**key.names, "division": OPEN})
    in_open = _any(edit, layout, {"division": OPEN, "submitter": key.submitter})
    descriptions = fill(layout.system.rpartition("/")[0], key.names)
    moved = 0
    for path in edit.under(folder) if in_open and key.division != OPEN else ():
        target = opened + path.removeprefix(folder)
        if not path.startswith(f"{descriptions}/") and edit.get(target) in {None, edit.get(path)}:
            edit.put(target, edit.take(path))
            moved += 1
    edit.drop_folders([folder])
    if moved:
        edit.steps.append(Step("move", f"{folder}/", f"{opened}/", f"the rest, {moved} files"))
    for path in edit.under(folder):
        _give_up(edit, path, "its submitter has no results left there")


def _give_up(edit: Edit, path: str, reason: str) -> None:
    edit.give_up(path)
    edit.steps.append(Step("remove", path, reason=reason))
