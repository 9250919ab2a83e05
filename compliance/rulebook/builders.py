"""From the members of rule files to the records of `rulebook.model`; what a schema cannot say is tested here."""

import string
from pathlib import Path, PurePosixPath

from compliance.rulebook.files import Toml, rule_error
from compliance.rulebook.model import (
    NO_TEXT,
    AccuracyFiles,
    AccuracyTarget,
    BenchmarkRules,
    Generation,
    Layout,
    Round,
    ScenarioRules,
    Seeds,
    SuiteRules,
    SystemFields,
)
from compliance.vocabulary import AuditId, Scenario, Suite

PLACEHOLDERS = frozenset({"division", "submitter", "system", "benchmark", "scenario", "audit", "file"})


def build_benchmark(path: Path, toml: Toml) -> BenchmarkRules:
    """One benchmark's record. Raises RuleError naming the file and the keys that contradict each other."""
    about, dataset, accuracy = toml["benchmark"], toml["dataset"], toml["accuracy"]
    rules = BenchmarkRules(
        name=about["name"],
        title=about["title"],
        dataset=dataset["name"],
        dataset_size=dataset["size"],
        performance_sample_count=dataset["performance_samples"],
        accuracy_sample_count=dataset["accuracy_samples"],
        token_latencies=about["token_latencies"],
        equal_issue=about["equal_issue"],
        aliases=tuple(about["aliases"]),
        suites={Suite(name): _suite(suite) for name, suite in toml["suites"].items()},
        scenarios={Scenario(name): _scenario(Scenario(name), rules) for name, rules in toml["scenarios"].items()},
        accuracy=_targets(accuracy["targets"]),
        audits=tuple(AuditId(name) for name in toml["audits"]["required"]),
        generation=_generation(toml.get("generation")),
        sources=_sources(toml),
        accuracy_by_scenario={Scenario(name): _targets(own) for name, own in accuracy.get("scenarios", {}).items()},
        test01_delta_percent=dict(toml["audits"].get("test01_delta_percent", {})),
        accuracy_files=_accuracy_files(toml.get("accuracy_files")),
        endpoints=about.get("endpoints", False),
        endpoints_score=about.get("endpoints_score", False),
        logged_answers={AuditId(name): count for name, count in toml["audits"].get("logged_answers", {}).items()},
        test07_score=toml["audits"].get("test07_score"),
        test09_mean_tokens=_bounds(toml["audits"].get("test09_mean_tokens")),
    )
    problems = _benchmark_problems(path, rules)
    if problems:
        raise rule_error(path, problems)
    return rules


def _bounds(pair: list[float] | None) -> tuple[float, float] | None:
    return None if pair is None else (pair[0], pair[1])


def build_layout(path: Path, toml: Toml) -> Layout:
    """The round's layout. Raises RuleError for an unknown placeholder or a template that leaves the tree."""
    places = {key: value for block in ("submitter", "result") for key, value in toml[block].items() if key != "source"}
    files = {f"files.{key}": value for key, value in toml["files"].items() if key != "source"}
    audit_files = {AuditId(key): tuple(value) for key, value in toml["audit_files"].items() if key != "source"}
    listed = {**files, **{f"audit_files.{audit}": names for audit, names in audit_files.items()}}
    problems = [text for key, template in places.items() for text in _template_problems(key, template)]
    problems += [
        f"{key}: {name!r} leaves its folder" for key, names in listed.items() for name in names if _escapes(name)
    ]
    if problems:
        raise rule_error(path, problems)
    return Layout(
        **places,
        required_performance_files=tuple(toml["files"]["performance"]),
        required_accuracy_files=tuple(toml["files"]["accuracy"]),
        optional_run_files=tuple(toml["files"]["optional"]),
        audit_files=audit_files,
    )


