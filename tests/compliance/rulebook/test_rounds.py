"""The shipped rounds against figures written out here, and against the reference tables where a checkout has them."""

import re
import shutil
from pathlib import Path

import pytest

from compliance.errors import RuleError
from compliance.rulebook.model import BenchmarkRules
from compliance.rulebook.rounds import RULES_DIR, benchmark_of, load_round, read_round, require_benchmark, round_names
from compliance.vocabulary import AuditId, Scenario, Suite

OFFLINE, SERVER, INTERACTIVE, SINGLE = Scenario.OFFLINE, Scenario.SERVER, Scenario.INTERACTIVE, Scenario.SINGLE_STREAM
REFERENCE = Path(__file__).parents[3].parent / "shared" / "reference" / "rules.md"
NAMES = ("deepseek-r1", "gpt-oss-120b", "llama2-70b-99.9", "llama3.1-8b", "llama3.1-8b-edge")


def rules_of(name: str) -> BenchmarkRules:
    return load_round("v6.1").benchmarks[name]


def test_rounds_and_benchmarks() -> None:
    assert {"v6.1", "demo"} <= set(round_names())
    assert {name: len(load_round(name).benchmarks) for name in round_names()} == {
        "v5.0": 19,
        "v5.1": 19,
        "v6.0": 23,
        "v6.1": 21,
        "demo": 1,
    }
    assert tuple(rules.name for rules in load_round("v6.1").benchmarks.values() if rules.generates_text) == NAMES
    assert tuple(load_round("demo").benchmarks) == ("smollm2-135m",)
    assert [load_round(name).official for name in ("v6.1", "demo")] == [True, False]
    assert load_round("v6.1") is load_round("v6.1")


@pytest.mark.parametrize("name", ["v6.1", "demo"])
def test_seeds_are_exact_integers(name: str) -> None:
    seeds = load_round(name).seeds
    assert (seeds.qsl, seeds.sample_index, seeds.schedule) == (
        2085463073848966840,
        2747215439041700203,
        16159082839903944936,
    )
    assert {type(seeds.qsl), type(seeds.sample_index), type(seeds.schedule)} == {int}


def test_constants_of_v6_1() -> None:
    round_ = load_round("v6.1")
    assert round_.min_duration_ms == 600_000
    assert round_.accuracy_log_limit_bytes == 10_240
    assert round_.large_file_limit_bytes == 50 * 1024 * 1024
    assert round_.loadgen_versions == ("6.0.17",)
    assert round_.availability == ("available", "preview", "rdi")
    assert len(round_.system_fields.required) == 35
    assert len(round_.system_fields.meaningful) == 26
    assert round_.system_fields.network[0] == "is_network"
    assert {"system_power_capacity", "power_management", "is_network"} <= set(round_.system_fields.known)
    assert "retraining" in round_.measurements_fields
    assert load_round("demo").min_duration_ms == 10_000


@pytest.mark.parametrize(
    ("name", "size", "performance", "accuracy", "samples_per_query"),
    [
        ("llama2-70b-99.9", 24576, 24576, 24576, 24576),
        ("llama3.1-8b", 13368, 13368, 13368, 13368),
        ("llama3.1-8b-edge", 5000, 5000, 5000, 5000),
        ("deepseek-r1", 4388, 4388, 4388, 4388),
        ("gpt-oss-120b", 6396, 6396, 4395, 6396),
    ],
)
def test_sample_counts(name: str, size: int, performance: int, accuracy: int, samples_per_query: int) -> None:
    rules = rules_of(name)
    assert (rules.dataset_size, rules.performance_sample_count, rules.accuracy_sample_count) == (
        size,
        performance,
        accuracy,
    )
    offline = rules.scenarios[OFFLINE]
    assert (offline.min_samples_per_query, offline.min_query_count, offline.checker_min_query_count) == (
        samples_per_query,
        size,
        1,
    )
    assert rules.token_latencies
    assert rules.equal_issue
    assert {limits.min_duration_ms for limits in rules.scenarios.values()} == {600_000}


