"""The audits that Weighbridge runs itself: how each is asked of LoadGen, and how its logs are judged.

TEST01, TEST04, TEST08 belong to benchmarks this harness does not run; TEST07 needs a dataset of its own.
"""

from collections.abc import Iterable
from pathlib import Path

from compliance.audits import test06
from compliance.audits.base import AuditPlan
from compliance.logs.accuracy import iter_accuracy
from compliance.rulebook.model import BenchmarkRules
from compliance.vocabulary import AuditId, Scenario
from harness.errors import PlanError
from harness.storage import write_atomic

RUNNABLE = (AuditId.TEST06,)


def audit_plan(audit: AuditId) -> AuditPlan:
    """The run the audit is made of. Raises PlanError for an audit that cannot be run here."""
    if audit not in RUNNABLE:
        raise PlanError(f"{audit} cannot be run by Weighbridge; run it with the official script and add its folder")
    return test06.plan()


def unsupported(audits: Iterable[AuditId]) -> tuple[AuditId, ...]:
    """Those of `audits` that this harness cannot run."""
    return tuple(audit for audit in audits if audit not in RUNNABLE)


def verify(audit: AuditId, folder: Path, rules: BenchmarkRules, scenario: Scenario) -> tuple[bool, str]:
    """Judge an audit run in `folder` and write its verify_accuracy.txt. Returns (passed, the text).

    Raises PlanError for an audit that cannot be judged here, UnreadableFile for a log that cannot be read.
    """
    if audit not in RUNNABLE:
        raise PlanError(f"{audit} cannot be verified by Weighbridge; use the official script")
    entries = iter_accuracy(folder / "mlperf_log_accuracy.json")
    verdict = test06.verify(entries, scenario, frozenset(rules.generation.eos_token_ids))
    text = test06.render_verify_text(verdict)
    write_atomic(folder / "verify_accuracy.txt", text)
    return verdict.passed, text