def build_round(path: Path, toml: Toml, layout: tuple[Layout, Toml], benchmarks: tuple[BenchmarkRules, ...]) -> Round:
    """The whole round. Raises RuleError where its parts contradict each other."""
    fields, seeds = toml["system_fields"], toml["seeds"]
    optional = tuple(fields["optional"])
    system_fields = SystemFields(
        required=tuple(fields["required"]),
        meaningful=tuple(fields["meaningful"]),
        network=tuple(fields["network"]),
        known=tuple(dict.fromkeys((*fields["required"], *fields["network"], *optional))),
    )
    problems = _round_problems(path, toml["name"], system_fields, layout[0], benchmarks)
    if problems:
        raise rule_error(path, problems)
    layout_sources = {f"layout.{key}": source for key, source in _sources(layout[1]).items()}
    return Round(
        name=toml["name"],
        title=toml["title"],
        official=toml["official"],
        seeds=Seeds(qsl=seeds["qsl"], sample_index=seeds["sample_index"], schedule=seeds["schedule"]),
        min_duration_ms=toml["run"]["min_duration_ms"],
        loadgen_versions=tuple(toml["run"]["loadgen_versions"]),
        accuracy_log_limit_bytes=toml["limits"]["accuracy_log_bytes"],
        large_file_limit_bytes=toml["limits"]["large_file_bytes"],
        availability=tuple(toml["availability"]["values"]),
        system_fields=system_fields,
        measurements_fields=tuple(toml["measurements_fields"]["required"]),
        layout=layout[0],
        benchmarks={rules.name: rules for rules in benchmarks},
        sources={**_sources(toml), **layout_sources},
        unshipped=tuple(toml.get("unshipped", {}).get("benchmarks", ())),
        unshipped_aliases=dict(toml.get("unshipped", {}).get("aliases", {})),
        guesses=dict(toml.get("guesses", {}).get("names", {})),
    )


def _suite(toml: Toml) -> SuiteRules:
    return SuiteRules(
        required=tuple(Scenario(name) for name in toml["required"]),
        one_of=tuple(tuple(Scenario(name) for name in group) for group in toml["one_of"]),
        optional=tuple(Scenario(name) for name in toml["optional"]),
    )


def _scenario(scenario: Scenario, toml: Toml) -> ScenarioRules:
    return ScenarioRules(
        scenario=scenario,
        loadgen_model=toml["loadgen_model"],
        metric_key=toml["metric_key"],
        unit=toml["unit"],
        min_duration_ms=toml["min_duration_ms"],
        min_query_count=toml["min_query_count"],
        min_samples_per_query=toml.get("min_samples_per_query"),
        max_ttft_p99_ms=_optional_float(toml, "max_ttft_p99_ms"),
        max_tpot_p99_ms=_optional_float(toml, "max_tpot_p99_ms"),
        max_latency_p99_ms=_optional_float(toml, "max_latency_p99_ms"),
        metric_divisor=float(toml.get("metric_divisor", 1)),
        source=toml["source"],
        checker_min_query_count=toml.get("checker_min_query_count"),
        accuracy_sample_count=toml.get("accuracy_samples"),
    )


def _generation(toml: Toml | None) -> Generation:
    if toml is None:
        return NO_TEXT
    return Generation(
        min_new_tokens=toml["min_new_tokens"],
        max_new_tokens=toml["max_new_tokens"],
        temperature=float(toml["temperature"]),
        top_p=float(toml["top_p"]),
        top_k=toml["top_k"],
        eos_token_ids=tuple(toml["eos_token_ids"]),
        performance_max_new_tokens=toml.get("performance_max_new_tokens"),
        speculative=tuple(Scenario(name) for name in toml.get("speculative_decoding", ())),
    )


def _accuracy_files(toml: Toml | None) -> AccuracyFiles | None:
    return None if toml is None else AccuracyFiles(toml["folder"], tuple(toml["names"]))


def _targets(toml: Toml) -> tuple[AccuracyTarget, ...]:
    return tuple(_target(metric, target) for metric, target in toml.items())


def _target(metric: str, toml: Toml) -> AccuracyTarget:
    return AccuracyTarget(
        metric=metric,
        reference=float(toml["reference"]),
        min_factor=_optional_float(toml, "min_factor"),
        max_factor=_optional_float(toml, "max_factor"),
        max_reference=_optional_float(toml, "max_reference"),
    )


