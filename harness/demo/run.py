"""The whole path on the embedded default: runs, scores, audit, package, check, report, and what came out of it."""

import importlib.util
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from compliance.report.model import Report
from compliance.rulebook.rounds import load_round
from compliance.vocabulary import Scenario
from harness.campaign.load import load_campaign
from harness.demo import assets
from harness.demo.calibrate import calibrate
from harness.demo.campaign import (
    CAMPAIGN_NAME,
    DemoInput,
    full_campaign,
    probe_campaign,
    quick_campaign,
    synthetic_campaign,
    write_synthetic_dataset,
)
from harness.demo.fetch import default_cache
from harness.errors import PreflightError
from harness.package.campaign import package_campaign
from harness.package.judging import judge_tree
from harness.plan.plan import ACCURACY, PERFORMANCE
from harness.plan.text import render_plan
from harness.report import write_report
from harness.run.orchestrate import plan_campaign, run_campaign
from harness.run.progress import CampaignProgress
from harness.run.summary import CampaignSummary, is_invalid, numbers
from harness.storage import write_atomic
from sut.vllm.cpu import DEFAULTS

SYNTHETIC = "synthetic"
WIDTH = 80


@dataclass(frozen=True, slots=True)
class DemoResult:
    """What the demo made: the runs, the tree with its verdict, the report."""

    summary: CampaignSummary
    sut: str
    tree: Path | None
    page: Path | None
    report: Report | None

    @property
    def exit_code(self) -> int:
        """0 when every run is good and the tree passes; else what failed first."""
        if self.summary.exit_code:
            return self.summary.exit_code
        return self.report.exit_code if self.report is not None else 1


def run_demo(out: Path, sut: str, progress: CampaignProgress, *, full: bool = False, resume: bool = True) -> DemoResult:
    """Make the demo in `out`. Raises what preparing, running, packaging and judging raise."""
    if sut == SYNTHETIC and full:
        raise PreflightError(("--full measures an engine; take it without --sut synthetic",))
    out.mkdir(parents=True, exist_ok=True)
    source = out / CAMPAIGN_NAME
    write_atomic(source, _campaign_text(out.resolve(), sut, progress, full=full, resume=resume))
    campaign = load_campaign(source)
    round_ = load_round(campaign.round)
    plan = plan_campaign(campaign, round_)
    progress.say(render_plan(campaign, plan))
    summary = run_campaign(campaign, round_, source, progress=progress, resume=resume)
    if any(run.record is None or run.record.status != "ok" for run in summary.runs):
        return DemoResult(summary, sut, None, None, None)
    tree = out / "submission"
    package_campaign(campaign, round_, plan, tree, replace=True, allow_invalid=True)
    report = judge_tree(tree, round_.name)
    page = None
    if importlib.util.find_spec("matplotlib") is not None:
        page = out / "report.html"
        write_report(campaign.out, tree, report, page)
    return DemoResult(summary, sut, tree, page, report)


def _campaign_text(out: Path, sut: str, progress: CampaignProgress, *, full: bool, resume: bool) -> str:
    if sut == SYNTHETIC:
        dataset = out / "dataset"
        if not (dataset / "dataset.json").is_file():
            write_synthetic_dataset(dataset)
        return synthetic_campaign(DemoInput(dataset, None, None))
    if sut.startswith("vllm") and importlib.util.find_spec("vllm") is None:
        hint = (
            "install weighbridge[cpu] (`make demo` does), or see the path alone with `weighbridge demo --sut synthetic`"
        )
        raise PreflightError((f"{sut} needs vLLM, which is not installed here; {hint}",))
    given = _demo_input(sut, progress, full=full)

    def probe_text(scenario: Scenario, qps: float, samples: int) -> str:
        return probe_campaign(sut, given, scenario, qps, samples, full=full)

    rates = calibrate(out, probe_text, progress, full=full, resume=resume)
    return full_campaign(sut, given, rates) if full else quick_campaign(sut, given, rates)


def _demo_input(sut: str, progress: CampaignProgress, *, full: bool) -> DemoInput:
    found = assets.prepare(default_cache(), progress.say, full=full)
    dataset = found.full_dataset if full and found.full_dataset is not None else found.dataset
    # The CPU engine's number format follows the processor; accelerators run this model in bfloat16.
    dtype = DEFAULTS["dtype"] if sut == "vllm-cpu" else "bfloat16"
    return DemoInput(dataset, found.model, found.tokenizer, "fp32" if dtype == "float32" else "bf16")


def render_demo(result: DemoResult) -> str:
    """What the demo shows at its end."""
    return "\n".join(_lines(result)) + "\n"


def _lines(result: DemoResult) -> Iterator[str]:
    yield ""
    yield "-" * WIDTH
    for run in result.summary.runs:
        name = f"{run.run.scenario} {run.run.step}"
        if run.record is None or run.record.status != "ok":
            yield from _row(name, run.record.cause if run.record else "not made")
        elif run.run.step == PERFORMANCE:
            yield from _row(name, ", ".join((run.record.validity or "no verdict", *numbers(run.record.metrics))))
        elif run.run.step == ACCURACY:
            meaningless = "not meaningful: a timing model made the answers up"
            yield from _row(name, meaningless if result.sut == SYNTHETIC else run.verdict.text)
        else:
            yield from _row(name, "passed" if run.verdict.passed else f"FAILED: {run.verdict.text}")
    if result.report is not None:
        yield from _row("checker", f"{result.report.verdict} (strict), see below")
    for what, path in (("tree", result.tree), ("report", result.page)):
        if path is not None:
            yield from _row(what, str(path))
    if any(run.record is not None and is_invalid(run.run, run.record) for run in result.summary.runs):
        yield from _row("next", "the same command repeats what is INVALID; with --restart it measures the rates anew")
    if result.sut == SYNTHETIC:
        yield from _row("note", "a test of the path: no figure here measures anything")
    yield "-" * WIDTH


def _row(name: str, text: str) -> list[str]:
    return textwrap.wrap(
        text, WIDTH, initial_indent=f"{name:<22}", subsequent_indent=" " * 22, break_long_words=False
    ) or [name]
