"""Readers of an endpoints run's files (endpoints_parser.py:26-31)."""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path

from compliance.logs.documents import JsonValue
from compliance.logs.endpoints_files import Loaded, load_json
from compliance.logs.endpoints_records import (
    NO_PERCENTILES,
    Distribution,
    EndpointsAccuracy,
    EndpointsAudit,
    EndpointsConfig,
    EndpointsForm,
    EndpointsScore,
    EndpointsSummary,
    Percentiles,
)
from compliance.schema import validate

CONFIG_NAMES = ("config.yaml", "config.yml")
SUMMARY_NAME = "performance/result_summary.json"
ACCURACY_NAME = "accuracy/accuracy_results.json"
_RUNTIME = ("settings", "runtime")
_PATTERN = ("settings", "load_pattern")
_MOST = 10**30


def read_config(path: Path) -> tuple[EndpointsConfig, Loaded]:
    """config.yaml, and the document itself for `official_values`. Raises UnreadableFile."""
    from compliance.logs.endpoints_yaml import load_yaml  # noqa: PLC0415 - slow to import, and most trees need it not

    loaded = load_yaml(path)
    members = loaded.members
    config = EndpointsConfig(
        form=_form(loaded, "endpoints-config"),
        kind=_text(_member(members, "type")),
        min_duration_ms=_number(_member(members, *_RUNTIME, "min_duration_ms")),
        max_duration_ms=_number(_member(members, *_RUNTIME, "max_duration_ms")),
        sample_index_seed=_integer(_member(members, *_RUNTIME, "dataloader_random_seed")),
        schedule_seed=_integer(_member(members, *_RUNTIME, "scheduler_random_seed")),
        samples_to_issue=_integer(_member(members, *_RUNTIME, "n_samples_to_issue")),
        target_qps=_number(_member(members, *_PATTERN, "target_qps")),
        target_concurrency=_integer(_member(members, *_PATTERN, "target_concurrency")),
    )
    return config, loaded


def read_summary_json(path: Path) -> tuple[EndpointsSummary, Loaded]:
    """result_summary.json, and the document itself for `official_values`. Raises UnreadableFile."""
    loaded = load_json(path)
    members = loaded.members
    complete = members.get("complete")
    summary = EndpointsSummary(
        form=_form(loaded, "endpoints-result-summary"),
        issued=_integer(members.get("n_samples_issued")),
        completed=_integer(members.get("n_samples_completed")),
        failed=_integer(members.get("n_samples_failed")),
        duration_ns=_number(members.get("duration_ns")),
        qps_logged=_number(members.get("qps")),
        tps=_number(members.get("tps")),
        complete=complete if isinstance(complete, bool) else None,
        ttft=_distribution(members.get("ttft")),
        tpot=_distribution(members.get("tpot")),
        latency=_distribution(members.get("latency")),
        output_tokens=_distribution(members.get("output_sequence_lengths")),
    )
    return summary, loaded


def read_accuracy_json(path: Path) -> tuple[EndpointsAccuracy, Loaded]:
    """accuracy_results.json, and the document itself for `official_values`. Raises UnreadableFile."""
    loaded = load_json(path)
    entries = loaded.members.get("accuracy_scores")
    scores = tuple(_scores(entries, loaded.lines)) if isinstance(entries, list) else ()
    failed = _integer(loaded.members.get("n_samples_failed"))
    return EndpointsAccuracy(_form(loaded, "endpoints-accuracy-results"), scores, failed), loaded


def read_audit_json(path: Path) -> EndpointsAudit:
    """audit_<name>.json. Raises UnreadableFile."""
    loaded = load_json(path)
    form = _form(loaded, "endpoints-audit")
    return EndpointsAudit(form, loaded.members.get("test"), loaded.members.get("passed"))


def _form(loaded: Loaded, schema: str) -> EndpointsForm:
    return EndpointsForm(loaded.path, loaded.lines, loaded.problems, validate(dict(loaded.members), schema))


def _member(members: Mapping[str, JsonValue], *path: str) -> JsonValue:
    value: JsonValue = dict(members)
    for name in path:
        value = value.get(name) if isinstance(value, dict) else None
    return value


def _text(value: JsonValue) -> str | None:
    return value if isinstance(value, str) else None


def _number(value: JsonValue) -> float | None:
    """A number that a run can measure: one beyond 10^30 would overflow a float before it meant anything."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return value if isinstance(value, float) or abs(value) < _MOST else None


def _integer(value: JsonValue) -> int | None:
    plain = isinstance(value, int) and not isinstance(value, bool)
    return value if plain and isinstance(value, int) and abs(value) < _MOST else None


def _distribution(value: JsonValue) -> Distribution:
    if not isinstance(value, dict):
        return Distribution()
    return Distribution(
        minimum=_number(value.get("min")),
        maximum=_number(value.get("max")),
        average=_number(value.get("avg")),
        percentiles=_percentiles(value.get("percentiles")),
        early_stopping=_percentiles(value.get("early_stopping_percentiles")),
    )


def _percentiles(value: JsonValue) -> Percentiles:
    if not isinstance(value, dict):
        return NO_PERCENTILES
    values: dict[float, float | None] = {}
    for name, number in value.items():
        percent = as_float(name)
        if percent is not None:
            values.setdefault(percent, _number(number))
    return Percentiles(values, tuple(str(name) for name in value))


def as_float(text: str) -> float | None:
    """The number a text spells, None where it spells none."""
    try:
        return float(text)
    except ValueError:
        return None


def _scores(entries: list[JsonValue], lines: Mapping[str, int]) -> Iterator[EndpointsScore]:
    for index, entry in enumerate(entries):
        if not isinstance(entry, dict):
            continue
        pointer = f"/accuracy_scores/{index}"
        counts = entry.get("response_counts")
        issued = counts.get("issued") if isinstance(counts, dict) else None
        total = entry.get("total_samples")
        complete = entry.get("complete")
        yield EndpointsScore(
            dataset=str(entry.get("dataset_name") or f"entry {index}"),
            is_accuracy=entry.get("dataset_type") in {None, "accuracy"}
            if not isinstance(entry.get("dataset_type"), list | dict)
            else False,
            values=named_values(entry.get("score")),
            samples=_integer(issued if total is None else total),
            unit_samples=_number(entry.get("unit_samples")),
            complete=complete if isinstance(complete, bool) else None,
            pointer=pointer,
            line=lines.get(f"{pointer}/score") or lines.get(pointer),
        )


def named_values(score: JsonValue) -> Mapping[str, float]:
    """The numbers of a score by name: one number, or a text that spells it, has the name ""; texts may hold JSON."""
    if isinstance(score, str):
        number = as_float(score)
        if number is not None:
            return {"": number}
        try:
            score = json.loads(score)
        except (ValueError, RecursionError):
            return {}
    if isinstance(score, dict):
        numbers = (
            (name, as_float(value) if isinstance(value, str) else _number(value)) for name, value in score.items()
        )
        return {name: number for name, number in numbers if number is not None}
    number = _number(score)
    return {} if number is None else {"": number}
