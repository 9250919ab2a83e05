"""One fault per tree in the files of endpoints runs; see `broken_trees`."""

from tests.support.broken_trees import BOTH, NONE, OFFICIAL, STRICT, Broken
from tests.support.endpoint_trees import (
    CONFIG,
    SCORES,
    SUMMARY,
    agentic,
    as_network,
    changed,
    endpoints_tree,
    gpt,
    interactive,
    online,
    opened,
    qwen_vl,
    renamed,
    respelled,
    short_offline,
    wan,
    without,
)

_RUNTIME = "settings/runtime"
_ENTRY = "accuracy_scores/0"
_TTFT, _TPOT = "ttft/early_stopping_percentiles", "tpot/early_stopping_percentiles"
_LATENCY = "latency/early_stopping_percentiles"
_TEST06, _TEST04 = "audit/audit_consistency_output_test.json", "audit/audit_output_caching_test.json"
_SCORE = f"{_ENTRY}/score"


def _edge() -> object:
    return endpoints_tree("llama3.1-8b-edge", ("Offline", "SingleStream"), system_type="edge")


_LOG_CASES = (
    Broken("LOG-101", without(CONFIG), BOTH),
    Broken("LOG-101", respelled(CONFIG, lambda text: text + "\n: ["), BOTH, name="no-yaml"),
    Broken("LOG-101", respelled(CONFIG, lambda _: "- a\n"), BOTH, name="list"),
    Broken("LOG-102", without(SUMMARY), BOTH),
    Broken("LOG-102", respelled(SUMMARY, lambda text: text[:200]), BOTH, name="cut"),
    Broken("LOG-103", without(SCORES), BOTH),
    Broken("LOG-103", respelled(SCORES, lambda text: f"[{text}]"), BOTH, name="array"),
    Broken("LOG-104", respelled(SUMMARY, lambda text: "\ufeff" + text), OFFICIAL, name="bom"),
    Broken("LOG-104", respelled(SCORES, lambda text: text.rstrip().removesuffix("}") + ",}"), OFFICIAL, name="comma"),
    Broken("LOG-104", respelled(CONFIG, lambda text: text + "name: again\n"), NONE, name="twice"),
    Broken("LOG-105", changed(SUMMARY, "ttft/std_dev", "n/a"), NONE),
    Broken("LOG-105", changed(SCORES, "accuracy_scores/1", "n/a"), OFFICIAL, name="no-object"),
)
_PERF_CASES = (
    Broken("PERF-101", changed(CONFIG, "type", "offline"), BOTH, name="Server"),
    Broken("PERF-101", changed(CONFIG, "type", "online", "Offline"), BOTH, at="Offline"),
    Broken("PERF-101", changed(CONFIG, "type", "offline", "SingleStream", _edge), STRICT, at="SingleStream", name="SS"),
    Broken(
        "PERF-101",
        changed(CONFIG, "settings/load_pattern/target_concurrency", 2, "SingleStream", agentic),
        STRICT,
        at="SingleStream",
        name="two-streams",
    ),
    Broken("PERF-102", changed(CONFIG, f"{_RUNTIME}/dataloader_random_seed", 2747215439041700204), BOTH),
    Broken("PERF-102", changed(CONFIG, f"{_RUNTIME}/dataloader_random_seed", ..., base=opened), BOTH, name="open"),
    Broken("PERF-103", changed(CONFIG, f"{_RUNTIME}/scheduler_random_seed", 16159082839903944935), BOTH),
    Broken("PERF-104", changed(CONFIG, f"{_RUNTIME}/min_duration_ms", 599_999), BOTH),
    Broken("PERF-104", changed(CONFIG, f"{_RUNTIME}/min_duration_ms", ...), BOTH, name="missing"),
    Broken("PERF-105", changed(SUMMARY, "duration_ns", 599_999_999_999), STRICT),
    Broken("PERF-106", changed(SUMMARY, "tps", None), BOTH),
    Broken("PERF-106", changed(SUMMARY, "tps", 0), BOTH, name="zero"),
    Broken("PERF-106", changed(SUMMARY, "qps", float("nan")), STRICT, name="nan"),
    Broken("PERF-106", changed(CONFIG, "type", "Offline", "Offline"), BOTH, at="Offline", name="capital-offline"),
    Broken(
        "PERF-106",
        changed(SUMMARY, f"{_LATENCY}/90.0", ..., "SingleStream", _edge),
        BOTH,
        at="SingleStream",
        name="p90",
    ),
    Broken("PERF-107", renamed("llama2-70b-99.9"), BOTH),
    Broken("PERF-108", changed(SUMMARY, "n_samples_failed", 1), STRICT),
    Broken("PERF-108", changed(SUMMARY, "n_samples_completed", 49151), STRICT, name="open-ended"),
    Broken("PERF-108", changed(SUMMARY, "complete", value=False), STRICT, name="incomplete"),
    Broken("PERF-109", short_offline, STRICT, at="Offline"),
    Broken("PERF-110", as_network, OFFICIAL),
    Broken("PERF-111", changed(SUMMARY, "output_sequence_lengths/max", 130), NONE),
    Broken("PERF-111", changed(SUMMARY, "output_sequence_lengths/max", 10242, base=gpt), NONE, name="gpt-oss"),
)
_LAT_CASES = (
    Broken("LAT-101", changed(SUMMARY, f"{_LATENCY}/99.0", 12_000_000_001, base=qwen_vl), BOTH),
    Broken("LAT-101", changed(SUMMARY, f"{_LATENCY}/99.0", ..., base=qwen_vl), BOTH, name="missing"),
    Broken(
        "LAT-101",
        changed(SUMMARY, f"{_LATENCY}/99.0", 1_500_000_001, "Interactive", qwen_vl),
        BOTH,
        at="Interactive",
        name="Interactive",
    ),
    Broken("LAT-102", changed(SUMMARY, f"{_TTFT}/99.0", 2_000_000_000), BOTH),
    Broken("LAT-102", changed(SUMMARY, f"{_TTFT}/99.0", None), BOTH, name="null"),
    Broken("LAT-102", changed(SUMMARY, "ttft/early_stopping_percentiles", ...), BOTH, name="plain-alone"),
    Broken("LAT-102", changed(SUMMARY, f"{_TTFT}/99.0", 2_000_000_000, base=opened), OFFICIAL, name="open"),
    Broken(
        "LAT-102",
        changed(SUMMARY, f"{_TTFT}/99.0", 500_000_000, "Interactive", interactive),
        BOTH,
        at="Interactive",
        name="Interactive",
    ),
    Broken("LAT-102", changed(SUMMARY, _TTFT, {"99.00": 1_000_000}), OFFICIAL, name="99.00"),
    Broken("LAT-103", changed(SUMMARY, f"{_TPOT}/99.0", 100_000_000), BOTH),
    Broken("LAT-104", changed(SUMMARY, f"{_TPOT}/99.0", 0), STRICT),
)
_ACC_CASES = (
    Broken("ACC-101", changed(SCORES, _SCORE, None), BOTH, also=("ACC-102",)),
    Broken("ACC-102", changed(SCORES, f"{_SCORE}/rouge1", 38.39), STRICT),
    Broken("ACC-102", changed(SCORES, f"{_SCORE}/rouge1", 38.39, base=opened), NONE, name="open"),
    Broken("ACC-102", changed(SCORES, _SCORE, 0.7823, base=qwen_vl), BOTH, name="qwen3-vl"),
    Broken("ACC-102", changed(SCORES, _SCORE, {"f1": 0.7823}, base=qwen_vl), BOTH, name="qwen3-vl-named"),
    Broken("ACC-102", changed(SCORES, _SCORE, 0.01, base=gpt), STRICT, name="gpt-oss"),
    Broken(
        "ACC-102", changed(SCORES, _SCORE, 0.8536, "SingleStream", agentic), STRICT, at="SingleStream", name="agentic"
    ),
    Broken("ACC-102", changed(SCORES, f"{_SCORE}/gen_len", ...), NONE, name="no-length"),
    Broken("ACC-103", changed(SCORES, f"{_SCORE}/gen_len", 8984409), STRICT),
    Broken("ACC-104", changed(SCORES, f"{_ENTRY}/total_samples", 13367), BOTH),
    Broken("ACC-104", changed(SCORES, f"{_ENTRY}/total_samples", 13367, base=opened), BOTH, name="open"),
    Broken("ACC-105", changed(SCORES, "n_samples_failed", 3), BOTH),
    Broken("ACC-105", changed(SCORES, f"{_ENTRY}/complete", value=False), STRICT, name="incomplete"),
    Broken("ACC-011", without("accuracy/videos/130.png", "Offline", wan), BOTH, at="Offline", name="endpoints"),
)
_AUD_CASES = (
    Broken("AUD-101", without(_TEST06), STRICT),
    Broken("AUD-101", without(_TEST04, "SingleStream", wan), BOTH, at="SingleStream", name="TEST04"),
    Broken("AUD-102", changed(_TEST06, "passed", value=False), BOTH),
    Broken("AUD-102", changed(_TEST06, "passed", "false"), STRICT, name="text"),
    Broken("AUD-102", changed(_TEST06, "test", "output_caching_test"), BOTH, name="other-test"),
    Broken("AUD-102", respelled(_TEST06, lambda text: text[:10]), BOTH, name="cut"),
    Broken("AUD-102", respelled(_TEST06, lambda text: "\ufeff" + text), OFFICIAL, name="bom"),
    Broken("AUD-103", changed(SUMMARY, "output_sequence_lengths/avg", 1406.03, base=gpt), BOTH),
    Broken("AUD-103", changed(SUMMARY, "output_sequence_lengths/avg", ..., base=gpt), BOTH, name="missing"),
    Broken("SCN-004", lambda: online(endpoints_tree), OFFICIAL, at="online", name="online"),
)
ENDPOINTS_CASES = (*_LOG_CASES, *_PERF_CASES, *_LAT_CASES, *_ACC_CASES, *_AUD_CASES)
