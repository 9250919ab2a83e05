"""Waivers: findings that a submitter has agreed to live with, until a day. They mark a finding, they never hide it."""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, datetime
from pathlib import Path

from compliance.checks.registry import all_checks, nearest
from compliance.errors import UnreadableFile
from compliance.judge import INTERNAL
from compliance.logs.lines import decoded, read_bytes

_KEYS = {"id", "reason", "until", "where"}
_SHOWN_CHARACTERS = 60
_GREATEST_SHOWN = 10**18
_FORM = "each waiver is {id: PERF-007, reason: why, until: 2026-12-31} and may have where: a path that it is limited to"


@dataclass(frozen=True, slots=True)
class Waiver:
    """One waiver: the check's id, why, the last day it holds, and the path (or folder) it is limited to, "" for all."""

    id: str
    reason: str
    until: date
    where: str = ""

    def expired(self, today: date) -> bool:
        """Whether its last day has passed."""
        return today > self.until

    def covers(self, check_id: str, where: str, today: date) -> bool:
        """Whether it holds today for a finding of that check at that path."""
        within = not self.where or where == self.where or where.startswith(f"{self.where.rstrip('/')}/")
        return self.id == check_id and within and not self.expired(today)


def load_waivers(path: Path) -> tuple[Waiver, ...]:
    """The waivers of a YAML or TOML file, under `waivers`. Raises UnreadableFile with every fault at once.

    An internal error (INT-001) cannot be waived.
    """
    entries = _entries(path)
    waivers, problems = list[Waiver](), list[str]()
    for number, entry in enumerate(entries, start=1):
        read = _waiver(entry)
        if isinstance(read, Waiver):
            waivers.append(read)
        else:
            problems.extend(f"waiver {number}: {problem}" for problem in read)
    if problems:
        raise UnreadableFile(path, "; ".join((*problems, _FORM)))
    return tuple(waivers)


def _entries(path: Path) -> list[object]:
    import yaml  # noqa: PLC0415 - slow to import, and most trees are judged without waivers

    text, utf8 = decoded(read_bytes(path))
    kind = "TOML" if path.suffix == ".toml" else "YAML"
    if not utf8:
        raise UnreadableFile(path, f"not {kind} in UTF-8; save it as UTF-8")
    try:
        document: object = tomllib.loads(text) if kind == "TOML" else yaml.safe_load(text)
    except RecursionError as error:
        raise UnreadableFile(path, f"not {kind} to read: nested too deeply; {_FORM}") from error
    except (yaml.YAMLError, ValueError, TypeError, AttributeError, LookupError, OverflowError) as error:
        # PyYAML lets what a value cannot be (a day 2027-02-30) through as Python says it.
        raise UnreadableFile(path, f"not {kind}: {error}; {_FORM}") from error
    listed = document.get("waivers") if isinstance(document, dict) else document
    if not isinstance(listed, list):
        raise UnreadableFile(path, f"no list of waivers; write one under the key waivers: {_FORM}")
    return listed


def _waiver(entry: object) -> Waiver | tuple[str, ...]:
    if not isinstance(entry, Mapping):
        return ("not a mapping",)
    problems = [f"unknown key {_spelled(key)}" for key in entry if key not in _KEYS]
    known = tuple(check.id for check in all_checks())
    check_id, reason, until, where = (entry.get(key) for key in ("id", "reason", "until", "where"))
    if check_id == INTERNAL:
        problems.append(f"{INTERNAL} is a fault of weighbridge and cannot be waived; report it")
    elif not isinstance(check_id, str) or check_id not in known:
        near = nearest(check_id) if isinstance(check_id, str) else None
        problems.append(f"no check {_spelled(check_id)}{f', did you mean {near}?' if near else ''}")
    if not isinstance(reason, str) or not reason.strip():
        problems.append("no reason")
    day = _day(until)
    if day is None:
        problems.append(f"until {_spelled(until)} is no day (YYYY-MM-DD)")
    if where is not None and not isinstance(where, str):
        problems.append("where is no path")
    if problems or day is None:
        return tuple(problems)
    return Waiver(str(check_id), str(reason).strip(), day, where or "")


def _spelled(value: object) -> str:
    """A value in a message; of one that aliases or digits make huge only its kind."""
    if isinstance(value, str):
        return repr(value[:_SHOWN_CHARACTERS])
    if isinstance(value, int) and abs(value) > _GREATEST_SHOWN:
        return "a long number"
    return str(value) if isinstance(value, int | float | date | None) else f"a {type(value).__name__}"


def _day(value: object) -> date | None:
    if isinstance(value, datetime):
        return value.date()
    if isinstance(value, date):
        return value
    try:
        return date.fromisoformat(value) if isinstance(value, str) else None
    except ValueError:
        return None
