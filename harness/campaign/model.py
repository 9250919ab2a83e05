"""The campaign file as typed, frozen records. `harness.campaign.load` is the only place that reads one."""

from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, model_validator

from compliance.vocabulary import Division, Scenario

Scalar = bool | int | float | str
SettingValue = Scalar | list[Scalar] | None
Name = Annotated[str, Field(min_length=1, max_length=200, pattern=r"^[^\s/\\\"'][^/\\\"\n\r]*$")]


class Record(BaseModel):
    """Base of the campaign's records: unknown keys are errors, values never change."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)


class SutChoice(Record):
    """The SUT and its settings; each SUT checks its own (`weighbridge sut-test NAME`)."""

    name: Annotated[str, Field(min_length=1, description="null, echo, synthetic, vllm-cpu, vllm-cuda, vllm-rocm, ...")]
    settings: dict[str, SettingValue] = Field(default_factory=dict)


class WorkerChoice(Record):
    """Where `count` workers run: another interpreter, a container image, or another machine; at most one of them."""

    python: Annotated[str | None, Field(description="interpreter of the worker's virtual environment")] = None
    container: Annotated[str | None, Field(description="image that holds the engine")] = None
    args: Annotated[tuple[str, ...], Field(description="extra arguments for the container runner")] = ()
    host: Annotated[str | None, Field(description="machine reached by ssh")] = None
    runtime: Annotated[str, Field(description="container runner: docker, podman, or a path")] = "docker"
    checkout: Annotated[str | None, Field(description="this toolkit's folder on the host, if not the same path")] = None
    head: Annotated[str | None, Field(description="address by which the host reaches this machine")] = None
    env: Annotated[dict[str, str], Field(description="environment of the worker")] = Field(default_factory=dict)
    count: Annotated[int, Field(ge=1, le=4096)] = 1
    cores: Annotated[tuple[Annotated[int, Field(ge=0)], ...], Field(description="CPU cores to stay on")] = ()

    @model_validator(mode="after")
    def _one_place(self) -> "WorkerChoice":
        if self.container is not None and self.host is not None:
            raise ValueError("a worker runs in a container or on a host, not both; make two entries")
        if self.args and self.container is None:
            raise ValueError("args belong to a container; add `container: IMAGE` or remove them")
        return self


class GenerationChoice(Record):
    """Token counts per answer, instead of the rules' (open division only)."""

    max_new_tokens: Annotated[int | None, Field(ge=1)] = None
    min_new_tokens: Annotated[int | None, Field(ge=0)] = None


class ScenarioChoice(Record):
    """The submitter's choices for one scenario; what is left out follows the rules."""

    target_qps: Annotated[float | None, Field(gt=0, description="samples per second you expect to reach")] = None
    target_latency_ms: Annotated[float | None, Field(gt=0, description="SingleStream: latency of one query")] = None
    accuracy_target_qps: Annotated[
        float | None, Field(gt=0, description="Server, Interactive: rate of the accuracy run; default: target_qps")
    ] = None
    min_duration_s: Annotated[float | None, Field(gt=0, le=7 * 86400)] = None
    min_query_count: Annotated[int | None, Field(ge=1)] = None
    performance_sample_count: Annotated[int | None, Field(ge=1)] = None


class Measurements(Record):
    """The five answers of measurements.json (checker: constants.py:1944-1950); without them a result is invalid."""

    input_data_types: str = ""
    retraining: str = ""
    starting_weights_filename: str = ""
    weight_data_types: str = ""
    weight_transformations: str = ""


class NotesChoice(Record):
    """Prose for the result pages; what is left out says what Weighbridge itself does (harness.package.input.Notes)."""

    run_command: str | None = None
    loadgen_connection: str | None = None
    preprocessing: str | None = None
    model_operations: str | None = None
    weights: str | None = None
    batching: str | None = None
    calibration: str | None = None
    network: str | None = None


class LimitChoice(Record):
    """Bounds in seconds that end a run which cannot end well: on progress, never on the total."""

    heartbeat_timeout_s: Annotated[float, Field(gt=0)] = 15.0
    progress_timeout_s: Annotated[float, Field(gt=0)] = 300.0
    drain_grace_s: Annotated[float, Field(gt=0)] = 5.0
    start_timeout_s: Annotated[float, Field(gt=0)] = 30.0


def _as_sut(value: object) -> object:
    return {"name": value} if isinstance(value, str) else value


def _as_list(value: object) -> object:
    return [value] if isinstance(value, dict) else value


class Campaign(Record):
    """One system, one benchmark, one division: everything that Weighbridge needs to run, judge and package it.

    Relative paths are relative to the campaign file. `scale` shortens a test round and is stated in its results.
    """

    round: str
    division: Division
    submitter: Name
    system: Annotated[str, Field(min_length=1, description="id, path of a <id>.json, or `capture` for this machine")]
    benchmark: str
    sut: Annotated[SutChoice, BeforeValidator(_as_sut, json_schema_input_type=str | SutChoice)]
    dataset: Path
    scenarios: Annotated[dict[Scenario, ScenarioChoice], Field(min_length=1)]
    out: Path = Path("out")
    model_name: Annotated[Name | None, Field(description="name of the model's folder; default: the benchmark")] = None
    worker: Annotated[
        tuple[WorkerChoice, ...],
        BeforeValidator(_as_list, json_schema_input_type=WorkerChoice | tuple[WorkerChoice, ...]),
        Field(min_length=1),
    ] = (WorkerChoice(),)
    tokenizer: Path | None = None
    nltk_data: Path | None = None
    evaluator: Literal["rouge", "choice", "none"] | None = None
    generation: GenerationChoice = GenerationChoice()
    equal_issue: bool | None = None
    audits: bool | None = None
    accuracy: bool = True
    scale: Annotated[float, Field(gt=0, le=1)] = 1.0
    policy: Literal["round_robin", "least_requests", "least_outstanding_tokens"] = "least_outstanding_tokens"
    limits: LimitChoice = LimitChoice()
    measurements: Measurements = Measurements()
    notes: NotesChoice = NotesChoice()

    @property
    def folder_name(self) -> str:
        """The benchmark's folder in the submission tree."""
        return self.model_name or self.benchmark

    @property
    def worker_count(self) -> int:
        """Workers over all entries."""
        return sum(worker.count for worker in self.worker)
