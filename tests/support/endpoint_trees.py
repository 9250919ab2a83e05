"""Good submission trees of the endpoints layout, and ways to break one file of them in one place."""

import json
from collections.abc import Callable, Iterable

import yaml

from compliance.rulebook.model import AccuracyTarget, BenchmarkRules
from compliance.vocabulary import AuditId, Scenario
from tests.support.trees import Tree, clean_tree

CONFIG, SUMMARY, SCORES = "config.yaml", "performance/result_summary.json", "accuracy/accuracy_results.json"
AUDITS = {
    AuditId.TEST04: "output_caching_test",
    AuditId.TEST06: "consistency_output_test",
    AuditId.TEST07: "accuracy_in_performance_full_test",
}
_DURATION_NS = 610_000_000_000
Make = Callable[[], Tree]


def endpoints_tree(
    benchmark: str = "llama3.1-8b",
    scenarios: Iterable[str] = ("Offline", "Server"),
    *,
    round_name: str = "v6.1",
    division: str = "closed",
    system_type: str = "datacenter",
) -> Tree:
    """A tree that passes every check, with endpoints files in place of LoadGen's logs."""
    options = {"round_name": round_name, "division": division, "system_type": system_type}
    tree = clean_tree(benchmark, tuple(scenarios), **options)
    rules = tree.round.benchmarks[benchmark]
    for scenario in tree.scenarios:
        turned(tree, rules, scenario)
    return tree


def turned(tree: Tree, rules: BenchmarkRules, scenario: str) -> Tree:
    """Replace LoadGen's files of one scenario by those of endpoints."""
    base = f"{tree.path(scenario)}/"
    keep = {f"{base}README.md", f"{base}measurements.json"}
    for files in (tree.logs, tree.documents, tree.texts):
        for path in [path for path in files if path.startswith(base) and path not in keep and "/videos/" not in path]:
            del files[path]
    named = Scenario(scenario)
    tree.texts[f"{base}{CONFIG}"] = yaml.safe_dump(config(tree, named), sort_keys=False)
    tree.documents[f"{base}{SUMMARY}"] = summary(rules, named)
    tree.documents[f"{base}{SCORES}"] = scores(rules, named)
    for audit in rules.audits if tree.division != "open" else ():
        if audit in AUDITS:
            tree.documents[f"{base}audit/audit_{AUDITS[audit]}.json"] = {"test": AUDITS[audit], "passed": True}
    return tree


def config(tree: Tree, scenario: Scenario) -> dict[str, object]:
    runtime = {
        "min_duration_ms": 600_000,
        "max_duration_ms": 7_200_000,
        "scheduler_random_seed": tree.round.seeds.schedule,
        "dataloader_random_seed": tree.round.seeds.sample_index,
    }
    return {
        "name": "run",
        "version": "1.0",
        "type": "offline" if scenario is Scenario.OFFLINE else "online",
        "model_params": {"name": "a/model", "streaming": "on"},
        "settings": {"runtime": runtime, "load_pattern": {"type": "poisson", "target_qps": 10.0}},
    }


def summary(rules: BenchmarkRules, scenario: Scenario) -> dict[str, object]:
    """A performance run well inside every limit."""
    limits = rules.scenarios[scenario]
    issued = 2 * max(rules.dataset_size, 24576)
    ttft_ns = int((limits.max_ttft_p99_ms or 1000) * 500_000)
    tpot_ns = int((limits.max_tpot_p99_ms or 50) * 500_000)
    return {
        "n_samples_issued": issued,
        "n_samples_completed": issued,
        "n_samples_failed": 0,
        "duration_ns": _DURATION_NS,
        "state": "complete",
        "complete": True,
        "qps": None if scenario is Scenario.OFFLINE else issued / 610,
        "tps": 2805.25,
        "ttft": _measured(ttft_ns),
        "tpot": _measured(tpot_ns),
        "latency": _measured(int((limits.max_latency_p99_ms or 9000) * 500_000)),
        "output_sequence_lengths": _lengths(rules),
    }


def _lengths(rules: BenchmarkRules) -> dict[str, object]:
    longest = rules.generation.performance_max_new_tokens or rules.generation.max_new_tokens
    return {"min": 2, "max": longest, "avg": 1278.5 if rules.test09_mean_tokens else longest / 2}


