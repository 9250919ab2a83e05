"""The rule data of all four rounds against a table written by hand here, whatever lies beside the checkout."""

import pytest

from compliance.rulebook.model import BenchmarkRules
from compliance.rulebook.rounds import load_round
from compliance.vocabulary import AuditId, Scenario, Suite

OFFLINE, SERVER, INTERACTIVE = Scenario.OFFLINE, Scenario.SERVER, Scenario.INTERACTIVE
SINGLE, MULTI = Scenario.SINGLE_STREAM, Scenario.MULTI_STREAM
ROUNDS = ("v5.0", "v5.1", "v6.0", "v6.1")
SEEDS = {
    "v5.0": (6023615788873153749, 15036839855038426416, 9933818062894767841),
    "v5.1": (1780908523862526354, 14771362308971278857, 18209322760996052031),
    "v6.0": (2465351861681999779, 14276810075590677512, 3936089224930324775),
    "v6.1": (2085463073848966840, 2747215439041700203, 16159082839903944936),
}
# size / performance samples / samples of the Offline query (None: the official checker has none) / accuracy samples
SIZES = {
    "llama2-70b-99": (24576, 24576, 24576, 24576),
    "llama2-70b-99.9": (24576, 24576, 24576, 24576),
    "llama2-70b-interactive-99": (24576, 24576, 24576, 24576),
    "llama2-70b-interactive-99.9": (24576, 24576, 24576, 24576),
    "mixtral-8x7b": (15000, 15000, 15000, 15000),
    "llama3.1-405b": (8313, 8313, 8313, 8313),
    "llama3.1-8b": (13368, 13368, 13368, 13368),
    "llama3.1-8b-edge": (5000, 5000, 5000, 5000),
    "deepseek-r1": (4388, 4388, 4388, 4388),
    "gpt-oss-120b": (6396, 6396, 6396, 4395),
    "gptj-99": (13368, 13368, None, 13368),
    "gptj-99.9": (13368, 13368, None, 13368),
    "qwen3-vl-235b-a22b": (48289, 48289, 48289, 48289),
    "e2e-rag-qna": (824, 824, 824, 824),
    "e2e-rag-db": (2515, 2515, 2515, 2515),
    "whisper": (1633, 1633, 1633, 1633),
    "resnet": (50000, 1024, 24576, 50000),
    "retinanet": (24781, 64, 24576, 24781),
    "bert-99": (10833, 10833, 10833, 10833),
    "bert-99.9": (10833, 10833, 10833, 10833),
    "dlrm-v2-99": (330067, 204800, 24576, 330067),
    "dlrm-v2-99.9": (330067, 204800, 24576, 330067),
    "dlrm-v3": (349823, 349823, 349823, 349823),
    "3d-unet-99": (43, 43, 43, 43),
    "3d-unet-99.9": (43, 43, 43, 43),
    "stable-diffusion-xl": (5000, 5000, 5000, 5000),
    "rgat": (788379, 788379, 788379, 788379),
    "pointpainting": (39987, 1024, 6636, 39987),
    "wan-2.2-t2v-a14b": (248, 50, 50, 248),
    "yolo-95": (1525, 64, 1525, 1525),
    "yolo-99": (1525, 64, 1525, 1525),
}
ABSENT = {"qwen3.6-27b": (995, 995, None, 995), "pointpainting": (39987, 1024, None, 39987)}
"""Benchmarks without an Offline scenario."""

