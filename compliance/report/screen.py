"""One cause in the text report, and what of many fits a screen for each result: no error is left out for a warning."""

from collections.abc import Iterator, Sequence

from compliance.report.grouping import Group
from compliance.report.plain import one_line
from compliance.report.wrap import wrapped
from compliance.vocabulary import Severity

LINES_PER_RESULT = 24
"""One screen."""
INDENT = " " * 10
_WISHES = 4
_PLACES = 3
_LINES_PER_FIELD = 3

Lines = list[str]


def screens(groups: Sequence[Group], width: int) -> tuple[list[Lines], tuple[Group, ...]]:
    """The groups as far as a screen for each result they bear on has room, and one for the tree's own; then the others.

    `groups` come gravest first, and keep their order. Errors are shortened before one is left out, and warnings get the
    lines that errors leave.
    """
    by_owner: dict[str | None, list[int]] = {}
    for at, group in enumerate(groups):
        by_owner.setdefault(group.owner, []).append(at)
    printed: dict[int, Lines] = {}
    for own in by_owner.values():
        errors = [at for at in own if groups[at].severity is Severity.ERROR]
        printed.update(zip(errors, _errors([groups[at] for at in errors], width), strict=False))
        used = sum(len(printed[at]) + 1 for at in errors if at in printed)
        for at in own[len(errors) :]:
            lines = _whole(groups[at], width)
            if used and used + len(lines) + 1 > LINES_PER_RESULT:
                break
            printed[at] = lines
            used += len(lines) + 1
    return [printed[at] for at in sorted(printed)], tuple(g for at, g in enumerate(groups) if at not in printed)


def _errors(groups: Sequence[Group], width: int) -> list[Lines]:
    """The errors of one result on one screen: in full, else with one place each, else all but the first in short."""
    whole = [_whole(group, width) for group in groups]
    if _fits(whole):
        return whole
    for wishes in range(_WISHES, 0, -1):
        lines = [list(entry(group, width, wishes, 1)) for group in groups]
        if _fits(lines):
            return lines
    lines = [_brief(groups[0], width)]
    for group in groups[1:]:
        short = _short(group, width)
        if not _fits([*lines, short]):
            break
        lines.append(short)
    return lines


def _fits(entries: Sequence[Lines]) -> bool:
    return sum(len(lines) + 1 for lines in entries) <= LINES_PER_RESULT


def _whole(group: Group, width: int) -> Lines:
    """The group with as much of it, of at most so many wishes and places, as a screen has lines for."""
    sizes = ((wishes, places) for wishes in range(_WISHES, 0, -1) for places in range(_PLACES, 0, -1))
    tries = (list(entry(group, width, wishes, places)) for wishes, places in sizes)
    return next((lines for lines in tries if len(lines) < LINES_PER_RESULT), _brief(group, width))


def _brief(group: Group, width: int) -> Lines:
    return list(entry(group, width, 1, 1))


def _short(group: Group, width: int) -> Lines:
    """What an error is, and the first value and place; the folder is that of the error in full above it."""
    finding = group.first
    more = len(group.findings) - 1
    place = f"{finding.place.rpartition('/')[2]}{f' and {more} more' if more else ''}"
    head = wrapped(finding.title, width, f"{finding.severity.value.upper():<8}{finding.id}  ", INDENT, 1)
    return [*head, *_field("found", f"{finding.found} ({place})", width, 1)]


def entry(group: Group, width: int, wishes: int | None = None, places: int | None = None) -> Iterator[str]:
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
        yield from wrapped(finding.title, width, head, INDENT)
    if finding.waiver is not None:
        yield from _field("waived", f"until {finding.waiver.until}: {one_line(finding.waiver.reason)}", width, most)
    for wish in group.wishes[:wishes]:
        yield from _field("wanted", wish.first.expected, width, most)
        yield from _found(wish, width, most, len(wish.findings) if places is None else places)
    more = sum(len(wish.findings) for wish in group.wishes[wishes:]) if wishes is not None else 0
    if more:
        yield f"{INDENT}and {more} more of that kind"
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
        yield f"{INDENT}and {more} more {'place' if more == 1 else 'places'}"


def _field(name: str, text: str, width: int, most: int | None) -> Iterator[str]:
    return wrapped(text, width, f"  {name:<8}", INDENT, most)
