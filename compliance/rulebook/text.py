"""Rules as a reader or a script wants them: 80-column text, JSON-able members, and the differences of two rounds."""

import dataclasses
import textwrap
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import Enum

from compliance.rulebook.model import AccuracyTarget, BenchmarkRules, Round, ScenarioRules, SuiteRules

WIDTH = 80
LABEL = 26
NOT_COMPARED = frozenset({"name", "title", "source", "sources"})

Json = str | int | float | bool | None | list["Json"] | dict[str, "Json"]


@dataclass(frozen=True, slots=True)
class RuleDifference:
    """One value that differs: `key` is its place (`benchmarks.llama3.1-8b.dataset_size`), None where it is absent."""

    key: str
    left: Json
    right: Json


def round_json(round_: Round) -> dict[str, Json]:
    """A round as JSON-able members, named as the fields of `Round`; benchmarks as in `benchmark_json`."""
    members = members_of(round_)
    members["benchmarks"] = {name: benchmark_json(rules) for name, rules in round_.benchmarks.items()}
    return members


def benchmark_json(rules: BenchmarkRules) -> dict[str, Json]:
    """A benchmark as JSON-able members; each accuracy target also with the minimum and maximum it comes to."""
    members = members_of(rules)
    members["accuracy"] = [
        {**members_of(target), "minimum": target.minimum, "maximum": target.maximum} for target in rules.accuracy
    ]
    return members


def round_text(round_: Round, width: int = WIDTH) -> str:
    """What all benchmarks of the round share, and which there are, as text of at most `width` columns."""
    seeds = round_.seeds
    lines = [*wrapped_text(f"{round_.name}: {round_.title}", width, "", "    "), ""]
    rows = [
        ("official", "yes" if round_.official else "no"),
        ("qsl_rng_seed", str(seeds.qsl)),
        ("sample_index_rng_seed", str(seeds.sample_index)),
        ("schedule_rng_seed", str(seeds.schedule)),
        ("min_duration", f"{round_.min_duration_ms / 1000:g} s"),
        ("LoadGen", ", ".join(round_.loadgen_versions)),
        ("accuracy log at most", f"{round_.accuracy_log_limit_bytes} bytes"),
        ("any file at most", f"{round_.large_file_limit_bytes} bytes"),
        ("availability", ", ".join(round_.availability)),
        ("measurements.json", ", ".join(round_.measurements_fields)),
        (
            "system description",
            f"{len(round_.system_fields.required)} fields, {len(round_.system_fields.meaningful)} filled",
        ),
    ]
    lines += [line for row in rows for line in row_text(*row, width)]
    lines += ["  results in", f"      {round_.layout.scenario_dir}", "", "Benchmarks"]
    lines += [line for rules in round_.benchmarks.values() for line in row_text(rules.name, _suites_text(rules), width)]
    return "\n".join([*lines, *sources_text(round_.sources, width)]) + "\n"


def benchmark_text(round_name: str, rules: BenchmarkRules, width: int = WIDTH) -> str:
    """Everything about one benchmark as text of at most `width` columns."""
    rows = [
        ("data set", rules.dataset),
        ("samples", str(rules.dataset_size)),
        ("  performance at least", str(rules.performance_sample_count)),
        ("  accuracy exactly", str(rules.accuracy_sample_count)),
        ("also named", ", ".join(rules.aliases) or "-"),
        ("token latencies", "yes" if rules.token_latencies else "no"),
        ("endpoints logs", "admitted" if rules.endpoints else "not admitted"),
        ("equal issue", "yes" if rules.equal_issue else "no"),
        ("audits", ", ".join(rules.audits) or "none"),
        ("generation", _generation_text(rules)),
    ]
    rows += [(suite, _suite_text(suite_rules)) for suite, suite_rules in rules.suites.items()]
    lines = [*wrapped_text(f"{rules.name} in round {round_name}: {rules.title}", width, "", "    "), ""]
    lines += [line for row in rows for line in row_text(*row, width)]
    lines += ["", "Scenarios"]
    lines += [
        line for limits in rules.scenarios.values() for line in row_text(limits.scenario, _scenario_text(limits), width)
    ]
    lines += ["", "Accuracy"]
    lines += [line for target in rules.accuracy for line in row_text(target.metric, _target_text(target), width)]
    for scenario, targets in rules.accuracy_by_scenario.items():
        rows = [(f"{target.metric}, {scenario}", _target_text(target)) for target in targets]
        lines += [line for row in rows for line in row_text(*row, width)]
    return "\n".join([*lines, *sources_text(rules.sources, width)]) + "\n"


def diff_rounds(left: Round, right: Round) -> tuple[RuleDifference, ...]:
    """Every value of the two rounds that differs, in order of place. Names, titles and sources are not compared.

    What only one round has (a benchmark, a scenario, a limit) is one difference, with None on the other side.
    """
    return tuple(_differences("", _comparable(round_json(left)), _comparable(round_json(right))))


def diff_text(left: Round, right: Round, width: int = WIDTH) -> str:
    """The differences of two rounds as text, one place after the other; a dash stands for what is absent."""
    differences = diff_rounds(left, right)
    if not differences:
        return f"{left.name} and {right.name} have the same rules\n"
    lines = [f"{left.name} -> {right.name}"]
    for difference in differences:
        lines.append(difference.key)
        lines += wrapped_text(f"- {_shown(difference.left)}", width, "    ", "      ")
        lines += wrapped_text(f"+ {_shown(difference.right)}", width, "    ", "      ")
    return "\n".join(lines) + "\n"


