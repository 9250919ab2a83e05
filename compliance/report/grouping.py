"""Findings grouped by cause, and the one line a report ends in: what text and Markdown have in common."""

from collections.abc import Mapping
from dataclasses import dataclass

from compliance.judge import INVALID, NOT_JUDGED
from compliance.report.model import FAIL, PASS, Report, ReportFinding, weighs
from compliance.report.round_hint import collapsed
from compliance.vocabulary import Profile, Severity

_RANK = {Severity.ERROR: 0, Severity.WARNING: 1, Severity.INFO: 2}


@dataclass(frozen=True, slots=True)
class Group:
    """One cause in one or many places: findings of one check that the same step mends.

    `owner` is the first result it bears on, None for the tree's own.
    """

    findings: tuple[ReportFinding, ...]
    owner: str | None

    @property
    def first(self) -> ReportFinding:
        """The finding that speaks for all."""
        return self.findings[0]

    @property
    def places(self) -> tuple[str, ...]:
        """Where, each place once."""
        return tuple(dict.fromkeys(finding.place for finding in self.findings))

    @property
    def alike(self) -> bool:
        """Whether the same was found everywhere."""
        return len({(finding.found, finding.message) for finding in self.findings}) == 1

    @property
    def wishes(self) -> tuple["Group", ...]:
        """The findings by what they want, in the order they are found in."""
        by_wish: dict[str, list[ReportFinding]] = {}
        for finding in self.findings:
            by_wish.setdefault(finding.expected, []).append(finding)
        return tuple(Group(tuple(found), self.owner) for found in by_wish.values())

    @property
    def severity(self) -> Severity:
        """The severity of all its findings."""
        return self.first.severity


def grouped(report: Report, *, every: bool) -> tuple[Group, ...]:
    """The findings by cause, gravest first.

    Without `every`, notes are left out unless `shown` says otherwise, and what the hint on the round stands for.
    """
    owners = _owners(report)
    groups: dict[tuple[object, ...], list[ReportFinding]] = {}
    for finding in report.every_finding():
        if every or (shown(finding) and not collapsed(report, finding)):
            groups.setdefault(_cause(finding), []).append(finding)
    made = (Group(tuple(found), owners.get(found[0])) for found in groups.values())
    return tuple(sorted(made, key=lambda group: (_RANK[group.severity], group.first.id)))


def shown(finding: ReportFinding) -> bool:
    """Whether a finding is shown without being asked for: a pass that the official checker denies must say why."""
    return finding.severity is not Severity.INFO or finding.official_error


def last_line(report: Report) -> str:
    """The verdict in one line; it agrees with the exit code."""
    total = len(report.results)
    if report.verdict == FAIL and not total:
        return f"FAIL: no results found ({report.profile})"
    if report.verdict == FAIL:
        errors = sum(group.severity is Severity.ERROR for group in grouped(report, every=False))
        errors += any(collapsed(report, one) and weighs(one, report.profile) for one in report.every_finding())
        kinds = f"{errors} kind{'' if errors == 1 else 's'} of error"
        return f"FAIL: {_count(report, INVALID)} of {total} results invalid, {kinds} ({report.profile})"
    if report.verdict == PASS:
        said = f"all {total} results valid" if total else "no results found"
        return f"PASS: {said} ({report.profile}){_officially(report)}"
    unjudged = f"{_count(report, NOT_JUDGED)} of {total} results have no rules here, no error"
    return f"NOT JUDGED: {unjudged} ({report.profile}){_officially(report)}"


def _cause(finding: ReportFinding) -> tuple[object, ...]:
    return (finding.id, finding.severity, finding.fix, finding.waiver, finding.official_error)


def _owners(report: Report) -> Mapping[ReportFinding, str]:
    """The first result that each finding of results bears on; the tree's findings belong to none."""
    of_tree = set(report.findings)
    owners: dict[ReportFinding, str] = {}
    for result in report.results:
        for finding in result.findings:
            if finding not in of_tree:
                owners.setdefault(finding, result.path)
    return owners


def _count(report: Report, verdict: str) -> int:
    return sum(result.verdict == verdict for result in report.results)


def _officially(report: Report) -> str:
    """What a good end must not hide: how many results the official checker turns down."""
    rejected = _count_official(report)
    if report.profile is Profile.OFFICIAL or not rejected:
        return ""
    return f"; the official checker rejects {rejected} of {len(report.results)}"


def _count_official(report: Report) -> int:
    return sum(result.official_verdict == INVALID for result in report.results)
