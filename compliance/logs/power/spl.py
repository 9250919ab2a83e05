"""spl.txt: the power analyser's samples, one a line ("Time,T,Watts,W,Volts,V,Amps,A,PF,F,Mark,M")."""

from array import array
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path

from compliance.errors import UnreadableFile
from compliance.logs.power.lines import parse_time, text_lines

_TIME, _WATTS, _POWER_FACTOR = 1, 3, 9


@dataclass(frozen=True, slots=True)
class SplFault:
    """A sample that cannot be read. `power_factor` when it is only its power factor."""

    line: int
    reason: str
    power_factor: bool = False


@dataclass(frozen=True, slots=True)
class SplLog:
    """The samples of one run. Means are over the positive ones strictly inside the window, None when there is none.

    `fault` is the first sample that cannot be read; of the others `samples` are counted. `line` is the first
    sample's, None without any.
    """

    path: Path
    samples: int
    within: int
    mean_watts: float | None
    mean_power_factor: float | None
    fault: SplFault | None
    line: int | None = None


@dataclass(slots=True)
class _Sums:
    window: tuple[datetime, datetime] | None
    watts: "array[float]" = field(default_factory=lambda: array("d"))
    power_factors: "array[float]" = field(default_factory=lambda: array("d"))

    def take(self, number: int, line: str) -> SplFault | None:
        """Adds one sample, or says why it cannot be read (power_check.py:182-195)."""
        fields = line.split(",")
        time = parse_time(fields[_TIME]) if len(fields) > _TIME else None
        if time is None:
            return SplFault(number, "no time mm-dd-yyyy HH:MM:SS.mmm after Time")
        if self.window is None or not self.window[0] < time < self.window[1]:
            return None
        watts, power_factor = _number(fields, _WATTS), _number(fields, _POWER_FACTOR)
        if watts is None:
            return SplFault(number, "no number of watts")
        if watts > 0:
            self.watts.append(watts)
        if power_factor is None:
            return SplFault(number, "no power factor", power_factor=True)
        if power_factor > 0:
            self.power_factors.append(power_factor)
        return None


def read_spl(path: Path, window: tuple[datetime, datetime] | None) -> SplLog:
    """Reads the samples of a run and averages those strictly inside a window.

    Lines that do not begin with Time are passed over. Raises UnreadableFile when the file cannot be read as text or
    holds nothing.
    """
    sums = _Sums(window)
    fault: SplFault | None = None
    samples, first, lines = 0, None, 0
    for number, line in text_lines(path):
        lines = number
        if not line.startswith("Time"):
            continue
        samples, first = samples + 1, first or number
        wrong = sums.take(number, line)
        fault = fault or wrong
    if not lines:
        raise UnreadableFile(path, "the file is empty; copy the one PTDaemon wrote")
    within = len(sums.watts)
    return SplLog(path, samples, within, _mean(sums.watts), _mean(sums.power_factors), fault, first)


def _mean(values: "array[float]") -> float | None:
    return sum(values) / len(values) if values else None


def _number(fields: list[str], position: int) -> float | None:
    try:
        return float(fields[position])
    except (ValueError, IndexError):
        return None
