"""Builds small, clean submission trees of the v6.x layout in memory, to be broken one fault at a time and written out."""

import hashlib
import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from compliance.discovery.files import fill
from compliance.metrics.performance import BASE_KEYS
from compliance.rulebook.model import BenchmarkRules, Round
from compliance.rulebook.rounds import load_round
from compliance.vocabulary import AuditId, Scenario
from tests.support.tree_files import Record, accuracy_log, accuracy_records, performance_records, scores, truncated

ORG, SYSTEM = "Acme", "node8"
WHOLE_LOG_SAMPLES = 60
"""Up to so many samples a whole accuracy log is no longer than a truncated one."""
DETAIL, SUMMARY, ACCURACY = "mlperf_log_detail.txt", "mlperf_log_summary.txt", "mlperf_log_accuracy.json"
RUN = f"performance/run_1/{DETAIL}"
INSPECTION = "".join(
    f"\n## {heading}\n\nAs upstream.\n"
    for heading in (
        "Run command and flags",
        "LoadGen connection",
        "Pre-processing",
        "Model operations",
        "Weights and transformations",
        "How queries are batched",
    )
)
_MEANINGFUL = [
    "system_name",
    "host_processor_model_name",
    "host_processor_core_count",
    "host_memory_capacity",
    "host_memory_configuration",
    "host_storage_capacity",
    "host_storage_type",
    "host_networking",
    "host_network_card_count",
    "host_networking_topology",
    "accelerator_model_name",
    "accelerator_memory_capacity",
    "accelerator_host_interconnect",
    "accelerator_memory_configuration",
    "accelerator_interconnect",
    "cooling",
    "framework",
    "operating_system",
    "other_software_stack",
]
_MAY_BE_EMPTY = [
    "host_processor_frequency",
    "host_processor_caches",
    "host_processor_interconnect",
    "accelerator_frequency",
    "accelerator_interconnect_topology",
    "accelerator_on-chip_memories",
    "hw_notes",
    "sw_notes",
    "system_type_detail",
]
_NETWORK = [
    "network_type",
    "network_media",
    "network_rate",
    "nic_loadgen",
    "number_nic_loadgen",
    "net_software_stack_loadgen",
    "network_protocol",
    "number_connections",
    "nic_sut",
    "number_nic_sut",
    "net_software_stack_sut",
    "network_topology",
]


@dataclass
class Tree:
    """A tree in memory: `logs` are detail logs by path, `documents` JSON objects, `texts` all other files."""

    round: Round
    division: str
    benchmark: str
    scenarios: tuple[str, ...]
    logs: dict[str, list[Record]] = field(default_factory=dict)
    documents: dict[str, dict[str, object]] = field(default_factory=dict)
    texts: dict[str, str] = field(default_factory=dict)
    folders: list[str] = field(default_factory=list)
    afterwards: list[Callable[[Path], object]] = field(default_factory=list)

    @property
    def submitter(self) -> str:
        return f"{self.division}/{ORG}"

    @property
    def system_path(self) -> str:
        return f"{self.submitter}/systems/{SYSTEM}.json"

    @property
    def system(self) -> dict[str, object]:
        return self.documents[self.system_path]

    def path(self, scenario: str, rest: str = "") -> str:
        """The path of a file or folder of a result, wherever the round's layout puts it."""
        layout, (first, *_) = self.round.layout, rest.split("/")
        names = {"division": self.division, "submitter": ORG, "system": SYSTEM, "benchmark": self.benchmark}
        names |= {"scenario": scenario, "file": f"{SYSTEM}_{scenario}.json"}
        files = {"measurements.json": layout.measurements, "user.conf": layout.user_conf, "README.md": layout.readme}
        if rest in files:
            return fill(files[rest], names)
        if first in {audit.value for audit in AuditId}:
            folder = fill(layout.audit_dir, {**names, "audit": first})
            return folder + rest.removeprefix(first)
        folder = fill(layout.scenario_dir, names)
        return f"{folder}/{rest}" if rest else folder

    def performance(self, scenario: str, **changes: object) -> "Tree":
        """Change keys of a performance detail log; None takes a key out."""
        return self.change(self.path(scenario, f"performance/run_1/{DETAIL}"), changes)

    def accuracy(self, scenario: str, **changes: object) -> "Tree":
        """Change keys of an accuracy detail log; None takes a key out."""
        return self.change(self.path(scenario, f"accuracy/{DETAIL}"), changes)

    def change(self, path: str, changes: Mapping[str, object]) -> "Tree":
        """Change keys of any detail log; None takes a key out."""
        records = [record for record in self.logs[path] if changes.get(record.key, "") is not None]
        for record in records:
            record.value = changes.get(record.key, record.value)
        present = {record.key for record in records}
        added = [Record(key, value) for key, value in changes.items() if value is not None and key not in present]
        self.logs[path] = [*records, *added]
        return self

    def replace(self, path: str, old: str, new: str) -> "Tree":
        """Change the text of a file, in which `old` must stand."""
        assert old in self.texts[path], (path, old)
        self.texts[path] = self.texts[path].replace(old, new)
        return self

    def remove(self, prefix: str) -> "Tree":
        """Take out a file or everything beneath a folder."""
        found = 0
        for files in (self.logs, self.documents, self.texts):
            for path in [path for path in files if path == prefix or path.startswith(f"{prefix}/")]:
                del files[path]
                found += 1
        assert found, prefix
        return self

    def copy(self, source: str, target: str) -> "Tree":
        """Copy everything beneath one folder to another."""
        for files in (self.logs, self.documents, self.texts):
            for path in [path for path in files if path.startswith(f"{source}/")]:
                new = files[path]
                files[target + path.removeprefix(source)] = _copied(new)
        return self

    def write(self, root: Path) -> Path:
        for folder in self.folders:
            (root / folder).mkdir(parents=True, exist_ok=True)
        for path, records in self.logs.items():
            _put(root / path, "".join(record.line() for record in records))
        for path, document in self.documents.items():
            _put(root / path, json.dumps(document, indent=2) + "\n")
        for path, text in self.texts.items():
            _put(root / path, text)
        for step in self.afterwards:
            step(root)
        return root


