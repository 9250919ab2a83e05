"""From a campaign's folder, its tree and the checks' report to the records of one report."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from compliance.errors import ComplianceError
from compliance.rulebook.model import BenchmarkRules, Round
from compliance.rulebook.rounds import benchmark_of, load_round
from compliance.vocabulary import Scenario
from harness.report.facts import measure, validity_facts
from harness.report.model import (
    AuditView,
    Fact,
    ReportData,
    ScenarioView,
    Score,
    Setting,
)
from harness.report.provenance import packages, provenance, system_facts, workers
from harness.report.runs import RunFolder, read_campaign, read_runs, read_scores
from harness.report.verdicts import NOT_CHECKED, ResultVerdict, read_verdicts

if TYPE_CHECKING:
    from compliance.report.model import Report

_ORDER = tuple(scenario.value for scenario in Scenario)


def collect(campaign_out: Path, tree: Path | None, report: "Report | None") -> ReportData:
    """Everything a report says. Nothing raises for a missing or damaged run: it stands in `problems`."""
    problems: list[str] = []
    runs = read_runs(campaign_out, problems)
    campaign = read_campaign(campaign_out)
    verdicts = read_verdicts(report)
    round_name = campaign.get("round") or verdicts.round
    round_ = _round(round_name, problems)
    if not runs:
        problems.append("there are no runs in this campaign yet; make them with `weighbridge run CAMPAIGN`")
    scenarios = []
    for (benchmark, scenario), steps in sorted(runs.items(), key=lambda item: (item[0][0], _place(item[0][1]))):
        rules = benchmark_of(round_, benchmark) if round_ else None
        scenarios.append(_scenario(steps, rules, verdicts.of(benchmark, scenario)))
    system = tuple(system_facts(tree, campaign)) if tree else ()
    benchmark = campaign.get("benchmark") or next((view.benchmark for view in scenarios), "")
    rules = benchmark_of(round_, benchmark) if round_ else None
    records = [folder.record for steps in runs.values() for folder in steps.values()]
    return ReportData(
        title=rules.title if rules else benchmark,
        round=round_name,
        round_title=round_.title if round_ else round_name,
        division=campaign.get("division", ""),
        submitter=campaign.get("submitter", ""),
        system=next((fact.value for fact in system), Path(campaign.get("system", "")).stem),
        benchmark=benchmark,
        strict=verdicts.strict,
        official=verdicts.official,
        scenarios=tuple(scenarios),
        findings=verdicts.findings,
        workers=tuple(workers(list(runs.values()))),
        provenance=tuple(provenance(records)),
        packages=packages(records),
        problems=tuple(problems),
        system_facts=system,
    )


def _round(name: str, problems: list[str]) -> Round | None:
    try:
        return load_round(name)
    except ComplianceError as error:
        problems.append(f"no targets or limits are shown: {error}")
        return None


def _place(scenario: str) -> int:
    return _ORDER.index(scenario) if scenario in _ORDER else len(_ORDER)


def _scenario(
    steps: Mapping[str, RunFolder], rules: BenchmarkRules | None, verdict: ResultVerdict | None
) -> ScenarioView:
    performance = steps.get("performance")
    accuracy = steps.get("accuracy")
    first = next(iter(steps.values())).record
    limits = rules.scenarios.get(Scenario(first.scenario)) if rules and first.scenario in _ORDER else None
    metric, unit = (verdict.metric, verdict.unit) if verdict else (None, limits.unit if limits else "")
    if metric is None and performance and limits:
        logged = performance.record.metrics.get(limits.metric_key)
        metric = None if logged is None else logged / limits.metric_divisor
    distributions, series = measure(performance, limits, rules) if performance else ((), ())
    return ScenarioView(
        benchmark=first.benchmark,
        scenario=first.scenario,
        metric=metric,
        unit=unit,
        validity=(performance.record.validity or "not stated") if performance else "not run",
        invalid_reason=performance.record.invalid_reason or performance.record.cause if performance else "",
        strict=verdict.strict if verdict else NOT_CHECKED,
        official=verdict.official if verdict else NOT_CHECKED,
        validity_facts=tuple(validity_facts(performance)) if performance else (),
        scores=tuple(_scores(accuracy, rules)) if accuracy else (),
        accuracy_status=_status(accuracy),
        distributions=distributions,
        series=series,
        settings=tuple(_settings(performance)) if performance else (),
        audits=tuple(_audit(name, folder) for name, folder in sorted(steps.items()) if name.startswith("TEST")),
        run_facts=tuple(_run_facts(steps)),
        findings=verdict.findings if verdict else (),
    )


def _status(folder: RunFolder | None) -> str:
    if folder is None:
        return "not run"
    return folder.record.status if folder.record.status == "ok" else f"{folder.record.status}: {folder.record.cause}"


def _scores(folder: RunFolder, rules: BenchmarkRules | None) -> Iterator[Score]:
    """Scores with a target first, in the rules' order; then what else the evaluator computed."""
    scores = {name.casefold(): (name, value) for name, value in read_scores(folder.path).items()}
    for target in rules.accuracy if rules else ():
        _, value = scores.pop(target.metric.casefold(), (None, None))
        low, high = target.minimum, target.maximum
        if value is None:
            yield Score(target.metric, None, target.reference, low, high, False, None)
            continue
        margins = [value / low - 1] if low else []
        margins += [1 - value / high] if high else []
        passed = (low is None or value >= low) and (high is None or value <= high)
        yield Score(target.metric, value, target.reference, low, high, passed, min(margins) * 100 if margins else None)
    for name, value in scores.values():
        yield Score(name, value, None, None, None, None, None)


def _settings(folder: RunFolder) -> Iterator[Setting]:
    effective = folder.record.effective
    asked = folder.spec.loadgen.expected_effective if folder.spec else {}
    wrong = {mismatch.key: mismatch for mismatch in folder.record.mismatches}
    for key in dict.fromkeys((*wrong, *asked, *effective)):
        value = _text(asked[key]) if key in asked else wrong[key].expected if key in wrong else ""
        found = effective.get(key) or (wrong[key].found if key in wrong else "")
        yield Setting(key, value, found, key not in wrong)


def _text(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else f"{value:g}" if isinstance(value, float) else str(value)


def _audit(name: str, folder: RunFolder) -> AuditView:
    """An audit by its verification: of named checks each must hold or be skipped, else "TEST PASS" must stand there."""
    verify = folder.verify
    if verify is None:
        return AuditView(name, _status(folder), None, {})
    checks = dict(verify.passed)
    passed = set(checks.values()) <= {"True", "Skipped"} if checks else verify.test_pass
    return AuditView(name, _status(folder), passed, checks)


def _run_facts(steps: Mapping[str, RunFolder]) -> Iterator[Fact]:
    """How each run ended, in the order they are made: performance, accuracy, audits."""
    order = {"performance": 0, "accuracy": 1}
    for step, folder in sorted(steps.items(), key=lambda item: (order.get(item[0], 2), item[0])):
        record = folder.record
        ledger = record.outcome.ledger
        whole = ledger.issued == ledger.completed and not (ledger.missing or ledger.duplicates or ledger.violations)
        answered = f"{ledger.completed:,} of {ledger.issued:,} samples, {ledger.output_tokens:,} tokens"
        yield Fact(
            step, f"{record.status}, {record.outcome.duration_s:.1f} s, {answered}", record.status == "ok" and whole
        )
