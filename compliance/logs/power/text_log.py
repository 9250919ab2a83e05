"""client.log and server.log: what the two ends of the power session wrote about it, level by level."""

from dataclasses import dataclass
from pathlib import Path

from compliance.errors import UnreadableFile
from compliance.logs.power.lines import text_lines

_LEVELS = ("[ERROR]", "[CRITICAL]", "[FATAL]")
_SHOWN_CHARACTERS = 200
_MOST_ERRORS = 100


@dataclass(frozen=True, slots=True)
class LoggedError:
    """A line of level ERROR or above."""

    line: int
    text: str


@dataclass(frozen=True, slots=True)
class SessionLog:
    """How many lines the log has, and the first hundred errors in it."""

    path: Path
    lines: int
    errors: tuple[LoggedError, ...]


def read_session_log(path: Path) -> SessionLog:
    """Reads a client's or server's log. Raises UnreadableFile when it cannot be read as text or is empty."""
    errors: list[LoggedError] = []
    lines = 0
    for number, line in text_lines(path):
        lines = number
        if len(errors) < _MOST_ERRORS and any(level in line for level in _LEVELS):
            errors.append(LoggedError(number, line[:_SHOWN_CHARACTERS]))
    if not lines:
        raise UnreadableFile(path, "the file is empty; copy the one the power workflow wrote")
    return SessionLog(path, lines, tuple(errors))
