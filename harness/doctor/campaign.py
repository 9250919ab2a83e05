"""The doctor's look at a campaign: rules, dataset, tokenizer, workers, SUT, evaluator, system, disk."""

import shutil
import socket
import subprocess
import sys
from collections.abc import Iterator

import psutil

from compliance.rulebook.model import BenchmarkRules, Round
from harness.campaign.model import Campaign, WorkerChoice
from harness.campaign.system import CAPTURE, check_system
from harness.doctor.finding import Finding, fail, ok, warn
from harness.doctor.places import place_findings
from harness.errors import CampaignError, EvaluationError, PlanError, StorageError
from harness.evaluate.policy import preflight as evaluator_problems
from harness.evaluate.tokenizer import tokenizer_file
from harness.plan.plan import CampaignPlan, engine_config, make_plan
from harness.plan.text import duration
from harness.run.after import evaluator_name
from harness.storage import sha256_file
from sut.dataset import DatasetInfo, TokenDataset
from sut.errors import BadDataset, SutError
from sut.registry import preflight

HEX_BYTES_PER_TOKEN = 8  # an int32 as hexadecimal text in mlperf_log_accuracy.json
ROW_BYTES = 120  # the rest of its row, and the sample's share of the other logs
LOADED_SAMPLE_BYTES = 600  # memory of one issued sample in the LoadGen process
PROBE_S = 30.0
PROBE = "import sys, zmq, numpy, msgspec; print('.'.join(map(str, sys.version_info[:3])))"


def campaign_findings(campaign: Campaign, round_: Round) -> Iterator[Finding]:
    """Everything about the campaign, in the order in which a run would meet it."""
    yield _system(campaign)
    yield from place_findings(campaign)
    info = None
    try:
        info = TokenDataset.open(campaign.dataset).info
    except BadDataset as error:
        yield fail("dataset", str(error), "make it, or correct `dataset` in the campaign")
    try:
        plan = make_plan(campaign, round_, info.size if info else None, info.sha256 if info else "")
    except PlanError as error:
        for line in str(error).splitlines():
            yield fail("plan", line, "correct the campaign")
        return
    yield ok("plan", f"{len(plan.runs)} runs, {duration(plan.duration_s)} at the target rates")
    for run in plan.runs:
        for note in run.prediction.notes if run.audit is None else ():
            yield warn(f"plan {run.name}", note, "see `weighbridge plan`")
    if info is not None:
        yield from _dataset(campaign, plan.benchmark, info)
    yield from _workers(campaign)
    yield from _sut(campaign, plan)
    yield from _evaluator(campaign, plan.benchmark)
    yield from _measurements(campaign, round_)
    yield from _space(campaign, plan)


def _system(campaign: Campaign) -> Finding:
    try:
        check_system(campaign)
    except CampaignError as error:
        found, _, fix = str(error).partition("; ")
        return fail("system", found, fix)
    return ok("system", "this machine" if campaign.system == CAPTURE else campaign.system)


def _dataset(campaign: Campaign, rules: BenchmarkRules, info: DatasetInfo) -> Iterator[Finding]:
    found = f"{info.name}, {info.size} samples, sha256 {info.sha256[:12]}..."
    if info.size == rules.dataset_size:
        yield ok("dataset", found)
    else:
        fix = f"{rules.name} has {rules.dataset_size}; convert the complete dataset"
        yield warn("dataset", found, fix)
    if campaign.tokenizer is None:
        return
    try:
        tokenizer = tokenizer_file(campaign.tokenizer)
        digest, size = sha256_file(tokenizer), tokenizer.stat().st_size
    except (EvaluationError, StorageError) as error:
        yield fail("tokenizer", str(error), "correct `tokenizer` in the campaign")
        return
    if info.tokenizer_sha256 in ("", digest):
        yield ok("tokenizer", f"{tokenizer.name}, {size} bytes, sha256 {digest[:12]}...")
    else:
        fix = "use the tokenizer.json with which the dataset was made: answers would be decoded wrongly"
        yield fail("tokenizer", f"sha256 {digest[:12]}... and the dataset says {info.tokenizer_sha256[:12]}...", fix)


