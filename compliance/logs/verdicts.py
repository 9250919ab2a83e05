"""verify_accuracy.txt, verify_performance.txt and verify_output_len.txt (compliance_check.py:231-479)."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from compliance.logs.lines import decoded, read_bytes, split_lines

_CHECK = re.compile(r"\scheck pass\s*:", re.IGNORECASE)
_VERDICT = "TEST PASS"


@dataclass(frozen=True, slots=True)
class VerifyText:
    """`passed` holds each "NAME check pass: True|False|Skipped" line; `test_pass` whether "TEST PASS" stands in it.

    Keys of `passed` and `lines_by_name` are the names before "check pass" ("First token", "EOS", "Sample length"). A
    name that stands twice keeps its last verdict: the scripts append. `test_pass_line` is the first line that is
    "TEST PASS" and nothing else, which is what the official checker asks of TEST01 and TEST08. `utf8` is false of a
    file in another encoding, at which the official checker stops.
    """

    path: Path
    passed: Mapping[str, str]
    lines_by_name: Mapping[str, int]
    test_pass: bool
    text: str
    test_pass_line: int | None = None
    utf8: bool = True


def read_verify(path: Path) -> VerifyText:
    """Reads what an audit's verification script printed. Raises UnreadableFile when it is missing or empty."""
    text, utf8 = decoded(read_bytes(path))
    passed: dict[str, str] = {}
    lines: dict[str, int] = {}
    test_pass_line = None
    for number, line in enumerate(split_lines(text), start=1):
        match = _CHECK.search(line)
        name, verdict = (line[: match.start()].strip(), line[match.end() :].split()) if match else ("", [])
        if name and len(verdict) == 1:
            passed[name] = verdict[0]
            lines[name] = number
        if test_pass_line is None and line.strip() == _VERDICT:
            test_pass_line = number
    return VerifyText(path, passed, lines, _VERDICT in text, text, test_pass_line, utf8)
