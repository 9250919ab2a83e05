"""The power metric of a result and the design power of its system (power_check.py:152-247, system_check.py:226)."""

from collections.abc import Mapping
from dataclasses import dataclass

from compliance.discovery.power import logged_window
from compliance.logs.documents import JsonValue
from compliance.records import Result, SystemEntry
from compliance.rulebook.model import BenchmarkRules, Round
from compliance.rulebook.power import load_power_rules
from compliance.vocabulary import Scenario

WATTS, MILLIJOULES = "Watts", "millijoules"
_UNITS: Mapping[Scenario, str] = {
    Scenario.OFFLINE: WATTS,
    Scenario.SERVER: WATTS,
    Scenario.INTERACTIVE: WATTS,
    Scenario.SINGLE_STREAM: MILLIJOULES,
    Scenario.MULTI_STREAM: MILLIJOULES,
}
_MILLI = 1000
_MULTI_STREAM_SAMPLES = 8


@dataclass(frozen=True, slots=True)
class PowerMetric:
    """Mean power in watts, or energy per query in millijoules. `value` is None when it cannot be told.

    `mean_watts` is the mean of the samples that count. `inferred` when another scenario was measured.
    """

    value: float | None
    unit: str
    mean_watts: float | None
    inferred: bool


def power_metric(result: Result, benchmark: BenchmarkRules | None) -> PowerMetric | None:
    """A result's power metric; None where no power was measured or the folder is no scenario.

    SingleStream and MultiStream are reported per query; MultiStream inferred from SingleStream counts eight samples to
    one. `benchmark` has no say in it and stands here as in `read_metric`.
    """
    del benchmark
    scenario = result.scenario
    if result.power is None or scenario is None:
        return None
    metered, detail = result.power.metered, result.performance.detail
    logged = detail.value("effective_scenario") if detail else None
    inferred = isinstance(logged, str) and logged != scenario.loadgen_name
    watts = metered.mean_watts if metered else None
    if watts is None or _UNITS[scenario] == WATTS:
        return PowerMetric(watts, _UNITS[scenario], watts, inferred)
    times, count = logged_window(detail), query_count(result)
    if times is None or not count:
        return PowerMetric(None, MILLIJOULES, watts, inferred)
    duration_s = (times[1] - times[0]).total_seconds()
    eightfold = scenario is Scenario.MULTI_STREAM and str(logged).lower() == Scenario.SINGLE_STREAM.value.lower()
    energy = watts * duration_s * (_MULTI_STREAM_SAMPLES if eightfold else 1) * _MILLI
    return PowerMetric(energy / count, MILLIJOULES, watts, inferred)


def query_count(result: Result) -> int | None:
    """result_query_count as an integer, as the official checker takes it; None where it is none."""
    detail = result.performance.detail
    value = detail.value("result_query_count") if detail else None
    if not isinstance(value, str | int | float):
        return None
    try:
        return int(value)
    except (ValueError, OverflowError):
        return None


def design_power_watts(result: Result, system: SystemEntry, round_: Round) -> JsonValue:
    """The design power of a result's system as the official table shows it; None for none.

    The description's system_power_capacity, in its own form, goes before the sum of the nameplate file. Rounds without
    nameplate files, and results without power, have none.
    """
    rules = load_power_rules()
    if result.power is None or round_.name not in rules.nameplate_rounds:
        return None
    if system.description is not None and rules.nameplate_field in system.description.members:
        return system.description.members[rules.nameplate_field]
    return system.nameplate.design_power_watts if system.nameplate else None
