"""The roofline bound against sums made by hand, and what a description says of its accelerators."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compliance.rulebook.rounds import load_round, round_names
from systems.catalogue import AcceleratorModel, Cell, accelerator_models
from systems.fleet import Accelerators, peak_tflops, read_fleet
from systems.roofline import roofline
from systems.token_costs import TokenCosts, _costs, token_costs

ROUND_COSTS = TokenCosts(
    name="round",
    benchmarks=("round",),
    total_parameters=100e9,
    active_parameters=50e9,
    prompt_parameters=40e9,
    kv_elements_per_token=1e6,
    kv_elements_per_sequence=5e7,
    input_tokens=110,
    output_tokens=100,
    sources={},
)
"""One output token: 2 x 50e9 + 110/110 x 2 x 40e9 = 180 GFLOP; cache: 5e7 + 1e6 x (110 + 50) = 2.1e8 numbers."""


def device(fp4: float | None = None) -> AcceleratorModel:
    """1000 GB, 10 TB/s, 900 TFLOPS in 16 and 1800 in 8 bits."""
    cells = [Cell(value, "made up") for value in (1000, 10, 900, 1800, fp4, 500)]
    return AcceleratorModel("toy", "Toy", "Acme", ("Toy",), "HBM", "none", *cells)


def test_compute_binds() -> None:
    bound = roofline(ROUND_COSTS, [Accelerators(device(), 2)], 8)
    assert bound.flop_per_token == pytest.approx(180e9)
    assert bound.peak_flop_per_s == pytest.approx(3600e12)
    assert bound.tokens_per_s == bound.compute_tokens_per_s == pytest.approx(20_000)
    assert bound.binds == "compute"
    # 100 GB of weights leave 1900 GB: 1900e9 / 2.1e8 sequences; a step reads 50 GB and the 1900 GB of cache.
    assert bound.sequences == pytest.approx(9047.619)
    assert bound.bandwidth_tokens_per_s == pytest.approx(9047.619 * 20e12 / 1950e9)


def test_memory_bandwidth_binds_where_few_sequences_fit() -> None:
    costs = replace(ROUND_COSTS, total_parameters=979e9)
    bound = roofline(costs, [Accelerators(device(), 1)], 8)
    # 21 GB are free: 100 sequences; a step reads 50 + 21 GB, so 140.845 steps per second.
    assert bound.sequences == pytest.approx(100)
    assert bound.bandwidth_tokens_per_s == pytest.approx(14_084.507)
    assert bound.tokens_per_s == bound.compute_tokens_per_s == pytest.approx(10_000)
    slow = roofline(replace(costs, total_parameters=997.9e9), [Accelerators(device(), 1)], 8)
    assert slow.binds == "memory bandwidth"
    assert slow.tokens_per_s == pytest.approx(10 * 10e12 / 52.1e9)


def test_the_time_per_output_token_caps_a_step_and_drafts_lift_it() -> None:
    devices = [Accelerators(device(), 1)]
    # 7.1 ms read 71 GB: 50 of weights, 21 of cache, so 100 sequences per 7.1 ms.
    server = roofline(ROUND_COSTS, devices, 8, tpot_ms=7.1)
    assert server.bandwidth_tokens_per_s == pytest.approx(100 / 0.0071)
    # Two tokens per step: 14.2 ms read 142 GB, so 92e9 / 2.1e8 sequences, each two tokens per 14.2 ms.
    drafted = roofline(ROUND_COSTS, devices, 8, tpot_ms=7.1, draft_tokens=1)
    assert drafted.bandwidth_tokens_per_s == pytest.approx(2 * (92e9 / 2.1e8) / 0.0142)
    assert roofline(ROUND_COSTS, devices, 8, tpot_ms=5).tokens_per_s == 0


def test_weights_that_do_not_fit_leave_the_compute_bound() -> None:
    bound = roofline(ROUND_COSTS, [Accelerators(device(), 1)], 16)
    assert bound.fits
    bound = roofline(replace(ROUND_COSTS, total_parameters=500e9), [Accelerators(device(), 1)], 16)
    assert (bound.fits, bound.bandwidth_tokens_per_s, bound.binds) == (False, None, "compute")
    assert bound.tokens_per_s == pytest.approx(5000)
    assert "do not fit in 1000 GB" in bound.arithmetic()


def test_unlike_accelerators_add_up() -> None:
    bound = roofline(ROUND_COSTS, [Accelerators(device(), 1), Accelerators(device(fp4=3600), 2)], 4)
    assert bound.peak_flop_per_s == pytest.approx((1800 + 2 * 3600) * 1e12)
    assert "1 x Toy at 1.8 PFLOPS (8 bits) + 2 x Toy at 3.6 PFLOPS (4 bits) = 9 PFLOPS" in bound.arithmetic()


def test_no_accelerators_are_refused() -> None:
    with pytest.raises(ValueError, match="at least one accelerator"):
        roofline(ROUND_COSTS, [], 8)


@pytest.mark.parametrize(
    ("bits", "without", "with_fp4"),
    [
        (4, (1800, 8), (3600, 4)),
        (6, (1800, 8), (3600, 4)),
        (8, (1800, 8), (1800, 8)),
        (16, (900, 16), (900, 16)),
        (32, (900, 16), (900, 16)),
        (None, (1800, 8), (3600, 4)),
    ],
)
def test_the_peak_of_a_format(bits: int | None, without: tuple[float, int], with_fp4: tuple[float, int]) -> None:
    assert peak_tflops(device(), bits) == without
    assert peak_tflops(device(fp4=3600), bits) == with_fp4


@given(
    bits=st.sampled_from([4, 8, 16, None]),
    count=st.integers(1, 1000),
    tpot_ms=st.none() | st.floats(1, 500),
    name=st.sampled_from(sorted(token_costs())),
    model=st.sampled_from(sorted(accelerator_models())),
)
def test_more_accelerators_never_lower_the_bound(
    bits: int | None, count: int, tpot_ms: float | None, name: str, model: str
) -> None:
    costs, chosen = token_costs()[name], accelerator_models()[model]
    few, many = (roofline(costs, [Accelerators(chosen, n)], bits, tpot_ms=tpot_ms) for n in (count, count + 1))
    assert 0 <= few.compute_tokens_per_s <= many.compute_tokens_per_s
    assert few.tokens_per_s <= few.compute_tokens_per_s
    if few.fits:
        assert few.tokens_per_s <= many.tokens_per_s


@pytest.mark.parametrize(
    ("benchmark", "model", "count", "bits", "published", "share"),
    [
        # MangoBoost, v5.1: 8 x 2614.9 TF over 2 x 68.7e9 + 290/323.9 x 2 x 68.5e9 = 260.0 GFLOP: 80,456 tokens/s.
        ("llama2-70b-99", "mi300x", 8, 8, 27_854.4, 0.346),
        # Dell_MangoBoost, v6.0, "fp8" stated: 40 PF over 260.0 GFLOP: 153,849 tokens/s; as fp4 it is a third.
        ("llama2-70b-99.9", "mi355x", 8, 8, 97_535.1, 0.634),
        ("llama2-70b-99.9", "mi355x", 8, 4, 97_535.1, 0.315),
        # NVIDIA: v5.0 H100 and H200, v6.0 B300 and 72 GB300.
        ("llama2-70b-99", "h100", 8, 8, 31_306.8, 0.514),
        ("llama2-70b-99", "h200", 8, 8, 34_988.2, 0.575),
        ("llama2-70b-99.9", "b300", 8, 4, 112_954, 0.245),
        ("llama2-70b-99.9", "gb300", 72, 4, 1_126_850, 0.266),
        ("deepseek-r1", "gb300", 72, 4, 647_076, 0.052),
    ],
)
def test_published_results_and_their_share(
    benchmark: str, model: str, count: int, bits: int, published: float, share: float
) -> None:
    bound = roofline(token_costs()[benchmark], [Accelerators(accelerator_models()[model], count)], bits)
    assert published / bound.tokens_per_s == pytest.approx(share, abs=0.0006)


@pytest.mark.parametrize(
    ("benchmark", "model", "count", "tpot_ms", "drafts", "published"),
    [
        ("llama2-70b-99.9", "mi355x", 8, 200, 0, 100_282),
        ("llama2-70b-99.9", "mi355x", 8, 40, 0, 73_608.2),
        ("llama2-70b-99.9", "mi355x", 88, 40, 0, 785_522),
        ("llama2-70b-99.9", "gb300", 72, 40, 0, 814_128),
        ("llama2-70b-99", "b200", 8, 40, 0, 59_545.4),
        ("deepseek-r1", "gb300", 288, 80, 0, 1_555_109),
        ("gpt-oss-120b", "mi355x", 16, 15, 3, 59_297.37),
        ("gpt-oss-120b", "mi300x", 8, 80, 0, 24_862.97),
    ],
)
def test_published_online_results_lie_below_half_their_bound(
    benchmark: str, model: str, count: int, tpot_ms: float, drafts: int, published: float
) -> None:
    devices = [Accelerators(accelerator_models()[model], count)]
    bound = roofline(token_costs()[benchmark], devices, None, tpot_ms=tpot_ms, draft_tokens=drafts)
    assert published < bound.tokens_per_s / 2


@pytest.mark.parametrize(
    "row",
    [
        {},
        {"benchmarks": "llama"},
        {"benchmarks": [], "draft_tokens": 3},
        {"benchmarks": [], "total_parameters": {"value": 3}},
        {"benchmarks": [], "total_parameters": {"source": "a page"}},
    ],
)
def test_costs_without_a_value_or_a_source_are_refused(row: dict[str, object]) -> None:
    with pytest.raises((TypeError, KeyError)):
        _costs("model", row)


@pytest.mark.parametrize(
    ("name", "per_node", "nodes", "wanted"),
    [
        ("AMD Instinct MI355X 288GB HBM3e", "8", "1", [("mi355x", 8)]),
        ("NVIDIA H100-SXM-80GB", 8, 2, [("h100", 16)]),
        ("AMD Instinct MI300X-NPS1-SPX-192GB-750W", "8x", 1, [("mi300x", 8)]),
        ("Intel(R) Arc Pro(R) B70", "4", "1", [("arc_pro_b70", 4)]),
        ("NVIDIA L4-PCIe-24GB", 2, 1, [("l4", 2)]),
        ("NVIDIA GeForce RTX 4090", 1, None, [("rtx_4090", 1)]),
        ("NVIDIA GB10", "1", "1", [("gb10", 1)]),
        ("NVIDIA GB200", 4, 1, [("gb200", 4)]),
        ("NVIDIA GB300", 4, 18, [("gb300", 72)]),
        ("NVIDIA B300-SXM-270GB", 8, 1, [("b300", 8)]),
        ("NVIDIA GH200-GraceHopper-Superchip", 1, 1, [("gh200", 1)]),
        ("NVIDIA L40S", 8, 1, [("l40s", 8)]),
        # Clusters of unlike nodes have their counts in the name.
        ("MI300X (x32), MI325X (x16)", "8", "6", [("mi300x", 32), ("mi325x", 16)]),
        ("AMD Instinct MI300X (x8) + MI325X (x8) + MI355X (x8)", 8, 3, [("mi300x", 8), ("mi325x", 8), ("mi355x", 8)]),
        # 87 in the name, 88 in the fields: the greater one, as more of the strongest.
        ("AMD Instinct MI355X (x87)", 8, 11, [("mi355x", 88)]),
        ("MI300X and MI355X", 8, 2, [("mi355x", 16)]),
        ("8x NVIDIA H200", None, 1, [("h200", 8)]),
    ],
)
def test_the_accelerators_of_a_description(
    name: str, per_node: object, nodes: object, wanted: list[tuple[str, int]]
) -> None:
    fleet = read_fleet({"accelerator_model_name": name, "accelerators_per_node": per_node, "number_of_nodes": nodes})
    assert [(group.model.id, group.count) for group in fleet.groups] == wanted
    assert fleet.count == sum(count for _, count in wanted)
    assert fleet.reason == ""


ANYTHING = st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.lists(st.integers(), max_size=2)
NAMES = st.text() | st.lists(
    st.sampled_from(["MI300X", "NVIDIA H200", "(x8)", "8x", ", ", " + ", "and", "NPU", "x", "0", "L4", "L40"]),
    max_size=6,
).map(" ".join)


@given(name=NAMES | ANYTHING, per_node=ANYTHING, nodes=ANYTHING)
def test_any_description_is_read(name: object, per_node: object, nodes: object) -> None:
    fleet = read_fleet({"accelerator_model_name": name, "accelerators_per_node": per_node, "number_of_nodes": nodes})
    assert bool(fleet.groups) != bool(fleet.reason)
    assert all(group.count > 0 for group in fleet.groups)


@pytest.mark.parametrize(
    ("description", "reason"),
    [
        ({"accelerator_model_name": "N/A", "accelerators_per_node": "0"}, "'N/A' is not in systems/accelerators.toml"),
        ({}, "no accelerator named"),
        ({"accelerator_model_name": "NVIDIA L40", "accelerators_per_node": 8}, "'NVIDIA L40' is not in"),
        ({"accelerator_model_name": "MI300X (x8), NPU9 (x8)", "accelerators_per_node": 8}, "is not in"),
        ({"accelerator_model_name": "NVIDIA H200", "accelerators_per_node": "many"}, "no number of accelerators"),
        ({"accelerator_model_name": "NVIDIA H200", "accelerators_per_node": True}, "no number of accelerators"),
    ],
)
def test_a_description_that_names_no_known_accelerators(description: dict[str, object], reason: str) -> None:
    fleet = read_fleet(description)
    assert fleet.groups == ()
    assert reason in fleet.reason


def test_costs_per_token_belong_to_benchmarks_of_the_rounds_and_have_sources() -> None:
    known = {name for round_name in round_names() for name in load_round(round_name).benchmarks}
    assert set(token_costs()) <= known
    for costs in token_costs().values():
        assert all(costs.sources.values())
        assert costs.prompt_parameters < costs.active_parameters < costs.total_parameters
        assert costs.output_tokens > 0


@pytest.mark.parametrize(
    ("name", "layers", "hidden", "inner", "kv_width", "vocabulary"),
    [
        ("llama2-70b-99", 80, 8192, 28672, 1024, 32000),
        ("llama3.1-8b", 32, 4096, 14336, 1024, 128256),
        ("llama3.1-405b", 126, 16384, 53248, 1024, 128256),
    ],
)
def test_parameters_of_dense_models_follow_from_their_shape(
    name: str, layers: int, hidden: int, inner: int, kv_width: int, vocabulary: int
) -> None:
    block = 2 * hidden * hidden + 2 * hidden * kv_width + 3 * hidden * inner + 2 * hidden
    costs = token_costs()[name]
    assert costs.prompt_parameters == layers * block + hidden
    assert costs.active_parameters == costs.prompt_parameters + vocabulary * hidden
    assert costs.total_parameters == costs.active_parameters + vocabulary * hidden
    assert costs.kv_elements_per_token == 2 * layers * kv_width