def _workers(campaign: Campaign) -> Iterator[Finding]:
    for worker in campaign.worker:
        if worker.container is not None:
            runner = next((name for name in ("docker", "podman") if shutil.which(name)), None)
            where = f"container {worker.container}"
            yield ok(where, f"by {runner}") if runner else fail(where, "no docker, no podman", "install one of them")
        elif worker.host is not None:
            found = shutil.which("ssh")
            yield ok(f"host {worker.host}", "by ssh") if found else fail("ssh", "not found", "install an ssh client")
        else:
            yield _interpreter(worker)
    if any(worker.container or worker.host for worker in campaign.worker):
        yield _port()


def _interpreter(worker: WorkerChoice) -> Finding:
    python = worker.python or sys.executable
    what = f"worker interpreter {python}"
    try:
        done = subprocess.run([python, "-c", PROBE], capture_output=True, text=True, timeout=PROBE_S, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        return fail(what, f"cannot be run: {error}", "correct `python` in the campaign")
    if done.returncode:
        reason = (done.stderr.strip().splitlines() or ["no message"])[-1]
        return fail(what, reason, f"{python} -m pip install pyzmq numpy msgspec")
    return ok(what, f"Python {done.stdout.strip()}")


def _port() -> Finding:
    """Whether a TCP port can be bound, as workers beyond this machine's file system need one."""
    try:
        with socket.create_server(("", 0)) as server:
            return ok("ports", f"TCP works (tried {server.getsockname()[1]})")
    except OSError as error:
        return fail("ports", f"no TCP port can be bound: {error}", "allow this user to listen on a port")


def _sut(campaign: Campaign, plan: CampaignPlan) -> Iterator[Finding]:
    here = [worker for worker in campaign.worker if not (worker.python or worker.container or worker.host)]
    if not here:
        yield ok(f"SUT {campaign.sut.name}", "runs elsewhere: its own start says what it lacks")
        return
    try:
        problems = preflight(campaign.sut.name, engine_config(campaign, plan))
    except SutError as error:
        yield fail(f"SUT {campaign.sut.name}", str(error), "correct `sut` in the campaign")
        return
    for problem in problems:
        make = fail if problem.fatal else warn
        yield make(f"SUT {campaign.sut.name}: {problem.what}", problem.found, problem.fix)
    if not problems:
        yield ok(f"SUT {campaign.sut.name}", "ready to start")


def _evaluator(campaign: Campaign, rules: BenchmarkRules) -> Iterator[Finding]:
    name = evaluator_name(campaign, rules)
    if name is None or not campaign.accuracy:
        fix = "set `evaluator`, or score the logs with the benchmark's own script"
        yield warn("evaluator", "none: accuracy runs will not be scored", fix)
        return
    problems = evaluator_problems(rules, name, campaign.tokenizer, campaign.nltk_data, campaign.division)
    for problem in problems:
        yield fail(f"evaluator {name}", problem, "")
    if not problems:
        yield ok("evaluator", name)


def _measurements(campaign: Campaign, round_: Round) -> Iterator[Finding]:
    given = campaign.measurements.model_dump()
    empty = [name for name in round_.measurements_fields if not str(given.get(name, "")).strip()]
    if empty:
        yield warn("measurements", f"{', '.join(empty)} empty", "say it in the campaign: `package` asks for it")
    else:
        yield ok("measurements", "complete")


def _space(campaign: Campaign, plan: CampaignPlan) -> Iterator[Finding]:
    tokens = plan.sampling.max_new_tokens
    need = 0
    for run in plan.runs:
        logged = run.settings.total_sample_count if run.step == "accuracy" else 0
        need += run.prediction.samples * ROW_BYTES + logged * tokens * HEX_BYTES_PER_TOKEN
    folder = next(parent for parent in (campaign.out, *campaign.out.parents) if parent.exists())
    free = shutil.disk_usage(folder).free
    found = f"{free / 2**30:.1f} GiB free, at most {need / 2**30:.2f} GiB needed below {campaign.out}"
    yield ok("disk for logs", found) if free > 2 * need else fail("disk for logs", found, "choose another `out`")
    most = max(run.prediction.samples for run in plan.runs)
    yield _memory(most)


def _memory(samples: int) -> Finding:
    """LoadGen keeps every sample of a test until its logs are written (F14)."""
    need, free = samples * LOADED_SAMPLE_BYTES, psutil.virtual_memory().available
    found = f"about {need / 2**30:.2f} GiB for {samples} samples, {free / 2**30:.1f} GiB free"
    if need < free:
        return ok("memory for LoadGen", found)
    return fail(
        "memory for LoadGen", found, "lower target_qps, min_query_count or min_duration_s, or end other programs"
    )
