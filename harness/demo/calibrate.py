"""What this machine can do, measured before the demo's campaign is written: rates for Offline and for Server.

A few dozen samples through the whole harness, each a LoadGen test of its own; nothing of it goes into the submission.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from compliance.rulebook.model import Round, ScenarioRules
from compliance.rulebook.rounds import load_round
from compliance.vocabulary import Scenario
from harness.campaign.load import parse_campaign
from harness.campaign.model import Campaign
from harness.errors import RunAborted, StorageError
from harness.plan.plan import make_plan
from harness.run.orchestrate import make_run, workers_for
from harness.run.progress import CampaignProgress
from harness.storage import read_record, write_record
from harness.workers.pool import WorkerPool
from sut.dataset import TokenDataset

RATES_NAME = "rates.json"
CALIBRATION_FOLDER = "calibration"
QUICK_SAMPLES, FULL_SAMPLES, SERVER_QUERIES = 64, 256, 48
SERVER_LADDER = (1.0, 2.0, 4.0)
# A few dozen queries see less of the tail than an official run: a rate must leave this much of a limit unused.
USABLE_SHARE = 0.85
_TTFT, _TPOT = "result_first_token_99.00_percentile_latency_ns", "result_time_per_output_token_99.00_percentile_ns"
_RATES = {Scenario.OFFLINE: "result_samples_per_second", Scenario.SERVER: "result_completed_samples_per_sec"}


@dataclass(frozen=True, slots=True)
class Probe:
    """One short test: the rate asked for, the rate reached (samples/s), and in Server the p99 latencies."""

    scenario: str
    target_qps: float
    samples: int
    reached_qps: float
    ttft_p99_ms: float | None = None
    tpot_p99_ms: float | None = None

    def text(self) -> str:
        """The probe in one line."""
        line = f"{self.scenario}: {self.samples} samples, {self.reached_qps:.2f} samples/s"
        if self.ttft_p99_ms is None or self.tpot_p99_ms is None:
            return line
        return (
            f"{line} at {self.target_qps:g} QPS, TTFT p99 {self.ttft_p99_ms:.0f} ms, TPOT p99 {self.tpot_p99_ms:.0f} ms"
        )


@dataclass(frozen=True, slots=True)
class Rates:
    """What the demo's campaign asks for. `server_qps` is None when no rate keeps the benchmark's latency limits."""

    offline_qps: float
    server_qps: float | None
    accuracy_qps: float
    probes: tuple[Probe, ...]


# The text of a campaign that tests one scenario at one rate with so many samples.
ProbeText = Callable[[Scenario, float, int], str]


def calibrate(out: Path, text: ProbeText, progress: CampaignProgress, *, full: bool, resume: bool) -> Rates:
    """The rates of this machine, measured once per demo folder. Raises RunAborted when a probe does not end well."""
    kept = out / CALIBRATION_FOLDER / RATES_NAME
    if resume and kept.is_file():
        try:
            return read_record(kept, Rates)
        except StorageError:
            progress.say(f"{kept} cannot be read; measuring again")
    rates = _measure(out, text, progress, full=full)
    write_record(kept, rates)
    return rates


def _measure(out: Path, text: ProbeText, progress: CampaignProgress, *, full: bool) -> Rates:
    samples = FULL_SAMPLES if full else QUICK_SAMPLES
    first = _campaign(out, text(Scenario.OFFLINE, 1.0, samples))
    round_ = load_round(first.round)
    info = TokenDataset.open(first.dataset).info
    plan = make_plan(first, round_, info.size, info.sha256)
    limits = plan.benchmark.scenarios[Scenario.SERVER]
    with workers_for(first, plan, info) as pool:
        offline = _probe(first, round_, Scenario.OFFLINE, pool, progress, 1.0, samples)
        rate = offline.reached_qps
        if not full:
            return Rates(_tidy(rate), quick_server_qps(rate), _tidy(rate), (offline,))
        probes = tuple(_ladder(out, text, round_, limits, pool, progress, rate))
    kept = [probe.target_qps for probe in probes if within(probe, limits.max_ttft_p99_ms, limits.max_tpot_p99_ms)]
    # LoadGen issues 10 % more than the rate needs: 2 % above what was measured makes Offline last its 600 s.
    return Rates(_tidy(1.02 * rate), max(kept, default=None), _tidy(0.8 * rate), (offline, *probes))


def quick_server_qps(offline_qps: float) -> float:
    """Half of what the machine does, at least 1.2 queries per second so that 480 take minutes, at most 4."""
    return round(min(4.0, max(0.5 * offline_qps, min(1.2, 0.8 * offline_qps))), 2)


def _ladder(
    out: Path,
    text: ProbeText,
    round_: Round,
    limits: ScenarioRules,
    pool: WorkerPool,
    progress: CampaignProgress,
    rate: float,
) -> Iterator[Probe]:
    """Server probes from the lowest rate up, until one misses a limit or Offline's rate comes near."""
    for qps in SERVER_LADDER:
        campaign = _campaign(out, text(Scenario.SERVER, qps, SERVER_QUERIES))
        probe = _probe(campaign, round_, Scenario.SERVER, pool, progress, qps, SERVER_QUERIES)
        yield probe
        if qps > rate / 2 or not within(probe, limits.max_ttft_p99_ms, limits.max_tpot_p99_ms):
            return


def within(probe: Probe, max_ttft_ms: float | None, max_tpot_ms: float | None) -> bool:
    """Whether a Server probe leaves enough of both limits unused."""
    pairs = ((probe.ttft_p99_ms, max_ttft_ms), (probe.tpot_p99_ms, max_tpot_ms))
    return all(limit is None or (found is not None and found < USABLE_SHARE * limit) for found, limit in pairs)


def _campaign(out: Path, text: str) -> Campaign:
    return parse_campaign(text, "calibration", out, {})


def _probe(
    campaign: Campaign,
    round_: Round,
    scenario: Scenario,
    pool: WorkerPool,
    progress: CampaignProgress,
    qps: float,
    samples: int,
) -> Probe:
    info = TokenDataset.open(campaign.dataset, verify=False).info
    plan = make_plan(campaign, round_, info.size, info.sha256)
    (run,) = plan.runs
    record = make_run(campaign, plan, run, pool, progress)
    if record.status != "ok":
        raise RunAborted(record.outcome.kind, f"calibration in {scenario} did not end well: {record.cause}")
    streams = scenario is Scenario.SERVER
    probe = Probe(
        scenario=scenario.value,
        target_qps=qps,
        samples=samples,
        reached_qps=record.metrics[_RATES[scenario]],
        ttft_p99_ms=_ms(record.metrics, _TTFT) if streams else None,
        tpot_p99_ms=_ms(record.metrics, _TPOT) if streams else None,
    )
    progress.say(f"measured  {probe.text()}")
    return probe


def _ms(metrics: Mapping[str, float], key: str) -> float:
    return metrics[key] / 1e6


def _tidy(rate: float) -> float:
    """A rate with three digits: what a person would write."""
    return float(f"{rate:.3g}")
