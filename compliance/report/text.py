"""The report for people: what is wrong, grouped by cause; a table of results; one last line that is the verdict."""

from collections import Counter
from collections.abc import Iterator

from compliance.report.grouping import Group, grouped, last_line, shown
from compliance.report.model import NAMED, Report
from compliance.report.plain import one_line
from compliance.report.round_hint import collapsed
from compliance.report.scores import score_tables
from compliance.report.table import summary_table
from compliance.report.wrap import wrapped
from compliance.vocabulary import Profile

LINES_PER_RESULT = 24
"""One screen."""
_INDENT = " " * 10
_WISHES = 4
_PLACES = 3
_LINES_PER_FIELD = 3


def render_text(report: Report, verbose: bool = False, width: int = 80) -> str:  # noqa: FBT001, FBT002 - the agreed form
    """The report as text that ends in a line agreeing with the exit code; no line takes more than `width` columns.

    By default at most a screen of findings per result: the gravest first, three places and three lines of a value each;
    of the information only what the official checker rejects and strict does not. `verbose` shows all. Longer paths go
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
    printed, held_back = (groups, ()) if verbose else _of_one_screen(groups, width)
    for group in printed:
        yield from _group(group, width) if verbose else _screen(group, width)
        yield ""
    hidden = 0 if verbose else sum(not shown(finding) for finding in report.every_finding())
    if held_back:
        kinds = f"{len(held_back)} more {'kind' if len(held_back) == 1 else 'kinds'} of finding"
        named = ", ".join(dict.fromkeys(group.first.id for group in held_back))
        yield from wrapped(f"and {kinds}: {named} (-v shows all)", width)
    if hidden:
        yield f"{hidden} {'note' if hidden == 1 else 'notes'} of the other profile (-v shows them)"
    if printed:
        yield f"weighbridge explain {printed[0].first.id} tells what that check asks, and why"
    if hidden or printed:
        yield ""


def _of_one_screen(groups: tuple[Group, ...], width: int) -> tuple[tuple[Group, ...], tuple[Group, ...]]:
    """The groups that fit a screen for each result they bear on first, and one for the tree's own; then the others."""
    used: Counter[str | None] = Counter()
    printed, held_back = list[Group](), list[Group]()
    for group in groups:
        size = len(_screen(group, width)) + 1
        if used[group.owner] and used[group.owner] + size > LINES_PER_RESULT:
            used[group.owner] = LINES_PER_RESULT
            held_back.append(group)
            continue
        used[group.owner] += size
        printed.append(group)
    return tuple(printed), tuple(held_back)


def _round_hint(report: Report, *, verbose: bool, width: int) -> Iterator[str]:
    """One line on the round in place of all that follows from a wrong one."""
    hidden = sum(collapsed(report, finding) for finding in report.every_finding())
    follow = "1 finding follows" if hidden == 1 else f"{hidden} findings follow"
    aside = "" if verbose or not hidden else f" ({follow} from that; -v shows them all)"
    yield from wrapped(f"{report.round_hint}{aside}", width, "ROUND   ", _INDENT)
    yield ""


def _screen(group: Group, width: int) -> list[str]:
    """The group with as much of it, of at most so many wishes and places, as a screen has lines for."""
    sizes = ((wishes, places) for wishes in range(_WISHES, 0, -1) for places in range(_PLACES, 0, -1))
    tries = (list(_group(group, width, wishes, places)) for wishes, places in sizes)
    return next((lines for lines in tries if len(lines) < LINES_PER_RESULT), list(_group(group, width, 1, 1)))


def _group(group: Group, width: int, wishes: int | None = None, places: int | None = None) -> Iterator[str]:
    """One cause: what is wanted, what was found where, what to do.

    Shows so many wishes and so many places of each, of a long value the beginning; without limits all of it, whole.
    """
    finding = group.first
    most = None if places is None else _LINES_PER_FIELD
    head = f"{finding.severity.value.upper():<8}{finding.id}  "
    whole = f"{head}{finding.title}  [{finding.source}]"
    beside = len(whole) <= width
    if beside:
        yield whole
    else:
        yield from wrapped(finding.title, width, head, _INDENT)
    if finding.waiver is not None:
        yield from _field("waived", f"until {finding.waiver.until}: {one_line(finding.waiver.reason)}", width, most)
    for wish in group.wishes[:wishes]:
        yield from _field("wanted", wish.first.expected, width, most)
        yield from _found(wish, width, most, len(wish.findings) if places is None else places)
    more = sum(len(wish.findings) for wish in group.wishes[wishes:]) if wishes is not None else 0
    if more:
        yield f"{_INDENT}and {more} more of that kind"
    if finding.official_error:
        yield from _field("", "the official checker rejects this; strict does not", width, most)
    yield from _field("fix", finding.fix, width, None)
    if places is None and not beside:
        yield from _field("source", finding.source, width, None)


def _found(group: Group, width: int, most: int | None, places: int) -> Iterator[str]:
    """What was found and where: once for all places where it is the same, else place by place."""
    if group.alike:
        yield from _field("found", group.first.found, width, most)
        yield from _field("", group.first.message, width, most)
        for number, place in enumerate(group.places[:places]):
            yield from _field("" if number else "at", place, width, None)
        more = len(group.places) - places
    else:
        for finding in group.findings[:places]:
            yield from _field("found", finding.found, width, most)
            yield from _field("", finding.message, width, most)
            yield from _field("at", finding.place, width, None)
        more = len(group.findings) - places
    if more > 0:
        yield f"{_INDENT}and {more} more {'place' if more == 1 else 'places'}"


def _field(name: str, text: str, width: int, most: int | None) -> Iterator[str]:
    return wrapped(text, width, f"  {name:<8}", _INDENT, most)


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