# metric: (least, greatest); None: no such limit
TARGETS = {
    "llama2-70b-99": {
        "ROUGE1": (43.986888, None),
        "ROUGE2": (21.814848, None),
        "ROUGEL": (28.330038, None),
        "TOKENS_PER_SAMPLE": (265.005, 323.895),
    },
    "llama2-70b-99.9": {
        "ROUGE1": (44.3867688, None),
        "ROUGE2": (22.0131648, None),
        "ROUGEL": (28.5875838, None),
        "TOKENS_PER_SAMPLE": (265.005, 323.895),
    },
    "mixtral-8x7b": {
        "ROUGE1": (45.142911, None),
        "ROUGE2": (23.119074, None),
        "ROUGEL": (30.156192, None),
        "TOKENS_PER_SAMPLE": (130.356, 160.49),
        "gsm8k_accuracy": (72.9234, None),
        "mbxp_accuracy": (59.5584, None),
    },
    "llama3.1-405b": {
        "ROUGEL": (21.449934, None),
        "exact_match": (89.232165, None),
        "TOKENS_PER_SAMPLE": (616.212, 753.148),
    },
    "llama3.1-8b": {
        "ROUGE1": (38.391408, None),
        "ROUGE2": (15.748425, None),
        "ROUGEL": (24.250743, None),
        "ROUGELSUM": (35.43507, None),
        "GEN_LEN": (7350879.6, 8984408.4),
    },
    "llama3.1-8b-edge": {
        "ROUGE1": (38.6694, None),
        "ROUGE2": (15.953553, None),
        "ROUGEL": (24.391125, None),
        "ROUGELSUM": (35.76276, None),
        "GEN_LEN": (2746001.7, 3356224.3),
    },
    "deepseek-r1": {"exact_match": (80.544618, None), "TOKENS_PER_SAMPLE": (3497.60466, 4274.85014)},
    "gpt-oss-120b": {"exact_match": (82.2987, None), "TOKENS_PER_SAMPLE": (None, 10998.9)},
    "gptj-99": {
        "ROUGE1": (42.556635, None),
        "ROUGE2": (19.922265, None),
        "ROUGEL": (29.688219, None),
        "GEN_LEN": (3615190.2, None),
    },
}
OTHERS = {
    "gptj-99.9": [42.9435135, 20.1033765, 29.9581119, 3615190.2],
    "qwen3-vl-235b-a22b": [0.782397],
    "qwen3.6-27b": [85.3677],
    "e2e-rag-qna": [33.95],
    "e2e-rag-db": [98],
    "whisper": [96.953571],
    "resnet": [75.6954],
    "retinanet": [37.1745],
    "bert-99": [89.96526],
    "bert-99.9": [90.783126],
    "dlrm-v2-99": [79.5069],
    "dlrm-v2-99.9": [80.22969],
    "dlrm-v3": [0.86600313, 0.69581349, 0.78584337],
    "3d-unet-99": [0.853083],
    "3d-unet-99.9": [0.8608383],
    "stable-diffusion-xl": [31.68631873, 23.01085758],
    "rgat": [0.721314],
    "pointpainting": [0.5419575],
    "wan-2.2-t2v-a14b": [69.7752],
    "yolo-95": [50.73],
    "yolo-99": [52.866],
}
"""The least values of benchmarks whose metrics are not spelled out above, in the order of the rule files."""

TARGETS["llama2-70b-interactive-99"] = TARGETS["llama2-70b-99"]
TARGETS["llama2-70b-interactive-99.9"] = TARGETS["llama2-70b-99.9"]

