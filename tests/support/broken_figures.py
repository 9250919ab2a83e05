"""One fault per tree in what logs count and what a submitter writes down; see `broken_trees`."""

import struct
from collections.abc import Callable

from tests.support.audit_faults import audited, dlrm, resnet, unet
from tests.support.broken_trees import NONE, STRICT, Broken
from tests.support.faults import (
    acc,
    interactive,
    measurements,
    opened,
    perf,
    replaced,
    scored,
    system,
    test06_log,
    texts,
    tree,
)
from tests.support.tree_files import accuracy_log
from tests.support.trees import ACCURACY, DETAIL, SUMMARY, Tree

Make = Callable[[], Tree]
_SS = "result_{}_percentile_latency_ns"
_TTFT_999 = "result_first_token_99.90_percentile_latency_ns"
_TPOT_999 = "result_time_per_output_token_99.90_percentile_ns"
_README = "closed/Acme/src/README.md"


def llama2() -> Tree:
    return tree(benchmark="llama2-70b-99.9")


def readme(old: str, new: str) -> Make:
    """Another text in the source folder's README."""
    return lambda: tree().replace(_README, old, new)


def script_for_readme() -> Tree:
    """The source folder holds a script and no README."""
    made = tree().remove(_README)
    made.texts["closed/Acme/src/llama3.1-8b/run.sh"] = "vllm serve\n"
    return made


def second_run() -> Tree:
    made = tree()
    made.texts[made.path("Server", f"performance/run_2/{DETAIL}")] = "x\n"
    return made


def one_token() -> Tree:
    """An answer of one token where the rules ask for two."""
    made = tree(benchmark="mixtral-8x7b", round_name="v6.0")
    made.texts[made.path("Server", f"TEST06/accuracy/{ACCURACY}")] = accuracy_log([(3, [5])], first=True)
    return made


def summary(line: str) -> Make:
    """A line more in the summary log of Server."""
    return replaced(f"performance/run_1/{SUMMARY}", "Result is : VALID", f"Result is : VALID\n{line}")


def verdict(*lines: str) -> Make:
    """What TEST08's verification printed before it says TEST PASS."""
    return texts("TEST08/verify_accuracy.txt", "".join(f"{line}\n" for line in (*lines, "", "TEST PASS")), base=dlrm)


def other_predictions() -> Tree:
    """TEST08's answers are none of the accuracy run's, where both logs are whole."""
    made = dlrm()
    both = {"accuracy": (3.0, 1.0, 0.9, 1.0, 1.0, 1.0), "TEST08/accuracy": (3.0, 1.0, 0.5)}
    for folder, floats in both.items():
        bits = list(struct.unpack(f"<{len(floats)}i", struct.pack(f"<{len(floats)}f", *floats)))
        made.texts[made.path("Server", f"{folder}/{ACCURACY}")] = accuracy_log([(0, bits)], first=False)
    return made


