"""What LoadGen and the accuracy scripts would have written: contents of the files of a clean submission tree."""

import json
from collections.abc import Iterable
from dataclasses import dataclass

from compliance.rulebook.model import BenchmarkRules, Round, ScenarioRules
from compliance.vocabulary import Scenario

_PRINTED = {
    "ROUGE1": "rouge1",
    "ROUGE2": "rouge2",
    "ROUGEL": "rougeL",
    "ROUGELSUM": "rougeLsum",
    "GEN_LEN": "gen_len",
    "TOKENS_PER_SAMPLE": "tokens_per_sample",
    "gsm8k_accuracy": "gsm8k",
    "mbxp_accuracy": "mbxp",
}
_LINES = {
    "acc": "accuracy={}%, good=1, total=2",
    "mAP": "mAP={}%",
    "F1": '{{"exact_match": 83.6, "f1": {}}}',
    "AUC": "AUC={}%",
    "DICE": "Accuracy: mean = {}, kidney = 0.9, tumor = 0.8",
    "ACCURACY": "Word Error Rate: 2.0671%, accuracy={}%",
    "F1_HIERARCHICAL": '{{"f1": {}}}',
    "E2E_ACCURACY": "Accuracy: {}",
    "DLRM_NE": "metric/lifetime_ne/rating: {}",
    "DLRM_ACC": "metric/lifetime_accuracy/rating: {}",
    "DLRM_AUC": "metric/lifetime_gauc/rating: {}",
}
"""The lines of the scripts that print no dict."""


@dataclass
class Record:
    """One line of a detail log to be."""

    key: str
    value: object
    is_error: bool = False

    def line(self) -> str:
        metadata = {"is_error": self.is_error, "is_warning": False, "file": "a.cc", "line_no": 7, "pid": 1, "tid": 2}
        record = {"key": self.key, "value": self.value, "time_ms": 1.5, "namespace": "mlperf::logging"}
        return f":::MLLOG {json.dumps({**record, 'event_type': 'POINT_IN_TIME', 'metadata': metadata})}\n"


def _seeds(round_: Round) -> dict[str, object]:
    return {
        "effective_qsl_rng_seed": round_.seeds.qsl,
        "effective_sample_index_rng_seed": round_.seeds.sample_index,
        "effective_schedule_rng_seed": round_.seeds.schedule,
    }


def _release(round_: Round) -> str:
    """A release that fits the round's first pattern."""
    return round_.loadgen_versions[0].replace("*", "5").replace("?", "5")


def _common(round_: Round, rules: BenchmarkRules, scenario: Scenario, mode: str, division: str) -> dict[str, object]:
    offline = scenario is Scenario.OFFLINE
    limits = rules.scenarios[scenario]
    return {
        "loadgen_version": f"{_release(round_)} @ 0123456789",
        "sut_name": "Network SUT acme" if division == "network" else "acme",
        "get_sut_name_duration_ns": 84_000 if division == "network" else 250,
        "qsl_reported_total_count": rules.dataset_size,
        "requested_use_token_latencies": rules.token_latencies,
        "effective_scenario": scenario.loadgen_name,
        "effective_test_mode": mode,
        "effective_samples_per_query": 2 * max(rules.dataset_size, 24576) if offline else 1,
        "effective_target_latency_ns": 0,
        "effective_min_duration_ms": limits.min_duration_ms,
        "effective_min_query_count": 1 if offline else 100,
        "effective_performance_sample_count": rules.performance_sample_count,
        "effective_accuracy_sample_count": rules.accuracy_samples(scenario),
        "effective_accuracy_log_sampling_target": 0,
        "effective_performance_issue_unique": False,
        "effective_performance_issue_same": False,
        "effective_sample_concatenate_permutation": True,
        **_seeds(round_),
    }


def performance_records(round_: Round, rules: BenchmarkRules, scenario: Scenario, division: str) -> list[Record]:
    """What LoadGen logs in a performance run that is well inside every limit."""
    limits = rules.scenarios[scenario]
    values = _common(round_, rules, scenario, "PerformanceOnly", division)
    values |= {
        "result_validity": "VALID",
        "result_min_duration_met": True,
        "result_min_queries_met": True,
        "early_stopping_met": True,
        "result_99.00_percentile_latency_ns": int((limits.max_latency_p99_ms or 700_000) * 1_000_000),
        limits.metric_key: 27600.5,
    }
    values |= _of_scenario(scenario, limits)
    values |= _counts(rules, scenario, values)
    return [Record(key, value) for key, value in {**values, "num_errors": 0}.items()]


