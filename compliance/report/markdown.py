"""The report as Markdown, for a comment on a pull request: the verdict, a table of results, findings by cause."""

import re
from collections.abc import Iterable, Iterator

from compliance.report.grouping import Group, grouped, last_line
from compliance.report.model import Report, ReportFinding, ReportResult
from compliance.report.plain import one_line, plain
from compliance.report.table import accuracy_text, metric_text, verdict_text
from compliance.vocabulary import Severity

MOST_CHARACTERS = 60_000
"""A comment on a code-hosting site ends at 65,536 characters."""
_MOST_ROWS = 100
_PLACES = 10
_COLUMNS = ("system", "benchmark", "scenario", "result", "accuracy", "verdict", "official")
_MARKED = re.compile(r"[\\`*_{}\[\]<>#|~$&]")
_LINKED = re.compile(r"@(?=\w)|:(?=//)|\bwww(?=\.)", re.IGNORECASE)
"""Where a site would make a mention or a link of plain text."""
_BACKTICKS = re.compile(r"`+")
_HEADINGS = {Severity.ERROR: "Errors", Severity.WARNING: "Warnings", Severity.INFO: "Notes"}


def render_markdown(report: Report) -> str:
    """The report as GitHub-flavoured Markdown of at most 60,000 characters; what is left out is counted.

    What stems from the tree stands in code spans, so that it makes no markup, no mention and no link. Results that are
    not valid come first where there are more than a hundred.
    """
    lines = [f"### {_prose(last_line(report))}", ""]
    lines.append(f"Round {_code(report.round)}, profile {_code(report.profile.value)}. {_prose(_who(report))}")
    if not report.round_official:
        lines.append("This is no MLPerf round: these results are no MLPerf results.")
    if report.round_hint:
        lines.append(f"**Round**: {_prose(report.round_hint)}.")
    lines.append("")
    lines.extend(_table(report))
    lines.extend(_findings(report, MOST_CHARACTERS - sum(len(line) + 1 for line in lines)))
    return "\n".join(lines).rstrip("\n") + "\n"


def _who(report: Report) -> str:
    tool = report.tool
    return f"{tool.name} {tool.version}; official verdicts are those of {tool.official_checker}."


def _table(report: Report) -> Iterator[str]:
    if not report.results:
        return
    results = sorted(report.results, key=lambda result: result.verdict == "valid")
    shown = report.results if len(results) <= _MOST_ROWS else results[:_MOST_ROWS]
    yield _row(_COLUMNS)
    yield _row("---:" if name in ("result", "accuracy") else "---" for name in _COLUMNS)
    yield from (_row(_cells(result)) for result in shown)
    if len(results) > len(shown):
        yield ""
        yield f"and {len(results) - len(shown)} more results"
    yield ""


def _cells(result: ReportResult) -> Iterator[str]:
    for name in (result.system, result.benchmark, result.scenario):
        yield _code(name, in_table=True)
    yield _prose(metric_text(result))
    yield _prose(accuracy_text(result))
    for verdict in (result.verdict, result.official_verdict):
        shown = verdict_text(verdict)
        yield f"**{shown}**" if verdict == "invalid" else shown


def _row(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _findings(report: Report, room: int) -> Iterator[str]:
    """The groups of findings while there is room, under a heading per severity."""
    groups = grouped(report, every=False)
    for at, group in enumerate(groups):
        block = list(_group(group))
        if at == 0 or groups[at - 1].severity is not group.severity:
            block = [*([""] if at else []), f"#### {_HEADINGS[group.severity]}", "", *block]
        room -= sum(len(line) + 1 for line in block)
        if room < 0:
            yield f"and {len(groups) - at} more kinds of finding"
            return
        yield from block


def _group(group: Group) -> Iterator[str]:
    finding = group.first
    yield f"- **{finding.id}** {_prose(finding.title)}"
    if finding.waiver is not None:
        yield f"  - waived until {finding.waiver.until}: {_prose(finding.waiver.reason)}"
    wishes = group.wishes
    for wish in wishes[:_PLACES]:
        yield from _wish(wish)
    if len(wishes) > _PLACES:
        yield f"  - and {sum(len(wish.findings) for wish in wishes[_PLACES:])} more of that kind"
    if finding.official_error:
        yield "  - the official checker rejects this; strict does not"
    if finding.fix:
        yield f"  - fix: {_prose(finding.fix)}"


def _wish(group: Group) -> Iterator[str]:
    """What findings that want the same want, and what was found where."""
    if group.first.expected:
        yield f"  - wanted: {_code(_short(group.first.expected))}"
    if group.alike:
        yield from _found(group.first)
        yield f"  - at {', '.join(_code(place) for place in group.places[:_PLACES])}"
    else:
        for one in group.findings[:_PLACES]:
            yield from _found(one, f"; at {_code(one.place)}")
    more = len(group.places if group.alike else group.findings) - _PLACES
    if more > 0:
        yield f"  - and {more} more places"


def _found(finding: ReportFinding, where: str = "") -> Iterator[str]:
    told = [f"found: {_code(_short(finding.found))}"] if finding.found else []
    told.extend([_prose(_short(finding.message))] if finding.message else [])
    if told or where:
        yield f"  - {'; '.join(told)}{where}"


def _short(text: str, most: int = 1000) -> str:
    return text if len(text) <= most else f"{text[:most]}..."


def _code(text: str, *, in_table: bool = False) -> str:
    """A code span: its fence is longer than any run of backticks inside; in a table a pipe needs its backslash."""
    shown = plain(text)
    longest = max((len(run) for run in _BACKTICKS.findall(shown)), default=0)
    fence = "`" * (longest + 1)
    padded = f" {shown} " if longest or shown[:1] in {"", " "} or shown[-1:] == " " else shown
    if in_table:
        padded = padded.replace("|", "\\|")
    return f"{fence}{padded}{fence}"


def _prose(text: str) -> str:
    """Text that is read as it is: no markup, and no mention, no link."""
    escaped = _MARKED.sub(lambda match: f"\\{match[0]}", one_line(text))
    return _LINKED.sub(lambda match: f"{match[0]}<!-- -->", escaped)
