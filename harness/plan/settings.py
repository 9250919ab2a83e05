"""What is asked of LoadGen for one test, from the rules and the campaign's choices.

Pure functions. The formulas are LoadGen's (loadgen/test_settings_internal.cc, loadgen/mlperf.conf), and
tests/harness/plan/test_settings.py compares every key named here with the log of a real LoadGen.
"""

from dataclasses import dataclass
from decimal import Decimal

from compliance.audits.base import AuditPlan
from compliance.rulebook.model import BenchmarkRules, Round, ScenarioRules
from compliance.vocabulary import Division, Mode, Scenario
from harness.core.spec import LoadgenSettings
from harness.errors import PlanError

OFFLINE_SLACK = 1.1  # LoadGen issues 10 % more Offline samples than the expected rate needs (test_settings_internal.cc)
DEFAULT_QUERY_COUNT = 1024  # for the latency scenarios: early stopping needs 459 at p99, and misses need more (F13)
ONE_AT_A_TIME = (Scenario.SINGLE_STREAM, Scenario.MULTI_STREAM)
MAX_SAMPLES = 2**31  # LoadGen keeps every sample of a test in memory: more than this is a slip of the pen (F14)
MAX_DURATION_S = 365 * 86400.0


@dataclass(frozen=True, slots=True)
class ScenarioChoices:
    """What the submitter chooses for one scenario; None leaves it to the rules.

    `target_qps` is samples per second in Offline. `accuracy_target_qps` is the rate of a Server-like accuracy
    run, whose latencies have no limits; None is `target_qps`. `duration_scale` multiplies the round's minimum duration
    and Offline sample count, for test rounds in the open division. `dataset_size` is the size of the dataset at hand.
    """

    target_qps: float | None = None
    accuracy_target_qps: float | None = None
    target_latency_ms: float | None = None
    min_duration_ms: int | None = None
    min_query_count: int | None = None
    performance_sample_count: int | None = None
    equal_issue: bool | None = None
    duration_scale: float = 1.0
    division: Division = Division.CLOSED
    dataset_size: int | None = None


@dataclass(frozen=True, slots=True)
class _Resolved:
    """Choices and rules put together: every value that LoadGen gets."""

    target_qps: float | None
    target_latency_ms: float | None
    min_duration_ms: int
    min_query_count: int
    performance_sample_count: int
    total_sample_count: int
    equal_issue: bool
    ttft_limit_ms: float | None
    tpot_limit_ms: float | None


def loadgen_settings(
    rules: BenchmarkRules,
    scenario: Scenario,
    mode: Mode,
    audit: AuditPlan | None,
    choices: ScenarioChoices,
    round_: Round,
) -> LoadgenSettings:
    """Settings of one test of `rules` in `scenario`.

    Raises PlanError with every problem: a scenario the benchmark does not have, a missing target, and in the closed
    division every value that the rules fix.
    """
    scenario_rules = rules.scenarios.get(scenario)
    if scenario_rules is None:
        known = ", ".join(rules.scenarios)
        raise PlanError(f"{rules.name} has no scenario {scenario} in round {round_.name}; choose from {known}")
    problems = [*_target_problems(scenario, choices), *_choice_problems(rules, scenario_rules, choices)]
    resolved = _resolve(rules, scenario_rules, mode, choices, round_)
    problems += _size_problems(scenario, choices, resolved)
    if problems:
        raise PlanError("\n".join(problems))
    return LoadgenSettings(
        model=scenario_rules.loadgen_model,
        scenario=scenario.loadgen_name,
        mode=mode.value,
        user_conf=_user_conf(scenario_rules.loadgen_model, scenario.loadgen_name, resolved),
        audit_conf=None if audit is None else audit.config_text,
        total_sample_count=resolved.total_sample_count,
        performance_sample_count=resolved.performance_sample_count,
        # LoadGen's embedded seeds are those of the round it was built for; a round's own seeds always win.
        attributes={
            "qsl_rng_seed": round_.seeds.qsl,
            "sample_index_rng_seed": round_.seeds.sample_index,
            "schedule_rng_seed": round_.seeds.schedule,
        },
        expected_effective=_expected(rules, scenario, mode, audit, resolved, round_),
    )


def _target_problems(scenario: Scenario, choices: ScenarioChoices) -> list[str]:
    problems = []
    if scenario not in ONE_AT_A_TIME:
        if choices.target_qps is None:
            problems.append(f"{scenario}: target_qps is missing; give the samples per second you expect to reach")
        if choices.target_latency_ms is not None:
            problems.append(f"{scenario}: target_latency_ms is for SingleStream and MultiStream; remove it")
    else:
        if choices.target_latency_ms is None:
            problems.append(f"{scenario}: target_latency_ms is missing; give the latency you expect for one query")
        if choices.target_qps is not None:
            problems.append(f"{scenario}: target_qps is for Offline, Server and Interactive; remove it")
    if choices.accuracy_target_qps is not None and scenario.loadgen_name != Scenario.SERVER.value:
        problems.append(f"{scenario}: accuracy_target_qps is for Server and Interactive; remove it")
    return problems


