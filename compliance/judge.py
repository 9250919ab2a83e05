"""The judge: every check on everything it applies to, and from the findings both verdicts per result."""

from dataclasses import dataclass

from compliance.checks.facts import unmet
from compliance.checks.model import Check, Finding, Outcome, Scope, Skip, State, Subject, Verdicts
from compliance.checks.registry import all_checks
from compliance.records import Result, Submission, SubmitterEntry, SystemEntry
from compliance.rule_types import Round
from compliance.vocabulary import Profile, Severity

VALID, INVALID, NOT_JUDGED = "valid", "invalid", "not_judged"
INTERNAL = "INT-001"
_ENDPOINT_FILES = ("config.yaml", "config.yml", "performance/result_summary.json")


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
    tree_outcomes = _run(Scope.TREE, tree)
    above, results = list(tree_outcomes), list[JudgedResult]()
    endpoints = _endpoints(submission)
    for submitter in submission.submitters:
        own = _run(Scope.SUBMITTER, Subject(round_, submission, submitter))
        above.extend(own)
        for system in submitter.systems:
            of_system = _run(Scope.SYSTEM, Subject(round_, submission, submitter, system))
            above.extend(of_system)
            inherited = (*tree_outcomes, *own, *of_system)
            for result in system.results:
                subject = _subject(round_, submission, (submitter, system, result), endpoints)
                results.append(_judged(subject, result, inherited))
    return Judgement(submission, round_, tuple(above), tuple(results))


def _subject(
    round_: Round,
    submission: Submission,
    holders: tuple[SubmitterEntry, SystemEntry, Result],
    endpoints: frozenset[str],
) -> Subject:
    submitter, system, result = holders
    benchmark = round_.benchmarks.get(result.rules_benchmark) if result.rules_benchmark else None
    scenario = benchmark.scenarios.get(result.scenario) if benchmark and result.scenario else None
    no_logs = result.performance.detail is None and result.accuracy.detail is None
    is_endpoints = no_logs and result.path in endpoints
    return Subject(round_, submission, submitter, system, result, benchmark, scenario, is_endpoints)


def _endpoints(submission: Submission) -> frozenset[str]:
    """Results folders that hold a file of the endpoints layout (endpoints_parser.py:26-31)."""
    found = (
        entry.path.removesuffix(f"/{name}")
        for entry in submission.files
        for name in _ENDPOINT_FILES
        if entry.path.endswith(f"/{name}")
    )
    return frozenset(found)


def _judged(subject: Subject, result: Result, inherited: tuple[Outcome, ...]) -> JudgedResult:
    outcomes = _run(Scope.RESULT, subject)
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
    """Whether there are rules for the result: a benchmark known here, and LoadGen's logs."""
    return subject.benchmark is not None and not subject.endpoints


def counts(finding: Finding, profile: Profile) -> bool:
    """Whether a finding turns a result down in a profile."""
    return finding.severity is Severity.ERROR and profile in finding.profiles


def _run(scope: Scope, subject: Subject) -> tuple[Outcome, ...]:
    return tuple(run_check(check, subject) for check in all_checks() if check.scope is scope)


def run_check(check: Check, subject: Subject) -> Outcome:
    """One check on one subject: pass, fail, or skip with a reason. An exception inside it becomes a finding INT-001."""
    where = _where(subject)
    try:
        reason = unmet(subject, check.needs)
        yielded = [] if reason else list(check.function(subject))
    except Exception as error:  # noqa: BLE001 - a fault in one check must cost that result, never the run
        return _internal(check, where, error)
    findings = tuple(item for item in yielded if isinstance(item, Finding))
    if findings:
        return Outcome(check, State.FAIL, where, findings)
    skips = [item.reason for item in yielded if isinstance(item, Skip)]
    reason = reason or (skips[0] if skips else None)
    return Outcome(check, State.SKIP, where, reason=reason) if reason else Outcome(check, State.PASS, where)


def _internal(check: Check, where: str, error: Exception) -> Outcome:
    title = "a check must come to an end"
    fix = "This is a fault of weighbridge, not of the tree: report it with the message and, if you may, the file."
    internal = Check(INTERNAL, title, "weighbridge", check.scope, (), check.function, fix, check.lowers)
    found = f"{type(error).__name__}: {error}"
    return Outcome(internal, State.FAIL, where, (Finding(where, f"check {check.id} comes to an end", found),))


def _where(subject: Subject) -> str:
    holders = (holder.path for holder in (subject.result, subject.system, subject.submitter) if holder is not None)
    return next(holders, ".")
