"""Numbers that an audit's verification printed: `NAME: 1383.41` or `NAME = 1383.41`."""

import math
import re
from dataclasses import dataclass

from compliance.logs.lines import split_lines
from compliance.logs.verdicts import VerifyText


@dataclass(frozen=True, slots=True)
class Stated:
    """A number and the line it stands on (1-based)."""

    value: float
    line: int


def stated(text: VerifyText, name: str) -> Stated | None:
    """The last number printed under a name in any case, None where none is: the scripts append to what is there."""
    pattern = re.compile(rf"{re.escape(name)}\s*[:=]\s*(\d+(?:\.\d*)?(?:e[-+]?\d+)?)(?:\s*%)?", re.IGNORECASE)
    found = None
    for line, printed in enumerate(split_lines(text.text), start=1):
        match = pattern.fullmatch(printed.strip())
        if match is not None and math.isfinite(float(match[1])):
            found = Stated(float(match[1]), line)
    return found
