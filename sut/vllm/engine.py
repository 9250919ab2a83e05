"""vLLM inside the worker process, on any platform: settings, start, warm-up, and samples by their index.

The work is done by one thread that owns the engine (sut.vllm.loop); `submit` only enqueues.
"""

import os
import queue
from collections.abc import Sequence
from dataclasses import dataclass, field

from sut.dataset import TokenDataset
from sut.errors import BadSettings, EngineLost, StartFailed
from sut.protocol import EngineConfig, EventSink, RunContext, Sample, SutFacts, TokenIds
from sut.vllm.args import VllmSettings, engine_arg_names, length_problem, read_settings
from sut.vllm.facts import describe
from sut.vllm.files import check_model
from sut.vllm.llm import Llm
from sut.vllm.loop import Loop, Request, first_line
from sut.vllm.platform import Platform

STOP_S = 60.0
_DEAF = "the engine is not started: call start first"


@dataclass(frozen=True, slots=True)
class _Started:
    """What exists between start and stop."""

    settings: VllmSettings
    dataset: TokenDataset
    loop: Loop
    sink: EventSink


@dataclass(slots=True)
class _Warm:
    """The sink of warm-up requests: it only says when each is done, and why one failed."""

    done: "queue.SimpleQueue[str | None]" = field(default_factory=queue.SimpleQueue)

    def first_token(self, sample_id: int, token: int) -> None:
        """Not of interest."""

    def final(self, sample_id: int, tokens: TokenIds) -> None:  # noqa: ARG002  (the protocol's names)
        self.done.put(None)

    def failed(self, sample_id: int, reason: str) -> None:  # noqa: ARG002
        self.done.put(reason)


class VllmEngine:
    """sut.protocol.Engine over vLLM's in-process engine on one platform."""

    def __init__(self, platform: Platform, config: EngineConfig) -> None:
        self._platform = platform
        self._config = config
        self._started: _Started | None = None
        self._run = RunContext(scenario="", first_tokens=False, epoch=0)

    def start(self, sink: EventSink) -> SutFacts:
        """Load the model. Raises BadSettings, BadDataset, or StartFailed with the next step."""
        sut = self._platform.sut
        known = engine_arg_names()
        if known is None:
            raise StartFailed(f"SUT {sut}: this Python has no vllm; `weighbridge doctor` says how to get it here")
        settings = read_settings(self._config, self._platform.defaults, known)
        check_model(settings.model)
        dataset = TokenDataset.open(self._config.dataset_path)
        problem = length_problem(settings, dataset, self._config.sampling)
        if problem:
            raise BadSettings((problem,))
        os.environ.update(self._platform.environment(settings, self._config))
        made: list[Llm] = []

        def build() -> Llm:
            made.append(Llm(settings.model, settings.engine_args, self._config.sampling))
            return made[0]

        loop = Loop(build)
        try:
            loop.start()
        except Exception as error:
            raise StartFailed(
                f"SUT {sut}: vLLM did not start: {first_line(error)}; correct what it names, or see the worker's log"
            ) from error
        self._started = _Started(settings, dataset, loop, sink)
        return describe(self._platform, settings, dataset, made[0].config)

    def warm_up(self) -> None:
        """Run the platform's warm-up batches, the largest of max_num_seqs samples. Raises EngineLost."""
        started, cut = self._need(), self._platform.warm_up
        for size in cut.sizes(started.settings.max_num_seqs):
            prompts = [started.dataset.tokens(index % len(started.dataset)) for index in range(size)]
            warm = _Warm()
            requests = [Request(0, prompt[: cut.prompt_tokens], True, cut.new_tokens) for prompt in prompts]
            started.loop.submit(requests, warm)
            failures = [reason for _ in requests if (reason := warm.done.get()) is not None]
            if failures:
                raise EngineLost(f"warm-up failed: {failures[0]}; see the worker's log")

    def begin(self, run: RunContext) -> None:
        """A test begins, with nothing in flight. Raises EngineLost when the engine is gone."""
        self._need().loop.drop()
        self._run = run

    def submit(self, samples: Sequence[Sample]) -> None:
        """Enqueue samples. Raises EngineLost when the engine is gone, IndexError outside the dataset."""
        started = self._need()
        first = self._run.first_tokens
        requests = [Request(sample.id, started.dataset.tokens(sample.index), first) for sample in samples]
        started.loop.submit(requests, started.sink)

    def end(self) -> None:
        """The test is over: what is in flight is aborted, never answered. Raises EngineLost when the engine is gone."""
        self._need().loop.drop()

    def stop(self) -> None:
        """End the loop and free the device; samples in flight fail. Idempotent."""
        started, self._started = self._started, None
        if started is not None:
            started.loop.stop(STOP_S)

    def _need(self) -> _Started:
        if self._started is None:
            raise EngineLost(_DEAF)
        return self._started
