"""Rows of the bench and the interval of paired ratios."""

import json
import math
import statistics
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

# Two-sided 95 % points of Student's t by degrees of freedom.
T_95 = {1: 12.706, 2: 4.303, 3: 3.182, 4: 2.776, 5: 2.571, 6: 2.447, 7: 2.365, 8: 2.306, 9: 2.262, 14: 2.145, 19: 2.093}


@dataclass(frozen=True, slots=True)
class Row:
    """One figure: `value` in `unit`, and where it was taken beside another, their `ratio` with a 95 % interval."""

    name: str
    value: float
    unit: str
    against: str = ""
    ratio: float | None = None
    runs: int = 1
    low: float | None = None
    high: float | None = None


def paired(name: str, unit: str, ours: Sequence[float], theirs: Sequence[float], against: str) -> Row:
    """The geometric mean of the pairwise ratios and its interval, from the logarithms of the pairs."""
    logs = [math.log(a / b) for a, b in zip(ours, theirs, strict=True)]
    mean, half = statistics.fmean(logs), 0.0
    if len(logs) > 1:
        degrees = max(k for k in T_95 if k <= len(logs) - 1)
        half = T_95[degrees] * statistics.stdev(logs) / math.sqrt(len(logs))
    ratio, low, high = (math.exp(x) for x in (mean, mean - half, mean + half))
    return Row(name, statistics.median(ours), unit, against, ratio, len(logs), low, high)


def table(rows: Sequence[Row]) -> str:
    """The rows at 80 columns."""
    lines = [f"{'figure':<40}{'value':>12} {'unit':<12}{'ratio [95 %]':>15}"]
    for row in rows:
        interval = "" if row.ratio is None else f"{row.ratio:.3f}"
        if row.low is not None and row.high is not None and row.runs > 1:
            interval += f" [{row.low:.3f}-{row.high:.3f}]"
        lines.append(f"{row.name:<40}{row.value:>12,.4g} {row.unit:<8}{interval:>19}")
        if row.against:
            lines.append(f"    against {row.against}, {row.runs} run{'s' if row.runs > 1 else ''}")
    return "\n".join(lines)


def save(rows: Sequence[Row], path: Path) -> None:
    """Writes the rows as JSON."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps([asdict(row) for row in rows], indent=2) + "\n", encoding="utf-8")
