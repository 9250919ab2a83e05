"""SCN-: which benchmarks and scenarios stand in a tree."""

from collections.abc import Iterator
from difflib import get_close_matches
from fnmatch import fnmatchcase

from compliance.checks.facts import (
    INFERABLE,
    about,
    benchmark_of,
    fits_folder,
    graded,
    is_open,
    result_of,
    scenario_of_log,
    strictly,
    system_of,
)
from compliance.checks.model import Finding, Scope, Skip, Subject
from compliance.checks.registry import check
from compliance.metrics.performance import read_metric
from compliance.rulebook.model import BenchmarkRules, Round, SuiteRules
from compliance.vocabulary import Scenario, Severity, Suite

_INFER = (Suite.EDGE, Suite.BOTH)
"""The suites whose systems may infer one scenario from another."""
_ONLINE = "online"
_SUITES = {**{suite.value: suite for suite in Suite}, "edge,datacenter": Suite.BOTH}


@check(
    "SCN-001",
    "the folder is a scenario",
    "loader.py:260-262; constants.py:1539-1545",
    Scope.RESULT,
    fix="Name it Offline, Server, Interactive, SingleStream or MultiStream; move anything else away.",
)
def known_scenario(subject: Subject) -> Iterator[Finding | Skip]:
    """The results folder's name is a scenario; online is Server's of an endpoints run. Lower case is a strict warning.

    The official checker stops altogether over another folder here, or another spelling.
    """
    result = result_of(subject)
    names = tuple(scenario.value for scenario in Scenario)
    online = result.endpoints is not None and result.scenario_dir.lower() == _ONLINE
    if result.scenario_dir in names or online:
        return
    lowered = result.scenario_dir in {name.lower() for name in names}
    finding = Finding(result.path, f"one of {', '.join(names)}", f'a folder "{result.scenario_dir}"')
    if lowered:
        yield strictly(finding, Severity.WARNING)
    else:
        yield from graded(finding, official=Severity.ERROR, strict=Severity.ERROR)


@check(
    "SCN-002",
    "the benchmark is one of the round",
    "loader.py:249; configuration.py:111-115; old:2921",
    Scope.RESULT,
    fix="Name the folder as the round names the benchmark; in open, map your own name in model_mapping.json.",
)
def known_benchmark(subject: Subject) -> Iterator[Finding | Skip]:
    """The benchmark's folder is a benchmark of the round, by name, alias or (open) model_mapping.json."""
    result = result_of(subject)
    if subject.benchmark is not None:
        return
    mapping = subject.submitter.model_mapping if subject.submitter else None
    name = (mapping.text(result.benchmark) if mapping else None) or result.benchmark
    unshipped = _unshipped(subject.round, name)
    if unshipped is not None:
        yield Skip(f"round {subject.round.name} has {unshipped}, but this installation has no rules for it: not judged")
        return
    known = tuple(subject.round.benchmarks)
    near = get_close_matches(name, known, n=1)
    message = f"did you mean {near[0]}?" if near else ""
    expected = f"a benchmark of round {subject.round.name}: {', '.join((*known, *subject.round.unshipped))}"
    yield Finding(result.path, expected, f'"{name}"', message=message)


def _unshipped(round_: Round, name: str) -> str | None:
    """The benchmark without rules here that a name stands for, None when it stands for none."""
    if name in round_.unshipped:
        return name
    return next((to for pattern, to in round_.unshipped_aliases.items() if fnmatchcase(name, pattern)), None)


def suite_of(subject: Subject) -> Suite | None:
    """The suite that the description's system_type names; None when it is not one of the four known values."""
    description = system_of(subject).description
    named = description.members.get("system_type") if description else None
    return _SUITES.get(named) if isinstance(named, str) else None


def _demands(benchmark: BenchmarkRules, suite: Suite | None) -> SuiteRules | None:
    return benchmark.suites.get(suite) if suite else None


def _present(subject: Subject) -> set[Scenario | None]:
    own = result_of(subject)
    return {other.scenario for other in system_of(subject).results if other.benchmark == own.benchmark}


