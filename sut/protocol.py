"""The SUT protocol: what an engine must do to be measured, and the records that pass between it and its worker.

The life of an engine inside one worker process::

    engine = factory(EngineConfig)        cheap: no device touched
    facts = engine.start(sink)            loads the model; may take minutes; raises StartFailed with the next step
    engine.warm_up()                      runs real batches, so that nothing compiles in the timed run
    engine.begin(RunContext)              a LoadGen test begins: scenario, whether first tokens are wanted
    engine.submit(samples)                never blocks for an answer; many times
    ... sink.first_token / sink.final / sink.failed, from any one thread ...
    engine.end()                          the test is over: what is still in flight is dropped, never answered
    engine.stop()                         frees the device; idempotent

Every submitted sample gets exactly one `final` or one `failed`. `first_token` comes at most once, before `final`, only
when the run wants first tokens. `final` carries ALL generated ids, the first included (F8 and F9 in harness/README.md).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np
import numpy.typing as npt

TokenIds = npt.NDArray[np.int32]


@dataclass(frozen=True, slots=True)
class Sample:
    """One sample to answer: LoadGen's id (uint64, a pointer: opaque) and its index in the dataset."""

    id: int
    index: int


@dataclass(frozen=True, slots=True)
class Sampling:
    """How tokens are chosen. Greedy is temperature 0. `ignore_eos` keeps lengths fixed, for benches only."""

    min_new_tokens: int
    max_new_tokens: int
    temperature: float = 0.0
    top_p: float = 1.0
    top_k: int = 0
    seed: int | None = None
    ignore_eos: bool = False


@dataclass(frozen=True, slots=True)
class EngineConfig:
    """What an engine is made from: its settings from the campaign, the dataset folder, sampling, and its place.

    `settings` values are scalars or flat lists of them as the YAML holds them; each engine checks its own names.
    """

    settings: Mapping[str, object]
    dataset_path: str
    sampling: Sampling
    worker_index: int = 0
    worker_count: int = 1


@dataclass(frozen=True, slots=True)
class RunContext:
    """One LoadGen test, as far as an engine may know it."""

    scenario: str
    first_tokens: bool
    epoch: int


@dataclass(frozen=True, slots=True)
class SutFacts:
    """What an engine says of itself after start. `window` is how many samples it wants in flight at once (>= 1)."""

    name: str
    engine: str
    engine_version: str
    device: str
    device_count: int
    dtype: str
    model: str
    model_sha256: str
    dataset_sha256: str
    dataset_size: int
    window: int
    packages: Mapping[str, str] = field(default_factory=dict)
    details: Mapping[str, str] = field(default_factory=dict)


class EventSink(Protocol):
    """Where an engine reports. Calls are cheap, never raise and may come from one thread of the engine's choice."""

    def first_token(self, sample_id: int, token: int) -> None: ...

    def final(self, sample_id: int, tokens: TokenIds) -> None: ...

    def failed(self, sample_id: int, reason: str) -> None: ...


class Engine(Protocol):
    """The protocol itself; the module's docstring tells the order of the calls."""

    def start(self, sink: EventSink) -> SutFacts: ...

    def warm_up(self) -> None: ...

    def begin(self, run: RunContext) -> None: ...

    def submit(self, samples: Sequence[Sample]) -> None: ...

    def end(self) -> None: ...

    def stop(self) -> None: ...
