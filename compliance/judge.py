"""The judge: every check on everything it applies to, and from the findings both verdicts per result."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cache

from compliance.checks.facts import unmet
from compliance.checks.model import Check, Finding, Outcome, Scope, Skip, State, Subject, Verdicts
from compliance.checks.registry import all_checks
from compliance.records import Result, Submission, SubmitterEntry, SystemEntry
from compliance.rulebook.model import Round
from compliance.vocabulary import Profile, Severity

VALID, INVALID, NOT_JUDGED = "valid", "invalid", "not_judged"
INTERNAL = "INT-001"


@dataclass(frozen=True, slots=True)
class JudgedResult:
    """A result, both verdicts, the outcomes of its own checks, and those above it that bear on it."""

    result: Result
    verdicts: Verdicts
    inherited: tuple[Outcome, ...]


@dataclass(frozen=True, slots=True)
class Judgement:
    """A whole tree judged. `above` holds the outcomes of checks on the tree, its submitters and its systems."""

    submission: Submission
    round: Round
    above: tuple[Outcome, ...]
    results: tuple[JudgedResult, ...]


def judge(submission: Submission, round_: Round) -> Judgement:
    """Judge a tree by a round's rules. Raises nothing over what the tree holds: that is what findings are for."""
    tree = Subject(round_, submission)
    tree_outcomes = run_checks(Scope.TREE, tree)
    above, results = list(tree_outcomes), list[JudgedResult]()
    for submitter in submission.submitters:
        own = of_submitter(Subject(round_, submission, submitter))
        above.extend(own)
        for system in submitter.systems:
            of_system = run_checks(Scope.SYSTEM, Subject(round_, submission, submitter, system))
            above.extend(of_system)
            inherited = (*tree_outcomes, *own, *of_system)
            for result in system.results:
                subject = subject_of(round_, submission, (submitter, system, result))
                results.append(judged_result(subject, result, inherited))
    return Judgement(submission, round_, tuple(above), tuple(results))


def of_submitter(subject: Subject, parts: Iterable[Outcome] = ()) -> tuple[Outcome, ...]:
    """Every check on a submitter and on its files, in report order.

    `parts` are outcomes of the checks of files over what lies beneath the submitter and `subject` does not list.
    """
    found: dict[str, list[Outcome]] = {}
    for one in parts:
        if one.findings:
            found.setdefault(one.check.id, []).append(one)
    outcomes = {one.check.id: one for one in run_checks(Scope.SUBMITTER, subject)}
    for one in run_checks(Scope.FILES, subject):
        more = found.pop(one.check.id, ())
        outcomes[one.check.id] = _joined([one, *more]) if more else one
    ordered = [outcomes.pop(check.id) for check in all_checks() if check.id in outcomes]
    broken_off = (one for outcomes_of in found.values() for one in outcomes_of)
    return (*ordered, *outcomes.values(), *broken_off)


def _joined(outcomes: Sequence[Outcome]) -> Outcome:
    """One check's outcomes over the parts of a submitter as its outcome over the whole: findings in order of path.

    A file may be of two parts: a finding about it counts once.
    """
    first = next(one for one in outcomes if one.findings)
    findings = dict.fromkeys(finding for one in outcomes for finding in one.findings)
    return replace(first, findings=tuple(sorted(findings, key=lambda finding: finding.where)))


def subject_of(round_: Round, submission: Submission, holders: tuple[SubmitterEntry, SystemEntry, Result]) -> Subject:
    """What checks of a result are given."""
    submitter, system, result = holders
    benchmark = round_.benchmarks.get(result.rules_benchmark) if result.rules_benchmark else None
    scenario = benchmark.scenarios.get(result.scenario) if benchmark and result.scenario else None
    endpoints = result.endpoints is not None
    return Subject(round_, submission, submitter, system, result, benchmark, scenario, endpoints)