# TTFT and TPOT in ms, 99th percentile
LIMITS = {
    "llama2-70b-99": {SERVER: (2000, 200), INTERACTIVE: (450, 40)},
    "llama2-70b-99.9": {SERVER: (2000, 200), INTERACTIVE: (450, 40)},
    "llama2-70b-interactive-99": {SERVER: (450, 40)},
    "llama2-70b-interactive-99.9": {SERVER: (450, 40)},
    "mixtral-8x7b": {SERVER: (2000, 200)},
    "llama3.1-405b": {SERVER: (6000, 175), INTERACTIVE: (4500, 80)},
    "llama3.1-8b": {SERVER: (2000, 100), INTERACTIVE: (500, 30)},
    "deepseek-r1": {SERVER: (2000, 80), INTERACTIVE: (1500, 15)},
    "gpt-oss-120b": {SERVER: (3000, 80), INTERACTIVE: (2000, 15)},
}
# End to end, 99th percentile, Server, in ms
LATENCIES = {
    **dict.fromkeys(LIMITS, 60_000),
    **dict.fromkeys(("llama2-70b-99", "llama2-70b-99.9", "mixtral-8x7b", "llama3.1-8b"), 20_000),
    **dict.fromkeys(("llama2-70b-interactive-99", "llama2-70b-interactive-99.9"), 20_000),
    **dict.fromkeys(("gptj-99", "gptj-99.9", "stable-diffusion-xl"), 20_000),
    "qwen3-vl-235b-a22b": 12_000,
    "resnet": 15,
    "retinanet": 100,
    "dlrm-v2-99": 60,
    "dlrm-v2-99.9": 60,
    "dlrm-v3": 60_000,
}
AUDITS = {
    "TEST06": [*(name for name in LIMITS if name != "gpt-oss-120b"), "gptj-99", "gptj-99.9"],
    "TEST07": ["gpt-oss-120b"],
    "TEST09": ["gpt-oss-120b", "e2e-rag-qna"],
    "TEST08": ["dlrm-v3"],
    "TEST01": [
        *("whisper", "resnet", "retinanet", "bert-99", "bert-99.9", "dlrm-v2-99", "dlrm-v2-99.9", "3d-unet-99"),
        *("3d-unet-99.9", "stable-diffusion-xl", "rgat", "pointpainting", "yolo-95", "yolo-99"),
    ],
    "TEST04": ["resnet", "stable-diffusion-xl", "pointpainting", "wan-2.2-t2v-a14b"],
}
# Datacenter: "SO" both, "O?" Offline and one of Server and Interactive.
DATACENTER = {
    "llama2-70b-99": ("SO", "O?", "O?", None),
    "llama2-70b-99.9": ("SO", "O?", "O?", "O?"),
    "llama2-70b-interactive-99": ("SO", None, None, None),
    "llama2-70b-interactive-99.9": ("SO", None, None, None),
    "mixtral-8x7b": ("SO", "SO", "SO", None),
    "llama3.1-405b": ("SO", "O?", "O?", None),
    "llama3.1-8b": (None, "O?", "O?", "O?"),
    "llama3.1-8b-edge": (None, "", "", ""),
    "deepseek-r1": (None, "SO", "O?", "O?"),
    "gpt-oss-120b": (None, None, "O?", "O?"),
    "qwen3-vl-235b-a22b": (None, None, "SO", "O?"),
    "qwen3.6-27b": (None, None, None, ""),
    "e2e-rag-qna": (None, None, None, "O"),
    "whisper": (None, "O", "O", "O"),
    "gptj-99": ("SO", None, None, None),
    "gptj-99.9": ("SO", None, None, None),
}
EDGE = {
    "llama3.1-8b-edge": {SINGLE, OFFLINE},
    "gptj-99": {SINGLE, OFFLINE},
    "gptj-99.9": {SINGLE, OFFLINE},
    "qwen3.6-27b": {SINGLE},
    "whisper": {OFFLINE},
    "resnet": {SINGLE, MULTI, OFFLINE},
    "bert-99": {SINGLE, OFFLINE},
    "bert-99.9": {SINGLE, OFFLINE},
    "3d-unet-99": {SINGLE, OFFLINE},
    "3d-unet-99.9": {SINGLE, OFFLINE},
    "stable-diffusion-xl": {SINGLE, OFFLINE},
    "pointpainting": {SINGLE},
    "yolo-95": {SINGLE, MULTI, OFFLINE},
    "yolo-99": {SINGLE, MULTI, OFFLINE},
}
EVERY = [
    pytest.param(round_name, rules, id=f"{round_name}-{name}")
    for round_name in ROUNDS
    for name, rules in load_round(round_name).benchmarks.items()
]


def expected_audits(round_name: str, name: str) -> set[str]:
    if (round_name, name) == ("v5.0", "llama3.1-405b"):
        return set()
    return {audit for audit, names in AUDITS.items() if name in names}


@pytest.mark.parametrize("round_name", ROUNDS)
def test_seeds_and_constants(round_name: str) -> None:
    round_ = load_round(round_name)
    assert (round_.seeds.qsl, round_.seeds.sample_index, round_.seeds.schedule) == SEEDS[round_name]
    assert (round_.min_duration_ms, round_.accuracy_log_limit_bytes, round_.large_file_limit_bytes) == (
        600_000,
        10_240,
        50 * 1024 * 1024,
    )
    assert round_.availability == ("available", "preview", "rdi")
    assert round_.unshipped == ()


@pytest.mark.parametrize(("round_name", "rules"), EVERY)
def test_sizes(round_name: str, rules: BenchmarkRules) -> None:
    offline = rules.scenarios.get(OFFLINE)
    expected = ABSENT[rules.name] if offline is None else SIZES[rules.name]
    assert expected == (
        rules.dataset_size,
        rules.performance_sample_count,
        offline and offline.min_samples_per_query,
        rules.accuracy_sample_count,
    )
    own = {
        scenario: one.accuracy_sample_count for scenario, one in rules.scenarios.items() if one.accuracy_sample_count
    }
    assert own == ({INTERACTIVE: 8000} if (round_name, rules.name) == ("v6.1", "qwen3-vl-235b-a22b") else {})


