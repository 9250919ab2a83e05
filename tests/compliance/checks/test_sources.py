"""Citations: in full, and of files that their readers can open."""

import re

import pytest

from compliance.checks.registry import all_checks
from compliance.checks.sources import cite

PART = re.compile(
    r"(mlcommons/inference b66003e1 )?"
    r"(submission_checker(/[\w/]+|_old)\.py:[\d, -]+|loadgen/[\w.]+:[\d-]+|compliance/\S+|generate_final_report\.py"
    r"|(inference|submission)_rules\.adoc:[\d-]+)|weighbridge: .+"
)


@pytest.mark.parametrize(
    ("short", "full"),
    [
        (
            "performance_check.py:188",
            "mlcommons/inference b66003e1 submission_checker/checks/performance_check.py:188",
        ),
        ("inference_rules.adoc:462", "inference_rules.adoc:462"),
        (
            "loader.py:249; old:2921; submission_rules.adoc:374",
            "mlcommons/inference b66003e1 submission_checker/loader.py:249; submission_checker_old.py:2921; submission_rules.adoc:374",
        ),
        (
            "inference_rules.adoc:1065; loadgen/logging.h:706-743",
            "inference_rules.adoc:1065; mlcommons/inference b66003e1 loadgen/logging.h:706-743",
        ),
        ("weighbridge: both logs are of one run", "weighbridge: both logs are of one run"),
    ],
)
def test_a_citation_names_repository_commit_file_and_lines(short, full):
    assert cite(short) == full


@pytest.mark.parametrize("check", all_checks(), ids=lambda check: check.id)
def test_every_check_cites_a_public_place_or_gives_its_own_reason(check):
    for part in check.source.split("; "):
        assert PART.fullmatch(part), part
