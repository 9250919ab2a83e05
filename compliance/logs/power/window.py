"""power_begin and power_end of a detail log, found without reading the log's records."""

import re
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from compliance.logs.power.lines import parse_time, raw_lines

_RECORD_LIMIT_BYTES = 1 << 16
# Bounded repetitions, so that a line of digits costs no more than its length.
_STAMP = re.compile(r"\d{1,4}-\d{1,4}-\d{1,4} \d{1,4}:\d{1,4}:\d{1,4}\.\d{0,9}")


@dataclass(frozen=True, slots=True)
class PowerMark:
    """A line that says when the measured part of a run began or ended; `time` is None when it holds none."""

    line: int
    time: datetime | None


@dataclass(frozen=True, slots=True)
class PowerWindow:
    """Between which times of a run power counts. A mark is None when the log has no such line."""

    begin: PowerMark | None
    end: PowerMark | None

    @property
    def times(self) -> tuple[datetime, datetime] | None:
        """Begin and end, None unless both are there."""
        if self.begin is None or self.end is None or self.begin.time is None or self.end.time is None:
            return None
        return self.begin.time, self.end.time

    @property
    def duration_s(self) -> float | None:
        """Seconds from begin to end."""
        times = self.times
        return None if times is None else (times[1] - times[0]).total_seconds()


def read_window(path: Path) -> PowerWindow:
    """Reads the two marks of a detail log as the Power WG's checker does (power_checker.py:300-330).

    Of several begins the last one before an end counts. Raises UnreadableFile when the log cannot be read.
    """
    begin: PowerMark | None = None
    end: PowerMark | None = None
    for number, line in raw_lines(path, _RECORD_LIMIT_BYTES):
        lowered = line.lower()
        if b"power_begin" in lowered:
            begin = _mark(number, line)
        elif b"power_end" in lowered:
            end = _mark(number, line)
        if (begin and begin.time is None) or (end and end.time is None) or (begin and end):
            break
    return PowerWindow(begin, end)


def _mark(number: int, line: bytes) -> PowerMark:
    match = _STAMP.search(line.decode("latin-1"))
    return PowerMark(number, parse_time(match[0]) if match else None)
