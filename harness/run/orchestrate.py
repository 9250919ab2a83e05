"""Runs a campaign: workers once, then every run in order; scores and audits after them; resumable at any point."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from compliance.rulebook.model import Round
from harness.campaign.model import Campaign, WorkerChoice
from harness.campaign.system import check_system
from harness.core.preflight import stray_audit
from harness.core.spec import Limits
from harness.errors import PlanError, PreflightError
from harness.evaluate.policy import preflight as evaluator_problems
from harness.plan.plan import CampaignPlan, PlannedRun, engine_config, make_plan
from harness.run.after import Verdict, evaluator_name, follow_up
from harness.run.lock import locked
from harness.run.progress import CampaignProgress
from harness.run.record import RunRecord
from harness.run.standing import standing
from harness.run.step import RUN_NAME, StepRequest, run_step
from harness.run.summary import CampaignSummary, RunSummary, verdict_line
from harness.storage import write_atomic
from harness.workers.launch import WorkerPlace
from harness.workers.pool import PoolPlan, WorkerPool
from sut.dataset import DatasetInfo, TokenDataset
from sut.errors import BadDataset
from sut.registry import preflight

CAMPAIGN_COPY = "campaign.yaml"
WORKER_LOGS = "workers"
NOTHING = Verdict(None, "")


def plan_campaign(campaign: Campaign, round_: Round) -> CampaignPlan:
    """The plan, with the dataset's own size where the folder is there already.

    Raises PlanError, and CampaignError for a system that nobody describes.
    """
    check_system(campaign)
    try:
        info = TokenDataset.open(campaign.dataset, verify=False).info
    except BadDataset:
        return make_plan(campaign, round_)
    return make_plan(campaign, round_, info.size, info.sha256)


def run_campaign(
    campaign: Campaign,
    round_: Round,
    source: Path,
    *,
    progress: CampaignProgress,
    only: tuple[str, ...] = (),
    resume: bool = True,
) -> CampaignSummary:
    """Make every run that is not done yet. `source` is the campaign file, a copy of which goes into `out`.

    A run is done when its record says ok for the same plan, LoadGen did not call it INVALID, and its files are as
    they were. A run that fails does not keep the next from being made; an interrupted one does. Raises CampaignError
    for a system that nobody describes, PlanError, PreflightError, WorkerError, StorageError, UsageError.
    """
    check_system(campaign)
    info = TokenDataset.open(campaign.dataset).info
    plan = make_plan(campaign, round_, info.size, info.sha256)
    chosen = select_runs(plan, only)
    with locked(campaign.out, progress.say) as lock:
        write_atomic(campaign.out / CAMPAIGN_COPY, source.read_bytes())
        found = {run.name: standing(run) if resume else "" for run in chosen}
        kept = {name: record for name, record in found.items() if isinstance(record, RunRecord)}
        for name, why in found.items():
            if isinstance(why, str) and why:
                progress.say(f"{name}: made again, since {why}")
        check_before(campaign, plan, tuple(run for run in chosen if run.name not in kept))
        with workers_for(campaign, plan, info, lock) as pool:
            return CampaignSummary(tuple(_each(campaign, plan, chosen, kept, pool, progress)))


def _each(
    campaign: Campaign,
    plan: CampaignPlan,
    chosen: tuple[PlannedRun, ...],
    kept: dict[str, RunRecord],
    pool: WorkerPool,
    progress: CampaignProgress,
) -> Iterator[RunSummary]:
    interrupted = False
    for run in chosen:
        if run.name in kept:
            progress.say(f"{run.name}: done before")
            yield RunSummary(
                run, kept[run.name], kept=True, verdict=follow_up(campaign, plan.benchmark, run, kept[run.name])
            )
            continue
        if interrupted:
            yield RunSummary(run, None, kept=False, verdict=NOTHING)
            continue
        try:
            record = make_run(campaign, plan, run, pool, progress)
        except KeyboardInterrupt:
            # Before LoadGen runs, or after: the test itself ends in order and says so in its record.
            interrupted = True
            yield RunSummary(run, None, kept=False, verdict=NOTHING, stopped=True)
            continue
        interrupted = record.status == "interrupted"
        good = record.status == "ok"
        verdict = follow_up(campaign, plan.benchmark, run, record) if good else NOTHING
        progress.say(f"{run.name}: {verdict_line(run, record)}")
        yield RunSummary(run, record, kept=False, verdict=verdict)


def make_run(
    campaign: Campaign,
    plan: CampaignPlan,
    run: PlannedRun,
    pool: WorkerPool,
    progress: CampaignProgress,
) -> RunRecord:
    """One run on a pool, whose workers are started where they are not; earlier files of the run's folder go."""
    clear_folder(run.folder)
    if not pool.facts:
        progress.say(f"starting {campaign.worker_count} x {campaign.sut.name}")
        pool.start()
    progress.begin(run.name, run.prediction.samples)
    try:
        return run_step(_request(campaign, plan, run), pool, progress)
    finally:
        progress.end()