@pytest.mark.parametrize(
    ("name", "metric", "minimum", "maximum"),
    [
        ("llama2-70b-99.9", "ROUGE1", 44.3867688, None),
        ("llama2-70b-99.9", "ROUGE2", 22.0131648, None),
        ("llama2-70b-99.9", "ROUGEL", 28.5875838, None),
        ("llama2-70b-99.9", "TOKENS_PER_SAMPLE", 265.005, 323.895),
        ("llama3.1-8b", "ROUGE1", 38.391408, None),
        ("llama3.1-8b", "ROUGE2", 15.748425, None),
        ("llama3.1-8b", "ROUGEL", 24.250743, None),
        ("llama3.1-8b", "ROUGELSUM", 35.43507, None),
        ("llama3.1-8b", "GEN_LEN", 7350879.6, 8984408.4),
        ("llama3.1-8b-edge", "ROUGE1", 38.6694, None),
        ("llama3.1-8b-edge", "ROUGE2", 15.953553, None),
        ("llama3.1-8b-edge", "ROUGEL", 24.391125, None),
        ("llama3.1-8b-edge", "ROUGELSUM", 35.76276, None),
        ("llama3.1-8b-edge", "GEN_LEN", 2746001.7, 3356224.3),
        ("deepseek-r1", "exact_match", 80.544618, None),
        ("deepseek-r1", "TOKENS_PER_SAMPLE", 3497.60466, 4274.85014),
        ("gpt-oss-120b", "exact_match", 82.2987, None),
        ("gpt-oss-120b", "TOKENS_PER_SAMPLE", None, 10998.9),
    ],
)
def test_accuracy_targets(name: str, metric: str, minimum: float | None, maximum: float | None) -> None:
    target = {target.metric: target for target in rules_of(name).accuracy}[metric]
    assert target.minimum == (minimum if minimum is None else pytest.approx(minimum, rel=1e-9))
    assert target.maximum == (maximum if maximum is None else pytest.approx(maximum, rel=1e-9))


@pytest.mark.parametrize(
    ("name", "server", "interactive", "end_to_end"),
    [
        ("llama2-70b-99.9", (2000, 200), (450, 40), 20_000),
        ("llama3.1-8b", (2000, 100), (500, 30), 20_000),
        ("deepseek-r1", (2000, 80), (1500, 15), 60_000),
        ("gpt-oss-120b", (3000, 80), (2000, 15), 60_000),
    ],
)
def test_latency_limits(name: str, server: tuple[int, int], interactive: tuple[int, int], end_to_end: int) -> None:
    scenarios = rules_of(name).scenarios
    limits = {
        scenario: (rules.max_ttft_p99_ms, rules.max_tpot_p99_ms, rules.max_latency_p99_ms)
        for scenario, rules in scenarios.items()
    }
    assert limits == {
        OFFLINE: (None, None, None),
        SERVER: (*server, end_to_end),
        INTERACTIVE: (*interactive, None),
    }


@pytest.mark.parametrize(
    ("name", "model", "interactive_model"),
    [
        ("llama2-70b-99.9", "llama2-70b", "llama2-70b-interactive"),
        ("llama3.1-8b", "llama3_1-8b", "llama3_1-8b-interactive"),
        ("llama3.1-8b-edge", "llama3_1-8b-edge", None),
        ("deepseek-r1", "deepseek-r1", "deepseek-r1-interactive"),
        ("gpt-oss-120b", "gpt-oss-120b", "gpt-oss-120b-interactive"),
    ],
)
def test_loadgen_models(name: str, model: str, interactive_model: str | None) -> None:
    models = {scenario: rules.loadgen_model for scenario, rules in rules_of(name).scenarios.items()}
    assert models.pop(INTERACTIVE, None) == interactive_model
    assert set(models.values()) == {model}


@pytest.mark.parametrize("name", NAMES)
def test_metrics_and_units(name: str) -> None:
    scenarios = rules_of(name).scenarios
    assert (scenarios[OFFLINE].metric_key, scenarios[OFFLINE].unit) == ("result_tokens_per_second", "Tokens/s")
    for scenario in {SERVER, INTERACTIVE} & set(scenarios):
        assert (scenarios[scenario].metric_key, scenarios[scenario].unit) == (
            "result_completed_tokens_per_second",
            "Tokens/s",
        )
    if SINGLE in scenarios:
        single = scenarios[SINGLE]
        assert (single.metric_key, single.unit, single.metric_divisor) == (
            "result_90.00_percentile_latency_ns",
            "Latency (ms)",
            1e6,
        )


@pytest.mark.parametrize("name", NAMES)
def test_suites(name: str) -> None:
    suites = rules_of(name).suites
    if name == "llama3.1-8b-edge":
        assert set(suites) == {Suite.EDGE, Suite.BOTH}
        assert (suites[Suite.EDGE].required, suites[Suite.EDGE].one_of) == ((SINGLE, OFFLINE), ())
    else:
        assert set(suites) == {Suite.DATACENTER, Suite.BOTH}
        suite = suites[Suite.DATACENTER]
        assert (suite.required, suite.one_of, suite.optional) == ((OFFLINE,), ((SERVER, INTERACTIVE),), ())
        assert suite.known == (OFFLINE, SERVER, INTERACTIVE)


