"""The report as SARIF 2.1.0 (OASIS), for code-review views: a rule per check, a result per finding in its line."""

import hashlib
import json
from urllib.parse import quote

from compliance.checks.registry import all_checks
from compliance.explain import explain
from compliance.judge import INTERNAL
from compliance.report.model import Report, ReportFinding
from compliance.report.plain import json_text, plain
from compliance.vocabulary import Severity

VERSION = "2.1.0"
SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
_LEVELS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFO: "note"}


def render_sarif(report: Report) -> str:
    """The report as a SARIF log with one run. Paths are relative to the tree and percent-encoded; lines are 1-based.

    Every check is listed as a rule, with what `weighbridge explain` says of it. A waived finding is suppressed.
    The hint on a wrong round is a notification of the invocation.
    """
    rules = [_rule(check.id, check.title) for check in all_checks()]
    rules.append(_rule(INTERNAL, "a check must come to an end"))
    index = {str(rule["id"]): at for at, rule in enumerate(rules)}
    run = {
        "tool": {
            "driver": {
                "name": report.tool.name,
                "version": report.tool.version,
                "rules": rules,
            }
        },
        "invocations": [_invocation(report)],
        "columnKind": "unicodeCodePoints",
        "results": [_result(finding, index) for finding in report.every_finding()],
        "properties": {
            "round": report.round,
            "profile": report.profile.value,
            "verdict": report.verdict,
            "official_checker": report.tool.official_checker,
        },
    }
    return json_text({"$schema": SCHEMA, "version": VERSION, "runs": [run]})


def _invocation(report: Report) -> dict[str, object]:
    made: dict[str, object] = {"executionSuccessful": True, "exitCode": report.exit_code}
    if report.round_hint:
        notification = {"level": "warning", "message": {"text": plain(report.round_hint)}}
        made["toolConfigurationNotifications"] = [notification]
    return made


def _rule(check_id: str, title: str) -> dict[str, object]:
    return {
        "id": check_id,
        "shortDescription": {"text": title},
        "help": {"text": explain(check_id)},
        "defaultConfiguration": {"level": "error"},
    }


def _result(finding: ReportFinding, index: dict[str, int]) -> dict[str, object]:
    made: dict[str, object] = {
        "ruleId": finding.id,
        "level": _LEVELS[finding.severity],
        "message": {"text": _message(finding)},
        "locations": [_location(finding)],
        "partialFingerprints": {"findingHash/v1": _fingerprint(finding)},
        "properties": {
            "expected": finding.expected,
            "found": finding.found,
            "fix": finding.fix,
            "profiles": [profile.value for profile in finding.profiles],
        },
    }
    if finding.id in index:
        made["ruleIndex"] = index[finding.id]
    if finding.waiver is not None:
        until = f"waived until {finding.waiver.until}: {finding.waiver.reason}"
        made["suppressions"] = [{"kind": "external", "status": "accepted", "justification": plain(until)}]
    return made


def _message(finding: ReportFinding) -> str:
    """What was compared, and what to do: a review view may show nothing else."""
    parts = (
        finding.title,
        f"wanted {finding.expected}" if finding.expected else "",
        f"found {finding.found}" if finding.found else "",
        finding.message,
    )
    said = "; ".join(plain(part).rstrip(".") for part in parts if part)
    return f"{said}. {plain(finding.fix)}".rstrip()


def _location(finding: ReportFinding) -> dict[str, object]:
    physical: dict[str, object] = {"artifactLocation": {"uri": uri(finding.where)}}
    if finding.line is not None and finding.line > 0:
        physical["region"] = {"startLine": finding.line}
    if not finding.pointer:
        return {"physicalLocation": physical}
    logical = {"fullyQualifiedName": plain(finding.pointer), "kind": "member"}
    return {"physicalLocation": physical, "logicalLocations": [logical]}


def uri(path: str) -> str:
    """A path of the tree as a relative URI reference, percent-encoded (a colon too: it would end a scheme)."""
    return quote(path.encode("utf-8", "backslashreplace"), safe="/")


def _fingerprint(finding: ReportFinding) -> str:
    """The same for the same fault in the same place, whatever the line: a view then knows it again."""
    parts = (finding.id, finding.where, finding.pointer, finding.expected)
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()
