"""<system>_power.yaml: the power supplies of a system and the design power they add up to (system_check.py:287-313)."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from compliance.errors import UnreadableFile
from compliance.logs.lines import unreadable

NAMEPLATE_LIMIT_BYTES = 256 << 10
_GREATEST_W = 10**15
_MOST_NODES = 100_000
_DEEPEST = 100
_SHOWN_CHARACTERS = 60
_PSUS, _MIN_PSUS, _CAPACITY = "psus", "min psus needed", "PowerCapacityWatts"


@dataclass(frozen=True, slots=True)
class Nameplate:
    """A nameplate file. `design_power_watts` is None where it cannot be added up; `problem` says why.

    `components` counts the labels that hold power supplies. `empty` when the file says nothing at all.
    """

    path: Path
    design_power_watts: float | int | None
    components: int
    empty: bool
    problem: str


class _CannotAdd(Exception):
    """The hierarchy is of a form that has no sum."""


def read_nameplate(path: Path) -> Nameplate:
    """Reads a nameplate file. Raises UnreadableFile, with the line, when it is no YAML, and when it is too large."""
    import yaml  # noqa: PLC0415 - slow to import, and few systems measure power

    try:
        size = path.stat().st_size
        if size > NAMEPLATE_LIMIT_BYTES:
            raise UnreadableFile(path, f"{size} bytes; at most {NAMEPLATE_LIMIT_BYTES} are read")
        text = path.read_text("utf-8")
        data: object = yaml.safe_load(text)
    except OSError as error:
        raise unreadable(path, error) from error
    except UnicodeDecodeError as error:
        raise UnreadableFile(path, "not UTF-8; save it as UTF-8") from error
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark
        reason = f"not YAML: {error.problem or error}; correct it there"
        raise UnreadableFile(path, reason, mark.line + 1 if mark else None) from error
    except (yaml.YAMLError, RecursionError, ValueError, LookupError, AttributeError, TypeError) as error:
        # PyYAML lets what a tag makes of a wrong value (!!int "", !!bool x) through as it is.
        raise UnreadableFile(path, f"not YAML: {type(error).__name__}; correct it") from error
    if data is None:
        return Nameplate(path, None, 0, empty=True, problem="the file says nothing")
    try:
        components = [_component(node) for node in _leaves(data)]
        total = sum(components)
    except (_CannotAdd, OverflowError) as error:
        return Nameplate(path, None, 0, empty=False, problem=str(error))
    return Nameplate(path, total, len(components), empty=False, problem="")


def _leaves(data: object) -> Iterator[tuple[object, object]]:
    """(PSUs, Min PSUs Needed) of every label that holds both, in order; other labels are only looked through."""
    waiting, seen = [(data, 0)], 0
    while waiting:
        node, depth = waiting.pop()
        seen += 1
        if seen > _MOST_NODES or depth > _DEEPEST:
            raise _CannotAdd(f"more than {_MOST_NODES} labels or {_DEEPEST} levels")
        if isinstance(node, dict):
            names = {_name(key): key for key in node}
            if _PSUS in names and _MIN_PSUS in names:
                yield node[names[_PSUS]], node[names[_MIN_PSUS]]
                continue
            node = list(node.values())
        if isinstance(node, list):
            waiting.extend((child, depth + 1) for child in reversed(node) if isinstance(child, dict | list))


def _name(key: object) -> str:
    if not isinstance(key, str):
        raise _CannotAdd(f"a label is {_shown(key)}; labels are text")
    return key.lower()


def _component(leaf: tuple[object, object]) -> float | int:
    """The capacities in watts of the supplies that a component needs, the largest first; others may be anything."""
    supplies, needed = leaf
    if needed is not None and not isinstance(needed, int):
        raise _CannotAdd(f"Min PSUs Needed is {_shown(needed)}; a whole number is wanted")
    if not isinstance(supplies, list | dict | str) or not all(isinstance(supply, dict) for supply in supplies):
        raise _CannotAdd("PSUs is no list of power supplies")
    capacities = [supply.get(_CAPACITY, 0) for supply in supplies if isinstance(supply, dict)]
    try:
        counted = sorted(capacities, reverse=True)[:needed]
    except TypeError:
        raise _CannotAdd(f"{_CAPACITY} is not a number for every supply") from None
    for capacity in counted:
        if not isinstance(capacity, int | float) or (isinstance(capacity, int) and abs(capacity) >= _GREATEST_W):
            raise _CannotAdd(f"{_CAPACITY} is {_shown(capacity)}; a number of watts is wanted")
    total: float | int = sum(counted)
    return total


def _shown(value: object) -> str:
    """A value in a few words: what aliases make of a list may be too large to print."""
    if isinstance(value, str):
        return repr(value[:_SHOWN_CHARACTERS])
    if value is None or isinstance(value, bool | float) or (isinstance(value, int) and abs(value) < _GREATEST_W):
        return repr(value)
    return f"a {type(value).__name__}"
