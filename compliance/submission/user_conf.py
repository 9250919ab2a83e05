"""user.conf as LoadGen reads it (rules.md 3.3): its assignments, and the lines it passes over or stumbles on."""

import re
from dataclasses import dataclass

_ASSIGNMENT_TOKENS = 3
_KEY = re.compile(r"(?P<model>[\w*.+-]+)\.(?P<scenario>[A-Za-z]+|\*)\.(?P<name>\w+)")


@dataclass(frozen=True, slots=True)
class Assignment:
    """One setting: `key` is model.scenario.name, `value` the number as written."""

    key: str
    value: str


@dataclass(frozen=True, slots=True)
class UserConf:
    """The assignments of a user.conf in order, and what is wrong with its other lines (1-based line, reason)."""

    assignments: tuple[Assignment, ...]
    problems: tuple[tuple[int, str], ...]


def read_user_conf(text: str) -> UserConf:
    """Read the text of a user.conf. Never raises: a line LoadGen would not take is a problem with its line number."""
    assignments: list[Assignment] = []
    problems: list[tuple[int, str]] = []
    for number, line in enumerate(text.splitlines(), start=1):
        tokens = line.split()
        if not tokens or tokens[0].startswith("#"):
            continue
        reason = _reason(tokens)
        if reason:
            problems.append((number, reason))
        else:
            assignments.append(Assignment(tokens[0], tokens[2]))
    return UserConf(tuple(assignments), tuple(problems))


def _reason(tokens: list[str]) -> str:
    if any(token.startswith("#") for token in tokens):
        return "a comment behind a setting makes LoadGen discard the whole file; put it on a line of its own"
    if len(tokens) != _ASSIGNMENT_TOKENS or tokens[1] != "=":
        return "LoadGen ignores what is not 'key = value' with blanks around '='"
    if _KEY.fullmatch(tokens[0]) is None:
        return f"{tokens[0]!r} is not model.scenario.setting"
    try:
        float(tokens[2])
    except ValueError:
        return f"{tokens[2]!r} is not a number"
    return ""
