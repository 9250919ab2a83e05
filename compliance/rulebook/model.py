"""The rules of a round as typed, frozen records. `compliance.rulebook.rounds` is the only place that makes them."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase

from compliance.vocabulary import AuditId, Scenario, Suite


@dataclass(frozen=True, slots=True)
class Seeds:
    """The three seeds of a round. They exceed 2^63: integers, never floats (constants.py:1303-1308)."""

    qsl: int
    sample_index: int
    schedule: int


@dataclass(frozen=True, slots=True)
class AccuracyTarget:
    """One accuracy metric: reference and factors stay apart, as the rules text has them.

    `metric` is the name of the checker's table (ROUGE1, TOKENS_PER_SAMPLE, exact_match, ...). A maximum exists only
    where `max_factor` does; `max_reference` differs from `reference` for a few historical rows.
    """

    metric: str
    reference: float
    min_factor: float | None
    max_factor: float | None = None
    max_reference: float | None = None

    @property
    def minimum(self) -> float | None:
        """The least value that passes, None where the metric has only an upper limit."""
        return None if self.min_factor is None else self.reference * self.min_factor

    @property
    def maximum(self) -> float | None:
        """The greatest value that passes, None where there is no upper limit."""
        if self.max_factor is None:
            return None
        return (self.reference if self.max_reference is None else self.max_reference) * self.max_factor


@dataclass(frozen=True, slots=True)
class Generation:
    """How answers are generated: token counts per answer and the sampling the rules fix.

    `top_k` is -1 where the rules switch it off. `performance_max_new_tokens` stands where performance runs have a limit
    of their own; None means that `max_new_tokens` holds for both. `speculative` are the scenarios in which closed may
    decode speculatively.
    """

    min_new_tokens: int
    max_new_tokens: int
    temperature: float
    top_p: float
    top_k: int
    eos_token_ids: tuple[int, ...]
    performance_max_new_tokens: int | None = None
    speculative: tuple[Scenario, ...] = ()


NO_TEXT = Generation(0, 0, 0.0, 1.0, 1, ())
"""What stands for the generation of a benchmark whose responses are no text tokens."""


@dataclass(frozen=True, slots=True)
class ScenarioRules:
    """One benchmark in one scenario. Latency limits are 99th percentiles, met when strictly below.

    `min_query_count` is what LoadGen is asked for (Offline: samples of its one query, since LoadGen always reports
    `effective_min_query_count` 1 there). `checker_min_query_count` is the official checker's least
    `effective_min_query_count`, None where its table has no row; it is compared in Offline only, as the other scenarios
    use early stopping. `accuracy_sample_count` stands where the accuracy run of this scenario takes another number of
    samples than the benchmark's.
    """

    scenario: Scenario
    loadgen_model: str
    metric_key: str
    unit: str
    min_duration_ms: int
    min_query_count: int
    min_samples_per_query: int | None
    max_ttft_p99_ms: float | None
    max_tpot_p99_ms: float | None
    max_latency_p99_ms: float | None
    metric_divisor: float = 1.0
    source: str = ""
    checker_min_query_count: int | None = None
    accuracy_sample_count: int | None = None


@dataclass(frozen=True, slots=True)
class SuiteRules:
    """Which scenarios a suite demands: all of `required`, at least one of each `one_of` group, `optional` as wished."""

    required: tuple[Scenario, ...]
    one_of: tuple[tuple[Scenario, ...], ...]
    optional: tuple[Scenario, ...]

    @property
    def known(self) -> tuple[Scenario, ...]:
        """Every scenario that may stand in a closed tree of this suite."""
        return tuple(dict.fromkeys((*self.required, *(s for group in self.one_of for s in group), *self.optional)))


@dataclass(frozen=True, slots=True)
class AccuracyFiles:
    """Sample outputs that the accuracy folder must hold: `names` without their endings, in `folder`."""

    folder: str
    names: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class BenchmarkRules:
    """Everything about one benchmark in one round.

    `accuracy_by_scenario` holds the targets of scenarios that have their own. `test01_delta_percent` is how far the two
    scores of TEST01 may lie apart, for metrics that differ from the general rule. `logged_answers` is how many answers
    an audit logs that logs all; `test07_score` TEST07's least score; `test09_mean_tokens` the least and the greatest
    mean length of TEST09's answers. `endpoints` says whether the benchmark may be submitted with endpoints logs in
    place of LoadGen's, `endpoints_score` whether the official checker compares the score of such a run.
    """

    name: str
    title: str
    dataset: str
    dataset_size: int
    performance_sample_count: int
    accuracy_sample_count: int
    token_latencies: bool
    equal_issue: bool
    aliases: tuple[str, ...]
    suites: Mapping[Suite, SuiteRules]
    scenarios: Mapping[Scenario, ScenarioRules]
    accuracy: tuple[AccuracyTarget, ...]
    audits: tuple[AuditId, ...]
    generation: Generation
    sources: Mapping[str, str]
    accuracy_by_scenario: Mapping[Scenario, tuple[AccuracyTarget, ...]] = field(default_factory=dict)
    test01_delta_percent: Mapping[str, float] = field(default_factory=dict)
    accuracy_files: AccuracyFiles | None = None
    endpoints: bool = False
    endpoints_score: bool = False
    logged_answers: Mapping[AuditId, int] = field(default_factory=dict)
    test07_score: float | None = None
    test09_mean_tokens: tuple[float, float] | None = None

    @property
    def generates_text(self) -> bool:
        """Whether responses are text tokens, so that the rules say how they are generated."""
        return self.generation is not NO_TEXT

    def targets(self, scenario: Scenario | None) -> tuple[AccuracyTarget, ...]:
        """The accuracy targets of a scenario."""
        return self.accuracy if scenario is None else self.accuracy_by_scenario.get(scenario, self.accuracy)

    def accuracy_samples(self, scenario: Scenario | None) -> int:
        """How many samples the accuracy run of a scenario takes."""
        rules = self.scenarios.get(scenario) if scenario else None
        return (rules and rules.accuracy_sample_count) or self.accuracy_sample_count


@dataclass(frozen=True, slots=True)
class Layout:
    """Path templates of a submission tree, relative to its root; the finder and the renderer read the same ones.

    Placeholders: {division} {submitter} {system} {benchmark} {scenario} {audit}, and {file} for the first JSON file in
    a folder that begins with the system's name.
    """

    system: str
    source_dir: str
    documentation_dir: str
    model_mapping: str
    submitter: str
    benchmark_dir: str
    scenario_dir: str
    measurements: str
    user_conf: str
    readme: str
    performance_dir: str
    accuracy_dir: str
    audit_dir: str
    required_performance_files: tuple[str, ...]
    required_accuracy_files: tuple[str, ...]
    optional_run_files: tuple[str, ...]
    audit_files: Mapping[AuditId, tuple[str, ...]]


@dataclass(frozen=True, slots=True)
class SystemFields:
    """Fields of a system description (constants.py:1833-1942): present, and of those which must say something."""

    required: tuple[str, ...]
    meaningful: tuple[str, ...]
    network: tuple[str, ...]
    known: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class RoundMarks:
    """What a tree of a round is known by, without the round's benchmarks."""

    name: str
    official: bool
    seeds: Seeds
    loadgen_versions: tuple[str, ...]
    layout: Layout

    def admits_loadgen(self, version: str) -> bool:
        """Whether a LoadGen release fits one of the round's patterns."""
        return any(fnmatchcase(version, pattern) for pattern in self.loadgen_versions)


