"""The report for people: what is wrong, grouped by cause; a table of results; one last line that is the verdict."""

import textwrap
from collections.abc import Iterator
from dataclasses import dataclass

from compliance.judge import INVALID, NOT_JUDGED, VALID
from compliance.report.model import FAIL, PASS, Report, ReportFinding
from compliance.report.table import summary_table
from compliance.vocabulary import Profile, Severity

_INDENT = " " * 10
_PLACES = 3
_GROUPS_PER_RESULT = 4
_RANK = {Severity.ERROR: 0, Severity.WARNING: 1, Severity.INFO: 2}


@dataclass(frozen=True, slots=True)
class _Group:
    first: ReportFinding
    places: tuple[str, ...]


def render_text(report: Report, verbose: bool = False, width: int = 80) -> str:  # noqa: FBT001, FBT002 - the agreed form
    """The report as text that ends in a line agreeing with the exit code.

    By default at most about a screen per result: the gravest findings, three places each; of the information only
    what the official checker rejects and strict does not. `verbose` shows all. Paths are never broken, whatever the
    `width`.
    """
    lines = [*_head(report, width), ""]
    lines.extend(_findings(report, verbose=verbose, width=width))
    if report.results:
        lines.extend((*summary_table(report, width), ""))
    lines.extend(_waivers(report, width))
    lines.append(_last(report))
    return "\n".join(lines) + "\n"


def _head(report: Report, width: int) -> Iterator[str]:
    yield from textwrap.wrap(
        f"{report.tool.name} {report.tool.version}: round {report.round}, profile {report.profile};"
        f" official verdicts are those of {report.tool.official_checker}",
        width,
    )
    if not report.round_official:
        note = (
            f"Round {report.round} is no MLPerf round: here official means the official checker's comparisons with this"
            " round's own numbers. Its results are no MLPerf results."
        )
        yield from textwrap.wrap(note, width)


def _grouped(report: Report, *, verbose: bool) -> tuple[_Group, ...]:
    groups: dict[tuple[object, ...], list[ReportFinding]] = {}
    for finding in report.every_finding():
        if not verbose and not _shown(finding):
            continue
        key = (finding.id, finding.severity, finding.expected, finding.found, finding.message, finding.waiver)
        groups.setdefault(key, []).append(finding)
    made = (_Group(found[0], tuple(dict.fromkeys(one.place for one in found))) for found in groups.values())
    return tuple(sorted(made, key=lambda group: (_RANK[group.first.severity], group.first.id)))


def _shown(finding: ReportFinding) -> bool:
    """Whether a finding is shown without being asked for: a pass that the official checker denies must say why."""
    return finding.severity is not Severity.INFO or finding.official_error


def _findings(report: Report, *, verbose: bool, width: int) -> Iterator[str]:
    groups = _grouped(report, verbose=verbose)
    most = len(groups) if verbose else max(1, len(report.results)) * _GROUPS_PER_RESULT
    for group in groups[:most]:
        yield from _group(group, verbose=verbose, width=width)
        yield ""
    hidden = 0 if verbose else sum(not _shown(finding) for finding in report.every_finding())
    if len(groups) > most:
        yield f"and {len(groups) - most} more kinds of finding (--verbose shows all)"
    if hidden:
        yield f"{hidden} notes of the other profile (--verbose shows them)"
    if len(groups) > most or hidden:
        yield ""


def _group(group: _Group, *, verbose: bool, width: int) -> Iterator[str]:
    finding = group.first
    head = f"{finding.severity.value.upper():<8}{finding.id}  {finding.title}"
    whole = f"{head}  [{finding.source}]"
    beside = len(whole) <= width
    yield whole if beside else head
    if finding.waiver is not None:
        yield from _field("waived", f"until {finding.waiver.until}: {finding.waiver.reason}", width)
    yield from _field("wanted", finding.expected, width)
    yield from _field("found", finding.found, width)
    yield from _field("", finding.message, width)
    if finding.official_error:
        yield from _field("", "the official checker rejects this; strict does not", width)
    shown = group.places if verbose else group.places[:_PLACES]
    for number, place in enumerate(shown):
        yield f"  {'at' if number == 0 else '':<8}{place}"
    if len(group.places) > len(shown):
        yield f"{_INDENT}and {len(group.places) - len(shown)} more places"
    yield from _field("fix", finding.fix, width)
    if verbose and not beside:
        yield from _field("source", finding.source, width)


def _field(name: str, text: str, width: int) -> Iterator[str]:
    head = f"  {name:<8}"
    wrapped = textwrap.wrap(
        text, width, initial_indent=head, subsequent_indent=_INDENT, break_long_words=False, break_on_hyphens=False
    )
    return iter(wrapped)


def _waivers(report: Report, width: int) -> Iterator[str]:
    for waiver in report.waivers:
        uses = sum(finding.waiver == waiver for finding in report.every_finding())
        where = f" at {waiver.where}" if waiver.where else ""
        yield from textwrap.wrap(
            f"waiver {waiver.id}{where} until {waiver.until}: {waiver.reason} ({uses} findings)", width
        )
    for waiver in report.expired_waivers:
        yield from textwrap.wrap(f"waiver {waiver.id} expired on {waiver.until} and is not applied", width)
    if report.profile is Profile.OFFICIAL and report.waivers:
        yield "waivers do not change the official verdict"
    if report.waivers or report.expired_waivers:
        yield ""


def _last(report: Report) -> str:
    count = {verdict: sum(result.verdict == verdict for result in report.results) for verdict in _VERDICTS}
    total = len(report.results)
    if report.verdict == FAIL and not total:
        return f"FAIL: no results found ({report.profile})"
    if report.verdict == FAIL:
        errors = sum(group.first.severity is Severity.ERROR for group in _grouped(report, verbose=False))
        kinds = f"{errors} kind{'' if errors == 1 else 's'} of error"
        return f"FAIL: {count[INVALID]} of {total} results invalid, {kinds} ({report.profile})"
    if report.verdict == PASS:
        said = f"all {total} results valid" if total else "no results found"
        return f"PASS: {said} ({report.profile}){_officially(report)}"
    unjudged = f"{count[NOT_JUDGED]} of {total} results have no rules here, no error"
    return f"NOT JUDGED: {unjudged} ({report.profile}){_officially(report)}"


def _officially(report: Report) -> str:
    """What a good end must not hide: how many results the official checker turns down."""
    rejected = sum(result.official_verdict == INVALID for result in report.results)
    if report.profile is Profile.OFFICIAL or not rejected:
        return ""
    return f"; the official checker rejects {rejected} of {len(report.results)}"


_VERDICTS = (VALID, INVALID, NOT_JUDGED)
