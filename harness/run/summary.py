"""How a campaign ended, run by run: what `weighbridge run` prints last, and its exit code."""

import textwrap
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from harness.plan.plan import PERFORMANCE, PlannedRun
from harness.run.after import Verdict
from harness.run.explain import first_reason
from harness.run.record import RunRecord

OK, FAILED, INTERRUPTED = 0, 1, 130
WIDTH = 80
NS_PER_MS = 1e6
TTFT = "result_first_token_99.00_percentile_latency_ns"
TPOT = "result_time_per_output_token_99.00_percentile_ns"


@dataclass(frozen=True, slots=True)
class RunSummary:
    """One run of the campaign: its record, whether it was `kept` from an earlier time, and what followed it.

    `record` is None for a run that was not made: the campaign was interrupted before it, or while it began (`stopped`).
    """

    run: PlannedRun
    record: RunRecord | None
    kept: bool
    verdict: Verdict
    stopped: bool = False

    @property
    def failed(self) -> bool:
        """Whether the campaign is not whole for this run: a bad run, an INVALID result, a failed audit or score."""
        if self.record is None or self.record.status != "ok" or self.verdict.passed is False:
            return True
        return self.run.step == PERFORMANCE and self.record.validity != "VALID"


@dataclass(frozen=True, slots=True)
class CampaignSummary:
    """All runs of a campaign."""

    runs: tuple[RunSummary, ...]

    @property
    def interrupted(self) -> bool:
        """Whether the user stopped it."""
        return any(run.stopped or (run.record and run.record.status == "interrupted") for run in self.runs)

    @property
    def exit_code(self) -> int:
        """0 when every run is good, 1 when one is not, 130 when it was interrupted."""
        if self.interrupted:
            return INTERRUPTED
        return FAILED if any(run.failed for run in self.runs) else OK

    def text(self) -> str:
        """A line or two per run."""
        return "\n".join(line for run in self.runs for line in _lines(run)) + "\n"


def numbers(metrics: Mapping[str, float]) -> tuple[str, ...]:
    """A performance run's figures as people quote them: tokens/s, queries/s, TTFT and TPOT at p99."""
    found = []
    tokens = metrics.get("result_tokens_per_second", metrics.get("result_completed_tokens_per_second"))
    if tokens is not None:
        found.append(f"{tokens:.1f} tokens/s")
    if (qps := metrics.get("result_completed_samples_per_sec")) is not None:
        found.append(f"{qps:.2f} queries/s")
    for key, name in ((TTFT, "TTFT"), (TPOT, "TPOT")):
        if key in metrics:
            found.append(f"{name} p99 {metrics[key] / NS_PER_MS:.1f} ms")
    return tuple(found)


def is_invalid(run: PlannedRun, record: RunRecord) -> bool:
    """Whether a run came to its end and LoadGen calls its performance INVALID."""
    return run.step == PERFORMANCE and record.status == "ok" and record.validity == "INVALID"


def verdict_line(run: PlannedRun, record: RunRecord) -> str:
    """How a run ended, said as it ends: an INVALID one must not read as a success."""
    if is_invalid(run, record):
        return f"INVALID: {_reason(run, record) or 'LoadGen gives no reason'}"
    word = record.validity if run.step == PERFORMANCE else None
    return f"{record.status}, {word}" if word else record.status


def _reason(run: PlannedRun, record: RunRecord) -> str:
    return first_reason(run.folder) or " ".join(record.invalid_reason.split())


def _lines(summary: RunSummary) -> Iterator[str]:
    record = summary.record
    if record is None:
        yield f"{summary.run.name:<26}{'interrupted' if summary.stopped else 'not made'}"
        return
    invalid = is_invalid(summary.run, record)
    words = [("INVALID" if invalid else record.status) + (" (kept)" if summary.kept else "")]
    if summary.run.step == PERFORMANCE:
        words += [] if invalid else [record.validity or "no verdict"]
        words += numbers(record.metrics)
    elif summary.run.audit is not None:
        words.append({True: "PASS", False: "FAIL", None: ""}[summary.verdict.passed])
    text = ", ".join(word for word in words if word)
    yield from textwrap.wrap(text, WIDTH, initial_indent=f"{summary.run.name:<26}", subsequent_indent=" " * 26)
    details = [record.cause, summary.verdict.text]
    if invalid:
        details.insert(1, _reason(summary.run, record))
        details.append(f"`weighbridge explain {summary.run.folder}` says what to change")
    for detail in filter(None, details):
        yield from textwrap.wrap(" ".join(detail.split()), WIDTH, initial_indent="    ", subsequent_indent="      ")
