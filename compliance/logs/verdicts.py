"""verify_accuracy.txt, verify_performance.txt and verify_output_len.txt of the audits (rules.md 5.7, 6.2)."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class VerifyText:
    """`passed` holds each "NAME check pass: True|False|Skipped" line; `test_pass` whether "TEST PASS" stands in it."""

    path: Path
    passed: Mapping[str, str]
    lines_by_name: Mapping[str, int]
    test_pass: bool
    text: str
