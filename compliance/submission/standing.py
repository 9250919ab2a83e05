"""What a judgement says of each result: which of its parts the official checker fails, and what its suite demands."""

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

from compliance.checks.model import Finding, Subject
from compliance.checks.scenarios import suite_of
from compliance.discovery.files import fill
from compliance.judge import INVALID, JudgedResult, Judgement, counts
from compliance.rulebook.model import Layout, Round, SuiteRules
from compliance.submission.layout_paths import ResultKey
from compliance.vocabulary import AuditId, Profile, Scenario, Suite


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
    """The standing of every result, in the judgement's order; results may have been judged system by system."""
    round_, submission = judgement.round, judgement.submission
    suites = {
        (submitter.division, submitter.name, system.name): suite_of(Subject(round_, submission, submitter, system))
        for submitter in submission.submitters
        for system in submitter.systems
    }
    return tuple(
        _standing(round_, judged, suites[judged.result.division, judged.result.submitter, judged.result.system])
        for judged in judgement.results
    )


def _standing(round_: Round, judged: JudgedResult, suite: Suite | None) -> Standing:
    result = judged.result
    names = (result.division.value, result.submitter, result.system, result.benchmark, result.scenario_dir)
    key = ResultKey(*names)
    rules = round_.benchmarks.get(result.rules_benchmark or "")
    return Standing(
        key=key,
        scenario=result.scenario,
        failed=_failed(judged, _folders(key, round_.layout)),
        benchmark=rules.name if rules else None,
        suite=suite,
        demands=rules.suites.get(suite) if rules and suite else None,
    )


def _folders(key: ResultKey, layout: Layout) -> tuple[tuple[str, Part], ...]:
    """The folders of a result by what they hold; those within others first."""
    performance = f"{fill(layout.scenario_dir, key.names)}/performance"
    return (
        *((fill(layout.audit_dir, {**key.names, "audit": audit.value}), Part.COMPLIANCE) for audit in AuditId),
        (f"{performance}/power", Part.POWER),
        (f"{performance}/ranging", Part.POWER),
        (fill(layout.accuracy_dir, key.names), Part.ACCURACY),
        (fill(layout.performance_dir, key.names), Part.PERFORMANCE),
    )


def _failed(judged: JudgedResult, folders: tuple[tuple[str, Part], ...]) -> dict[Part, tuple[str, ...]]:
    found: dict[Part, dict[str, None]] = {}
    for check_id, finding in _errors(judged):
        found.setdefault(part_of(check_id, finding, folders), {})[check_id] = None
    return {part: tuple(ids) for part, ids in found.items()}


def _errors(judged: JudgedResult) -> Iterator[tuple[str, Finding]]:
    if judged.verdicts.official != INVALID:
        return
    for outcome in judged.verdicts.outcomes:
        for finding in outcome.findings:
            if counts(finding, Profile.OFFICIAL):
                yield outcome.check.id, finding


def part_of(check_id: str, finding: Finding, folders: tuple[tuple[str, Part], ...]) -> Part:
    """The part of a result that a finding of a check is about: by the folder it names, else by the check's prefix."""
    by_prefix = _PARTS.get(check_id.partition("-")[0], Part.OTHER)
    if by_prefix is Part.POWER:
        return by_prefix
    for folder, part in folders:
        if finding.where == folder or finding.where.startswith(f"{folder}/"):
            return part
    return by_prefix