def _copied(value: object) -> object:
    if isinstance(value, list):
        return [Record(record.key, record.value, record.is_error) for record in value]
    return dict(value) if isinstance(value, dict) else value


def _put(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def clean_tree(
    benchmark: str = "llama3.1-8b",
    scenarios: Iterable[str] = ("Offline", "Server"),
    *,
    round_name: str = "v6.1",
    division: str = "closed",
    system_type: str = "datacenter",
) -> Tree:
    """A tree that passes every check: one system, one benchmark."""
    round_ = load_round(round_name)
    rules = round_.benchmarks[benchmark]
    tree = Tree(round_, division, benchmark, tuple(scenarios))
    tree.documents[tree.system_path] = _description(division, system_type)
    known = ", ".join(sorted(round_.benchmarks))
    source_dir = fill(round_.layout.source_dir, {"division": division, "submitter": ORG})
    tree.texts[f"{source_dir}/README.md"] = f"vLLM 0.32.0, unchanged.\nFor {known}.\n{INSPECTION}"
    if division != "open":
        tree.texts[f"{tree.submitter}/documentation/calibration.md"] = "No quantisation.\n"
        tree.texts[f"{tree.submitter}/documentation/bandwidth.md"] = (
            "In and out 0.3 MB/s; the network carries 100 Gb/s.\n"
        )
    for scenario in tree.scenarios:
        _result(tree, rules, Scenario(scenario))
        if division != "open":
            for audit in rules.audits:
                _audit(tree, rules, Scenario(scenario), audit)
    return tree


def _description(division: str, system_type: str) -> dict[str, object]:
    description: dict[str, object] = dict.fromkeys(_MEANINGFUL, "as sold") | dict.fromkeys(_MAY_BE_EMPTY, "")
    description |= {
        "division": division,
        "submitter": ORG,
        "status": "available",
        "system_type": system_type,
        "number_of_nodes": 1,
        "host_processors_per_node": 2,
        "accelerators_per_node": 8,
    }
    if division == "network":
        description |= {"is_network": "true", **dict.fromkeys(_NETWORK, "as sold")}
    return description


def _result(tree: Tree, rules: BenchmarkRules, scenario: Scenario) -> None:
    base = tree.path(scenario)
    tree.logs[f"{base}/performance/run_1/{DETAIL}"] = performance_records(tree.round, rules, scenario, tree.division)
    tree.texts[f"{base}/performance/run_1/{SUMMARY}"] = (
        f"SUT name : acme\nScenario : {scenario.loadgen_name}\nMode     : PerformanceOnly\nResult is : VALID\n"
    )
    tree.logs[f"{base}/accuracy/{DETAIL}"] = accuracy_records(tree.round, rules, scenario, tree.division)
    tree.texts[f"{base}/accuracy/{SUMMARY}"] = (
        "No warnings encountered during test.\n\nNo errors encountered during test.\n"
    )
    samples = rules.accuracy_samples(scenario)
    count = samples if samples <= WHOLE_LOG_SAMPLES else 400
    whole = accuracy_log(((index, [5, 6, 7, 2]) for index in range(count)), first=scenario.streams)
    tree.texts[f"{base}/accuracy/{ACCURACY}"] = whole if count == samples else truncated(whole)
    digest = hashlib.sha256(whole.encode()).hexdigest()
    tree.texts[f"{base}/accuracy/accuracy.txt"] = f"{scores(rules)}\n\nhash={digest}\n"
    if rules.accuracy_files is not None:
        for name in rules.accuracy_files.names:
            tree.texts[f"{base}/accuracy/{rules.accuracy_files.folder}/{name}.png"] = "pixels"
    tree.documents[tree.path(scenario, "measurements.json")] = {
        "input_data_types": "int32",
        "retraining": "No",
        "starting_weights_filename": "weights.safetensors",
        "weight_data_types": "bf16",
        "weight_transformations": "none",
    }
    tree.texts[tree.path(scenario, "user.conf")] = f"*.{scenario.loadgen_name}.target_qps = 10\n"
    tree.texts[tree.path(scenario, "README.md")] = "vllm serve; harness run.\n"


def _audit(tree: Tree, rules: BenchmarkRules, scenario: Scenario, audit: AuditId) -> None:
    base = tree.path(scenario, audit.value)
    eos = next(iter(rules.generation.eos_token_ids), 2)
    count = 400 if audit is AuditId.TEST09 else rules.logged_answers.get(audit, 20)
    whole = accuracy_log(((index, [5, 6, 7, eos]) for index in range(count)), first=scenario.streams)
    # TEST09's log is large where it is whole: thousands of answers of a thousand tokens.
    tree.texts[f"{base}/accuracy/{ACCURACY}"] = truncated(whole) if audit is AuditId.TEST09 else whole
    if audit is AuditId.TEST06:
        first = "True" if scenario.streams else "Skipped"
        tree.texts[f"{base}/verify_accuracy.txt"] = (
            f"First token check pass: {first}\nEOS check pass: True\nSample length check pass: True\n"
            "TEST06 verification complete\n"
        )
        return
    if audit in (AuditId.TEST01, AuditId.TEST04):
        score = next(
            record.value for record in tree.logs[tree.path(scenario, RUN)] if record.key == BASE_KEYS[scenario]
        )
        text = f"Verifying performance.\nReference score = {score}\nTest score = {score}\nTEST PASS\n"
        tree.texts[f"{base}/verify_performance.txt"] = text
    if audit is AuditId.TEST04:
        tree.remove(f"{base}/accuracy")
    else:
        name = "verify_output_len.txt" if audit is AuditId.TEST09 else "verify_accuracy.txt"
        tree.texts[f"{base}/{name}"] = f"{audit.value}\n{_numbers(rules, audit)}Min check pass: True\n\nTEST PASS\n"
    tree.logs[f"{base}/performance/run_1/{DETAIL}"] = performance_records(tree.round, rules, scenario, tree.division)
    setting = {"effective_accuracy_log_sampling_target": 4096}
    if audit is AuditId.TEST04:
        setting = {"effective_performance_issue_same": True}
    tree.change(f"{base}/performance/run_1/{DETAIL}", setting)
    tree.texts[f"{base}/performance/run_1/{SUMMARY}"] = "Result is : VALID\n"


def _numbers(rules: BenchmarkRules, audit: AuditId) -> str:
    """The numbers the audit's verification prints, each at its bound."""
    if audit is AuditId.TEST07:
        return f"Accuracy score: {rules.test07_score}\n"
    if audit is AuditId.TEST09 and rules.test09_mean_tokens is not None:
        return f"Total samples: {rules.logged_answers[audit]}\nMean output tokens: {rules.test09_mean_tokens[1]}\n"
    return ""
