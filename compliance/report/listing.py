"""What the official results table (results.py:28-60) lists of a result beyond its verdict and its metric."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from compliance.judge import JudgedResult, Judgement
from compliance.logs.documents import Document, JsonValue
from compliance.metric import metric_key
from compliance.records import Result, SystemEntry
from compliance.rule_types import BenchmarkRules
from compliance.vocabulary import Scenario

SYSTEM_FIELDS = (
    "status",
    "system_type",
    "system_name",
    "number_of_nodes",
    "host_processor_model_name",
    "host_processors_per_node",
    "host_processor_core_count",
    "accelerator_model_name",
    "accelerators_per_node",
    "framework",
    "operating_system",
)
_NAMEPLATE_ROUNDS = frozenset({"v6.1"})
"""Rounds whose table has the design power (constants.py:2177); elsewhere the column is empty."""
_COUNT = re.compile(r"\s*(\d+)\s*[xX]?\s*")
_SCENARIOS = frozenset(scenario.value for scenario in Scenario)
_NS_PER_MS = 1e6


@dataclass(frozen=True, slots=True)
class Listing:
    """The further columns of a result. Texts are as Python prints the JSON value; an absent one is empty.

    `location` is the performance logs' folder, relative to the tree. `accuracy` maps each metric that the official
    checker reads to the number as it is written. `logged_scenario` is LoadGen's. `official_metric` is the number that
    the official table has, also where it infers none. `official_accelerators` is its product of nodes and accelerators,
    `accelerators` that of the counts as people write them ("8x"); None where there is no number.
    """

    scenario_dir: str
    mlperf_model: str
    location: str
    system: Mapping[str, str]
    notes: str
    official_notes: str
    weight_data_types: str
    accuracy: Mapping[str, str]
    logged_scenario: str
    official_metric: float | None
    accelerators: int | None
    official_accelerators: int | None
    has_power: bool
    official_design_power: str


def listings(judgement: Judgement) -> dict[str, Listing]:
    """The listing of each result by its path."""
    paths = {file.path for file in judgement.submission.files if file.kind != "broken_link"}
    systems = {
        result.path: system
        for submitter in judgement.submission.submitters
        for system in submitter.systems
        for result in system.results
    }
    return {one.result.path: _listing(one, systems[one.result.path], judgement, paths) for one in judgement.results}


def _listing(judged: JudgedResult, system: SystemEntry, judgement: Judgement, paths: set[str]) -> Listing:
    result = judged.result
    benchmark = judgement.round.benchmarks.get(result.rules_benchmark or "")
    members = _members(system.description)
    performance_dir = result.performance.folder.rpartition("/")[0]
    logged = result.performance.detail.value("effective_scenario") if result.performance.detail else None
    has_power = f"{performance_dir}/power" in paths
    nodes, per_node = members.get("number_of_nodes"), members.get("accelerators_per_node")
    return Listing(
        scenario_dir=result.scenario_dir,
        mlperf_model=result.rules_benchmark or "",
        location=result.performance.folder,
        system={name: f"{members[name]}" if name in members else "" for name in SYSTEM_FIELDS},
        notes=". ".join(note for note in (_text(members, "hw_notes"), _text(members, "sw_notes")) if note),
        official_notes=_official_notes(members),
        weight_data_types=f"{_members(result.measurements).get('weight_data_types', '')}",
        accuracy={} if benchmark is None else dict(_official_accuracy(result, benchmark)),
        logged_scenario=logged if isinstance(logged, str) else "",
        official_metric=None if benchmark is None else _official_metric(result, benchmark),
        accelerators=_product(_count(nodes), _count(per_node)),
        official_accelerators=_product(_as_int(nodes), _as_int(per_node)),
        has_power=has_power,
        official_design_power=_design_power(judgement.round.name, members, has_power=has_power),
    )


def _members(document: Document | None) -> Mapping[str, JsonValue]:
    return {} if document is None else document.members


def _text(members: Mapping[str, JsonValue], name: str) -> str:
    value = members.get(name)
    return "" if value is None else f"{value}"


def _official_notes(members: Mapping[str, JsonValue]) -> str:
    hardware, software = members.get("hw_notes", ""), members.get("sw_notes")
    if not software:
        return f"{hardware}"
    return f"{hardware}. {software}" if hardware else f"{software}"


def _design_power(round_name: str, members: Mapping[str, JsonValue], *, has_power: bool) -> str:
    """The column as the official checker prints it: None without a power run (system_check.py:246)."""
    if round_name not in _NAMEPLATE_ROUNDS:
        return ""
    return f"{members.get('system_power_capacity')}" if has_power else "None"


def _official_accuracy(result: Result, benchmark: BenchmarkRules) -> Iterator[tuple[str, str]]:
    """Metric and number as written, in the order the official checker meets them (accuracy_check.py:150-200).

    It stops at the line by which every metric has passed and the hash is there.
    """
    text = result.accuracy_text
    if text is None:
        return
    targets = [target for target in benchmark.targets(result.scenario) if target.minimum is not None]
    met = [
        (score.line, at, target, score) for at, target in enumerate(targets) for score in text.official(target.metric)
    ]
    found: dict[str, str] = {}
    missing, stop = {target.metric for target in targets}, None
    for line, _, target, score in sorted(met, key=lambda one: one[:2]):
        if stop is not None and line > stop:
            break
        found[target.metric] = score.text
        if target.minimum is not None and score.value >= target.minimum:
            missing.discard(target.metric)
        if not missing and stop is None and text.hash_line is not None:
            stop = max(line, text.hash_line)
    yield from found.items()


def _official_metric(result: Result, benchmark: BenchmarkRules) -> float | None:
    """The measured scenario's metric, for a folder of another scenario that the official checker infers nothing for."""
    detail = result.performance.detail
    logged = detail.value("effective_scenario") if detail else None
    if detail is None or logged not in _SCENARIOS:
        return None
    measured = Scenario(f"{logged}")
    folder = result.scenario
    if folder is not None and folder.loadgen_name == measured.value:
        measured = folder
    value = detail.number(metric_key(benchmark, measured))
    if value is None or measured not in (Scenario.SINGLE_STREAM, Scenario.MULTI_STREAM):
        return None if value is None else float(value)
    rules = benchmark.scenarios.get(measured)
    further = rules.metric_divisor / _NS_PER_MS if rules else 1.0
    return value / _NS_PER_MS / further


def _count(value: JsonValue) -> int | None:
    """A count as people write it: 8, "8", "8x"."""
    match = _COUNT.fullmatch(f"{value}") if isinstance(value, str | int) and not isinstance(value, bool) else None
    return int(match[1]) if match else None


def _as_int(value: JsonValue) -> int | None:
    """What the official table's int() makes of a value; None where it raises and the table is lost."""
    try:
        return int(value) if isinstance(value, str | int | float) else None
    except (ValueError, OverflowError):
        return None


def _product(nodes: int | None, per_node: int | None) -> int | None:
    return None if nodes is None or per_node is None else nodes * per_node