def _measured(value_ns: int) -> dict[str, object]:
    percentiles = dict.fromkeys(("99.0", "95.0", "90.0", "50.0"), value_ns)
    return {
        "min": 1,
        "max": 2 * value_ns,
        "avg": value_ns * 0.75,
        "percentiles": percentiles,
        "early_stopping_percentiles": {"99.9": None, **percentiles},
    }


def scores(rules: BenchmarkRules, scenario: Scenario) -> dict[str, object]:
    """The accuracy run over the whole data set with each metric at its reference."""
    targets = [target for target in rules.targets(scenario) if target.minimum is not None]
    score: object = {target.metric.lower(): target.reference for target in targets}
    if len(targets) == 1:
        score = _fraction(targets[0])
    count = rules.accuracy_samples(scenario)
    entry = {
        "dataset_name": "data",
        "score": score,
        "unit_samples": count,
        "num_repeats": 1,
        "total_samples": count,
        "complete": True,
        "dataset_type": "accuracy",
        "response_counts": {"issued": count, "scored": count, "empty": 0, "missing": 0},
    }
    return {"average_accuracy": None, "accuracy_scores": [entry]}


def _fraction(target: AccuracyTarget) -> float:
    return target.reference / 100 if target.reference > 1 else target.reference


def changed(rest: str, pointer: str, value: object, scenario: str = "Server", base: Make = endpoints_tree) -> Make:
    """Set (`...`: take out) a member of one file, named by its path of members joined by /."""

    def make() -> Tree:
        tree = base()
        path = tree.path(scenario, rest)
        document = yaml.safe_load(tree.texts[path]) if rest == CONFIG else json.loads(json.dumps(tree.documents[path]))
        *way, last = pointer.split("/")
        held = document
        for name in way:
            held = held[int(name)] if isinstance(held, list) else held[name]
        if value is ...:
            del held[last]
        elif isinstance(held, list):
            held[int(last) :] = [value]
        else:
            held[last] = value
        if rest == CONFIG:
            tree.texts[path] = yaml.safe_dump(document, sort_keys=False)
        else:
            tree.documents[path] = document
        return tree

    return make


def respelled(rest: str, change: Callable[[str], str], scenario: str = "Server", base: Make = endpoints_tree) -> Make:
    """Change one file as text."""

    def make() -> Tree:
        tree = base()
        path = tree.path(scenario, rest)
        text = tree.texts.pop(path, None) or json.dumps(tree.documents.pop(path), indent=2)
        tree.texts[path] = change(text)
        return tree

    return make


def without(rest: str, scenario: str = "Server", base: Make = endpoints_tree) -> Make:
    def make() -> Tree:
        tree = base()
        return tree.remove(tree.path(scenario, rest))

    return make


def online(base: Make) -> Tree:
    """The Server result in a folder called online."""
    tree = base()
    tree.copy(tree.path("Server"), tree.path("online"))
    return tree.remove(tree.path("Server"))


def qwen_vl() -> Tree:
    return endpoints_tree("qwen3-vl-235b-a22b", ("Offline", "Server", "Interactive"))


def gpt() -> Tree:
    return endpoints_tree("gpt-oss-120b")


def wan() -> Tree:
    return endpoints_tree("wan-2.2-t2v-a14b", ("Offline", "SingleStream"))


def agentic() -> Tree:
    return endpoints_tree("qwen3.6-27b", ("SingleStream",), system_type="edge")


def opened() -> Tree:
    return endpoints_tree(division="open")


def interactive() -> Tree:
    return endpoints_tree(scenarios=("Offline", "Server", "Interactive"))


def renamed(benchmark: str) -> Make:
    """Endpoints files of a benchmark that they may not stand for."""

    def make() -> Tree:
        tree = clean_tree(benchmark)
        rules = tree.round.benchmarks[benchmark]
        for scenario in tree.scenarios:
            turned(tree, rules, scenario)
        return tree

    return make


def short_offline() -> Tree:
    """An Offline run of one sample too few, all of them completed."""
    tree = endpoints_tree()
    held = tree.documents[tree.path("Offline", SUMMARY)]
    held["n_samples_issued"] = held["n_samples_completed"] = 13367
    return tree


def as_network() -> Tree:
    return endpoints_tree(division="network")
