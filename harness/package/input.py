"""What a submission tree is made from: a campaign's answers, and the records of its runs."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from compliance.rulebook.model import BenchmarkRules, Round
from compliance.vocabulary import Division, Scenario
from harness.run.record import RunRecord

PERFORMANCE, ACCURACY = "performance", "accuracy"


@dataclass(frozen=True, slots=True)
class Measurements:
    """The five answers of measurements.json (submission_checker constants.py:1944-1950). None may be empty."""

    input_data_types: str
    weight_data_types: str
    starting_weights_filename: str
    weight_transformations: str
    retraining: str = "No"


@dataclass(frozen=True, slots=True)
class Notes:
    """What the submitter says in prose; the defaults are true of every run that Weighbridge makes."""

    run_command: str = "weighbridge run campaign.yaml"
    loadgen_connection: str = (
        "LoadGen runs in a process of its own. Its queries travel to the engine's worker processes as sample ids and "
        "indices over ZMQ; token ids come back, the first token of a sample as soon as it exists. Each sample "
        "completes exactly once, which a ledger checks."
    )
    preprocessing: str = (
        "Prompts are tokenised before the run into a memory-mapped data set, whose SHA-256 is in "
        "documentation/environment.md. Nothing is tokenised, truncated or cached in the timed run."
    )
    model_operations: str = "The engine named under Components runs the model; no operation is added or left out."
    weights: str = ""
    batching: str = (
        "Samples are handed to the engine as LoadGen issues them, within a window per worker; the engine batches what "
        "it holds, continuously. Offline samples go out longest prompt first within one repetition of the data set."
    )
    calibration: str = ""
    network: str = ""


@dataclass(frozen=True, slots=True)
class PackageInput:
    """A campaign as far as its submission tree needs it.

    `scenarios` maps each scenario to its run folders by step (performance, accuracy, TESTxx). `model_name` names the
    results folder: the benchmark's own name, or in the open division another one. `campaign_out` is the campaign's
    `out`, below which the whole accuracy logs are kept. `allow_invalid` packages a run that LoadGen calls INVALID,
    which no check passes; `replace` lets the new tree take the place of one rendered before.
    """

    round: Round
    division: Division
    submitter: str
    system_id: str
    system_description: Mapping[str, object]
    benchmark: str
    benchmark_rules: BenchmarkRules
    scenarios: Mapping[Scenario, Mapping[str, Path]]
    measurements: Measurements
    model_name: str
    campaign_out: Path
    notes: Notes = field(default_factory=Notes)
    allow_invalid: bool = False
    replace: bool = False


@dataclass(frozen=True, slots=True)
class ScenarioRuns:
    """The records of one scenario, by step, with the folders they stand in."""

    scenario: Scenario
    records: Mapping[str, RunRecord]
    folders: Mapping[str, Path]
