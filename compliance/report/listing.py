"""What the official results table (results.py:28-60) lists of a result beyond its verdict and its metric."""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from compliance.judge import JudgedResult, Judgement
from compliance.logs.documents import Document, JsonValue
from compliance.logs.endpoints_official import ACCURACY_SCORE
from compliance.logs.endpoints_official import SCENARIO as ENDPOINTS_SCENARIO
from compliance.metrics.performance import BASE_UNITS, metric_key
from compliance.metrics.power import design_power_watts, power_metric
from compliance.records import Result, SystemEntry
from compliance.rulebook.model import BenchmarkRules, Round
from compliance.rulebook.power import load_power_rules
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
_COUNT = re.compile(r"\s*(\d+)\s*[xX]?\s*")
_SCENARIOS = frozenset(scenario.value for scenario in Scenario)
_NS_PER_MS = 1e6
_ONLINE = "online"
_NOT_IN_ACCURACY = str.maketrans({",": " ", '"': "", "{": "", "}": ""})


@dataclass(frozen=True, slots=True)
class Listing:
    """The further columns of a result. Texts are as Python prints the JSON value; an absent one is empty.

    `location` is the performance logs' folder, relative to the tree. `accuracy` maps each metric that the official
    checker reads to the number as it is written; it is empty for an endpoints run. `logged_scenario` is LoadGen's.
    `accelerators` is the product of nodes and accelerators, with the counts as people write them ("8x"); None where
    there is no number. `power` and `power_unit` are the power metric's, where power was measured. The fields named
    official are what the official table has in their columns, right or not; its metric also where none is inferred.
    """

    scenario_dir: str
    mlperf_model: str
    location: str
    system: Mapping[str, str]
    notes: str
    official_notes: str
    weight_data_types: str
    accuracy: Mapping[str, str]
    official_accuracy: str
    logged_scenario: str
    official_metric: float | None
    accelerators: int | None
    official_accelerators: int | None
    official_unit: str
    has_power: bool
    power: float | None
    power_unit: str
    official_design_power: str


def listings(judgement: Judgement) -> dict[str, Listing]:
    """The listing of each result by its path."""
    systems = {
        result.path: system
        for submitter in judgement.submission.submitters
        for system in submitter.systems
        for result in system.results
    }
    return {one.result.path: _listing(one, systems[one.result.path], judgement.round) for one in judgement.results}


def _listing(judged: JudgedResult, system: SystemEntry, round_: Round) -> Listing:
    result = judged.result
    benchmark = round_.benchmarks.get(result.rules_benchmark or "")
    members = _members(system.description)
    accuracy = {} if benchmark is None else dict(_official_accuracy(result, benchmark))
    power = power_metric(result, benchmark)
    online = result.endpoints is not None and result.scenario_dir.lower() == _ONLINE
    nodes, per_node = members.get("number_of_nodes"), members.get("accelerators_per_node")
    return Listing(
        scenario_dir="server" if online else result.scenario_dir,
        mlperf_model=result.rules_benchmark or "",
        location=result.performance.folder,
        system={name: f"{members[name]}" if name in members else "" for name in SYSTEM_FIELDS},
        notes=". ".join(note for note in (_text(members, "hw_notes"), _text(members, "sw_notes")) if note),
        official_notes=_official_notes(members),
        weight_data_types=f"{_members(result.measurements).get('weight_data_types', '')}",
        accuracy=accuracy,
        official_accuracy=_accuracy_column(_endpoints_score(result) if result.endpoints else accuracy),
        logged_scenario=_logged_scenario(result),
        official_metric=None if benchmark is None else _official_metric(result, benchmark),
        accelerators=_product(_count(nodes), _count(per_node)),
        official_accelerators=_product(_as_int(nodes), _as_int(per_node)),
        official_unit=_official_unit(result, benchmark),
        has_power=result.power is not None,
        power=power.value if power else None,
        power_unit=power.unit if power else "",
        official_design_power=_design_power(result, system, round_),
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


def _design_power(result: Result, system: SystemEntry, round_: Round) -> str:
    """The column as the official checker prints it: None without a power run, empty in rounds without nameplates."""
    if round_.name not in load_power_rules().nameplate_rounds:
        return ""
    return f"{design_power_watts(result, system, round_)}"


def _logged_scenario(result: Result) -> str:
    """The log's scenario; that of an endpoints run is the type in its configuration."""
    if result.endpoints is not None:
        said: object = result.endpoints.official.performance.get(ENDPOINTS_SCENARIO)
    else:
        said = result.performance.detail.value("effective_scenario") if result.performance.detail else None
    return said if isinstance(said, str) else ""


def _official_unit(result: Result, benchmark: BenchmarkRules | None) -> str:
    """The unit of the official table, which is the benchmark's also for an endpoints run that counts samples."""
    if result.scenario is None or benchmark is None:
        return ""
    rules = benchmark.scenarios.get(result.scenario)
    return BASE_UNITS[result.scenario] if rules is None else rules.unit


def _endpoints_score(result: Result) -> JsonValue:
    return result.endpoints.official.accuracy.get(ACCURACY_SCORE) if result.endpoints else None


def _accuracy_column(score: object) -> str:
    """Scores as the official table shows them: JSON without its marks (results.py:88-95)."""
    return json.dumps(score).translate(_NOT_IN_ACCURACY).strip()


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