@pytest.mark.parametrize(("round_name", "rules"), EVERY)
def test_targets(round_name: str, rules: BenchmarkRules) -> None:
    wanted = TARGETS.get(rules.name)
    if wanted is None:
        assert [one.minimum for one in rules.accuracy] == pytest.approx(OTHERS[rules.name], rel=1e-9)
        greatest = [one.maximum for one in rules.accuracy if one.maximum is not None]
        upper = [31.81331801, 23.95007626] if rules.name == "stable-diffusion-xl" else []
        assert greatest == pytest.approx(upper, rel=1e-9)
        return
    assert [one.metric for one in rules.accuracy] == list(wanted)
    for target in rules.accuracy:
        least, greatest = wanted[target.metric]
        assert target.minimum == (None if least is None else pytest.approx(least, rel=1e-12))
        assert target.maximum == (None if greatest is None else pytest.approx(greatest, rel=1e-12))


@pytest.mark.parametrize(("round_name", "rules"), EVERY)
def test_latency_limits(round_name: str, rules: BenchmarkRules) -> None:
    wanted = LIMITS.get(rules.name, {})
    for scenario, limits in rules.scenarios.items():
        assert (limits.max_ttft_p99_ms, limits.max_tpot_p99_ms) == wanted.get(scenario, (None, None))
        assert limits.min_duration_ms == 600_000 or rules.name.startswith("e2e-rag")
    server = rules.scenarios.get(SERVER)
    if server is not None:
        assert server.max_latency_p99_ms == LATENCIES[rules.name]
    interactive = rules.scenarios.get(INTERACTIVE)
    own = interactive.max_latency_p99_ms if interactive else None
    assert own == (1500 if rules.name == "qwen3-vl-235b-a22b" and round_name == "v6.1" else None)
    assert rules.token_latencies == (rules.name in {*LIMITS, "llama3.1-8b-edge"})


@pytest.mark.parametrize(("round_name", "rules"), EVERY)
def test_query_minima(round_name: str, rules: BenchmarkRules) -> None:
    usual = {OFFLINE: 1, SERVER: 270336, MULTI: 270336, SINGLE: 1024}
    usual |= {SINGLE: {"wan-2.2-t2v-a14b": 50, "qwen3.6-27b": 995}.get(rules.name, 1024)}
    for scenario, limits in rules.scenarios.items():
        if scenario is not INTERACTIVE:
            assert limits.checker_min_query_count == usual[scenario]


@pytest.mark.parametrize(("round_name", "rules"), EVERY)
def test_audits(round_name: str, rules: BenchmarkRules) -> None:
    assert {audit.value for audit in rules.audits} == expected_audits(round_name, rules.name)
    assert set(rules.audits) <= set(AuditId)


@pytest.mark.parametrize("name", DATACENTER)
def test_datacenter_scenarios(name: str) -> None:
    for round_name, wanted in zip(ROUNDS, DATACENTER[name], strict=True):
        rules = load_round(round_name).benchmarks.get(name)
        if wanted is None:
            assert rules is None
            continue
        assert rules is not None
        suite = rules.suites.get(Suite.DATACENTER)
        if not wanted:
            assert suite is None
            continue
        assert suite is not None
        letters = {"S": SERVER, "O": OFFLINE}
        assert set(suite.required) == {letters[one] for one in wanted if one in letters}
        assert [set(group) for group in suite.one_of] == ([{SERVER, INTERACTIVE}] if "?" in wanted else [])


@pytest.mark.parametrize(("round_name", "rules"), EVERY)
def test_edge_scenarios(round_name: str, rules: BenchmarkRules) -> None:
    suite = rules.suites.get(Suite.EDGE)
    wanted = EDGE.get(rules.name, set())
    if rules.name == "retinanet" and round_name != "v6.0":
        wanted = {SINGLE, MULTI, OFFLINE}
    assert (set(suite.required) if suite else set()) == wanted
    if suite:
        assert (suite.one_of, suite.optional) == ((), ())


