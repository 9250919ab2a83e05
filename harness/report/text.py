"""The report as plain text of at most 100 columns, for terminals and mail."""

from collections.abc import Iterable, Iterator, Sequence

from harness.report import words
from harness.report.model import FindingView, ReportData, ScenarioView

_WIDTH = 100


def render_text(data: ReportData) -> str:
    """The whole report without its figures; their percentiles stand in tables."""
    return "\n".join(line.rstrip() for line in _lines(data)) + "\n"


def _lines(data: ReportData) -> Iterator[str]:
    title = f"{data.title} on {data.system}" if data.system else data.title
    yield title
    yield "=" * min(len(title), _WIDTH)
    yield f"{data.submitter}, {data.division} division, {data.round_title}"
    yield f"strict: {words.says(data.strict)}   official: {words.says(data.official)}"
    for problem in data.problems:
        yield f"! {problem}"
    yield from _section("Results")
    rows = [
        (v.scenario, words.number(v.metric), v.unit, v.validity, words.says(v.strict), words.says(v.official))
        for v in data.scenarios
    ]
    yield from _table(("scenario", "result", "unit", "LoadGen", "strict", "official"), rows)
    for view in data.scenarios:
        yield from _scenario(view)
    if data.findings:
        yield from _section("Findings of the tree")
        yield from _findings(data.findings)
    yield from _section("Provenance")
    yield from (f"{fact.name}: {fact.value}" for fact in (*data.system_facts, *data.provenance))
    for index, worker in enumerate(data.workers):
        yield f"worker {index}: {worker.engine} {worker.version}, {worker.device}, {worker.dtype}, {worker.model}"


def _scenario(view: ScenarioView) -> Iterator[str]:
    yield from _section(view.scenario)
    yield from (f"{fact.name}: {fact.value}" for fact in (*view.validity_facts, *view.run_facts))
    if view.scores:
        yield ""
        rows = [
            (
                s.metric,
                words.bound(s.value),
                words.bound(s.minimum),
                words.bound(s.maximum),
                words.percent(s.margin_percent),
                words.says(s.passed) if s.passed is not None else "",
            )
            for s in view.scores
        ]
        yield from _table(("accuracy", "value", "minimum", "maximum", "margin", ""), rows)
    else:
        yield f"accuracy: {view.accuracy_status}"
    if view.distributions:
        yield ""
        spread = [
            (d.name, d.unit, *(words.number(value) for value in (d.mean, d.p50, d.p90, d.p99, d.maximum, d.limit)))
            for d in view.distributions
        ]
        yield from _table(("quantity", "unit", "mean", "p50", "p90", "p99", "most", "limit"), spread)
    for audit in view.audits:
        checks = ", ".join(f"{name} {value}" for name, value in audit.checks.items())
        yield f"{audit.name}: {words.says(audit.passed)}" + (f" ({checks})" if checks else "")
    for setting in view.settings:
        if not setting.agrees:
            yield f"! {setting.key}: asked {setting.asked}, in force {setting.effective}"
    yield from _findings(view.findings)


def _findings(findings: Iterable[FindingView]) -> Iterator[str]:
    for finding in findings:
        line = f":{finding.line}" if finding.line else ""
        yield f"{finding.severity.upper()} {finding.id} {finding.where}{line}"
        if finding.message:
            yield f"    {finding.message}"
        yield f"    expected {finding.expected}; found {finding.found}"
        if finding.fix:
            yield f"    fix: {finding.fix}"
        if finding.waived:
            yield f"    waived: {finding.waived}"


def _section(title: str) -> Iterator[str]:
    yield from ("", title, "-" * len(title))


def _table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> Iterator[str]:
    widths = [max(len(row[column]) for row in (header, *rows)) for column in range(len(header))]
    for row in (header, *rows):
        yield "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True))
