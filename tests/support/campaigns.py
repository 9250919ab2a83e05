"""Campaigns for tests: a small dataset and the shortest YAML that runs every phase against it."""

from pathlib import Path

import numpy as np

from harness.campaign.load import load_campaign
from sut.dataset import write_dataset

QUICK = """\
round: demo
division: open
submitter: Example
system: capture
benchmark: smollm2-135m
sut: {name: synthetic, settings: {prefill_tokens_per_s: 30000, output_tokens_mean: 8, decode_step_ms: 1}}
dataset: dataset
evaluator: none
audits: true
equal_issue: false
scale: 0.02
scenarios:
  Offline: {target_qps: 2000, min_query_count: 400}
  Server: {target_qps: 400, min_query_count: 500}
measurements:
  input_data_types: int32
  retraining: "No"
  starting_weights_filename: none
  weight_data_types: none
  weight_transformations: none
"""


def make_dataset(folder: Path, size: int = 200) -> Path:
    """A dataset of `size` made-up prompts, the same in every test."""
    random = np.random.default_rng(7)
    prompts = [random.integers(3, 32000, int(length)).tolist() for length in random.integers(4, 40, size)]
    write_dataset(folder, "made_up", prompts, source="a test", licence="CC0-1.0", tokenizer_sha256="")
    return folder


def write_campaign(folder: Path, text: str = QUICK, **replaced: str) -> Path:
    """campaign.yaml in `folder`, its dataset beside it. `replaced` exchanges the values of top-level one-line keys."""
    lines = []
    for line in text.splitlines():
        key = line.partition(":")[0]
        lines.append(f"{key}: {replaced.pop(key)}" if key in replaced else line)
    lines += [f"{key}: {value}" for key, value in replaced.items()]
    path = folder / "campaign.yaml"
    path.write_text("\n".join(lines) + "\n")
    if not (folder / "dataset").exists():
        make_dataset(folder / "dataset")
    return path


def campaign_in(folder: Path, **replaced: str):
    """The campaign of `write_campaign`, read."""
    return load_campaign(write_campaign(folder, **replaced))