def _of_scenario(scenario: Scenario, limits: ScenarioRules) -> dict[str, object]:
    if scenario is Scenario.OFFLINE:
        return {"result_samples_per_second": 93.75}
    if scenario in (Scenario.SINGLE_STREAM, Scenario.MULTI_STREAM):
        return {
            "effective_target_latency_percentile": 0.9 if scenario is Scenario.SINGLE_STREAM else 0.99,
            "result_97.00_percentile_latency_ns": 1_000_000_000,
            "result_99.00_percentile_latency_ns": 1_300_000_000,
            "result_99.90_percentile_latency_ns": 1_500_000_000,
            "result_qps_with_loadgen_overhead": 1.25,
            "early_stopping_latency_ss": 912_000_000,
            "early_stopping_latency_ms": 1_400_000_000,
            "result_qps_without_loadgen_overhead": 1.25,
        }
    ttft_ms, tpot_ms = limits.max_ttft_p99_ms or 0, limits.max_tpot_p99_ms or 0
    return {
        "requested_server_ttft_latency": int(ttft_ms * 1_000_000),
        "requested_server_tpot_latency": int(tpot_ms * 1_000_000),
        "effective_target_latency_percentile": 0.99,
        "result_perf_constraints_met": True,
        "result_completed_samples_per_sec": 74.5,
        "result_first_token_99.00_percentile_latency_ns": int(ttft_ms * 500_000),
        "result_time_per_output_token_99.00_percentile_ns": int(tpot_ms * 500_000),
    }


def _counts(rules: BenchmarkRules, scenario: Scenario, values: dict[str, object]) -> dict[str, object]:
    """What was generated, in whole rounds, and how fast samples came back: for half as long again as asked."""
    offline = scenario is Scenario.OFFLINE
    rate_key = "result_samples_per_second" if offline else "result_completed_samples_per_sec"
    streams = scenario in (Scenario.SINGLE_STREAM, Scenario.MULTI_STREAM)
    rate_key = "result_qps_with_loadgen_overhead" if streams else rate_key
    rates: dict[str, object] = {}
    if rules.token_latencies and not streams:
        rates[rate_key] = 27600.5 / mean_tokens(rules)
    rate = float(str({**values, **rates}[rate_key]))
    least = max(1000, rate * rules.scenarios[scenario].min_duration_ms / 1000 * 1.5)
    held = rules.performance_sample_count
    count = held * -(-int(least) // held)
    generated = {
        "generated_query_count": 1 if offline else count,
        "generated_samples_per_query": count if offline else 1,
    }
    return {
        **rates,
        **generated,
        "result_query_count": generated["generated_query_count"],
        "result_overlatency_query_count": 0,
    }


def mean_tokens(rules: BenchmarkRules) -> float:
    """How many tokens an answer of a clean tree holds in the mean."""
    references = [one.reference for one in rules.accuracy if one.metric == "TOKENS_PER_SAMPLE" and one.minimum]
    longest = rules.generation.performance_max_new_tokens or rules.generation.max_new_tokens
    return references[0] if references else longest * 0.75


def accuracy_records(round_: Round, rules: BenchmarkRules, scenario: Scenario, division: str) -> list[Record]:
    """What LoadGen logs in an accuracy run over the whole data set."""
    values = _common(round_, rules, scenario, "AccuracyOnly", division)
    return [Record(key, value) for key, value in values.items()]


def scores(rules: BenchmarkRules, **changed: float) -> str:
    """What the accuracy script prints with each metric at its reference, but those `changed`."""
    values = {
        target.metric: changed.get(target.metric, target.reference)
        for target in rules.accuracy
        if target.minimum is not None
    }
    named = {_PRINTED.get(metric, metric): value for metric, value in values.items() if metric not in _LINES}
    lines = [str({name: int(value) if name == "gen_len" else value for name, value in named.items()})] if named else []
    return "\n".join([*lines, *(_LINES[metric].format(value) for metric, value in values.items() if metric in _LINES)])


def accuracy_log(answers: Iterable[tuple[int, list[int]]], *, first: bool) -> str:
    """A whole accuracy log of (sample index, token ids), with first tokens where the scenario streams."""
    lines = []
    for seq_id, (index, tokens) in enumerate(answers):
        data = _hex(tokens)
        entry = f'{{ "seq_id" : {seq_id}, "qsl_idx" : {index}, "data" : "{data}"'
        entry += f', "token_data" : "{data[:8]}"' if first else ""
        lines.append(f'{entry}, "token_count" : {len(tokens)} }}')
    return "[\n" + ",\n".join(lines) + "\n]\n"


def truncated(whole: str) -> str:
    """A log as the truncation tool leaves it: 8199 bytes."""
    return f"{whole[:4096]}\n\n...\n\n{whole[-4096:]}"


def _hex(tokens: list[int]) -> str:
    return b"".join(token.to_bytes(4, "little", signed=True) for token in tokens).hex().upper()
