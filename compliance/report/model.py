"""A report: a judgement seen from one profile, with waivers marked. What the text, JSON and other forms are made of."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime

from compliance.checks.model import Finding, Outcome, State
from compliance.judge import INVALID, NOT_JUDGED, VALID, JudgedResult, Judgement
from compliance.metrics.performance import read_metric
from compliance.report.accuracy import AccuracyValue, accuracy_values, finite
from compliance.report.listing import Listing, listings
from compliance.report.round_hint import NO_MISMATCH, Mismatch, hint_text
from compliance.version import VERSION
from compliance.vocabulary import Profile, Severity
from compliance.waivers import Waiver

OFFICIAL_CHECKER = "mlcommons/inference b66003e1"
PASS, FAIL = "pass", "fail"
NAMED = ("named with --round",)
"""What a round rests on that the user named."""
_EXIT_CODES = {PASS: 0, FAIL: 1, NOT_JUDGED: 3}


@dataclass(frozen=True, slots=True)
class Tool:
    """Who judged: this tool, its version, and the official checker whose verdicts the official profile gives."""

    name: str
    version: str
    official_checker: str


@dataclass(frozen=True, slots=True)
class ReportFinding:
    """A finding as one profile weighs it: one that does not count there is information. `waiver` covers it, or None.

    `official_error` marks what strict lets pass and the official checker turns down.
    """

    id: str
    title: str
    source: str
    severity: Severity
    where: str
    line: int | None
    pointer: str | None
    expected: str
    found: str
    message: str
    fix: str
    profiles: tuple[Profile, ...]
    waiver: Waiver | None
    official_error: bool = False

    @property
    def place(self) -> str:
        """path:line, or path#pointer where there is no line."""
        if self.line is not None:
            return f"{self.where}:{self.line}"
        return f"{self.where}#{self.pointer}" if self.pointer else self.where


@dataclass(frozen=True, slots=True)
class ReportCheck:
    """How one check ended on what stands at `where`; `reason` says why it was skipped."""

    id: str
    title: str
    state: State
    where: str
    reason: str


@dataclass(frozen=True, slots=True)
class ReportResult:
    """One result: who, what, both verdicts, the metric with its unit, the scores, every finding that bears on it.

    `outcomes` are those of the result's own checks and of those above it that found something. `listing` holds the
    official table's further columns.
    """

    path: str
    division: str
    submitter: str
    system: str
    benchmark: str
    scenario: str
    verdict: str
    official_verdict: str
    strict_verdict: str
    metric: float | None
    unit: str
    inferred: bool
    accuracy: Mapping[str, AccuracyValue]
    findings: tuple[ReportFinding, ...]
    outcomes: tuple[Outcome, ...] = ()
    listing: Listing | None = None

    @property
    def checks(self) -> tuple[ReportCheck, ...]:
        """How each check ended. Made when asked for: there are more of them than of anything else in a report."""
        return _checks(self.outcomes, self.path)


@dataclass(frozen=True, slots=True)
class Report:
    """A whole report. `findings` and `checks` are those of the tree, submitters and systems; a result's stand with it.

    `round_basis` says what the round was found by, `round_notes` what speaks against it, `mismatch` whose the seeds or
    the layout are where they are another round's.
    """

    tool: Tool
    round: str
    round_official: bool
    profile: Profile
    verdict: str
    results: tuple[ReportResult, ...]
    findings: tuple[ReportFinding, ...]
    waivers: tuple[Waiver, ...]
    expired_waivers: tuple[Waiver, ...]
    checks: tuple[ReportCheck, ...] = ()
    round_basis: tuple[str, ...] = ()
    round_notes: tuple[str, ...] = ()
    mismatch: Mismatch = NO_MISMATCH

    @property
    def round_hint(self) -> str:
        """The one sentence on a tree of another round or layout; empty where nothing speaks against the round."""
        return hint_text(self.mismatch, self.round)

    @property
    def exit_code(self) -> int:
        """0 nothing is wrong, 1 at least one unwaived error, 3 no error but something had no rules to be judged by."""
        return _EXIT_CODES[self.verdict]

    def every_finding(self) -> tuple[ReportFinding, ...]:
        """Each finding once: the tree's and, of the results', those that are not the tree's as well."""
        listed = (*self.findings, *(finding for result in self.results for finding in result.findings))
        return tuple(dict.fromkeys(listed))


def build_report(
    judgement: Judgement, profile: Profile, waivers: tuple[Waiver, ...] = (), today: date | None = None
) -> Report:
    """The judgement from one profile's side. `today` decides which waivers have expired (default: now, UTC)."""
    day = today or datetime.now(tz=UTC).date()
    lens = _Lens(profile, waivers, day)
    listed = listings(judgement)
    results = tuple(_result(judged, judgement, lens, listed[judged.result.path]) for judged in judgement.results)
    findings = lens.findings(judgement.above)
    return Report(
        tool=Tool("weighbridge", VERSION, OFFICIAL_CHECKER),
        round=judgement.round.name,
        round_official=judgement.round.official,
        profile=profile,
        verdict=_overall(results, findings, profile),
        results=results,
        findings=findings,
        waivers=tuple(waiver for waiver in waivers if not waiver.expired(day)),
        expired_waivers=tuple(waiver for waiver in waivers if waiver.expired(day)),
        checks=_checks(judgement.above),
    )


