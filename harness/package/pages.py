"""What the pages of a submission tree say: facts of the runs, with nothing in them that only this machine means."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path

from compliance.logs.user_conf import read_conf
from compliance.rulebook.model import ScenarioRules
from compliance.submission.bandwidth import bandwidth, token_bounds
from compliance.submission.private import public_name
from harness.package.input import ACCURACY, PERFORMANCE, PackageInput, ScenarioRuns
from harness.run.record import RunRecord
from sut.protocol import SutFacts

Context = dict[str, object]
_SCORE = re.compile(r"'([\w ]+)': '?([0-9.]+)")


def _common(view: PackageInput) -> Context:
    return {
        "round": view.round.title,
        "division": view.division.value,
        "submitter": view.submitter,
        "system": view.system_id,
        "benchmark": view.model_name,
        "measurements": asdict(view.measurements),
        **asdict(view.notes),
    }


def _result_facts(runs: ScenarioRuns, view: PackageInput) -> Context:
    record = runs.records[PERFORMANCE]
    rules = view.benchmark_rules.scenarios[runs.scenario]
    return {
        "metric": _metric_text(record, rules),
        "validity": record.validity,
        "accuracy": _scores_text(runs.folders[ACCURACY] / "accuracy.txt"),
        "loadgen_version": record.outcome.loadgen_version,
        "model": ", ".join(sorted({public_name(facts.model) for facts in record.workers})),
        "started_at": record.provenance.started_at,
        "ended_at": record.provenance.ended_at,
    }


def _metric_text(record: RunRecord, rules: ScenarioRules) -> str:
    value = record.metrics.get(rules.metric_key)
    return "not recorded" if value is None else f"{value / rules.metric_divisor:g} {rules.unit}"


def _scores_text(path: Path) -> str:
    text = path.read_text(encoding="utf-8", errors="replace") if path.is_file() else ""
    return ", ".join(f"{name} {value}" for name, value in _SCORE.findall(text)) or "see accuracy.txt"


def description(view: PackageInput) -> Context:
    """The system description; division and submitter are the campaign's where it leaves them out."""
    return {"division": view.division.value, "submitter": view.submitter, **view.system_description}


def result_pages(runs: ScenarioRuns, view: PackageInput) -> tuple[Context, Context]:
    """What user.conf and README.md of one results folder say."""
    user_conf = runs.folders[PERFORMANCE] / "user.conf"
    text = user_conf.read_text(encoding="utf-8", errors="replace") if user_conf.is_file() else ""
    settings = read_conf(text, user_conf).assignments
    lines = [{"key": f"{line.model}.{line.scenario}.{line.key}", "value": line.value} for line in settings]
    common = {**_common(view), "scenario": runs.scenario.value, "assignments": lines}
    return common, {**common, **_result_facts(runs, view)}


def source_page(runs: Sequence[ScenarioRuns], view: PackageInput) -> Context:
    """What src/README.md says: every component identified, and how the results are made again."""
    return {**_environment_context(runs, view), "seeds": asdict(view.round.seeds)}


def _environment_context(runs: Sequence[ScenarioRuns], view: PackageInput) -> Context:
    records = [record for run in runs for record in run.records.values()]
    workers = _distinct_workers(records)
    packages: dict[str, str] = {}
    for mapping in (*(r.provenance.packages for r in records), *(facts.packages for facts in workers)):
        packages |= {name: public_name(version) for name, version in mapping.items()}
    provenance = records[0].provenance
    commit = f", commit {provenance.git_commit}" if provenance.git_commit else ""
    changed = " with local changes" if provenance.git_dirty else ""
    return {
        **_common(view),
        "weighbridge": f"{provenance.weighbridge_version}{commit}{changed}",
        "loadgen_version": records[0].outcome.loadgen_version,
        "python": provenance.python,
        "engines": sorted({(facts.engine, facts.engine_version) for facts in workers}),
        "workers": [_public_facts(facts) for facts in workers],
        "model_sha256": ", ".join(sorted({facts.model_sha256 for facts in workers})),
        "packages": sorted(packages.items()),
    }


def _distinct_workers(records: Sequence[RunRecord]) -> list[SutFacts]:
    distinct: list[SutFacts] = []
    for facts in (facts for record in records for facts in record.workers):
        if facts not in distinct:
            distinct.append(facts)
    return distinct


def _public_facts(facts: SutFacts) -> Context:
    return {
        "engine": facts.engine,
        "engine_version": facts.engine_version,
        "device": public_name(facts.device),
        "device_count": facts.device_count,
        "dtype": facts.dtype,
        "model_sha256": facts.model_sha256,
        "dataset_sha256": facts.dataset_sha256,
    }


def documentation(runs: Sequence[ScenarioRuns], view: PackageInput) -> Iterator[tuple[str, tuple[str, Context]]]:
    """The pages below documentation/: path, template and context of each. Bandwidth only where the rules want it."""
    yield "calibration.md", ("calibration.md.j2", _common(view))
    yield "environment.md", ("environment.md.j2", _environment_context(runs, view))
    system = description(view)
    if "datacenter" in str(system.get("system_type", "")):
        bounds = token_bounds().get(view.benchmark)
        rows = [bandwidth(run.scenario.value, _samples_per_s(run), bounds) for run in runs] if bounds else []
        context = {
            **_common(view),
            "bounds": bounds,
            "rows": rows,
            "networking": system.get("host_networking", "not stated"),
            "network_cards": system.get("host_network_card_count", "not stated"),
            "topology": system.get("host_networking_topology", "not stated"),
        }
        yield "bandwidth.md", ("bandwidth.md.j2", context)


def _samples_per_s(runs: ScenarioRuns) -> float:
    """The measured rate in samples per second; a stream's is one over its mean latency."""
    metrics = runs.records[PERFORMANCE].metrics
    for key in ("result_samples_per_second", "result_completed_samples_per_sec", "result_qps_without_loadgen_overhead"):
        if key in metrics:
            return float(metrics[key])
    return 0.0