@pytest.mark.parametrize(("round_name", "rules"), EVERY)
def test_a_system_of_both_classes(round_name: str, rules: BenchmarkRules) -> None:
    both, datacenter = rules.suites.get(Suite.BOTH), rules.suites.get(Suite.DATACENTER)
    if rules.name.startswith(("e2e-rag", "wan-")):
        assert both is None
    elif rules.name in LIMITS and both is not None and datacenter is not None:
        extra = {SINGLE} if (round_name, rules.name) == ("v5.1", "deepseek-r1") else set()
        assert set(both.required) == {*datacenter.required, *extra}
        assert both.one_of == datacenter.one_of
    elif rules.name == "qwen3-vl-235b-a22b":
        assert both is not None
        assert (set(both.required), [set(group) for group in both.one_of]) == ({OFFLINE}, [{SERVER, INTERACTIVE}])


@pytest.mark.parametrize("round_name", ROUNDS)
def test_layout(round_name: str) -> None:
    layout = load_round(round_name).layout
    submitter, rest = "{division}/{submitter}", "{system}/{benchmark}/{scenario}"
    results = f"{submitter}/results/{rest}"
    old = round_name.startswith("v5")
    assert layout.system == f"{submitter}/systems/{{system}}.json"
    assert layout.source_dir == f"{submitter}/{'code' if old else 'src'}"
    assert layout.documentation_dir == f"{submitter}/documentation"
    assert layout.model_mapping == f"{submitter}/model_mapping.json"
    assert layout.scenario_dir == results
    assert layout.performance_dir == f"{results}/performance/run_1"
    assert layout.accuracy_dir == f"{results}/accuracy"
    beside = f"{submitter}/measurements/{rest}" if old else results
    assert layout.measurements == f"{beside}/{'{file}' if old else 'measurements.json'}"
    assert layout.user_conf == f"{beside}/user.conf"
    assert layout.readme == f"{beside}/README.md"
    assert layout.audit_dir == f"{f'{submitter}/compliance/{rest}' if old else results}/{{audit}}"
    assert set(layout.required_performance_files) == {"mlperf_log_detail.txt", "mlperf_log_summary.txt"}
    assert set(layout.required_accuracy_files) == {
        *layout.required_performance_files,
        "accuracy.txt",
        "mlperf_log_accuracy.json",
    }


@pytest.mark.parametrize("round_name", ROUNDS)
def test_fields(round_name: str) -> None:
    round_ = load_round(round_name)
    fields = round_.system_fields
    assert (len(fields.required), len(fields.meaningful), len(fields.network)) == (35, 26, 13)
    assert set(fields.required) - set(fields.meaningful) == {
        *("system_type_detail", "host_processor_frequency", "host_processor_caches", "host_processor_interconnect"),
        *("accelerator_frequency", "accelerator_interconnect_topology", "accelerator_on-chip_memories"),
        *("hw_notes", "sw_notes"),
    }
    assert ("system_power_capacity" in fields.known) == (round_name == "v6.1")
    assert set(round_.measurements_fields) == {
        *("input_data_types", "retraining", "starting_weights_filename"),
        *("weight_data_types", "weight_transformations"),
    }


@pytest.mark.parametrize(("round_name", "rules"), EVERY)
def test_metrics_and_units(round_name: str, rules: BenchmarkRules) -> None:
    generates = rules.name in {*LIMITS, "llama3.1-8b-edge"}
    for scenario, limits in rules.scenarios.items():
        key, unit = limits.metric_key, limits.unit
        if scenario in (SINGLE, MULTI):
            keys = {SINGLE: "early_stopping_latency_ss", MULTI: "early_stopping_latency_ms"}
            own = "result_90.00_percentile_latency_ns" if rules.name == "llama3.1-8b-edge" else keys[scenario]
            seconds = rules.name.startswith("wan")
            assert (key, unit) == (own, "Latency (s)" if seconds else "Latency (ms)")
            assert limits.metric_divisor == (1e9 if seconds else 1e6)
        elif generates:
            offline = scenario is OFFLINE
            assert key == ("result_tokens_per_second" if offline else "result_completed_tokens_per_second")
            assert unit == ("Tokens/s" if "interactive" not in rules.name else "Samples/s" if offline else "Queries/s")