def weighs(finding: ReportFinding, profile: Profile) -> bool:
    """Whether the finding turns something down in its report: an error, and not waived. Waivers hold in strict only."""
    return finding.severity is Severity.ERROR and (profile is Profile.OFFICIAL or finding.waiver is None)


@dataclass(frozen=True, slots=True)
class _Lens:
    profile: Profile
    waivers: tuple[Waiver, ...]
    today: date

    def findings(self, outcomes: Iterable[Outcome]) -> tuple[ReportFinding, ...]:
        """The outcomes' findings as the profile weighs them; one that the profile has a weight of its own for, once."""
        pairs = [(outcome, finding) for outcome in outcomes for finding in outcome.findings]
        own = {_same(outcome, finding) for outcome, finding in pairs if self.profile in finding.profiles}
        rejected = {_same(outcome, finding) for outcome, finding in pairs if self._officially(finding)}
        kept = (
            self._weighed(outcome, finding, official_error=_same(outcome, finding) in rejected)
            for outcome, finding in pairs
            if self.profile in finding.profiles or _same(outcome, finding) not in own
        )
        return tuple(dict.fromkeys(kept))

    def _officially(self, finding: Finding) -> bool:
        """Whether a finding is an error of the official profile alone, seen from the strict one."""
        alone = finding.profiles == (Profile.OFFICIAL,) and finding.severity is Severity.ERROR
        return alone and self.profile is Profile.STRICT

    def _weighed(self, outcome: Outcome, finding: Finding, *, official_error: bool) -> ReportFinding:
        check = outcome.check
        return ReportFinding(
            id=check.id,
            title=check.title,
            source=check.source,
            severity=finding.severity if self.profile in finding.profiles else Severity.INFO,
            where=finding.where,
            line=finding.line,
            pointer=finding.pointer,
            expected=finding.expected,
            found=finding.found,
            message=finding.message,
            fix=finding.fix or check.fix,
            profiles=finding.profiles,
            waiver=self.waiver(check.id, finding.where),
            official_error=official_error,
        )

    def waiver(self, check_id: str, where: str) -> Waiver | None:
        """The first waiver that covers such a finding today."""
        return next((waiver for waiver in self.waivers if waiver.covers(check_id, where, self.today)), None)


def _same(outcome: Outcome, finding: Finding) -> tuple[str, str, int | None, str | None, str, str]:
    return (outcome.check.id, finding.where, finding.line, finding.pointer, finding.expected, finding.found)


def _checks(outcomes: Iterable[Outcome], place: str = ".") -> tuple[ReportCheck, ...]:
    """How checks ended; `place` is where the outcomes that name none stand."""
    return tuple(
        ReportCheck(one.check.id, one.check.title, one.state, one.where or place, one.reason) for one in outcomes
    )


def _result(judged: JudgedResult, judgement: Judgement, lens: _Lens, listing: Listing) -> ReportResult:
    result, verdicts = judged.result, judged.verdicts
    benchmark = judgement.round.benchmarks.get(result.rules_benchmark or "")
    metric = read_metric(result, benchmark)
    strict = _waived_verdict(judged, lens)
    return ReportResult(
        path=result.path,
        division=result.division.value,
        submitter=result.submitter,
        system=result.system,
        benchmark=result.benchmark,
        scenario=result.scenario.value if result.scenario else result.scenario_dir,
        verdict=verdicts.official if lens.profile is Profile.OFFICIAL else strict,
        official_verdict=verdicts.official,
        strict_verdict=strict,
        metric=finite(metric.value),
        unit=metric.unit,
        inferred=metric.inferred,
        accuracy={} if benchmark is None else dict(accuracy_values(result, benchmark)),
        findings=lens.findings((*verdicts.outcomes, *judged.inherited)),
        outcomes=(*verdicts.outcomes, *judged.inherited),
        listing=listing,
    )


def _waived_verdict(judged: JudgedResult, lens: _Lens) -> str:
    """The strict verdict once waived findings are set aside. It turns from invalid only if every error is waived."""
    if judged.verdicts.strict != INVALID:
        return judged.verdicts.strict
    strict = _Lens(Profile.STRICT, lens.waivers, lens.today)
    findings = strict.findings((*judged.verdicts.outcomes, *judged.inherited))
    if any(weighs(finding, Profile.STRICT) for finding in findings):
        return INVALID
    return VALID if judged.result.rules_benchmark else NOT_JUDGED


def _overall(results: tuple[ReportResult, ...], findings: tuple[ReportFinding, ...], profile: Profile) -> str:
    verdicts = {result.verdict for result in results}
    if INVALID in verdicts or any(weighs(finding, profile) for finding in findings):
        return FAIL
    return NOT_JUDGED if NOT_JUDGED in verdicts else PASS
