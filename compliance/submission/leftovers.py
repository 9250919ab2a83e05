"""What is left of a system or a submitter once its results have gone: the official checker fails on it, or stops."""

from compliance.discovery.files import fill
from compliance.rulebook.model import Layout
from compliance.submission.draft import Draft, Step, TreePlan, settled
from compliance.submission.layout_paths import ResultKey, results_in
from compliance.vocabulary import Division

OPEN = Division.OPEN.value


def without_leftovers(draft: Draft, layout: Layout, key: ResultKey) -> TreePlan:
    """The tree without what stood for the key's results alone.

    That is the system's description when the system has no results left in its division, and the submitter's folder
    when the submitter has none there: what open lacks of it goes to open if that has results, the rest is given up.
    """
    left = [one for one in results_in(draft.files, layout) if _holder(one) == _holder(key)]
    if any(one.system == key.system for one in left):
        return TreePlan(draft)
    path = fill(layout.system, key.names)
    plan = _without(draft, [path] if path in draft.files else [], "its system has no results left")
    return plan if left else plan.then(_without_submitter(plan.draft, layout, key))


def _holder(key: ResultKey) -> tuple[str, str]:
    return key.division, key.submitter


def _without_submitter(draft: Draft, layout: Layout, key: ResultKey) -> TreePlan:
    folder = fill(layout.submitter, key.names)
    opened = fill(layout.submitter, {**key.names, "division": OPEN})
    in_open = any(_holder(one) == (OPEN, key.submitter) for one in results_in(draft.files, layout))
    descriptions = fill(layout.system.rpartition("/")[0], key.names)
    moved: dict[str, str] = {}
    for path in draft.under(folder):
        target = opened + path.removeprefix(folder)
        fits = draft.files.get(target) in {None, draft.files[path]}
        if in_open and key.division != OPEN and fits and not path.startswith(f"{descriptions}/"):
            moved[path] = target
    files = {moved.get(path, path): file for path, file in draft.files.items()}
    kept = {one for one in draft.folders if one != folder and not one.startswith(f"{folder}/")}
    steps = (Step("move", f"{folder}/", f"{opened}/", f"the rest, {len(moved)} files"),) if moved else ()
    plan = TreePlan(settled(files, kept, draft.roots), steps)
    return plan.then(_without(plan.draft, list(plan.draft.under(folder)), "its submitter has no results left there"))


def _without(draft: Draft, paths: list[str], reason: str) -> TreePlan:
    given_up = set(paths)
    files = {path: file for path, file in draft.files.items() if path not in given_up}
    gone = {path: draft.files[path].source for path in paths}
    return TreePlan(
        settled(files, draft.folders, draft.roots), tuple(Step("remove", path, reason=reason) for path in paths), gone
    )
