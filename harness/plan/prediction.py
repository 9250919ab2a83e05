"""What a LoadGen test will do if the system reaches its target: samples, duration, and which setting ends it.

Pure functions of the settings, as in loadgen/test_settings_internal.cc:145-160 and loadgen/loadgen.cc:316-334.
"""

import math
from dataclasses import dataclass

from compliance.vocabulary import Mode, Scenario
from harness.core.spec import LoadgenSettings
from harness.plan.schedule import server_queries
from harness.plan.settings import OFFLINE_SLACK, ONE_AT_A_TIME

EARLY_STOPPING_CONFIDENCE = 0.99


@dataclass(frozen=True, slots=True)
class Prediction:
    """What a test will do if the system reaches its target. `bound` says what ends it; `notes` what will go wrong.

    `duration_s` is an estimate: from the target rate, without warm-up and drain.
    """

    samples: int
    duration_s: float
    bound: str
    notes: tuple[str, ...] = ()


def early_stopping_minimum(percentile: float = 0.99) -> int:
    """Fewest queries with which LoadGen's early stopping can pass at `percentile` (0..1): 459 at p99 (F13)."""
    return math.ceil(math.log(1 - EARLY_STOPPING_CONFIDENCE) / math.log(percentile))


def predict(settings: LoadgenSettings) -> Prediction:
    """How many samples a test issues, how long it takes at its target rate, and which setting decides."""
    asked = settings.expected_effective
    qps = float(asked["effective_target_qps"])
    if settings.mode == Mode.ACCURACY.value:
        total = settings.total_sample_count
        rate = f", at {qps:g} per second" if settings.scenario == Scenario.SERVER.value else ""
        return Prediction(total, total / qps, f"every one of the {total} samples once{rate}")
    loaded = settings.performance_sample_count
    duration_s = int(asked["effective_min_duration_ms"]) / 1000
    equal_issue = bool(asked["effective_sample_concatenate_permutation"])
    offline = settings.scenario == Scenario.OFFLINE.value
    by_count = int(asked["effective_samples_per_query"]) if offline else _min_query_count(settings)
    by_time = math.floor(qps * duration_s * (OFFLINE_SLACK if offline else 1.0))
    if equal_issue and settings.scenario in ONE_AT_A_TIME:
        by_time = 2 * by_time + 1  # LoadGen makes twice the queries it expects to need, and padding demands them all
    if settings.scenario == Scenario.SERVER.value and (exact := _server(settings, by_count)) is not None:
        return exact
    samples, bound = by_count, f"min_query_count = {by_count}"
    if offline and by_time >= by_count:
        bound = f"1.1 x target_qps x {duration_s:g} s"
    elif not offline and by_time > by_count:
        samples, bound = by_time, f"min_duration = {duration_s:g} s"
    if equal_issue and samples % loaded:
        samples = math.ceil(samples / loaded) * loaded
        bound += f", padded to {samples // loaded} whole pass{'es' if samples > loaded else ''} of {loaded}"
    return Prediction(samples, samples / qps, bound, _prediction_notes(settings, samples, offline=offline))


def _server(settings: LoadgenSettings, by_count: int) -> Prediction | None:
    """A Server test to the query, from the schedule that LoadGen will draw; None where it is too long for that."""
    asked = settings.expected_effective
    duration_ms, loaded = int(asked["effective_min_duration_ms"]), settings.performance_sample_count
    passes_of = loaded if asked["effective_sample_concatenate_permutation"] else None
    seed = int(settings.attributes["schedule_rng_seed"])
    schedule = server_queries(seed, target_qps(settings), duration_ms, by_count, passes_of)
    if schedule is None:
        return None
    samples, duration_s = schedule
    least = samples if passes_of is None else samples - loaded
    bound = f"min_query_count = {by_count}" if by_count > least else f"min_duration = {duration_ms / 1000:g} s"
    if passes_of is not None and by_count != samples:
        bound += f", padded to {samples // loaded} whole pass{'es' if samples > loaded else ''} of {loaded}"
    return Prediction(samples, duration_s, bound, _prediction_notes(settings, samples, offline=False))


def target_qps(settings: LoadgenSettings) -> float:
    """The rate LoadGen is asked for, as user.conf has it: the detail log shows six digits of it."""
    for line in settings.user_conf.splitlines():
        name, _, value = line.partition(" = ")
        if name.endswith(".target_qps"):
            return float(value)
    return float(settings.expected_effective["effective_target_qps"])


def _prediction_notes(settings: LoadgenSettings, samples: int, *, offline: bool) -> tuple[str, ...]:
    if settings.audit_conf is not None:
        return ("LoadGen calls an audit run INVALID when it is short; its verdict is the audit's",)
    percentile = 0.9 if settings.scenario == Scenario.SINGLE_STREAM.value else 0.99
    least = early_stopping_minimum(percentile)
    if not offline and samples < least:
        return (f"cannot be VALID: early stopping needs at least {least} queries; raise min_query_count",)
    return ()


def _min_query_count(settings: LoadgenSettings) -> int:
    asked = settings.expected_effective
    return int(asked.get("effective_min_query_count", asked.get("requested_min_query_count", 1)))