@dataclass(frozen=True, slots=True)
class Round:
    """One round's rules: constants, layout and every benchmark this installation knows for it.

    `unshipped` names the round's benchmarks that this installation has no rules for: their results are not judged.
    `unshipped_aliases` maps patterns (of fnmatch) of other names to them; the first that fits counts. `guesses` maps
    parts of folder names to benchmarks, for names that are nothing else; the first that is found counts.
    """

    name: str
    title: str
    official: bool
    seeds: Seeds
    min_duration_ms: int
    loadgen_versions: tuple[str, ...]
    accuracy_log_limit_bytes: int
    large_file_limit_bytes: int
    availability: tuple[str, ...]
    system_fields: SystemFields
    measurements_fields: tuple[str, ...]
    layout: Layout
    benchmarks: Mapping[str, BenchmarkRules]
    sources: Mapping[str, str]
    unshipped: tuple[str, ...] = ()
    unshipped_aliases: Mapping[str, str] = field(default_factory=dict)
    guesses: Mapping[str, str] = field(default_factory=dict)

    def admits_loadgen(self, version: str) -> bool:
        """Whether a LoadGen release fits one of the round's patterns (as 6.0.*); any does where the round has none."""
        return not self.loadgen_versions or any(fnmatchcase(version, pattern) for pattern in self.loadgen_versions)
