"""The one hint on a tree that is of another round or layout than it is judged by, and the findings it stands for."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from compliance.report.model import Report, ReportFinding

_OF_SEEDS = frozenset({"PERF-002", "PERF-003", "PERF-004", "PERF-102", "PERF-103", "ACC-010", "LOG-011"})
"""Seeds and LoadGen's release."""
_OF_BENCHMARKS = frozenset({"SCN-002"})
"""Benchmarks that the round does not have."""
_OF_LAYOUT = frozenset({"MEAS-001", "MEAS-002", "MEAS-003", "AUD-001", "STR-010"})
"""Files that another layout keeps elsewhere, where nothing stands at their place."""
_NOTHING_THERE = ("no such", "the file is missing")
_OF_AUDIT_RUNS = frozenset({"AUD-008", "AUD-014"})
"""Findings about an audit's run, whose message begins with the id of the check that was made of it."""
_SEEDS, _LAYOUT, _BOTH = "these seeds are", "this layout is", "these seeds and this layout are"
_UNKNOWN = "these logs are of no round known here"


@dataclass(frozen=True, slots=True)
class Mismatch:
    """What speaks against the round a tree is judged by: whose the seeds and the layout are instead.

    Empty where they are its own. `unknown` tells what the logs hold where they are of a round without rules here.
    """

    seeds_of: str = ""
    layout_of: str = ""
    unknown: str = ""


NO_MISMATCH = Mismatch()


def hint_text(mismatch: Mismatch, judged_by: str) -> str:
    """The hint in one sentence with the command that helps; empty where nothing speaks against the round."""
    if mismatch.unknown:
        return f"{_UNKNOWN}: {mismatch.unknown}"
    if mismatch.seeds_of:
        what = _BOTH if mismatch.layout_of else _SEEDS
        other = mismatch.seeds_of
        return f"{what} {other}'s, not {judged_by}'s: check with --round {other}"
    if mismatch.layout_of:
        command = f"`weighbridge package --from TREE --to-layout {judged_by} --out NEW_TREE`"
        return f"{_LAYOUT} {mismatch.layout_of}'s, not {judged_by}'s: bring it there with {command}"
    return ""


def collapsed(report: "Report", finding: "ReportFinding") -> bool:
    """Whether the hint stands in place of a finding that follows from what it says."""
    mismatch = report.mismatch
    inner = finding.message.partition(":")[0] if finding.id in _OF_AUDIT_RUNS else finding.id
    if mismatch.layout_of and finding.id in _OF_LAYOUT:
        return finding.found.startswith(_NOTHING_THERE)
    return bool(mismatch.seeds_of or mismatch.unknown) and (inner in _OF_SEEDS or finding.id in _OF_BENCHMARKS)
