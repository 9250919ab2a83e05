"""ptd_logs.txt: what PTDaemon says of the analyser. Kept are the lines that a check asks about."""

import re
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from pathlib import Path

from compliance.errors import UnreadableFile
from compliance.logs.power.lines import parse_time, text_lines

_STAMP = re.compile(r"\d\d-\d\d-\d\d\d\d \d\d:\d\d:\d\d.\d\d\d")
_UNCERTAINTY = re.compile(r"Uncertainty checking for Yokogawa\S{1,100} is activated")
_GO, _COMPLETED = ": Go with mark ", ": Completed test"
_TEXT_CHARACTERS = 500
_MOST_EVENTS = 100_000


class PtdKind(StrEnum):
    """What a line of the PTD log says."""

    GO = "go"
    COMPLETED = "completed"
    UNCERTAINTY = "uncertainty"
    WARNING = "warning"
    ERROR = "error"


@dataclass(frozen=True, slots=True)
class PtdEvent:
    """One line, or the half of it after WARNING: or ERROR:. `time` is None when the line begins with none."""

    line: int
    kind: PtdKind
    text: str
    time: datetime | None


@dataclass(frozen=True, slots=True)
class PtdLog:
    """A PTD log. `impossible_time_line` is the first line whose time is none of the calendar's."""

    path: Path
    lines: int
    events: tuple[PtdEvent, ...]
    impossible_time_line: int | None

    def of(self, *kinds: PtdKind) -> tuple[PtdEvent, ...]:
        """The events of some kinds, in order."""
        return tuple(event for event in self.events if event.kind in kinds)


def read_ptd_log(path: Path) -> PtdLog:
    """Reads a PTD log. Raises UnreadableFile when it cannot be read as text, is empty or complains without end."""
    events: list[PtdEvent] = []
    impossible: int | None = None
    lines = 0
    for number, line in text_lines(path):
        lines = number
        stamp = _STAMP.match(line)
        time = parse_time(stamp[0]) if stamp else None
        if stamp and time is None and impossible is None:
            impossible = number
        message = line[stamp.end() :].strip() if stamp else line
        for kind, text in _said(message, line):
            events.append(PtdEvent(number, kind, text, time))
        if len(events) > _MOST_EVENTS:
            raise UnreadableFile(path, f"more than {_MOST_EVENTS} warnings and errors; measure again", number)
    if not lines:
        raise UnreadableFile(path, "the file is empty; copy the one PTDaemon wrote")
    return PtdLog(path, lines, tuple(events), impossible)


def _said(message: str, line: str) -> list[tuple[PtdKind, str]]:
    """What a line says: its message is the line without its time. A warning is looked at before an error."""
    said: list[tuple[PtdKind, str]] = []
    if message.startswith(_GO):
        said.append((PtdKind.GO, message))
    elif message == _COMPLETED:
        said.append((PtdKind.COMPLETED, message))
    if _UNCERTAINTY.search(line):
        said.append((PtdKind.UNCERTAINTY, message[:_TEXT_CHARACTERS]))
    for kind in (PtdKind.WARNING, PtdKind.ERROR):
        _, found, text = line.partition(f"{kind.value.upper()}:")
        if found and text:
            said.append((kind, text.strip()[:_TEXT_CHARACTERS]))
    return said
