"""The report as JSON: every record and figure of the page."""

import msgspec

from harness.report.model import ReportData

SCHEMA_VERSION = 1


def render_json(data: ReportData) -> str:
    """One JSON object: `schema_version` and the members of ReportData. Numbers that are not finite become null."""
    document = {"schema_version": SCHEMA_VERSION, **msgspec.to_builtins(data)}
    return msgspec.json.format(msgspec.json.encode(document), indent=2).decode() + "\n"
