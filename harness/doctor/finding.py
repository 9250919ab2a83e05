"""One line of the doctor."""

from dataclasses import dataclass
from enum import StrEnum


class Level(StrEnum):
    """How bad: a fail ends a run, a warn spoils it or what comes after."""

    OK = "ok"
    WARN = "warn"
    FAIL = "fail"


@dataclass(frozen=True, slots=True)
class Finding:
    """What was looked at, what was found, and what to do about it."""

    level: Level
    what: str
    found: str
    fix: str = ""


def ok(what: str, found: str) -> Finding:
    """Nothing to do."""
    return Finding(Level.OK, what, found)


def warn(what: str, found: str, fix: str) -> Finding:
    """Something that a run survives."""
    return Finding(Level.WARN, what, found, fix)


def fail(what: str, found: str, fix: str) -> Finding:
    """Something that ends a run."""
    return Finding(Level.FAIL, what, found, fix)