@pytest.mark.parametrize(
    ("name", "audits"),
    [
        ("llama2-70b-99.9", (AuditId.TEST06,)),
        ("llama3.1-8b", (AuditId.TEST06,)),
        ("llama3.1-8b-edge", ()),
        ("deepseek-r1", (AuditId.TEST06,)),
        ("gpt-oss-120b", (AuditId.TEST07, AuditId.TEST09)),
    ],
)
def test_audits(name: str, audits: tuple[AuditId, ...]) -> None:
    assert rules_of(name).audits == audits


@pytest.mark.parametrize(
    ("name", "tokens", "greedy", "eos"),
    [
        ("llama2-70b-99.9", (1, 1024), True, {2}),
        ("llama3.1-8b", (1, 128), True, {128001, 128008, 128009}),
        ("llama3.1-8b-edge", (1, 128), True, {128001, 128008, 128009}),
        ("deepseek-r1", (1, 20000), True, {1}),
        ("gpt-oss-120b", (1, 32768), False, {200002, 199999, 200012}),
    ],
)
def test_generation(name: str, tokens: tuple[int, int], greedy: bool, eos: set[int]) -> None:
    generation = rules_of(name).generation
    assert (generation.min_new_tokens, generation.max_new_tokens) == tokens
    assert (generation.temperature, generation.top_k) == ((0.0, 1) if greedy else (1.0, -1))
    assert generation.top_p == 1.0
    assert set(generation.eos_token_ids) == eos
    assert generation.performance_max_new_tokens == (10240 if name == "gpt-oss-120b" else None)


def test_demo_benchmark() -> None:
    rules = load_round("demo").benchmarks["smollm2-135m"]
    assert rules.dataset_size == rules.performance_sample_count == rules.accuracy_sample_count == 200
    assert set(rules.scenarios) == {OFFLINE, SERVER, INTERACTIVE, SINGLE}
    assert {limits.min_duration_ms for limits in rules.scenarios.values()} == {10_000}
    assert rules.scenarios[SERVER].loadgen_model == "llama2-70b"
    assert rules.scenarios[INTERACTIVE].loadgen_model == "llama2-70b-interactive"
    assert [target.metric for target in rules.accuracy] == ["ROUGE1", "ROUGE2", "ROUGEL", "TOKENS_PER_SAMPLE"]
    assert rules.audits == (AuditId.TEST06,)
    assert (rules.generation.min_new_tokens, rules.generation.max_new_tokens) == (2, 20)
    assert rules.generation.eos_token_ids == (2, 0)
    assert {f"accuracy.provenance.{key}" for key in ("cpu_class", "dtype", "engine", "how")} <= set(rules.sources)


@pytest.mark.parametrize("name", ["v5.0", "v5.1", "v6.0", "v6.1", "demo"])
def test_every_block_has_a_source(name: str) -> None:
    round_ = load_round(name)
    assert {"seeds", "run", "limits", "availability", "system_fields", "measurements_fields"} <= set(round_.sources)
    assert {"layout.submitter", "layout.result", "layout.files", "layout.audit_files"} <= set(round_.sources)
    for rules in round_.benchmarks.values():
        blocks = {"benchmark", "dataset", "accuracy", "audits"} | ({"generation"} if rules.generates_text else set())
        blocks |= {"accuracy_files"} if rules.accuracy_files else set()
        blocks |= {f"suites.{suite}" for suite in rules.suites} | {
            f"scenarios.{scenario}" for scenario in rules.scenarios
        }
        assert blocks <= set(rules.sources)
        assert all(limits.source for limits in rules.scenarios.values())
    if round_.official:
        sources = [
            *round_.sources.values(),
            *(s for rules in round_.benchmarks.values() for s in rules.sources.values()),
        ]
        assert [source for source in sources if not source.startswith("mlcommons/inference")] == []


def test_layout_fills_in() -> None:
    layout = load_round("v6.1").layout
    where = {
        "division": "closed",
        "submitter": "X",
        "system": "S",
        "benchmark": "B",
        "scenario": "Offline",
        "audit": "TEST06",
    }
    assert layout.system.format(**where) == "closed/X/systems/S.json"
    assert layout.performance_dir.format(**where) == "closed/X/results/S/B/Offline/performance/run_1"
    assert layout.audit_dir.format(**where) == "closed/X/results/S/B/Offline/TEST06"
    assert layout.audit_files[AuditId.TEST06] == ("verify_accuracy.txt", "accuracy/mlperf_log_accuracy.json")


