"""What one performance run measured, and what LoadGen says of its validity."""

from collections.abc import Iterator

from compliance.logs.detail import DetailLog
from compliance.rulebook.model import BenchmarkRules, ScenarioRules
from harness.report import samples as quantities
from harness.report.model import Distribution, Fact, Series
from harness.report.runs import RunFolder
from harness.report.samples import Limit

_NS_PER_MS = 1e6
_P99 = {
    "ttft": "result_first_token_99.00_percentile_latency_ns",
    "tpot": "result_time_per_output_token_99.00_percentile_ns",
    "latency": "result_99.00_percentile_latency_ns",
}
_JUDGED = {
    "result_min_duration_met": "Minimum duration met",
    "result_min_queries_met": "Minimum queries met",
    "result_perf_constraints_met": "Latency limits met",
    "early_stopping_met": "Early stopping met",
}
_TOLD = {
    "result_query_count": "Queries",
    "result_overlatency_query_count": "Queries over the limit",
    "early_stopping_result": "Early stopping",
    "early_stopping_ttft_result": "Early stopping, TTFT",
    "early_stopping_tpot_result": "Early stopping, TPOT",
}


def measure(
    folder: RunFolder, limits: ScenarioRules | None, rules: BenchmarkRules | None
) -> tuple[tuple[Distribution, ...], tuple[Series, ...]]:
    """The distributions and series of a performance run; both empty where its samples were not kept."""
    samples = folder.samples
    if samples is None or samples.size == 0:
        return (), ()
    metrics = folder.record.metrics

    def limit(kind: str, value: float | None) -> Limit:
        logged = metrics.get(_P99[kind])
        return Limit(value, "limit", None if logged is None else logged / _NS_PER_MS)

    found: list[Distribution | None] = []
    if folder.record.scenario != "Offline":
        ttft = limits.max_ttft_p99_ms if limits else None
        tpot = limits.max_tpot_p99_ms if limits else None
        whole = limits.max_latency_p99_ms if limits else None
        found += [
            quantities.distribution(
                "Time to first token", "ms", quantities.first_token_ms(samples), limit("ttft", ttft)
            ),
            quantities.distribution(
                "Time per output token", "ms", quantities.per_token_ms(samples), limit("tpot", tpot)
            ),
            quantities.distribution(
                "End-to-end latency", "ms", quantities.latency_ms(samples), limit("latency", whole)
            ),
        ]
    longest = float(rules.generation.max_new_tokens) if rules else None
    found.append(
        quantities.distribution("Answer length", "tokens", quantities.output_tokens(samples), Limit(longest, "maximum"))
    )
    series = (quantities.throughput(samples), quantities.in_flight(samples))
    return tuple(d for d in found if d is not None), tuple(s for s in series if s is not None)


def validity_facts(folder: RunFolder) -> Iterator[Fact]:
    """Why LoadGen calls a run VALID or INVALID, in its own words."""
    record = folder.record
    yield Fact("LoadGen's verdict", record.validity or "none", record.validity == "VALID")
    if record.invalid_reason:
        yield Fact("Reason", record.invalid_reason, False)
    detail = folder.detail
    if detail is None:
        yield Fact("Detail log", "missing or unreadable", False)
        return
    for key, title in _JUDGED.items():
        value = detail.value(key)
        if isinstance(value, bool):
            yield Fact(title, "yes" if value else "no", value)
    for key, title in _TOLD.items():
        value = detail.value(key)
        # With token latencies the limit on whole queries is 0 and every query is over it, which means nothing.
        meaningless = key == "result_overlatency_query_count" and detail.value("requested_use_token_latencies") is True
        if value not in (None, "") and not meaningless:
            yield Fact(title, " ".join(str(value).replace("*", " ").split()))
    yield _duration(folder, detail)
    errors = detail.error_count
    yield Fact("LoadGen errors", str(errors), errors == 0)


def _duration(folder: RunFolder, detail: DetailLog) -> Fact:
    """The time the run took, against the least that was in force."""
    least = detail.number("effective_min_duration_ms")
    wanted = "" if least is None else f", at least {least / 1000:g} s in force"
    return Fact("Duration", f"{folder.record.outcome.duration_s:.1f} s{wanted}")
