"""The demo's campaigns as the YAML files a user would write: they are left in the demo's folder to start from."""

import json
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from compliance.vocabulary import Scenario
from harness.demo.calibrate import CALIBRATION_FOLDER, Rates
from sut.dataset import write_dataset

SYNTHETIC_SAMPLES = 200
SYNTHETIC_NAME = "made_up_prompts"
VOCABULARY = 32000
SUBMITTER = "Demo"
CAMPAIGN_NAME = "campaign.yaml"


@dataclass(frozen=True, slots=True)
class DemoInput:
    """Where the demo's dataset, model and tokenizer are; model and tokenizer are None for the timing model."""

    dataset: Path
    model: Path | None
    tokenizer: Path | None
    weight_data_type: str = "none"


def quick_campaign(sut: str, given: DemoInput, rates: Rates) -> str:
    """Round `demo` on the small model: every phase, VALID runs, minutes on two cores."""
    head = _HEAD.format(round="demo", benchmark="smollm2-135m", why=_QUICK_WHY, measured=_measured(rates))
    return head + _body(sut, given, _scenarios(rates, queries=480))


def full_campaign(sut: str, given: DemoInput, rates: Rates) -> str:
    """Round v6.1 with deepseek-r1's sample count and the official durations, on a small model."""
    why = _FULL_WHY + ("" if rates.server_qps else _NO_SERVER)
    head = _HEAD.format(round="v6.1", benchmark="deepseek-r1", why=why, measured=_measured(rates))
    return head + _FULL_EXTRA + _body(sut, given, _scenarios(rates, queries=480))


def probe_campaign(sut: str, given: DemoInput, scenario: Scenario, qps: float, samples: int, *, full: bool) -> str:
    """One short performance test for calibration: `scale` takes the minimum duration away."""
    round_, benchmark = ("v6.1", "deepseek-r1") if full else ("demo", "smollm2-135m")
    head = _HEAD.format(round=round_, benchmark=benchmark, why="# Calibration.", measured="")
    head = head.replace("out: .", f"out: {CALIBRATION_FOLDER}").replace("audits: true", "audits: false")
    scenarios = f"  {scenario}: {{target_qps: {qps:g}, min_query_count: {samples}}}\n"
    short = "accuracy: false\nscale: 0.00001\n"
    return head + short + (_FULL_EXTRA if full else "") + _body(sut, given, scenarios)


def _scenarios(rates: Rates, *, queries: int) -> str:
    lines = [f"  Offline: {{target_qps: {rates.offline_qps:g}}}"]
    if rates.server_qps is not None:
        lines.append(
            f"  Server: {{target_qps: {rates.server_qps:g}, min_query_count: {queries}, "
            f"accuracy_target_qps: {rates.accuracy_qps:g}}}"
        )
    return "".join(f"{line}\n" for line in lines)


def _measured(rates: Rates) -> str:
    return "".join(f"#   {probe.text()}\n" for probe in rates.probes)


def synthetic_campaign(given: DemoInput) -> str:
    """Round `demo` with a timing model in place of an engine: every phase in about a minute, on any machine."""
    return f"""\
{_HEAD.format(round="demo", benchmark="smollm2-135m", why=_SYNTHETIC_WHY, measured="")}
evaluator: none        # made-up answers have no score
sut:
  name: synthetic
  settings:
    prefill_tokens_per_s: 20000
    output_tokens_mean: 17.8
    vocabulary: {VOCABULARY}
dataset: {_quoted(given.dataset)}
scenarios:
  Offline: {{target_qps: 100}}
  Server: {{target_qps: 40, min_query_count: 480}}
measurements:
  input_data_types: int32
  retraining: "No"
  starting_weights_filename: none, a timing model answers
  weight_data_types: none, a timing model answers
  weight_transformations: none, a timing model answers
"""


_QUICK_WHY = """\
# The embedded default: a real model of 135 million parameters on this machine's processor.
# Server takes 480 queries: early stopping at the 99th percentile needs 459 without a miss. The rates were measured:"""
_FULL_WHY = """\
# The full demo: deepseek-r1's sample count, limits and durations in the open division, answered by a small model on
# 4388 two-choice questions. The path and the durations are official; the model and the dataset are not.
# Equal issue mode is off, which the open division allows. The rates were measured on this machine:"""
_NO_SERVER = """
# No Server rate kept deepseek-r1's latency limits, so Offline is submitted alone, as the open division allows:"""
_FULL_EXTRA = "model_name: smollm2-135m\nevaluator: choice\ngeneration: {min_new_tokens: 2, max_new_tokens: 16}\n"
_SYNTHETIC_WHY = """\
# The path alone: a timing model answers, so that this runs anywhere. The figures are no measurement of anything."""
_HEAD = """\
{why}
{measured}round: {round}
division: open
submitter: Demo
system: capture
benchmark: {benchmark}
audits: true
equal_issue: false     # whole passes over the dataset would lengthen every run
out: .
"""


def _body(sut: str, given: DemoInput, scenarios: str) -> str:
    settings = f"\n  settings:\n    model: {_quoted(given.model)}" if given.model else ""
    tokenizer = f"tokenizer: {_quoted(given.tokenizer)}\n" if given.tokenizer else ""
    return f"""\
sut:
  name: {sut}{settings}
dataset: {_quoted(given.dataset)}
{tokenizer}scenarios:
{scenarios}measurements:
  input_data_types: int32
  retraining: "No"
  starting_weights_filename: SmolLM2-135M-Instruct.Q4_1.gguf
  weight_data_types: {given.weight_data_type}
  weight_transformations: dequantized from Q4_1, converted from GGUF to safetensors
"""


def _quoted(path: Path) -> str:
    return json.dumps(str(path))


def write_synthetic_dataset(folder: Path) -> None:
    """200 made-up prompts with the lengths of the real demo's (median about 200 tokens), the same in every run."""
    random = np.random.default_rng(20261130)
    lengths = np.clip(random.lognormal(5.3, 0.25, SYNTHETIC_SAMPLES), 32, 400).astype(int)
    prompts = [random.integers(3, VOCABULARY, int(length)).tolist() for length in lengths]
    folder.parent.mkdir(parents=True, exist_ok=True)
    write_dataset(
        folder, SYNTHETIC_NAME, prompts, source="seeded random tokens", licence="CC0-1.0", tokenizer_sha256=""
    )
