"""The report for people: what is wrong, grouped by cause; a table of results; one last line that is the verdict."""

from collections.abc import Iterator

from compliance.report.grouping import Group, grouped, last_line, shown
from compliance.report.model import NAMED, Report
from compliance.report.plain import one_line
from compliance.report.round_hint import collapsed
from compliance.report.scores import score_tables
from compliance.report.screen import INDENT, entry, screens
from compliance.report.table import summary_table
from compliance.report.wrap import wrapped
from compliance.vocabulary import Profile, Severity


def render_text(report: Report, verbose: bool = False, width: int = 80) -> str:  # noqa: FBT001, FBT002 - the agreed form
    """The report as text that ends in a line agreeing with the exit code; no line takes more than `width` columns.

    By default at most a screen of findings per result (`screens`); of the information only what the official checker
    rejects and strict does not. `verbose` shows all. Longer paths go
    on in the next line, behind a slash. Characters that do not print are escaped.
    """
    lines = [*_head(report, width), ""]
    lines.extend(_findings(report, verbose=verbose, width=width))
    lines.extend(score_tables(report, verbose=verbose, width=width))
    if report.results:
        lines.extend((*summary_table(report, width), ""))
    lines.extend(_waivers(report, width))
    lines.append(last_line(report))
    return "\n".join(lines) + "\n"


def _head(report: Report, width: int) -> Iterator[str]:
    yield from wrapped(
        f"{report.tool.name} {report.tool.version}: round {report.round}, profile {report.profile};"
        f" official verdicts are those of {report.tool.official_checker}",
        width,
    )
    if not report.round_official:
        note = (
            f"Round {report.round} is no MLPerf round: here official means the official checker's comparisons with this"
            " round's own numbers. Its results are no MLPerf results."
        )
        yield from wrapped(note, width)
    if report.round_basis and report.round_basis != NAMED:
        yield from wrapped(f"Round {report.round}: {'; '.join(report.round_basis)}.", width)
    for note in report.round_notes:
        yield from wrapped(f"But {note}.", width)


def _findings(report: Report, *, verbose: bool, width: int) -> Iterator[str]:
    if report.round_hint:
        yield from _round_hint(report, verbose=verbose, width=width)
    groups = grouped(report, every=verbose)
    printed, held_back = ([list(entry(group, width)) for group in groups], ()) if verbose else screens(groups, width)
    for lines in printed:
        yield from lines
        yield ""
    hidden = 0 if verbose else sum(not shown(finding) for finding in report.every_finding())
    if held_back:
        yield from wrapped(f"and {_held(held_back)} (-v shows all)", width)
    if hidden:
        yield f"{hidden} {'note' if hidden == 1 else 'notes'} of the other profile (-v shows them)"
    if groups:
        yield f"weighbridge explain {groups[0].first.id} tells what that check asks, and why"
    if hidden or groups:
        yield ""


def _held(groups: tuple[Group, ...]) -> str:
    """What there was no room for, by severity: how many kinds, and their ids."""
    by_severity: dict[Severity, list[str]] = {}
    for group in groups:
        by_severity.setdefault(group.severity, []).append(group.first.id)
    return "; ".join(
        f"{len(ids)} more {'kind' if len(ids) == 1 else 'kinds'} of {severity.value}: {', '.join(dict.fromkeys(ids))}"
        for severity, ids in by_severity.items()
    )


def _round_hint(report: Report, *, verbose: bool, width: int) -> Iterator[str]:
    """One line on the round in place of all that follows from a wrong one."""
    hidden = sum(collapsed(report, finding) for finding in report.every_finding())
    follow = "1 finding follows" if hidden == 1 else f"{hidden} findings follow"
    aside = "" if verbose or not hidden else f" ({follow} from that; -v shows them all)"
    yield from wrapped(f"{report.round_hint}{aside}", width, "ROUND   ", INDENT)
    yield ""


def _waivers(report: Report, width: int) -> Iterator[str]:
    for waiver in report.waivers:
        uses = sum(finding.waiver == waiver for finding in report.every_finding())
        where = f" at {waiver.where}" if waiver.where else ""
        reason = one_line(waiver.reason)
        yield from wrapped(f"waiver {waiver.id}{where} until {waiver.until}: {reason} ({uses} findings)", width)
    for waiver in report.expired_waivers:
        yield from wrapped(f"waiver {waiver.id} expired on {waiver.until} and is not applied", width)
    if report.profile is Profile.OFFICIAL and report.waivers:
        yield "waivers do not change the official verdict"
    if report.waivers or report.expired_waivers:
        yield ""
