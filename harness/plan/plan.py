"""From a campaign and the rules of its round to the runs that will be made. Pure: no file is read or written."""

import difflib
import hashlib
import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

from compliance.rulebook.model import BenchmarkRules, Round
from compliance.vocabulary import AuditId, Division, Mode, Scenario
from harness.campaign.model import Campaign
from harness.core.spec import LoadgenSettings
from harness.errors import PlanError
from harness.plan.audits import audit_plan, unsupported
from harness.plan.prediction import Prediction, predict
from harness.plan.settings import ScenarioChoices, loadgen_settings
from sut.protocol import EngineConfig, Sampling

PERFORMANCE, ACCURACY = "performance", "accuracy"


@dataclass(frozen=True, slots=True)
class PlannedRun:
    """One LoadGen test to be made. `plan_sha256` covers everything that decides its result but the machine."""

    scenario: Scenario
    step: str
    settings: LoadgenSettings
    prediction: Prediction
    folder: Path
    plan_sha256: str

    @property
    def audit(self) -> AuditId | None:
        """The audit this run belongs to, None for performance and accuracy."""
        return AuditId(self.step) if self.step in AuditId.__members__ else None

    @property
    def name(self) -> str:
        """How `--only` and messages name it: Scenario/step."""
        return f"{self.scenario}/{self.step}"


@dataclass(frozen=True, slots=True)
class CampaignPlan:
    """Every run of a campaign in the order in which they are made. `notes` is what the user should know before."""

    benchmark: BenchmarkRules
    sampling: Sampling
    runs: tuple[PlannedRun, ...]
    notes: tuple[str, ...]

    @property
    def duration_s(self) -> float:
        """Predicted duration of all runs, without start-up and drain."""
        return sum(run.prediction.duration_s for run in self.runs)


def benchmark_rules(round_: Round, name: str) -> BenchmarkRules:
    """The rules of a benchmark by its name or an alias. Raises PlanError with did-you-mean."""
    for rules in round_.benchmarks.values():
        if name == rules.name or name in rules.aliases:
            return rules
    close = difflib.get_close_matches(name, round_.benchmarks, n=1)
    hint = f"did you mean '{close[0]}'?" if close else f"choose from {', '.join(round_.benchmarks)}"
    raise PlanError(f"round {round_.name} has no benchmark '{name}'; {hint}")


def make_plan(
    campaign: Campaign, round_: Round, dataset_size: int | None = None, dataset_sha256: str = ""
) -> CampaignPlan:
    """Every run of the campaign. Raises PlanError with every problem of the whole campaign at once.

    `dataset_size` and `dataset_sha256` are those of the dataset folder, where it is there already.
    """
    rules = benchmark_rules(round_, campaign.benchmark)
    problems = list(_campaign_problems(campaign, rules))
    sampling = _sampling(campaign, rules)
    audits = _audits(campaign, rules)
    identity = _identity(campaign, sampling, dataset_sha256)
    runs: list[PlannedRun] = []
    for scenario in campaign.scenarios:
        try:
            runs += _scenario_runs(campaign, round_, rules, scenario, audits, dataset_size, identity)
        except PlanError as error:
            problems += str(error).splitlines()
    if problems:
        raise PlanError("\n".join(dict.fromkeys(problems)))
    notes = tuple(_notes(campaign, round_, rules, dataset_size))
    return CampaignPlan(rules, sampling, tuple(runs), notes)


def _scenario_runs(
    campaign: Campaign,
    round_: Round,
    rules: BenchmarkRules,
    scenario: Scenario,
    audits: tuple[AuditId, ...],
    dataset_size: int | None,
    identity: str,
) -> Iterator[PlannedRun]:
    choices = scenario_choices(campaign, scenario, dataset_size)
    steps: list[tuple[str, Mode, AuditId | None]] = [(PERFORMANCE, Mode.PERFORMANCE, None)]
    if campaign.accuracy:
        steps.append((ACCURACY, Mode.ACCURACY, None))
    steps += [(audit.value, Mode.PERFORMANCE, audit) for audit in audits]
    for step, mode, audit in steps:
        asked = loadgen_settings(rules, scenario, mode, None if audit is None else audit_plan(audit), choices, round_)
        folder = campaign.out / "runs" / rules.name / scenario.value / step
        yield PlannedRun(scenario, step, asked, predict(asked), folder, _sha256(asked, identity))


def engine_config(campaign: Campaign, plan: CampaignPlan) -> EngineConfig:
    """The engine's configuration, as every worker gets it but for its index."""
    return EngineConfig(
        settings=dict(campaign.sut.settings),
        dataset_path=str(campaign.dataset),
        sampling=plan.sampling,
        worker_count=campaign.worker_count,
    )