def _request(campaign: Campaign, plan: CampaignPlan, run: PlannedRun) -> StepRequest:
    return StepRequest(
        benchmark=plan.benchmark.name,
        scenario=run.scenario.value,
        step=run.step,
        folder=run.folder,
        loadgen=run.settings,
        plan_sha256=run.plan_sha256,
        first_tokens=run.scenario.streams,
        policy=campaign.policy,
        max_new_tokens=plan.sampling.max_new_tokens,
        limits=Limits(**campaign.limits.model_dump()),
    )


def select_runs(plan: CampaignPlan, only: tuple[str, ...]) -> tuple[PlannedRun, ...]:
    """The runs that `only` names by scenario, step or both; all without it. Raises PlanError for an unknown one."""
    known = {name for run in plan.runs for name in (run.name, run.scenario.value, run.step)}
    unknown = [name for name in only if name not in known]
    if unknown:
        raise PlanError(f"no run is named {', '.join(unknown)}; there are {', '.join(run.name for run in plan.runs)}")
    wanted = set(only)
    return tuple(run for run in plan.runs if not only or wanted & {run.name, run.scenario.value, run.step})


def clear_folder(folder: Path) -> None:
    """Take an earlier attempt's files away, its record first, so that no half of it can pass for the new run."""
    for path in (folder / RUN_NAME, *sorted(folder.glob("*"))):
        if path.is_file() or path.is_symlink():
            path.unlink()


def check_before(campaign: Campaign, plan: CampaignPlan, runs: tuple[PlannedRun, ...]) -> None:
    """What would end the campaign late, or the `runs` to be made, and can be seen now. Raises PreflightError."""
    if not runs:
        return
    problems = [stray for run in runs if (stray := stray_audit(run.folder, run.settings.audit_conf))]
    if any(not (worker.python or worker.container or worker.host) for worker in campaign.worker):
        problems += [
            f"SUT {campaign.sut.name}: {problem.what}: {problem.found}; {problem.fix}"
            for problem in preflight(campaign.sut.name, engine_config(campaign, plan))
            if problem.fatal
        ]
    name = evaluator_name(campaign, plan.benchmark)
    if campaign.accuracy and name is not None:
        problems += evaluator_problems(plan.benchmark, name, campaign.tokenizer, campaign.nltk_data, campaign.division)
    if problems:
        raise PreflightError(tuple(problems))


def workers_for(campaign: Campaign, plan: CampaignPlan, info: DatasetInfo, lock: int | None = None) -> WorkerPool:
    """The pool of a campaign's workers, not started yet. `lock` is the descriptor of the campaign's lock."""
    return WorkerPool(
        PoolPlan(
            sut=campaign.sut.name,
            engine=replace(engine_config(campaign, plan), dataset_path=str(campaign.dataset.resolve())),
            places=tuple(_place(worker) for worker in campaign.worker),
            log_folder=campaign.out / WORKER_LOGS,
            dataset_sha256=info.sha256,
            inherited=() if lock is None else (lock,),
        )
    )


def _place(worker: WorkerChoice) -> WorkerPlace:
    return WorkerPlace(
        python=worker.python,
        container=worker.container,
        args=worker.args,
        host=worker.host,
        count=worker.count,
        cores=worker.cores,
        env=dict(worker.env),
        runtime=(worker.runtime,),
        checkout=worker.checkout,
        head=worker.head,
    )
