"""What a report says, as records: HTML, text and JSON are made from these and therefore cannot disagree."""

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Distribution:
    """One quantity over all samples of a run. `limit` and `reported_p99` (LoadGen's own) are None where there is none.

    `edges` (n + 1) and `counts` (n) are its histogram, with edges in equal ratios where `log_scale`.
    """

    name: str
    unit: str
    samples: int
    mean: float
    p50: float
    p90: float
    p99: float
    maximum: float
    limit: float | None
    limit_name: str
    reported_p99: float | None
    edges: tuple[float, ...]
    counts: tuple[int, ...]
    log_scale: bool


@dataclass(frozen=True, slots=True)
class Series:
    """One quantity over the time of a run, in steps: `values` (n) hold between `times_s` (n + 1)."""

    name: str
    unit: str
    times_s: tuple[float, ...]
    values: tuple[float, ...]
    mean: float


@dataclass(frozen=True, slots=True)
class Fact:
    """One named fact. `good` is None where it is no judgement."""

    name: str
    value: str
    good: bool | None = None


@dataclass(frozen=True, slots=True)
class Score:
    """One accuracy metric against its target. `value` is None where it was not computed.

    `margin_percent` is the distance to the nearest bound.
    """

    metric: str
    value: float | None
    reference: float | None
    minimum: float | None
    maximum: float | None
    passed: bool | None
    margin_percent: float | None


@dataclass(frozen=True, slots=True)
class Setting:
    """One setting of LoadGen: what was asked of it, and what its detail log says was in force."""

    key: str
    asked: str
    effective: str
    agrees: bool


@dataclass(frozen=True, slots=True)
class AuditView:
    """One compliance test: its checks by name and its verdict. `passed` is None where it was not verified."""

    name: str
    status: str
    passed: bool | None
    checks: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class FindingView:
    """One finding of the checks' report. `waived` holds the waiver's reason and end, "" where there is none."""

    id: str
    severity: str
    where: str
    line: int | None
    expected: str
    found: str
    message: str
    fix: str
    profiles: tuple[str, ...]
    waived: str = ""


@dataclass(frozen=True, slots=True)
class ScenarioView:
    """One scenario: its metric, what LoadGen and the checks say of it, and what its runs measured."""

    benchmark: str
    scenario: str
    metric: float | None
    unit: str
    validity: str
    invalid_reason: str
    strict: str
    official: str
    validity_facts: tuple[Fact, ...]
    scores: tuple[Score, ...]
    accuracy_status: str
    distributions: tuple[Distribution, ...]
    series: tuple[Series, ...]
    settings: tuple[Setting, ...]
    audits: tuple[AuditView, ...]
    run_facts: tuple[Fact, ...]
    findings: tuple[FindingView, ...] = ()


@dataclass(frozen=True, slots=True)
class WorkerView:
    """One worker as it described itself, and what it answered in the performance runs."""

    engine: str
    version: str
    device: str
    dtype: str
    model: str
    model_sha256: str
    dataset_sha256: str
    samples: int
    output_tokens: int


@dataclass(frozen=True, slots=True)
class ReportData:
    """The whole report. Verdicts are pass | fail | not_judged, or "not checked" without a compliance report."""

    title: str
    round: str
    round_title: str
    division: str
    submitter: str
    system: str
    benchmark: str
    strict: str
    official: str
    scenarios: tuple[ScenarioView, ...]
    findings: tuple[FindingView, ...]
    workers: tuple[WorkerView, ...]
    provenance: tuple[Fact, ...]
    packages: Mapping[str, str]
    problems: tuple[str, ...] = ()
    system_facts: tuple[Fact, ...] = field(default=())
