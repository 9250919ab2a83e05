"""Rates against the roof of the hardware described: what is judged, what is skipped, and what a finding says."""

from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compliance.checks.model import Outcome, State
from compliance.checks.plausibility import stated_format
from compliance.discovery.submission import discover
from compliance.judge import judge
from compliance.logs.documents import Document
from compliance.vocabulary import Severity
from tests.support.faults import gpt, measurements, on_mi300x, perf, system, tree
from tests.support.trees import Tree

json_values = st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.lists(st.text(), max_size=3)
IDS = ("PERF-201", "PERF-202", "PERF-203")
RATE = "result_completed_tokens_per_second"
# 8 x 1307.4 TF over 2 x 7,504,924,672 + 700 / 140.8 x 2 x 6,979,588,096 FLOP.
ROOF = 8 * 1307.4e12 / (2 * 7_504_924_672 + 700 / (1.1 * 128) * 2 * 6_979_588_096)


def outcomes(made: Tree, root, scenario: str = "Server") -> dict[str, Outcome]:
    judgement = judge(discover(made.write(root), made.round), made.round)
    (judged,) = [one for one in judgement.results if one.result.scenario_dir == scenario]
    return {one.check.id: one for one in judged.verdicts.outcomes if one.check.id in IDS}


@pytest.mark.parametrize(
    ("rate", "failing"),
    [
        (ROOF * 0.4999, []),
        (ROOF * 0.5001, ["PERF-202"]),
        (ROOF * 0.9999, ["PERF-202"]),
        (ROOF * 1.0001, ["PERF-201"]),
    ],
)
def test_the_bound_and_half_of_it(rate: float, failing: list[str], tmp_path) -> None:
    found = outcomes(perf(base=on_mi300x, **{RATE: rate})(), tmp_path)
    assert [name for name in IDS if found[name].state is State.FAIL] == failing
    assert all(found[name].state is State.PASS for name in IDS if name not in failing)


def test_a_finding_shows_the_arithmetic(tmp_path) -> None:
    found = outcomes(perf(base=on_mi300x, **{RATE: 247_822})(), tmp_path)
    (finding,) = found["PERF-201"].findings
    assert finding.severity is Severity.ERROR
    assert finding.expected == "at most 123,911 tokens/s"
    assert finding.found == "247822 tokens/s, 200.0% of the bound"
    assert "8 x AMD Instinct MI300X at 1.307 PFLOPS (16 bits) = 10.46 PFLOPS; 84.41 GFLOP per output token" in (
        finding.message
    )
    assert "4.97 prompt tokens each" in finding.message
    assert "compute binds" in finding.message
    assert "weight_data_types 'bf16': 16 bits" in finding.message
    assert finding.where.endswith("performance/run_1/mlperf_log_detail.txt")
    assert finding.line is not None


def test_the_format_stated_moves_the_bound(tmp_path) -> None:
    made = perf(base=on_mi300x, **{RATE: 130_000})()
    made.documents[made.path("Server", "measurements.json")]["weight_data_types"] = "fp8"
    found = outcomes(made, tmp_path)
    assert found["PERF-201"].state is State.PASS
    assert found["PERF-202"].state is State.FAIL


@pytest.mark.parametrize(
    ("make", "scenario", "reason"),
    [
        (tree, "Server", "'as sold' is not in systems/accelerators.toml"),
        (lambda: tree(("Offline",), benchmark="rgat"), "Offline", "rgat has no costs per token"),
        (system(accelerator_model_name="N/A", accelerators_per_node="0"), "Server", "'N/A' is not in"),
        (system(accelerator_model_name="NVIDIA H200", accelerators_per_node="0"), "Server", "no number of"),
        (
            system(
                lambda: tree(("Offline", "SingleStream"), benchmark="llama3.1-8b-edge", system_type="edge"),
                accelerator_model_name="NVIDIA L4",
            ),
            "SingleStream",
            "no measured rate of tokens",
        ),
    ],
    ids=["unknown", "no-text", "cpu", "no-count", "latency"],
)
def test_what_has_no_bound_is_skipped_with_the_reason(
    make: Callable[[], Tree], scenario: str, reason: str, tmp_path
) -> None:
    for outcome in outcomes(make(), tmp_path, scenario).values():
        assert outcome.state is State.SKIP
        assert reason in outcome.reason


def test_known_hardware_at_a_usual_rate_passes(tmp_path) -> None:
    made = system(gpt, accelerator_model_name="AMD Instinct MI355X")()
    made.documents[made.path("Server", "measurements.json")]["weight_data_types"] = "mxfp4"
    assert {one.state for one in outcomes(made, tmp_path).values()} == {State.PASS}


def test_no_measurements_take_the_most_generous_format(tmp_path) -> None:
    made = measurements(weight_data_types=None)()
    made.system["accelerator_model_name"] = "AMD Instinct MI300X"
    (finding,) = outcomes(made.performance("Server", **{RATE: 1e9}), tmp_path)["PERF-201"].findings
    assert "names no number format: the most generous one is taken" in finding.message
    assert "2.615 PFLOPS (8 bits)" in finding.message


@pytest.mark.parametrize(
    ("types", "changes", "bits"),
    [
        ("fp8", "none", 8),
        ("FP4", "", 4),
        ("mxfp4", "quantization", 4),
        ("NVFP4", "", 4),
        ("INT8", "", 8),
        ("int4, fp16", "", 4),
        (["fp8", "bf16"], "", 8),
        ("bf16", "none", 16),
        ("bfloat16", "", 16),
        ("float16", "", 16),
        ("float8_e4m3fn", "", 8),
        ("E4M3 or e5m2", "", 8),
        ("e2m1", "", 4),
        ("bf16", "cast to fp8", 8),
        ("UINT8", "", 8),
        ("fp6 e3m2", "", 6),
        ("bf16", "checkpoint 12, int160, converted into 4 shards", 16),
        # The format the weights had before they were quantised.
        ("fp16", "quantization, affine fusion", None),
        ("fp16", "Quantised with Quark", None),
        ("fp32", "none", None),
        ("", "", None),
        ("TBD", "", None),
        (8, "", None),
    ],
)
def test_the_number_format_of_the_weights(types: object, changes: str, bits: int | None, tmp_path) -> None:
    members = {"weight_data_types": types, "weight_transformations": changes}
    assert stated_format(Document(tmp_path, members, {}, ()))[0] == bits  # type: ignore[arg-type]


@given(types=json_values, changes=json_values)
def test_any_measurements_state_some_format_or_none(types: object, changes: object) -> None:
    members = {"weight_data_types": types, "weight_transformations": changes}
    bits, read = stated_format(Document(Path("m"), members, {}, ()))  # type: ignore[arg-type]
    assert bits is None or bits in {2, 3, 4, 5, 6, 7, 8, 16}
    assert len(read) < 400


def test_measurements_that_cannot_be_read_state_no_format() -> None:
    assert stated_format(None)[0] is None