def judged_result(subject: Subject, result: Result, inherited: tuple[Outcome, ...]) -> JudgedResult:
    """A result judged by its own checks and by the findings above it that turn down what lies beneath."""
    outcomes = run_checks(Scope.RESULT, subject)
    bearing = tuple(outcome for outcome in inherited if outcome.check.lowers and outcome.findings)
    official, strict = (
        _verdict(subject, (*outcomes, *bearing), profile) for profile in (Profile.OFFICIAL, Profile.STRICT)
    )
    return JudgedResult(result, Verdicts(official, strict, outcomes), bearing)


def _verdict(subject: Subject, outcomes: tuple[Outcome, ...], profile: Profile) -> str:
    findings = (finding for outcome in outcomes for finding in outcome.findings)
    if any(counts(finding, profile) for finding in findings):
        return INVALID
    return VALID if can_be_judged(subject) else NOT_JUDGED


def can_be_judged(subject: Subject) -> bool:
    """Whether there are rules for the result: a benchmark known here."""
    return subject.benchmark is not None


def counts(finding: Finding, profile: Profile) -> bool:
    """Whether a finding turns a result down in a profile."""
    return finding.severity is Severity.ERROR and profile in finding.profiles


def run_checks(scope: Scope, subject: Subject) -> tuple[Outcome, ...]:
    """Every check of a scope on one subject, in report order."""
    where = _where(subject)
    known: dict[str, str | None] = {}
    return tuple([run_check(check, subject, where, known) for check in _checks_of(scope)])


@cache
def _checks_of(scope: Scope) -> tuple[Check, ...]:
    return tuple(check for check in all_checks() if check.scope is scope)


def run_check(
    check: Check, subject: Subject, where: str | None = None, known: dict[str, str | None] | None = None
) -> Outcome:
    """One check on one subject: pass, fail, or skip with a reason. An exception inside it becomes a finding INT-001.

    `known` keeps which needs the subject meets from one check to the next.
    """
    try:
        reason = unmet(subject, check.needs, {} if known is None else known)
        yielded = [] if reason else list(check.function(subject))
    except Exception as error:  # noqa: BLE001 - a fault in one check must cost that result, never the run
        return _internal(check, _where(subject) if where is None else where, error)
    if not yielded:
        return ended(check, State.SKIP, reason) if reason else ended(check, State.PASS)
    findings = tuple([item for item in yielded if isinstance(item, Finding)])
    if findings:
        return Outcome(check, State.FAIL, _where(subject) if where is None else where, findings)
    return ended(check, State.SKIP, next(item.reason for item in yielded if isinstance(item, Skip)))


_ENDED: dict[tuple[str, str], Outcome] = {}
_MOST_ENDED = 8192


def ended(check: Check, state: State, reason: str = "") -> Outcome:
    """A check's end without findings: one object for all alike, of which a large tree has millions; it has no place."""
    known = _ENDED.get((check.id, reason))
    if known is not None and known.check is check and known.state is state:
        return known
    if len(_ENDED) >= _MOST_ENDED:
        _ENDED.clear()
    return _ENDED.setdefault((check.id, reason), Outcome(check, state, "", (), reason))


def internal_check(check: Check) -> Check:
    """The check that stands in for one that broke off."""
    title = "a check must come to an end"
    fix = "This is a fault of weighbridge, not of the tree: report it with the message and, if you may, the file."
    return Check(INTERNAL, title, "weighbridge", check.scope, (), check.function, fix, check.lowers)


def _internal(check: Check, where: str, error: Exception) -> Outcome:
    found = f"{type(error).__name__}: {error}"
    finding = Finding(where, f"check {check.id} comes to an end", found)
    return Outcome(internal_check(check), State.FAIL, where, (finding,))


def _where(subject: Subject) -> str:
    holders = (holder.path for holder in (subject.result, subject.system, subject.submitter) if holder is not None)
    return next(holders, ".")
