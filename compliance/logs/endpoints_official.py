"""What the official checker takes from an endpoints run: LoadGen's names for its values (constants.py:2197-2286)."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from compliance.logs.documents import JsonValue

SCENARIO = "effective_scenario"
MIN_DURATION = "effective_min_duration_ms"
SAMPLE_INDEX_SEED = "effective_sample_index_rng_seed"
SCHEDULE_SEED = "effective_schedule_rng_seed"
OFFLINE_QPS = "result_samples_per_second"
QPS = "result_completed_samples_per_sec"
TPS = "result_completed_tokens_per_second"
MEAN_LATENCY = "result_mean_latency_ns"
LATENCY_P90 = "result_90.00_percentile_latency_ns"
LATENCY_P99 = "result_99.00_percentile_latency_ns"
TTFT_P99 = "result_first_token_99.00_percentile_latency_ns"
TPOT_P99 = "result_time_per_output_token_99.00_percentile_ns"
MEAN_TOKENS = "mean_output_tokens"
ERRORS = "num_errors"
TOTAL_COUNT = "qsl_reported_total_count"
ACCURACY_COUNT = "effective_accuracy_sample_count"
ACCURACY_SCORE = "accuracy_score"
_QUERIES = "generated_query_count"
_DURATION = "generated_query_duration"
_NS_PER_S = 1e9


@dataclass(frozen=True, slots=True)
class _Lookup:
    """Where a value is looked for: in the JSON file by `name`, else by `other`; in config.yaml by `config`, `name`."""

    name: str
    other: str = ""
    config: str = ""


_LOOKUPS: Mapping[str, _Lookup] = {
    SCENARIO: _Lookup("effective_scenario", config="type"),
    MIN_DURATION: _Lookup("min_duration_ms", config="settings.runtime.min_duration_ms"),
    SAMPLE_INDEX_SEED: _Lookup(SAMPLE_INDEX_SEED, config="settings.runtime.dataloader_random_seed"),
    SCHEDULE_SEED: _Lookup(SCHEDULE_SEED, config="settings.runtime.scheduler_random_seed"),
    TOTAL_COUNT: _Lookup("n_samples_issued"),
    _QUERIES: _Lookup(_QUERIES, other="n_samples_issued"),
    _DURATION: _Lookup("duration_ns"),
    QPS: _Lookup("qps"),
    TPS: _Lookup("tps"),
    MEAN_LATENCY: _Lookup("latency.avg"),
    LATENCY_P90: _Lookup("latency.early_stopping_percentiles.90.0"),
    LATENCY_P99: _Lookup("latency.early_stopping_percentiles.99.0"),
    TTFT_P99: _Lookup("ttft.early_stopping_percentiles.99.0"),
    TPOT_P99: _Lookup("tpot.early_stopping_percentiles.99.0"),
    MEAN_TOKENS: _Lookup("output_sequence_lengths.avg"),
    ERRORS: _Lookup("result.failed", other="n_samples_failed"),
}
"""Of the official table those that a check reads (constants.py:2197-2286)."""


@dataclass(frozen=True, slots=True)
class OfficialValues:
    """The values of both runs under LoadGen's names; one that is not found is absent.

    `crash` says over what the official checker stops altogether, None where it reads on.
    """

    performance: Mapping[str, JsonValue]
    accuracy: Mapping[str, JsonValue]
    crash: str | None = None


def official_values(
    config: Mapping[str, JsonValue], summary: Mapping[str, JsonValue], accuracy: Mapping[str, JsonValue]
) -> OfficialValues:
    """What the official checker reads from the three documents (endpoints_parser.py:118-190); {} for one unread."""
    performance_values = _values(summary, config)
    accuracy_values = _values(accuracy, config)
    steps: tuple[Callable[[], None], ...] = (
        lambda: _add_score(accuracy_values, accuracy),
        lambda: _add_count(accuracy_values, accuracy),
        lambda: _add_rate(performance_values),
        lambda: _add_rate(accuracy_values),
    )
    crashes: list[str] = []
    for step in steps:
        try:
            step()
        except (TypeError, ValueError, OverflowError, ZeroDivisionError) as error:
            crashes.append(str(error))
    return OfficialValues(performance_values, accuracy_values, crashes[0] if crashes else None)


def _values(document: Mapping[str, JsonValue], config: Mapping[str, JsonValue]) -> dict[str, JsonValue]:
    found: dict[str, JsonValue] = {}
    for key, lookup in _LOOKUPS.items():
        value = _resolved(document, config, lookup)
        if value is not None:
            found[key] = value
    return found


def _resolved(document: Mapping[str, JsonValue], config: Mapping[str, JsonValue], lookup: _Lookup) -> JsonValue:
    tries = ((document, lookup.name), (document, lookup.other), (config, lookup.config), (config, lookup.name))
    values = (at_path(members, name) for members, name in tries if name)
    return next((value for value in values if value is not None), None)


def at_path(members: Mapping[str, JsonValue], dotted: str) -> JsonValue:
    """The value under a dotted path. The longest name at each level wins, and "99" stands for "99.0" at the end.

    An empty object or array counts as absent.
    """
    parts = dotted.split(".")
    value: JsonValue = dict(members)
    while parts:
        if not isinstance(value, dict):
            return None if isinstance(value, list) or parts != ["0"] else value
        taken = next((n for n in range(len(parts), 0, -1) if ".".join(parts[:n]) in value), 0)
        if not taken:
            return None
        value = value[".".join(parts[:taken])]
        parts = parts[taken:]
    return None if value in ([], {}) else value


def _add_count(values: dict[str, JsonValue], accuracy: Mapping[str, JsonValue]) -> None:
    count = _sample_count(accuracy)
    if count is not None:
        values[ACCURACY_COUNT] = count
        values.setdefault(TOTAL_COUNT, count)


def _add_score(values: dict[str, JsonValue], accuracy: Mapping[str, JsonValue]) -> None:
    """The first score there is; raises where an entry is no object, since the official checker goes through all."""
    entries = _entries(accuracy)
    scores = (entry.get("score") for entry in entries if isinstance(entry, dict))
    first = next((score for score in scores if score is not None), None)
    if first is not None:
        values[ACCURACY_SCORE] = first
    if not all(isinstance(entry, dict) for entry in entries):
        raise TypeError("an entry of accuracy_scores is no object")


def _sample_count(accuracy: Mapping[str, JsonValue]) -> int | None:
    """Samples of all accuracy data sets together; raises where the official checker's reading of them does."""
    counts: list[int] = []
    for entry in _entries(accuracy):
        if not isinstance(entry, dict) or entry.get("dataset_type") not in (None, "accuracy"):
            continue
        count = entry.get("total_samples")
        if count is None:
            responses = entry.get("response_counts", {})
            if not isinstance(responses, dict):
                raise TypeError("response_counts is no object")
            count = responses.get("issued")
        if isinstance(count, list | dict):
            raise TypeError("a count of samples is no number")
        if count is not None:
            counts.append(int(count))
    return sum(counts) if counts else None


def _entries(accuracy: Mapping[str, JsonValue]) -> list[JsonValue]:
    entries = accuracy.get("accuracy_scores", [])
    if isinstance(entries, list):
        return entries
    if isinstance(entries, str | dict):
        return list(entries)
    raise TypeError("accuracy_scores is no array")


def _add_rate(values: dict[str, JsonValue]) -> None:
    """Samples per second from count and duration, where the files do not say it (endpoints_parser.py:216-228).

    The count that the official checker infers from the total one comes too late for it.
    """
    duration_ns, count, scenario = values.get(_DURATION), values.get(_QUERIES), values.get(SCENARIO)
    if not (duration_ns and count and scenario):
        return
    if not isinstance(scenario, str):
        raise TypeError("the scenario is no text")
    key = OFFLINE_QPS if scenario.lower() == "offline" else QPS
    if key in values:
        return
    if not isinstance(duration_ns, int | float) or not isinstance(count, int | float):
        raise TypeError("a count or a duration is no number")
    values[key] = count / (duration_ns / _NS_PER_S)
