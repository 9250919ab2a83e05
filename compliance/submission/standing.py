"""What a judgement says of each result: which of its parts the official checker fails, and what its suite demands."""

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

from compliance.checks.model import Finding, Subject
from compliance.checks.scenarios import suite_of
from compliance.judge import INVALID, JudgedResult, Judgement, counts
from compliance.records import Result
from compliance.rulebook.model import SuiteRules
from compliance.submission.layout_paths import ResultKey
from compliance.vocabulary import Profile, Scenario, Suite


class Part(StrEnum):
    """The part of a result that a finding is about."""

    ACCURACY = "accuracy"
    PERFORMANCE = "performance"
    COMPLIANCE = "compliance"
    POWER = "power"
    OTHER = "other"


_PARTS = {
    "ACC": Part.ACCURACY,
    "PERF": Part.PERFORMANCE,
    "LAT": Part.PERFORMANCE,
    "AUD": Part.COMPLIANCE,
    "PWR": Part.POWER,
}


@dataclass(frozen=True, slots=True)
class Standing:
    """One result: where it stands, what fails by which checks, and what its suite demands.

    `failed` maps a part to the ids of the checks that turn it down in the official profile. `suite` is None where the
    description names no suite, `demands` where the suite does not have the benchmark, `benchmark` where the round does
    not.
    """

    key: ResultKey
    scenario: Scenario | None
    failed: dict[Part, tuple[str, ...]]
    benchmark: str | None
    suite: Suite | None
    demands: SuiteRules | None

    @property
    def bad(self) -> bool:
        """Whether accuracy, performance or an audit fails: what the official tool cleans a tree of."""
        return any(part in self.failed for part in (Part.ACCURACY, Part.PERFORMANCE, Part.COMPLIANCE))

    def reasons(self) -> str:
        """The failing parts with their checks, in words."""
        parts = (part for part in Part if part in self.failed and part is not Part.OTHER)
        return "; ".join(f"{part.value}: {', '.join(self.failed[part])}" for part in parts)


def standings(judgement: Judgement) -> tuple[Standing, ...]:
    """The standing of every result, in the judgement's order."""
    return tuple(_standing(judgement, judged) for judged in judgement.results)


def _standing(judgement: Judgement, judged: JudgedResult) -> Standing:
    result = judged.result
    names = (result.division.value, result.submitter, result.system, result.benchmark, result.scenario_dir)
    rules = judgement.round.benchmarks.get(result.rules_benchmark or "")
    suite = suite_of(_subject(judgement, result))
    return Standing(
        key=ResultKey(*names),
        scenario=result.scenario,
        failed=_failed(judged),
        benchmark=rules.name if rules else None,
        suite=suite,
        demands=rules.suites.get(suite) if rules and suite else None,
    )


def _subject(judgement: Judgement, result: Result) -> Subject:
    for submitter in judgement.submission.submitters:
        if submitter.division is result.division and submitter.name == result.submitter:
            for system in submitter.systems:
                if system.name == result.system:
                    return Subject(judgement.round, judgement.submission, submitter, system, result)
    raise LookupError(f"{result.path} belongs to no system of its tree")


def _failed(judged: JudgedResult) -> dict[Part, tuple[str, ...]]:
    found: dict[Part, dict[str, None]] = {}
    for check_id, finding in _errors(judged):
        found.setdefault(part_of(check_id, finding, judged.result), {})[check_id] = None
    return {part: tuple(ids) for part, ids in found.items()}


def _errors(judged: JudgedResult) -> Iterator[tuple[str, Finding]]:
    if judged.verdicts.official != INVALID:
        return
    for outcome in judged.verdicts.outcomes:
        for finding in outcome.findings:
            if counts(finding, Profile.OFFICIAL):
                yield outcome.check.id, finding


def part_of(check_id: str, finding: Finding, result: Result) -> Part:
    """The part of a result that a finding of a check is about: by the folder it names, else by the check's prefix."""
    by_prefix = _PARTS.get(check_id.partition("-")[0], Part.OTHER)
    if by_prefix is Part.POWER:
        return by_prefix
    folders = (
        *((audit.folder, Part.COMPLIANCE) for audit in result.audits.values()),
        (f"{result.path}/performance/power", Part.POWER),
        (f"{result.path}/performance/ranging", Part.POWER),
        (result.accuracy.folder, Part.ACCURACY),
        (result.performance.folder, Part.PERFORMANCE),
    )
    for folder, part in folders:
        if finding.where == folder or finding.where.startswith(f"{folder}/"):
            return part
    return by_prefix