def test_names_and_aliases() -> None:
    round_ = load_round("v6.1")
    assert require_benchmark(round_, "llama3_1-8b").name == "llama3.1-8b"
    assert require_benchmark(round_, "llama3_1-8b-edge").name == "llama3.1-8b-edge"
    assert benchmark_of(round_, "deepseek-r1") is round_.benchmarks["deepseek-r1"]
    assert benchmark_of(round_, "nothing-like-it") is None
    with pytest.raises(RuleError, match=r"did you mean llama2-70b-99.9\? Known: 3d-unet-99"):
        require_benchmark(round_, "llama2-70b-99")
    with pytest.raises(RuleError, match=r"no rules for round 'v6.2'; did you mean v6.1\?"):
        load_round("v6.2")
    with pytest.raises(RuleError, match="known: v"):
        load_round("summer")


@pytest.fixture
def own_round(tmp_path: Path) -> Path:
    return Path(shutil.copytree(RULES_DIR / "demo", tmp_path / "demo"))


@pytest.mark.parametrize(
    ("file", "old", "new", "key"),
    [
        ("round.toml", "official = false", "official = maybe", "Invalid value"),
        (
            "round.toml",
            "qsl = 2085463073848966840",
            "qsl = 2.085463073848966840e18",
            "seeds.qsl: .*not of type 'integer'",
        ),
        ("round.toml", "qsl = 2085463073848966840", "qsl = 18446744073709551616", "seeds.qsl: .*greater than"),
        ("round.toml", 'name = "demo"', 'name = "v9"', "name: 'v9' does not match the folder 'demo'"),
        ("round.toml", "min_duration_ms = 10000", "min_duration = 10000", "min_duration"),
        ("round.toml", '"sw_notes",\n', "", "system_fields.meaningful|required"),
        ("layout.toml", "{system}.json", "{machine}.json", r"system: unknown placeholder \{machine\}; known are"),
        ("layout.toml", "{system}.json", "{system.json", "system: "),
        ("layout.toml", '"{division}/{submitter}/src"', '"{division}/../src"', "source_dir: .*leaves the tree"),
        ("layout.toml", '"results.json"', '"../results.json"', "files.optional: '../results.json' leaves its folder"),
        ("benchmarks/smollm2-135m.toml", 'name = "smollm2-135m"', 'name = "smol"', "benchmark.name"),
        (
            "benchmarks/smollm2-135m.toml",
            "performance_samples = 200",
            "performance_samples = 201",
            "dataset.performance_samples",
        ),
        (
            "benchmarks/smollm2-135m.toml",
            "accuracy_samples = 200",
            "accuracy_samples = 201",
            "dataset.accuracy_samples",
        ),
        (
            "benchmarks/smollm2-135m.toml",
            '["SingleStream", "Offline"]',
            '["MultiStream"]',
            "suites.edge: MultiStream has no",
        ),
        ("benchmarks/smollm2-135m.toml", "max_ttft_p99_ms = 2000\n", "", "scenarios.Interactive: token_latencies asks"),
        (
            "benchmarks/smollm2-135m.toml",
            "min_factor = 0.90, max_factor = 1.10",
            "min_factor = 2.0, max_factor = 1.1",
            "accuracy.targets.TOKENS_PER_SAMPLE: minimum",
        ),
        ("benchmarks/smollm2-135m.toml", ", min_factor = 0.90 }", " }", "accuracy.targets.ROUGE1"),
        ("benchmarks/smollm2-135m.toml", "min_new_tokens = 2", "min_new_tokens = 49", "generation.min_new_tokens"),
        ("benchmarks/smollm2-135m.toml", 'required = ["TEST06"]', 'required = ["TEST99"]', "audits.required.0"),
        (
            "benchmarks/smollm2-135m.toml",
            "aliases = []",
            'aliases = ["smollm2-135m"]',
            "benchmark.aliases: smollm2-135m is taken",
        ),
        ("benchmarks/smollm2-135m.toml", "[generation]", "[generating]", "generating"),
    ],
)
def test_a_wrong_rule_file_is_named_with_its_key(own_round: Path, file: str, old: str, new: str, key: str) -> None:
    path = own_round / file
    text = path.read_text("utf-8")
    assert old in text
    path.write_text(text.replace(old, new, 1), "utf-8")
    if file == "round.toml" and not new:
        path.write_text(
            path.read_text("utf-8").replace(
                '"submitter",\n    "system_type"', '"sw_notes",\n    "submitter",\n    "system_type"'
            ),
            "utf-8",
        )
    with pytest.raises(RuleError, match=key) as caught:
        read_round(own_round)
    assert path.name in str(caught.value)


