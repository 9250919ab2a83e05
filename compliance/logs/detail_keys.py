"""The keys of a detail log that checks, metrics, audits and reports read: of a tree's logs no other is kept.

A check that asks a tree's log for a key that is not here is told so by a LookupError: enter the key below. The names
are those of loadgen/test_settings_internal.cc, loadgen/loadgen.cc and loadgen/results.cc.
"""

_SETTINGS = (
    "accuracy_log_probability",
    "accuracy_log_rng_seed",
    "accuracy_log_sampling_target",
    "accuracy_sample_count",
    "max_async_queries",
    "max_duration_ms",
    "max_query_count",
    "min_duration_ms",
    "min_query_count",
    "min_sample_count",
    "performance_issue_same",
    "performance_issue_same_index",
    "performance_issue_unique",
    "performance_sample_count",
    "print_timestamps",
    "qsl_rng_seed",
    "sample_concatenate_permutation",
    "sample_index_rng_seed",
    "samples_per_query",
    "scenario",
    "schedule_rng_seed",
    "target_duration_ms",
    "target_latency_ns",
    "target_latency_percentile",
    "target_qps",
    "test_mode",
)
_REQUESTED = (
    "accuracy_sample_count_override",
    "multi_stream_expected_latency_ns",
    "multi_stream_samples_per_query",
    "multi_stream_target_latency_percentile",
    "offline_expected_qps",
    "performance_sample_count_override",
    "server_coalesce_queries",
    "server_find_peak_qps_boundary_step_size",
    "server_find_peak_qps_decimals_of_precision",
    "server_max_async_queries",
    "server_num_issue_query_threads",
    "server_target_latency_ns",
    "server_target_latency_percentile",
    "server_target_qps",
    "server_tpot_latency",
    "server_ttft_latency",
    "single_stream_expected_latency_ns",
    "single_stream_target_latency_percentile",
    "use_token_latencies",
)
_PERCENTILES = ("50.00", "90.00", "95.00", "97.00", "99.00", "99.90")
_LATENCIES = (
    *(f"result_{bound}_latency_ns" for bound in ("min", "max", "mean")),
    *(f"result_{bound}_query_latency_ns" for bound in ("min", "max", "mean")),
    *(f"result_first_token_{bound}_latency_ns" for bound in ("min", "max", "mean")),
    *(f"result_time_to_output_token_{bound}" for bound in ("min", "max", "mean")),
    *(f"result_{point}_percentile_latency_ns" for point in _PERCENTILES),
    *(f"result_{point}_percentile_per_query_latency_ns" for point in _PERCENTILES),
    *(f"result_first_token_{point}_percentile_latency_ns" for point in _PERCENTILES),
    *(f"result_time_per_output_token_{point}_percentile_ns" for point in _PERCENTILES),
)
_RATES = (
    "completed_samples_per_sec",
    "completed_tokens_per_second",
    "inferred_completed_tokens_per_second",
    "inferred_tokens_per_second",
    "qps_with_loadgen_overhead",
    "qps_without_loadgen_overhead",
    "samples_per_second",
    "scheduled_samples_per_sec",
    "token_throughput",
    "token_throughput_with_loadgen_overhead",
    "tokens_per_second",
)
_VERDICT = (
    "early_stopping_latency_ms",
    "early_stopping_latency_ss",
    "early_stopping_met",
    "early_stopping_result",
    "early_stopping_tpot_result",
    "early_stopping_ttft_result",
    "num_errors",
    "result_invalid_reason",
    "result_min_duration_met",
    "result_min_queries_met",
    "result_overlatency_query_count",
    "result_perf_constraints_met",
    "result_query_count",
    "result_validity",
)
_RUN = (
    "generated_query_count",
    "generated_query_duration",
    "generated_samples_per_query",
    "get_sut_name_duration_ns",
    "loaded_qsl_set",
    "loadgen_build_date_utc",
    "loadgen_git_commit_date",
    "loadgen_git_status_message",
    "loadgen_version",
    "mean_output_tokens",
    "power_begin",
    "power_end",
    "qsl_name",
    "qsl_reported_performance_count",
    "qsl_reported_total_count",
    "sut_name",
    "test_datetime",
)

CHECKED_KEYS: frozenset[str] = frozenset(
    (
        *(f"effective_{name}" for name in _SETTINGS),
        *(f"requested_{name}" for name in (*_SETTINGS, *_REQUESTED)),
        *(f"result_{name}" for name in _RATES),
        *_LATENCIES,
        *_VERDICT,
        *_RUN,
    )
)
"""What is kept of a tree's logs. LoadGen writes each once per test or once per set of samples."""

REPORTED_KEYS: frozenset[str] = frozenset(
    (
        *(f"result_{name}" for name in _RATES),
        "early_stopping_latency_ms",
        "early_stopping_latency_ss",
        "effective_samples_per_query",
        "effective_scenario",
        "power_begin",
        "power_end",
        "result_99.00_percentile_latency_ns",
        "result_99.00_percentile_per_query_latency_ns",
        "result_mean_latency_ns",
        "result_mean_query_latency_ns",
        "result_query_count",
        "result_validity",
    )
)
"""What a report reads of a performance log: the metrics, and what one scenario's are inferred from."""