def scenario_choices(campaign: Campaign, scenario: Scenario, dataset_size: int | None) -> ScenarioChoices:
    """The campaign's choices for one scenario, in LoadGen's units."""
    choice = campaign.scenarios[scenario]
    return ScenarioChoices(
        target_qps=choice.target_qps,
        accuracy_target_qps=choice.accuracy_target_qps,
        target_latency_ms=choice.target_latency_ms,
        min_duration_ms=None if choice.min_duration_s is None else round(choice.min_duration_s * 1000),
        min_query_count=choice.min_query_count,
        performance_sample_count=choice.performance_sample_count,
        equal_issue=campaign.equal_issue,
        duration_scale=campaign.scale,
        division=campaign.division,
        dataset_size=dataset_size,
    )


def _campaign_problems(campaign: Campaign, rules: BenchmarkRules) -> Iterator[str]:
    if not rules.generates_text:
        yield f"{rules.name} generates no text: Weighbridge checks its results and does not run it"
        return
    generation = campaign.generation
    least = rules.generation.min_new_tokens if generation.min_new_tokens is None else generation.min_new_tokens
    most = rules.generation.max_new_tokens if generation.max_new_tokens is None else generation.max_new_tokens
    if least > most:
        yield f"generation: min_new_tokens = {least} is above max_new_tokens = {most}; lower it"
    if campaign.division is Division.OPEN:
        return
    if generation.max_new_tokens is not None or generation.min_new_tokens is not None:
        yield f"generation is fixed by the rules of {rules.name} in {campaign.division}; remove it, or run in open"
    if campaign.audits is False and rules.audits:
        yield f"the {campaign.division} division demands {', '.join(rules.audits)}; remove `audits: false`"
    if not campaign.accuracy:
        yield f"the {campaign.division} division demands accuracy runs; remove `accuracy: false`"
    if campaign.folder_name != rules.name:
        yield f"model_name must be {rules.name} in {campaign.division}; remove it, or run in open"


def _audits(campaign: Campaign, rules: BenchmarkRules) -> tuple[AuditId, ...]:
    """The audits that will be run: the rules' in closed and network, on request in open."""
    wanted = campaign.division is not Division.OPEN if campaign.audits is None else campaign.audits
    return tuple(audit for audit in rules.audits if audit not in unsupported(rules.audits)) if wanted else ()


def _sampling(campaign: Campaign, rules: BenchmarkRules) -> Sampling:
    fixed, chosen = rules.generation, campaign.generation
    return Sampling(
        min_new_tokens=fixed.min_new_tokens if chosen.min_new_tokens is None else chosen.min_new_tokens,
        max_new_tokens=fixed.max_new_tokens if chosen.max_new_tokens is None else chosen.max_new_tokens,
        temperature=fixed.temperature,
        top_p=fixed.top_p,
        top_k=fixed.top_k,
    )


def _notes(campaign: Campaign, round_: Round, rules: BenchmarkRules, dataset_size: int | None) -> Iterator[str]:
    if not round_.official:
        yield f"round {round_.name} is no MLPerf round: its results are no MLPerf results"
    if campaign.scale != 1.0:
        yield f"scale {campaign.scale:g}: a test round with shortened durations; its results are no MLPerf results"
    if dataset_size not in (None, rules.dataset_size):
        yield f"the dataset holds {dataset_size} samples, the rules ask {rules.dataset_size}: the checker will say so"
    closed = campaign.division is not Division.OPEN
    if closed:
        for suite, demanded in rules.suites.items():
            missing = [str(s) for s in demanded.required if s not in campaign.scenarios]
            missing += [" or ".join(g) for g in demanded.one_of if not set(g) & set(campaign.scenarios)]
            if missing:
                yield f"suite {suite} also demands {', '.join(missing)}"
    if closed or campaign.audits:
        for audit in unsupported(rules.audits):
            yield f"{audit} is demanded and not run by Weighbridge: run it with the official script"


def _identity(campaign: Campaign, sampling: Sampling, dataset_sha256: str) -> str:
    """What decides a result besides LoadGen's settings, as canonical JSON."""
    parts = {
        "sut": campaign.sut.model_dump(mode="json"),
        "sampling": asdict(sampling),
        "dataset": dataset_sha256 or str(campaign.dataset),
        "worker": [worker.model_dump(mode="json") for worker in campaign.worker],
        "policy": campaign.policy,
    }
    return json.dumps(parts, sort_keys=True)


def _sha256(settings: LoadgenSettings, identity: str) -> str:
    asked = json.dumps(asdict(settings), sort_keys=True, default=dict)
    return hashlib.sha256(f"{asked}\n{identity}".encode()).hexdigest()
