"""The compliance report as the HTML report shows it, read from its JSON: the contract of `check --format json`."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from harness.report.model import FindingView

if TYPE_CHECKING:
    from compliance.report.model import Report

NOT_CHECKED = "not checked"


@dataclass(frozen=True, slots=True)
class ResultVerdict:
    """What the checks say of one results folder. `metric` is None when it could not be read."""

    path: str
    benchmark: str
    scenario: str
    strict: str
    official: str
    metric: float | None
    unit: str
    findings: tuple[FindingView, ...]


@dataclass(frozen=True, slots=True)
class Verdicts:
    """The verdict of the tree in both profiles, of each result, and the findings of the tree itself."""

    strict: str
    official: str
    round: str
    results: tuple[ResultVerdict, ...]
    findings: tuple[FindingView, ...]

    def of(self, benchmark: str, scenario: str) -> ResultVerdict | None:
        """The verdict of a result by benchmark (or its folder's name) and scenario."""
        wanted = [result for result in self.results if result.scenario == scenario]
        named = [result for result in wanted if benchmark in (result.benchmark, *result.path.split("/"))]
        return (named or wanted)[0] if named or len(wanted) == 1 else None


def read_verdicts(report: "Report | None") -> Verdicts:
    """The verdicts of a compliance report; all "not checked" where there is none."""
    if report is None:
        return Verdicts(NOT_CHECKED, NOT_CHECKED, "", (), ())
    from compliance.report.json_ import render_json  # noqa: PLC0415 - a report without a tree needs no checks

    return parse_verdicts(render_json(report))


def parse_verdicts(text: str) -> Verdicts:
    """The verdicts in the JSON of `weighbridge check --format json`."""
    document = json.loads(text)
    results = tuple(_result(entry) for entry in document["results"])
    findings = tuple(_finding(entry) for entry in document["findings"])
    stated = {str(document["profile"]): str(document["verdict"])}
    return Verdicts(
        strict=stated.get("strict") or _overall([result.strict for result in results]),
        official=stated.get("official") or _overall([result.official for result in results]),
        round=str(document["round"]),
        results=results,
        findings=findings,
    )


def _overall(verdicts: Sequence[str]) -> str:
    """A tree's verdict in the profile that the report was not made for: that of its results."""
    if "invalid" in verdicts:
        return "fail"
    return "not_judged" if "not_judged" in verdicts else "pass"


def _result(entry: Mapping[str, object]) -> ResultVerdict:
    metric, findings = entry.get("metric"), entry.get("findings")
    return ResultVerdict(
        path=str(entry["path"]),
        benchmark=str(entry.get("benchmark")),
        scenario=str(entry.get("scenario")),
        strict=str(entry["strict_verdict"]),
        official=str(entry["official_verdict"]),
        metric=float(metric) if isinstance(metric, int | float) else None,
        unit=str(entry.get("unit") or ""),
        findings=tuple(_finding(finding) for finding in findings) if isinstance(findings, list) else (),
    )


def _finding(entry: Mapping[str, object]) -> FindingView:
    line, profiles, waived = entry.get("line"), entry.get("profiles"), entry.get("waived")
    return FindingView(
        id=str(entry["id"]),
        severity=str(entry["severity"]),
        where=str(entry.get("where") or ""),
        line=line if isinstance(line, int) else None,
        expected=str(entry.get("expected") or ""),
        found=str(entry.get("found") or ""),
        message=str(entry.get("message") or ""),
        fix=str(entry.get("fix") or ""),
        profiles=tuple(map(str, profiles)) if isinstance(profiles, list) else (),
        waived=f"{waived.get('reason')} (until {waived.get('until')})" if isinstance(waived, dict) else "",
    )