def _size_problems(scenario: Scenario, choices: ScenarioChoices, resolved: _Resolved) -> list[str]:
    """Values with which a test would never fit into memory or never end: a slip of the pen (F14)."""
    problems = []
    if (choices.target_qps or 0) * resolved.min_duration_ms / 1000 > MAX_SAMPLES:
        problems.append(f"{scenario}: target_qps = {choices.target_qps:g} asks for more samples than fit; lower it")
    if resolved.min_query_count > MAX_SAMPLES:
        problems.append(f"{scenario}: min_query_count is above {MAX_SAMPLES}, more than fit; lower it")
        return problems
    rates = {"target_qps": choices.target_qps, "accuracy_target_qps": choices.accuracy_target_qps}
    for key, qps in rates.items():
        count = resolved.total_sample_count if key.startswith("accuracy") else resolved.min_query_count
        if qps is not None and count > qps * MAX_DURATION_S:
            problems.append(f"{scenario}: {key} = {qps:g} takes over a year for {count} queries; raise it")
    latency_ms = choices.target_latency_ms
    if latency_ms is not None:
        if latency_ms / 1000 * resolved.min_query_count > MAX_DURATION_S:
            problems.append(f"{scenario}: target_latency_ms = {latency_ms:g} takes over a year; lower it")
        if resolved.min_duration_ms > latency_ms * MAX_SAMPLES:
            problems.append(f"{scenario}: target_latency_ms = {latency_ms:g} asks for more samples than fit; raise it")
    return problems


def _choice_problems(rules: BenchmarkRules, scenario_rules: ScenarioRules, choices: ScenarioChoices) -> list[str]:
    """Values below what the rules ask. Only a stated scale (open division or demo round) lowers the floor."""
    scenario, closed = scenario_rules.scenario, choices.division is not Division.OPEN
    problems = []
    if closed and choices.duration_scale != 1.0:
        problems.append(f"scale is for test rounds: the {choices.division} division has none; remove it or run in open")
    floor_ms = scaled_duration_ms(scenario_rules, choices.duration_scale)
    if choices.min_duration_ms is not None and choices.min_duration_ms < floor_ms:
        way = "remove it" if closed else "remove it, or state `scale` to make a test round"
        problems.append(
            f"{scenario}: min_duration_s = {choices.min_duration_ms / 1000:g} is below the {floor_ms / 1000:g} s "
            f"that the rules ask; {way}"
        )
    if not closed:
        return problems
    asked = {
        "min_query_count": (choices.min_query_count, scenario_rules.min_samples_per_query or 1),
        "performance_sample_count": (choices.performance_sample_count, rules.performance_sample_count),
    }
    problems += [
        f"{scenario}: {name} = {value} is below the {minimum} that the closed division asks; remove it"
        for name, (value, minimum) in asked.items()
        if value is not None and value < minimum
    ]
    if choices.equal_issue is not None and choices.equal_issue != rules.equal_issue:
        problems.append(f"equal_issue is fixed to {rules.equal_issue} in the closed division; remove it")
    if choices.dataset_size not in (None, rules.dataset_size):
        problems.append(
            f"the dataset holds {choices.dataset_size} samples and {rules.name} has {rules.dataset_size}; "
            "convert the complete official dataset"
        )
    return problems


def scaled_duration_ms(scenario_rules: ScenarioRules, scale: float) -> int:
    """The minimum duration of a scenario in ms, under a test round's scale."""
    return round(scenario_rules.min_duration_ms * scale)


def _resolve(
    rules: BenchmarkRules, scenario_rules: ScenarioRules, mode: Mode, choices: ScenarioChoices, round_: Round
) -> _Resolved:
    # LoadGen's embedded limits are the official rounds'; a round of our own brings its limits along.
    own_limits = not round_.official and scenario_rules.scenario.loadgen_name == Scenario.SERVER
    size = choices.dataset_size or rules.dataset_size
    total = size if mode is Mode.PERFORMANCE else min(size, rules.accuracy_sample_count)
    count = choices.min_query_count
    if count is None and scenario_rules.scenario is Scenario.OFFLINE:
        floor = min(scenario_rules.min_samples_per_query or 1, size)
        count = max(1, round(floor * choices.duration_scale))
    elif count is None:
        count = max(DEFAULT_QUERY_COUNT, 1)
    accuracy_qps = choices.accuracy_target_qps if mode is Mode.ACCURACY else None
    return _Resolved(
        target_qps=accuracy_qps or choices.target_qps,
        target_latency_ms=choices.target_latency_ms,
        min_duration_ms=choices.min_duration_ms or scaled_duration_ms(scenario_rules, choices.duration_scale),
        min_query_count=count,
        performance_sample_count=min(choices.performance_sample_count or rules.performance_sample_count, total),
        total_sample_count=total,
        equal_issue=rules.equal_issue if choices.equal_issue is None else choices.equal_issue,
        ttft_limit_ms=scenario_rules.max_ttft_p99_ms if own_limits else None,
        tpot_limit_ms=scenario_rules.max_tpot_p99_ms if own_limits else None,
    )


