"""The reported metric of a result: which key of the detail log, in which unit, and how a scenario is inferred."""

from collections.abc import Mapping
from dataclasses import dataclass

from compliance.logs.detail import DetailLog
from compliance.logs.endpoints_official import MEAN_LATENCY, OFFLINE_QPS, QPS
from compliance.logs.endpoints_official import SCENARIO as ENDPOINTS_SCENARIO
from compliance.records import Result
from compliance.rulebook.model import BenchmarkRules
from compliance.vocabulary import Scenario

BASE_KEYS: Mapping[Scenario, str] = {
    Scenario.OFFLINE: "result_samples_per_second",
    Scenario.SERVER: "result_completed_samples_per_sec",
    Scenario.INTERACTIVE: "result_completed_samples_per_sec",
    Scenario.SINGLE_STREAM: "early_stopping_latency_ss",
    Scenario.MULTI_STREAM: "early_stopping_latency_ms",
}
"""Each scenario's metric unless the benchmark has its own (constants.py:1554-1734)."""

BASE_UNITS: Mapping[Scenario, str] = {
    Scenario.OFFLINE: "Samples/s",
    Scenario.SERVER: "Queries/s",
    Scenario.INTERACTIVE: "Queries/s",
    Scenario.SINGLE_STREAM: "Latency (ms)",
    Scenario.MULTI_STREAM: "Latency (ms)",
}
ENDPOINTS_KEYS: Mapping[Scenario, str] = {
    Scenario.OFFLINE: OFFLINE_QPS,
    Scenario.SERVER: QPS,
    Scenario.INTERACTIVE: QPS,
    Scenario.SINGLE_STREAM: MEAN_LATENCY,
    Scenario.MULTI_STREAM: MEAN_LATENCY,
}
"""Each scenario's metric of an endpoints run (constants.py:1582-1590)."""
_ENDPOINTS_UNITS: Mapping[str, str] = {OFFLINE_QPS: "Samples/s", QPS: "Queries/s"}
_SCENARIOS = frozenset(scenario.value for scenario in Scenario)
_NS_PER_MS = 1e6
_MULTI_STREAM_SAMPLES = 8


@dataclass(frozen=True, slots=True)
class Metric:
    """A result's metric. `value` is None when it cannot be read; `inferred` when another scenario was measured."""

    value: float | None
    unit: str
    inferred: bool


def metric_key(benchmark: BenchmarkRules, scenario: Scenario) -> str:
    """The detail log key that holds the benchmark's metric in a scenario."""
    rules = benchmark.scenarios.get(scenario)
    return BASE_KEYS[scenario] if rules is None else rules.metric_key


def read_metric(result: Result, benchmark: BenchmarkRules | None) -> Metric:
    """A result's metric, inferred where the log is of another scenario (performance_check.py:604)."""
    folder = result.scenario
    if benchmark is None or folder is None:
        return Metric(None, "", inferred=False)
    if result.endpoints is not None:
        return _endpoints_metric(result, benchmark, folder)
    rules = benchmark.scenarios.get(folder)
    unit = BASE_UNITS[folder] if rules is None else rules.unit
    detail = result.performance.detail
    logged = detail.value("effective_scenario") if detail else None
    if detail is None or not isinstance(logged, str) or logged not in _SCENARIOS:
        return Metric(None, unit, inferred=False)
    measured = Scenario(logged)
    if measured.value != folder.loadgen_name:
        return Metric(_inferred(detail, measured, folder), unit, inferred=True)
    value = detail.number(metric_key(benchmark, folder))
    divisor = rules.metric_divisor if rules else _NS_PER_MS if unit == "Latency (ms)" else 1.0
    return Metric(None if value is None else value / divisor, unit, inferred=False)


def _inferred(detail: DetailLog, measured: Scenario, folder: Scenario) -> float | None:
    if (measured, folder) == (Scenario.SINGLE_STREAM, Scenario.OFFLINE):
        return detail.number("result_qps_without_loadgen_overhead")
    if (measured, folder) == (Scenario.SINGLE_STREAM, Scenario.MULTI_STREAM):
        latency_ns = detail.number("early_stopping_latency_ms")
        return None if not latency_ns else latency_ns * _MULTI_STREAM_SAMPLES / _NS_PER_MS
    if (measured, folder) == (Scenario.MULTI_STREAM, Scenario.OFFLINE):
        samples, mean_ns = detail.number("effective_samples_per_query"), detail.number("result_mean_query_latency_ns")
        return None if samples is None or not mean_ns else samples * 1000 / (mean_ns / _NS_PER_MS)
    return None


def endpoints_scenario(result: Result) -> str | None:
    """What the official checker calls the scenario of an endpoints run (performance_check.py:64-72).

    By the folder for SingleStream and Interactive, else by config.yaml's type as it is spelled; online is Server.
    None where it stops because there is no type.
    """
    if result.scenario in (Scenario.SINGLE_STREAM, Scenario.INTERACTIVE):
        return result.scenario.value
    said = result.endpoints.official.performance.get(ENDPOINTS_SCENARIO) if result.endpoints else None
    if not isinstance(said, str):
        return None
    return {"interactive": Scenario.INTERACTIVE.value, "online": Scenario.SERVER.value}.get(said.lower(), said)


def endpoints_keys(benchmark: BenchmarkRules, scenario: str) -> tuple[str, ...]:
    """The values an endpoints run must have in a scenario as the official checker spells it; the last is the metric.

    Empty for a scenario it does not know. The benchmark's own key counts in the exact spelling alone, and never in
    Interactive (performance_check.py:540-583).
    """
    named = next((one for one in Scenario if one.value.lower() == scenario.lower()), None)
    if named is None:
        return ()
    rules = benchmark.scenarios.get(named)
    own = rules.metric_key if rules and scenario == named.value and named is not Scenario.INTERACTIVE else None
    return (ENDPOINTS_KEYS[named],) if own in {None, BASE_KEYS[named]} else (ENDPOINTS_KEYS[named], str(own))


def _endpoints_metric(result: Result, benchmark: BenchmarkRules, folder: Scenario) -> Metric:
    scenario = endpoints_scenario(result) or folder.value
    keys = endpoints_keys(benchmark, scenario)
    rules = benchmark.scenarios.get(folder)
    unit = BASE_UNITS[folder] if rules is None else rules.unit
    if not keys or result.endpoints is None:
        return Metric(None, unit, inferred=False)
    unit = _ENDPOINTS_UNITS.get(keys[-1], unit)
    value = result.endpoints.official.performance.get(keys[-1])
    number = None if isinstance(value, list | dict) or value is None else _as_float(value)
    if number is None:
        return Metric(None, unit, inferred=False)
    latency = scenario in {Scenario.SINGLE_STREAM.value, Scenario.MULTI_STREAM.value}
    divisor = (rules.metric_divisor if rules else _NS_PER_MS) if latency else 1.0
    return Metric(number / divisor, unit, inferred=False)


def _as_float(value: str | float) -> float | None:
    try:
        return float(value)
    except (ValueError, OverflowError):
        return None
