"""The engine loop under the SUT protocol without vLLM: an engine that answers when it is stepped, by echo.

Loaded as ``tests.support.stepped_engine:SteppedEngine`` with the repository root on the path.
"""

import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from sut.dataset import TokenDataset
from sut.echo import echo
from sut.facts import modelless_facts
from sut.protocol import EngineConfig, EventSink, RunContext, Sample, SutFacts, TokenIds
from sut.vllm.loop import Loop, Output, Request

STEPS = 3
STEP_S = 0.01


@dataclass
class _Stepped:
    """sut.vllm.loop.StepEngine: the first token in the first step, the rest in step STEPS."""

    answers: dict[bytes, TokenIds]
    left: dict[str, tuple[TokenIds, int]] = field(default_factory=dict)

    def add(self, request_id: str, request: Request) -> None:
        self.left[request_id] = (self.answers[request.prompt.tobytes()], 0)

    def unfinished(self) -> bool:
        return bool(self.left)

    def step(self) -> Iterator[Output]:
        threading.Event().wait(STEP_S)
        for request_id, (answer, at) in list(self.left.items()):
            self.left[request_id] = (answer, at + 1)
            if at == 0:
                yield Output(request_id, answer[:1].tolist(), "length" if len(answer) == 1 else None)
            if len(answer) == 1 or at + 1 == STEPS:
                del self.left[request_id]
            if len(answer) > 1 and at + 1 == STEPS:
                yield Output(request_id, answer[1:].tolist(), "length")

    def abort(self, request_ids: Sequence[str]) -> None:
        for request_id in request_ids:
            del self.left[request_id]

    def close(self) -> None:
        self.left.clear()


class SteppedEngine:
    """sut.protocol.Engine over the loop, call for call as the vLLM engine makes it."""

    def __init__(self, config: EngineConfig) -> None:
        self.config = config

    def start(self, sink: EventSink) -> SutFacts:
        self.sink = sink
        self.dataset = TokenDataset.open(self.config.dataset_path)
        prompts = [self.dataset.tokens(index) for index in range(len(self.dataset))]
        answers = {prompt.tobytes(): echo(prompt, self.config.sampling) for prompt in prompts}
        self.loop = Loop(lambda: _Stepped(answers))
        self.loop.start()
        return modelless_facts("stepped", self.dataset, window=64)

    def warm_up(self) -> None:
        """Nothing compiles here."""

    def begin(self, run: RunContext) -> None:
        self.loop.drop()
        self.first_tokens = run.first_tokens

    def submit(self, samples: Sequence[Sample]) -> None:
        requests = [Request(item.id, self.dataset.tokens(item.index), self.first_tokens) for item in samples]
        self.loop.submit(requests, self.sink)

    def end(self) -> None:
        self.loop.drop()

    def stop(self) -> None:
        self.loop.stop(30)
