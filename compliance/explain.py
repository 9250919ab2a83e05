"""What a check asks, why, and what to do: from the registry, for `weighbridge explain ID`."""

import inspect
import textwrap

from compliance.checks.model import Check, Scope
from compliance.checks.registry import all_checks, checks_by_id, nearest
from compliance.errors import RuleError
from compliance.judge import INTERNAL

_SCOPES = {
    Scope.TREE: "the whole tree",
    Scope.SUBMITTER: "each submitter; its errors turn down all of the submitter's results",
    Scope.FILES: "each file and folder of a submitter; its errors turn down all of the submitter's results",
    Scope.SYSTEM: "each system description; its errors turn down all of the system's results",
    Scope.RESULT: "each results folder",
}
_ONLY_TREE = "they fail the tree, not single results"


def find_check(check_id: str) -> Check:
    """The check of that id, in any case. Raises RuleError with the nearest ids for an unknown one."""
    by_id = checks_by_id()
    wanted = check_id.upper()
    if wanted in by_id:
        return by_id[wanted]
    near = nearest(wanted)
    hint = f"did you mean {near}? " if near else ""
    raise RuleError(f"no check {check_id!r}; {hint}`weighbridge explain` lists them all: {_prefixes()}")


def list_checks() -> str:
    """Every check's id and title, one per line, in report order."""
    return "".join(f"{check.id:<10}{check.title}\n" for check in all_checks())


def explain(check_id: str, width: int = 80) -> str:
    """What the check asks, where that is written, what it looks at, what to do. Raises RuleError for an unknown id."""
    if check_id.upper() == INTERNAL:
        return _wrapped("INT-001: a check did not come to an end. That is a fault of weighbridge: report it.", width)
    check = find_check(check_id)
    scope = _SCOPES[check.scope] if check.lowers else f"{_SCOPES[check.scope].split(';')[0]}; {_ONLY_TREE}"
    asks = inspect.getdoc(check.function) or check.title
    needs = f"\n{_named('needs:', ', '.join(check.needs), width)}" if check.needs else ""
    body = "\n".join(_wrapped(paragraph, width) for paragraph in asks.split("\n\n"))
    source, where, fix = (
        _named(name, text, width) for name, text in (("source:", check.source), ("scope:", scope), ("fix:", check.fix))
    )
    return f"{check.id}: {check.title}\n\n{body}\n\n{source}\n{where}{needs}\n{fix}\n"


def _named(name: str, text: str, width: int) -> str:
    return textwrap.fill(text, width, initial_indent=f"{name:<8}", subsequent_indent=" " * 8, break_on_hyphens=False)


def _wrapped(text: str, width: int) -> str:
    return textwrap.fill(" ".join(text.split()), width)


def _prefixes() -> str:
    return ", ".join(dict.fromkeys(f"{check.id.split('-')[0]}-" for check in all_checks()))