@pytest.mark.parametrize("name", round_names())
def test_every_shipped_round_is_of_its_schemas_form(name: str) -> None:
    assert read_round(RULES_DIR / name) == load_round(name)


def test_missing_parts_are_named(own_round: Path) -> None:
    shutil.rmtree(own_round / "benchmarks")
    with pytest.raises(RuleError, match="holds no benchmark file"):
        read_round(own_round)
    (own_round / "layout.toml").unlink()
    with pytest.raises(RuleError, match=r"layout.toml: missing; a round needs"):
        read_round(own_round)


def test_an_audit_needs_its_files(own_round: Path) -> None:
    layout = own_round / "layout.toml"
    layout.write_text(
        layout.read_text("utf-8").replace(
            'TEST06 = ["verify_accuracy.txt", "accuracy/mlperf_log_accuracy.json"]\n', ""
        ),
        "utf-8",
    )
    with pytest.raises(RuleError, match=r"audits\.required: TEST06 has no files"):
        read_round(own_round)


def test_all_problems_come_at_once(own_round: Path) -> None:
    path = own_round / "benchmarks" / "smollm2-135m.toml"
    text = path.read_text("utf-8")
    path.write_text(text.replace("size = 200", "size = 100").replace("max_tpot_p99_ms = 200\n", ""), "utf-8")
    with pytest.raises(RuleError, match="3 wrong entries"):
        read_round(own_round)


# The tables of the reference pages, where a checkout has them beside it.


def table_of(section: str) -> list[list[str]]:
    if not REFERENCE.is_file():
        pytest.skip(f"no reference tables at {REFERENCE.name}: the figures written out above are what is tested")
    text = REFERENCE.read_text("utf-8").split(f"\n### {section} ", 1)[1].split("\n### ", 1)[0]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in text.splitlines() if line.startswith("|")]


def row_of(section: str, *starts: str) -> list[str]:
    return next(row for row in table_of(section) if row[0].startswith(starts))


def test_seeds_match_the_reference() -> None:
    seeds = load_round("v6.1").seeds
    assert [int(cell) for cell in row_of("1.2", "v6.1")[1:]] == [seeds.qsl, seeds.sample_index, seeds.schedule]


@pytest.mark.parametrize("name", [name for name in NAMES if name != "llama2-70b-99.9"])
def test_minima_match_the_reference(name: str) -> None:
    row = next(row for row in table_of("1.4") if row[0] == name)
    targets = {target.metric: target for target in rules_of(name).accuracy}
    found = re.findall(r"(\w+) ([\d.]+)x([\d.]+)=([\d.]+)", row[1])
    assert found
    for metric, reference, factor, minimum in found:
        target = targets[metric]
        assert (target.reference, target.min_factor) == (float(reference), float(factor))
        assert target.minimum == pytest.approx(float(minimum), abs=5e-6)


@pytest.mark.parametrize("name", NAMES)
def test_counts_match_the_reference(name: str) -> None:
    wanted = "llama2-70b-*" if name.startswith("llama2") else name
    row = next(row for row in table_of("1.5") if row[0] == wanted)
    rules = rules_of(name)
    numbers = [int(number) for number in re.findall(r"\d+", row[1])]
    assert (numbers[0], numbers[-1]) == (rules.dataset_size, rules.accuracy_sample_count)
    assert int(row[2]) == rules.performance_sample_count
    assert int(row[3]) == rules.scenarios[OFFLINE].min_samples_per_query


@pytest.mark.parametrize("name", [name for name in NAMES if name != "llama3.1-8b-edge"])
def test_limits_match_the_reference(name: str) -> None:
    row = row_of("1.6", "llama2-70b-99," if name.startswith("llama2") else name)
    scenarios = rules_of(name).scenarios
    for cell, scenario in ((row[1], SERVER), (row[2], INTERACTIVE)):
        ttft, tpot = (float(number) for number in re.findall(r"[\d.]+", cell)[:2])
        assert (scenarios[scenario].max_ttft_p99_ms, scenarios[scenario].max_tpot_p99_ms) == (ttft, tpot)
