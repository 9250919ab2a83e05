"""Carries a search out: one pool of workers, one LoadGen process per probe, every finished probe on disk."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from compliance.rulebook.model import Round
from compliance.vocabulary import Scenario
from harness.campaign.model import Campaign
from harness.campaign.system import check_system
from harness.core.spec import Limits, LoadgenSettings
from harness.errors import PlanError, RunAborted
from harness.run.explain import first_reason
from harness.run.lock import locked
from harness.run.orchestrate import check_before, clear_folder, workers_for
from harness.run.progress import CampaignProgress
from harness.run.record import RunRecord
from harness.run.step import StepRequest, run_step
from harness.run.summary import NS_PER_MS, TPOT, TTFT
from harness.search.decide import Ask, Bounds, Stop, decide
from harness.search.probe import HOPELESS, INVALID, VALID, Probe, load_probes, save_probes
from harness.search.settings import ShortProbe, identity, performance_run, plan_at, shortened, stop_loss
from harness.workers.pool import WorkerPool
from sut.dataset import DatasetInfo, TokenDataset

SEARCHED = (Scenario.SERVER, Scenario.INTERACTIVE)
# What a LoadGen process takes besides its test: start, handshake, logs.
_OVERHEAD_S = 3.0


@dataclass(frozen=True, slots=True)
class Request:
    """One search: in which scenario, within which bounds, with which short probes, in how much time."""

    scenario: Scenario
    bounds: Bounds
    probe: ShortProbe
    budget_s: float


@dataclass(frozen=True, slots=True)
class Found:
    """What a search came to. `kept` of the probes were made by an earlier search that was cut off."""

    scenario: Scenario
    probes: tuple[Probe, ...]
    kept: int
    stop: Stop | None
    folder: Path

    @property
    def interrupted(self) -> bool:
        """Whether the user stopped it before it came to an end."""
        return self.stop is None


def pick_scenario(campaign: Campaign, wanted: str | None) -> Scenario:
    """The scenario to search in: the one asked for, else the campaign's only one with a schedule. Raises PlanError."""
    there = [scenario for scenario in SEARCHED if scenario in campaign.scenarios]
    if wanted is not None:
        if wanted not in there:
            known = ", ".join(there) or "none; add one to `scenarios`"
            raise PlanError(f"no rate is searched in {wanted}: the campaign has {known}")
        return Scenario(wanted)
    if len(there) != 1:
        names = " or ".join(SEARCHED)
        fix = f"say which by --scenario {names}" if there else f"add {names} to `scenarios`"
        raise PlanError(f"the campaign has {len(there)} scenarios whose rate can be searched; {fix}")
    return there[0]


def search(campaign: Campaign, round_: Round, request: Request, progress: CampaignProgress) -> Found:
    """Searches until there is an answer, the budget is used up, or the user stops it; every probe is kept on disk.

    Raises what `run_campaign` raises, and RunAborted when a probe ends without any verdict.
    """
    check_system(campaign)
    info = TokenDataset.open(campaign.dataset).info
    folder = campaign.out / "search" / request.scenario.value
    key = identity(campaign, round_, info, request.scenario, request.probe)
    started_s = time.monotonic()
    plan = plan_at(campaign, round_, info, request.scenario, request.bounds.start_qps)
    with locked(campaign.out, progress.say) as lock, workers_for(campaign, plan, info, lock) as pool:
        check_before(campaign, plan, (performance_run(plan),))
        probes = load_probes(folder, key)
        kept = len(probes)
        duration_s = _durations(campaign, round_, info, request)
        while True:
            remaining_s = request.budget_s - (time.monotonic() - started_s)
            step = decide(probes, request.bounds, remaining_s, duration_s)
            if isinstance(step, Stop):
                return Found(request.scenario, probes, kept, step, folder)
            prober = _Prober(campaign, round_, info, request, pool)
            try:
                probe = prober.make(step, folder / f"probe-{len(probes) + 1:03d}", progress)
            except KeyboardInterrupt:
                probe = None
            if probe is None:
                return Found(request.scenario, probes, kept, None, folder)
            probes = (*probes, probe)
            save_probes(folder, key, probes)