@check(
    "SCN-003",
    "every required scenario is there",
    "loader.py:257-259, 263-267; old:3292-3304",
    Scope.RESULT,
    ("benchmark", "description"),
    fix="Run the missing scenario too, or submit the benchmark in the open division.",
)
def required(subject: Subject) -> Iterator[Finding | Skip]:
    """Beside this result stand all scenarios that the suite demands; one of Server and Interactive where it says so.

    A missing one turns down every scenario of the benchmark; in the open division it is a warning.
    """
    result, suite = result_of(subject), suite_of(subject)
    rules = _demands(benchmark_of(subject), suite)
    if suite is None:
        yield Skip("no known system_type (SYS-004)")
        return
    where = result.path.rpartition("/")[0]
    official, strict = (None, Severity.WARNING) if is_open(subject) else (Severity.ERROR, Severity.ERROR)
    if rules is None:
        finding = Finding(where, "a benchmark of the system's suite", f"{result.benchmark} is not in the {suite} suite")
        yield from graded(finding, official=official, strict=strict)
        return
    present = _present(subject)
    groups = (*((scenario,) for scenario in rules.required), *rules.one_of)
    for group in groups:
        if not present.intersection(group):
            found = ", ".join(sorted(scenario for scenario in present if scenario)) or "none"
            fix = "Run the missing scenario too; the open division allows to leave it out." if is_open(subject) else ""
            finding = Finding(where, " or ".join(group), f"only {found}", fix)
            yield from graded(finding, official=official, strict=strict)


@check(
    "SCN-004",
    "no scenario that the benchmark does not have",
    "loader.py:260-262; performance_check.py:111",
    Scope.RESULT,
    ("benchmark", "description", "closed"),
    fix="Take the folder out, or submit it in the open division.",
)
def unknown(subject: Subject) -> Iterator[Finding | Skip]:
    """Beside this result stands no scenario that the suite does not list; one such turns down all of the benchmark.

    The official checker takes the folder online of an endpoints run for such a one in closed and network.
    """
    result = result_of(subject)
    rules = _demands(benchmark_of(subject), suite_of(subject))
    if rules is None:
        yield Skip("no known suite (SYS-004, SCN-003)")
        return
    for other in system_of(subject).results:
        if other.benchmark == result.benchmark and other.scenario not in rules.known:
            yield Finding(other.path, f"one of {', '.join(rules.known)}", f'a folder "{other.scenario_dir}"')
        elif other.benchmark == result.benchmark and other.scenario_dir.lower() == _ONLINE:
            finding = Finding(other.path, 'a folder "Server"', f'a folder "{other.scenario_dir}"')
            yield from graded(finding, official=Severity.ERROR, strict=None)


@check(
    "SCN-005",
    "the performance run is of this scenario",
    "performance_check.py:506; inference_rules.adoc:326-343",
    Scope.RESULT,
    ("loadgen", "performance"),
    fix="Put the run of this very scenario here; only an edge system may infer one scenario from another.",
)
def log_scenario(subject: Subject) -> Iterator[Finding | Skip]:
    """effective_scenario is the folder's (Server for Interactive), or one an edge system may infer it from."""
    result = result_of(subject)
    if result.scenario is None:
        yield Skip("the folder's name is no scenario (SCN-001)")
        return
    measured = scenario_of_log(result.performance)
    if fits_folder(measured, result.scenario):
        return
    if suite_of(subject) in _INFER and (measured, result.scenario) in INFERABLE:
        yield from _inference(subject)
        return
    key = "effective_scenario"
    yield about(result.performance, key, f"{key} = {result.scenario.loadgen_name}")


def _inference(subject: Subject) -> Iterator[Finding]:
    """The log must hold what the metric is inferred from; for MultiStream LoadGen writes 0 after too few queries."""
    result = result_of(subject)
    keys = {
        Scenario.MULTI_STREAM: "early_stopping_latency_ms",
        Scenario.OFFLINE: "result_qps_without_loadgen_overhead",
    }
    if (
        subject.benchmark is not None
        and result.scenario is not None
        and not read_metric(result, subject.benchmark).value
    ):
        key = keys.get(result.scenario, "effective_scenario")
        if scenario_of_log(result.performance) is Scenario.MULTI_STREAM:
            key = "result_mean_query_latency_ns"
        yield about(result.performance, key, f"{key} > 0, to infer {result.scenario.value} from")