def _optional_float(toml: Toml, key: str) -> float | None:
    return float(toml[key]) if key in toml else None


def _sources(toml: Toml, prefix: str = "") -> dict[str, str]:
    """`block -> source` for every block, nested ones as `suites.edge`; the keys of a provenance table one by one."""
    found: dict[str, str] = {}
    for key, value in toml.items():
        place = f"{prefix}{key}"
        if key == "source":
            found[prefix.rstrip(".")] = value
        elif key == "provenance":
            found.update({f"{place}.{name}": text for name, text in value.items()})
        elif isinstance(value, dict):
            found.update(_sources(value, f"{place}."))
    return found


def _benchmark_problems(path: Path, rules: BenchmarkRules) -> list[str]:
    problems = []
    if rules.name != path.stem:
        problems.append(f"benchmark.name: {rules.name!r} does not match the file name {path.stem!r}")
    for key, count in (
        ("performance_samples", rules.performance_sample_count),
        ("accuracy_samples", rules.accuracy_sample_count),
    ):
        if count > rules.dataset_size:
            problems.append(f"dataset.{key}: {count} is more than dataset.size {rules.dataset_size}")
    for suite, suite_rules in rules.suites.items():
        problems += [
            f"suites.{suite}: {scenario} has no [scenarios.{scenario}] table"
            for scenario in suite_rules.known
            if scenario not in rules.scenarios
        ]
    for scenario, limits in rules.scenarios.items():
        online = scenario in (Scenario.SERVER, Scenario.INTERACTIVE)
        if rules.token_latencies and online and None in (limits.max_ttft_p99_ms, limits.max_tpot_p99_ms):
            problems.append(f"scenarios.{scenario}: token_latencies asks for max_ttft_p99_ms and max_tpot_p99_ms")
    for target in rules.accuracy:
        if target.minimum is not None and target.maximum is not None and target.minimum > target.maximum:
            problems.append(
                f"accuracy.targets.{target.metric}: minimum {target.minimum} exceeds maximum {target.maximum}"
            )
    tokens = rules.generation
    if tokens.min_new_tokens > min(tokens.max_new_tokens, tokens.performance_max_new_tokens or tokens.max_new_tokens):
        problems.append("generation.min_new_tokens: more than max_new_tokens")
    return problems


def _round_problems(
    path: Path, name: str, fields: SystemFields, layout: Layout, benchmarks: tuple[BenchmarkRules, ...]
) -> list[str]:
    problems = [] if name == path.parent.name else [f"name: {name!r} does not match the folder {path.parent.name!r}"]
    if not benchmarks:
        problems.append("benchmarks/: holds no benchmark file")
    problems += [
        f"system_fields.meaningful: {field} is not required"
        for field in fields.meaningful
        if field not in fields.required
    ]
    taken = {rules.name: rules.name for rules in benchmarks}
    for rules in benchmarks:
        for alias in rules.aliases:
            if alias in taken:
                problems.append(f"benchmarks/{rules.name}.toml benchmark.aliases: {alias} is taken by {taken[alias]}")
            taken[alias] = rules.name
        problems += [
            f"benchmarks/{rules.name}.toml audits.required: {audit} has no files in layout.toml [audit_files]"
            for audit in rules.audits
            if audit not in layout.audit_files
        ]
    return problems


def _template_problems(key: str, template: str) -> list[str]:
    try:
        names = {name for _, name, _, _ in string.Formatter().parse(template) if name is not None}
    except ValueError as error:
        return [f"{key}: {error}"]
    unknown = sorted(names - PLACEHOLDERS)
    problems = [
        f"{key}: unknown placeholder {{{name}}}; known are {', '.join(sorted(PLACEHOLDERS))}" for name in unknown
    ]
    if _escapes(template):
        problems.append(f"{key}: {template!r} leaves the tree")
    return problems


def _escapes(path: str) -> bool:
    return PurePosixPath(path).is_absolute() or ".." in PurePosixPath(path).parts