def _durations(
    campaign: Campaign, round_: Round, info: DatasetInfo, request: Request
) -> Callable[[float, bool], float]:
    def duration_s(qps: float, full: bool) -> float:  # noqa: FBT001 the form that `decide` asks for
        if not full:
            return request.probe.duration_s(qps) + _OVERHEAD_S
        run = performance_run(plan_at(campaign, round_, info, request.scenario, qps))
        return run.prediction.duration_s + _OVERHEAD_S

    return duration_s


@dataclass(frozen=True, slots=True)
class _Prober:
    """Makes probes on a pool."""

    campaign: Campaign
    round: Round
    info: DatasetInfo
    request: Request
    pool: WorkerPool

    def make(self, ask: Ask, folder: Path, progress: CampaignProgress) -> Probe | None:
        """One probe; None when the user stopped it. Raises RunAborted when it ends without a verdict."""
        plan = plan_at(self.campaign, self.round, self.info, self.request.scenario, ask.qps)
        run = performance_run(plan)
        settings = run.settings if ask.full else shortened(run.settings, self.request.probe)
        queries = run.prediction.samples if ask.full else self._queries(ask.qps)
        folder.mkdir(parents=True, exist_ok=True)
        clear_folder(folder)
        if not self.pool.facts:
            progress.say(f"starting {self.campaign.worker_count} x {self.campaign.sut.name}")
            self.pool.start()
        progress.begin(f"{ask.qps:.6g} QPS{' in full' if ask.full else ''}", queries)
        limit_ms = plan.benchmark.scenarios[self.request.scenario].max_ttft_p99_ms
        try:
            record = run_step(
                StepRequest(
                    benchmark=plan.benchmark.name,
                    scenario=self.request.scenario.value,
                    step="probe",
                    folder=folder,
                    loadgen=settings,
                    plan_sha256=run.plan_sha256,
                    first_tokens=True,
                    policy=self.campaign.policy,
                    max_new_tokens=plan.sampling.max_new_tokens,
                    limits=Limits(**self.campaign.limits.model_dump()),
                    stop_loss=None if limit_ms is None else stop_loss(limit_ms, queries),
                ),
                self.pool,
                progress,
            )
        finally:
            progress.end()
        if record.status == "interrupted":
            return None
        probe = _probe(ask, settings, record, folder)
        progress.say(f"{ask.qps:.6g} QPS{' in full' if ask.full else ''}: {probe.verdict} {probe.reason}".rstrip())
        return probe

    def _queries(self, qps: float) -> int:
        return max(self.request.probe.queries, round(self.request.probe.seconds * qps))


def _probe(ask: Ask, settings: LoadgenSettings, record: RunRecord, folder: Path) -> Probe:
    outcome = record.outcome
    if outcome.kind == HOPELESS:
        verdict, reason = HOPELESS, outcome.cause
    elif record.status == "ok" and record.validity is not None:
        verdict = VALID if record.validity == VALID else INVALID
        reason = "" if verdict == VALID else first_reason(folder) or "LoadGen gives no reason"
    else:
        cause = record.cause or "LoadGen gave no verdict"
        raise RunAborted(outcome.kind, f"{ask.qps:g} QPS of {settings.model}: {cause}; see {folder}")
    return Probe(
        qps=ask.qps,
        full=ask.full,
        verdict=verdict,
        queries=outcome.ledger.issued,
        duration_s=outcome.duration_s,
        ttft_p99_ms=_ms(record, TTFT),
        tpot_p99_ms=_ms(record, TPOT),
        reason=" ".join(reason.split()),
    )


def _ms(record: RunRecord, key: str) -> float | None:
    value = record.metrics.get(key)
    return None if value is None else value / NS_PER_MS