def _number(value: float) -> str:
    """A number as LoadGen's conf reader takes it: no exponent, at which it would cut the number off (measured)."""
    return format(Decimal(repr(value)).normalize(), "f")


def _user_conf(model: str, scenario: str, resolved: _Resolved) -> str:
    """The text of user.conf: every value that counts stands in it, so that nothing hangs on LoadGen's defaults."""
    values: dict[str, str] = {}
    if resolved.target_qps is not None:
        values["target_qps"] = _number(resolved.target_qps)
    if resolved.target_latency_ms is not None:
        values["target_latency"] = _number(resolved.target_latency_ms)
    if resolved.ttft_limit_ms is not None:
        values["ttft_latency"] = _number(resolved.ttft_limit_ms)
    if resolved.tpot_limit_ms is not None:
        values["tpot_latency"] = _number(resolved.tpot_limit_ms)
    values["min_duration"] = str(resolved.min_duration_ms)
    values["min_query_count"] = str(resolved.min_query_count)
    values["performance_sample_count_override"] = str(resolved.performance_sample_count)
    values["sample_concatenate_permutation"] = str(int(resolved.equal_issue))
    if scenario == Scenario.SERVER.value:
        # Queries that are overdue come in one callback, so that one slow moment does not become a queue of late ones.
        values["coalesce_queries"] = "1"
    return "".join(f"{model}.{scenario}.{key} = {value}\n" for key, value in values.items())


def _expected(
    rules: BenchmarkRules,
    scenario: Scenario,
    mode: Mode,
    audit: AuditPlan | None,
    resolved: _Resolved,
    round_: Round,
) -> dict[str, int | float | bool | str]:
    """The detail-log keys and the values they must show, after the audit file had the last word."""
    over = dict(audit.settings) if audit else {}
    duration_ms = over.get("min_duration", resolved.min_duration_ms)
    count = over.get("min_query_count", resolved.min_query_count)
    equal_issue = bool(over.get("sample_concatenate_permutation", resolved.equal_issue))
    unique = bool(over.get("performance_issue_unique", 0)) or bool(over.get("performance_issue_same", 0))
    qps = resolved.target_qps or 1000.0 / (resolved.target_latency_ms or 1000.0)
    per_query = 1
    if scenario is Scenario.OFFLINE:
        per_query = max(count, int(OFFLINE_SLACK * (duration_ms / 1000.0) * qps))
        per_query = resolved.performance_sample_count if unique else per_query
        count = 1
    expected: dict[str, int | float | bool | str] = {
        "effective_scenario": scenario.loadgen_name,
        "effective_test_mode": mode.value,
        "effective_min_duration_ms": duration_ms,
        "effective_min_query_count": count,
        "effective_samples_per_query": per_query,
        "effective_target_qps": float(f"{qps:.6g}"),  # LoadGen prints six digits
        "effective_performance_sample_count": resolved.performance_sample_count,
        "effective_sample_concatenate_permutation": equal_issue,
        "effective_performance_issue_unique": bool(over.get("performance_issue_unique", 0)),
        "effective_accuracy_log_sampling_target": over.get("accuracy_log_sampling_target", 0),
        "effective_qsl_rng_seed": round_.seeds.qsl,
        "effective_sample_index_rng_seed": round_.seeds.sample_index,
        "effective_schedule_rng_seed": round_.seeds.schedule,
        "qsl_reported_total_count": resolved.total_sample_count,
    }
    if rules.token_latencies:
        expected["requested_use_token_latencies"] = True
    if resolved.ttft_limit_ms is not None:
        expected["requested_server_ttft_latency"] = round(resolved.ttft_limit_ms * 1e6)
    if resolved.tpot_limit_ms is not None:
        expected["requested_server_tpot_latency"] = round(resolved.tpot_limit_ms * 1e6)
    if scenario.loadgen_name == Scenario.SERVER.value:
        expected["requested_server_coalesce_queries"] = True
    if equal_issue and scenario in ONE_AT_A_TIME:
        # LoadGen raises the count to whole passes before it logs it.
        expected["requested_min_query_count"] = int(expected.pop("effective_min_query_count"))
    return expected
