"""The report as one JSON object: a contract (check-report.schema.json) that other tools build on."""

from compliance.report.model import Report, ReportFinding, ReportResult
from compliance.report.plain import json_text

SCHEMA_VERSION = 1
SCHEMA = "check-report"


def render_json(report: Report) -> str:
    """The report as JSON text, of the form `submission_templates/schemas/check-report.schema.json`.

    Strings are as they are in the tree; characters that do not print are written as JSON's escapes.
    """
    document = {
        "schema_version": SCHEMA_VERSION,
        "tool": {
            "name": report.tool.name,
            "version": report.tool.version,
            "official_checker": report.tool.official_checker,
        },
        "round": report.round,
        "round_official": report.round_official,
        "round_basis": list(report.round_basis),
        "round_notes": list(report.round_notes),
        "round_hint": report.round_hint or None,
        "profile": report.profile.value,
        "verdict": report.verdict,
        "results": [_result(result) for result in report.results],
        "findings": [_finding(finding) for finding in report.findings],
    }
    return json_text(document)


def _result(result: ReportResult) -> dict[str, object]:
    return {
        "path": result.path,
        "division": result.division,
        "submitter": result.submitter,
        "system": result.system,
        "benchmark": result.benchmark,
        "scenario": result.scenario,
        "verdict": result.verdict,
        "official_verdict": result.official_verdict,
        "strict_verdict": result.strict_verdict,
        "metric": result.metric,
        "unit": result.unit,
        "inferred": result.inferred,
        "accuracy": {
            metric: {"value": value.value, "minimum": value.minimum, "maximum": value.maximum}
            for metric, value in result.accuracy.items()
        },
        "findings": [_finding(finding) for finding in result.findings],
    }


def _finding(finding: ReportFinding) -> dict[str, object]:
    waived = None
    if finding.waiver is not None:
        waived = {"reason": finding.waiver.reason, "until": finding.waiver.until.isoformat()}
    return {
        "id": finding.id,
        "severity": finding.severity.value,
        "where": finding.where,
        "line": finding.line,
        "pointer": finding.pointer,
        "expected": finding.expected,
        "found": finding.found,
        "message": finding.message or f"{finding.title}: {finding.found}",
        "fix": finding.fix,
        "profiles": [profile.value for profile in finding.profiles],
        "waived": waived,
    }