FIGURE_CASES = (
    Broken("LAT-010", perf(result_query_count=458), STRICT),
    Broken("LAT-010", perf(base=opened, result_query_count=458), STRICT, name="open-too-few"),
    Broken("LAT-010", perf(result_query_count=661, **{_TTFT_999: 2_000_000_001}), STRICT, name="ttft"),
    Broken("LAT-010", perf(result_query_count=661, **{_TPOT_999: 100_000_001}), STRICT, name="tpot"),
    Broken("LAT-010", perf(base=opened, result_query_count=661, **{_TPOT_999: 100_000_001}), NONE, name="open"),
    Broken(
        "LAT-010",
        perf("Interactive", base=interactive, result_query_count=661, **{_TTFT_999: 500_000_001}),
        STRICT,
        at="Interactive",
        name="interactive",
    ),
    Broken("LAT-010", perf(base=resnet, result_query_count=661, result_overlatency_query_count=1), STRICT, name="over"),
    Broken("LAT-010", perf("SingleStream", base=unet, result_query_count=63), STRICT, at="SingleStream", name="single"),
    Broken("LAT-010", perf("MultiStream", base=resnet, result_query_count=661), STRICT, at="MultiStream", name="multi"),
    Broken(
        "LAT-010",
        perf(early_stopping_ttft_result=" * Run unsuccessful.\\n * Processed 70 queries."),
        STRICT,
        name="text",
    ),
    Broken(
        "LAT-011",
        perf("SingleStream", base=unet, early_stopping_latency_ss=1_000_000_001),
        STRICT,
        at="SingleStream",
        name="above",
    ),
    Broken(
        "LAT-011",
        perf("SingleStream", base=unet, early_stopping_latency_ss=912_000_000, **{_SS.format("90.00"): 912_000_001}),
        STRICT,
        at="SingleStream",
    ),
    Broken(
        "LAT-011",
        perf("SingleStream", base=unet, early_stopping_latency_ms=1_299_999_999),
        STRICT,
        at="SingleStream",
        name="99th",
    ),
    Broken(
        "LAT-011",
        perf("MultiStream", base=resnet, **{"result_99.00_percentile_per_query_latency_ns": 1_400_000_001}),
        STRICT,
        at="MultiStream",
        name="multi",
    ),
    Broken(
        "LAT-011",
        perf(
            "SingleStream",
            base=unet,
            result_query_count=1849,
            early_stopping_result=" * Processed at least 64 queries (1849).  * Would discard 154 highest latency queries.",
        ),
        STRICT,
        at="SingleStream",
        name="text",
    ),
    Broken("PERF-014", perf(result_completed_samples_per_sec=27600.5 / 131), STRICT),
    Broken("PERF-014", perf("Offline", result_samples_per_second=27600.5 / 131), STRICT, at="Offline", name="offline"),
    Broken("PERF-014", perf(base=opened, result_completed_samples_per_sec=27600.5 / 131), NONE, name="open"),
    Broken("PERF-015", perf(base=llama2, result_completed_samples_per_sec=27600.5 / 324), NONE),
    Broken("PERF-015", perf(base=llama2, result_completed_samples_per_sec=27600.5 / 264), NONE, name="shorter"),
    Broken("PERF-016", perf(generated_query_count=13368 * 12), STRICT),
    Broken("PERF-016", perf("Offline", generated_samples_per_query=13368 * 12), STRICT, at="Offline", name="offline"),
    Broken("PERF-016", perf(base=opened, generated_query_count=13368 * 12), STRICT, name="open"),
    Broken(
        "PERF-016",
        perf("SingleStream", base=unet, generated_query_count=43 * 17),
        STRICT,
        at="SingleStream",
        name="single",
    ),
    Broken("PERF-017", perf(generated_query_count=13368 * 30 + 1), NONE),
    Broken("PERF-018", perf(requested_server_target_qps=12), NONE),
    Broken("PERF-018", perf("Offline", requested_offline_expected_qps=9.9998), NONE, at="Offline", name="offline"),
    Broken("ACC-012", test06_log([(3, [5] * 130)]), STRICT),
    Broken("ACC-012", one_token, NONE, name="short"),
    Broken("LOG-013", acc(sut_name="another"), NONE),
    Broken("LOG-014", summary("Completed samples per second : 287.52"), NONE),
    Broken("ACC-013", scored(ROUGEL=24.3), NONE),
    Broken("AUD-021", audited(resnet, "TEST01", sut_name="another"), NONE),
    Broken("AUD-021", audited(resnet, "TEST04", loadgen_version="6.0.99 @ 1"), NONE, name="loadgen"),
    Broken("AUD-022", verdict("num_matched = 0"), STRICT, name="matched"),
    Broken("AUD-022", verdict("num_matched = 4096", "num_unmatched = 1"), STRICT, name="unmatched"),
    Broken("AUD-022", verdict("num_ne_mismatch = 1"), STRICT, name="mismatch"),
    Broken("AUD-022", verdict("tolerance = 0.11%"), STRICT, name="tolerance"),
    Broken("AUD-022", verdict("num_perf_log_entries = 21"), STRICT, name="entries"),
    Broken("AUD-022", other_predictions, STRICT, also=("ACC-005", "ACC-009")),
    Broken("MEAS-009", measurements(retraining="Yes (see documentation)"), NONE),
    Broken("MEAS-010", measurements(weight_transformations="fp8, EAGLE-3 draft model"), NONE),
    Broken("MEAS-010", texts("README.md", "vllm serve --speculative-config x\n"), NONE, name="readme"),
    Broken("SYS-014", system(host_memory_configuration="8 x 32 GB DDR5, non-ECC"), NONE),
    Broken("SYS-014", system(hw_notes="ECC disabled"), NONE, name="off"),
    Broken("STR-020", lambda: tree().remove("closed/Acme/documentation/bandwidth.md"), NONE),
    Broken("STR-021", readme("vLLM 0.32.0, unchanged.", "vLLM, unchanged."), NONE),
    Broken("STR-021", script_for_readme, NONE, also=("STR-022",), name="no-readme"),
    Broken("STR-022", readme("## LoadGen connection", "LoadGen connection"), NONE),
    Broken("STR-022", readme("## How queries are batched", "## Notes"), NONE, name="batching"),
    Broken("STR-023", readme("llama3.1-8b", "ours"), NONE),
    Broken("STR-024", second_run, NONE),
)
"""The official checker asks for none of these."""
