"""All checks by id. A check enters by its decorator; a module of checks enters by its name in `MODULES`."""

from collections.abc import Callable, Mapping
from difflib import get_close_matches
from functools import cache
from importlib import import_module

from compliance.checks.model import Check, CheckFunction, Scope
from compliance.checks.sources import cite

MODULES = (
    "structure",
    "integrity",
    "documentation",
    "scenarios",
    "logs",
    "performance",
    "figures",
    "plausibility",
    "latency",
    "limits",
    "early_stopping",
    "accuracy",
    "accuracy_run",
    "answers",
    "system",
    "system_fields",
    "measurements",
    "conf",
    "audits",
    "audit_verdicts",
    "audit_runs",
    "audit_logs",
    "audit_test08",
    "consistency",
    "power",
    "power_session",
    "power_phases",
    "power_ptd",
    "power_logs",
    "power_system",
    "endpoints_logs",
    "endpoints",
    "endpoints_latency",
    "endpoints_accuracy",
    "endpoints_audits",
)
"""The modules of this package that hold checks, in the order a report shows their findings."""

_CHECKS: dict[str, Check] = {}


def check(
    check_id: str,
    title: str,
    source: str,
    scope: Scope,
    needs: tuple[str, ...] = (),
    *,
    fix: str,
    lowers: bool = True,
) -> Callable[[CheckFunction], CheckFunction]:
    """Enter a function as the check `check_id`; its docstring is what `weighbridge explain` prints.

    `source` is the rule's place in the short form of `cite`; for `needs`, `fix` and `lowers` see `Check`. Raises
    ValueError when the id is taken.
    """

    def enter(function: CheckFunction) -> CheckFunction:
        if check_id in _CHECKS:
            raise ValueError(f"check id {check_id} is taken; give {function.__name__} another one")
        _CHECKS[check_id] = Check(check_id, title, cite(source), scope, needs, function, fix, lowers)
        return function

    return enter


@cache
def all_checks() -> tuple[Check, ...]:
    """Every check of this installation, in report order."""
    for module in MODULES:
        import_module(f"compliance.checks.{module}")
    return tuple(_CHECKS.values())


@cache
def checks_by_id() -> Mapping[str, Check]:
    """The checks of this installation by their ids."""
    return {check.id: check for check in all_checks()}


def nearest(check_id: str) -> str | None:
    """The id that a wrong one is meant to be: the same number without its zeros (PERF-07), else the most alike."""
    known = tuple(check.id for check in all_checks())
    same = [one for one in known if _bare(one) == _bare(check_id)]
    return next(iter(same or get_close_matches(check_id, known, n=1)), None)


def _bare(check_id: str) -> tuple[str, str]:
    prefix, _, number = check_id.partition("-")
    return prefix, number.lstrip("0")