def members_of(record: object) -> dict[str, Json]:
    """A record of rules as JSON-able members, named as its fields."""
    assert dataclasses.is_dataclass(record)  # noqa: S101 - narrows the type; only rule records come here
    return {item.name: _json(getattr(record, item.name)) for item in dataclasses.fields(record)}


def _json(value: object) -> Json:
    if isinstance(value, Enum):
        return str(value.value)
    if value is None or isinstance(value, str | int | float):
        return value
    if isinstance(value, Mapping):
        return {str(key): _json(item) for key, item in value.items()}
    if isinstance(value, tuple):
        return [_json(item) for item in value]
    return members_of(value)


def _comparable(value: Json) -> Json:
    """The value without what tells rather than rules; a list of accuracy targets as members by metric."""
    if isinstance(value, dict):
        return {key: _comparable(item) for key, item in value.items() if key not in NOT_COMPARED}
    if isinstance(value, list) and value and all(isinstance(item, dict) for item in value):
        return {str(item["metric"]): _comparable(item) for item in value if isinstance(item, dict)}
    return value


def _differences(key: str, left: Json, right: Json) -> Iterator[RuleDifference]:
    if isinstance(left, dict) and isinstance(right, dict):
        for name in sorted({*left, *right}):
            yield from _differences(f"{key}.{name}" if key else name, left.get(name), right.get(name))
    elif left != right:
        yield RuleDifference(key, left, right)


def _suites_text(rules: BenchmarkRules) -> str:
    return "; ".join(f"{suite}: {_suite_text(suite_rules)}" for suite, suite_rules in rules.suites.items())


def _suite_text(suite: SuiteRules) -> str:
    groups = [*suite.required, *(" or ".join(group) for group in suite.one_of)]
    wished = f"; optional {', '.join(suite.optional)}" if suite.optional else ""
    return " + ".join(groups) + wished


def _generation_text(rules: BenchmarkRules) -> str:
    if not rules.generates_text:
        return "no text tokens"
    tokens = rules.generation
    limit = f"{tokens.min_new_tokens} to {tokens.max_new_tokens} tokens"
    if tokens.performance_max_new_tokens is not None:
        limit += f" ({tokens.performance_max_new_tokens} in performance runs)"
    greedy = tokens.temperature == 0 or tokens.top_k == 1
    sampling = (
        "greedy" if greedy else f"temperature {tokens.temperature:g}, top_p {tokens.top_p:g}, top_k {tokens.top_k}"
    )
    drafts = f", speculative decoding in {', '.join(tokens.speculative)}" if tokens.speculative else ""
    return f"{limit}, {sampling}, EOS {', '.join(map(str, tokens.eos_token_ids))}{drafts}"


def _scenario_text(rules: ScenarioRules) -> str:
    limits = [
        f"p99 {name} < {value:g} ms"
        for name, value in (
            ("TTFT", rules.max_ttft_p99_ms),
            ("TPOT", rules.max_tpot_p99_ms),
            ("latency", rules.max_latency_p99_ms),
        )
        if value is not None
    ]
    if rules.min_samples_per_query is not None:
        limits.append(f"at least {rules.min_samples_per_query} samples in the query")
    if rules.accuracy_sample_count is not None:
        limits.append(f"accuracy over {rules.accuracy_sample_count} samples")
    parts = [f"{rules.metric_key} in {rules.unit}", f"at least {rules.min_duration_ms / 1000:g} s", *limits]
    return "; ".join([*parts, f"LoadGen model {rules.loadgen_model}, min_query_count {rules.min_query_count}"])


def _target_text(target: AccuracyTarget) -> str:
    parts = []
    if target.minimum is not None:
        parts.append(f">= {target.minimum:.10g} ({target.reference:.10g} x {target.min_factor:g})")
    if target.maximum is not None:
        reference = target.reference if target.max_reference is None else target.max_reference
        parts.append(f"<= {target.maximum:.10g} ({reference:.10g} x {target.max_factor:g})")
    return ", ".join(parts)


def sources_text(sources: Mapping[str, str], width: int) -> list[str]:
    """The lines that name where each block of rules stands."""
    rows = [
        line for place, source in sources.items() for line in wrapped_text(f"{place}: {source}", width, "  ", "      ")
    ]
    return ["", "Sources", *rows]


def row_text(label: str, text: str, width: int) -> list[str]:
    """The lines of one rule: what it is called, and what it asks."""
    return wrapped_text(text, width, f"  {label:<{LABEL - 3}} ", " " * LABEL)


def wrapped_text(text: str, width: int, first: str, then: str) -> list[str]:
    """A text in lines of at most `width` columns, the first behind `first`, the others behind `then`."""
    return textwrap.wrap(text, width, initial_indent=first, subsequent_indent=then, break_on_hyphens=False)


def _shown(value: Json) -> str:
    if value is None:
        return "-"
    if isinstance(value, dict):
        return "present"
    if isinstance(value, list):
        return ", ".join(map(_shown, value)) or "none"
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:.10g}" if isinstance(value, float) else str(value)
