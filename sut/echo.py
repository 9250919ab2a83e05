"""The echo SUT: answers every sample with its own prompt. Proves that the right prompt reached the right sample.

A prompt longer than the benchmark's maximum is cut, one shorter than its minimum is repeated.

Settings:
  window  samples it wants in flight (4096)
"""

from collections.abc import Sequence

import numpy as np

from sut.dataset import TokenDataset
from sut.errors import EngineLost
from sut.facts import modelless_facts
from sut.preflight import PreflightProblem
from sut.protocol import EngineConfig, EventSink, RunContext, Sample, Sampling, SutFacts, TokenIds
from sut.settings import SettingsReader


class EchoEngine:
    """Answers inside `submit`, on the caller's thread."""

    def __init__(self, config: EngineConfig) -> None:
        self._config = config
        self._window = _read(config)
        self._dataset: TokenDataset | None = None
        self._sink: EventSink | None = None
        self._first_tokens = False

    def start(self, sink: EventSink) -> SutFacts:
        """Open the dataset. Raises BadDataset."""
        self._sink = sink
        self._dataset = TokenDataset.open(self._config.dataset_path)
        return modelless_facts("echo", self._dataset, self._window)

    def warm_up(self) -> None:
        """Nothing compiles here."""

    def begin(self, run: RunContext) -> None:
        self._first_tokens = run.first_tokens

    def submit(self, samples: Sequence[Sample]) -> None:
        """Answer. Raises EngineLost when not started, IndexError for an index outside the dataset."""
        if self._sink is None or self._dataset is None:
            raise EngineLost("the echo SUT is not started; call start first")
        for sample in samples:
            answer = echo(self._dataset.tokens(sample.index), self._config.sampling)
            if self._first_tokens:
                self._sink.first_token(sample.id, int(answer[0]))
            self._sink.final(sample.id, answer)

    def end(self) -> None:
        """Nothing is ever in flight."""

    def stop(self) -> None:
        self._sink = None
        self._dataset = None


def echo(prompt: TokenIds, sampling: Sampling) -> TokenIds:
    """The prompt, cut or repeated to lie within the sampling's bounds."""
    if len(prompt) < sampling.min_new_tokens:
        return np.resize(prompt, sampling.min_new_tokens)
    return prompt[: sampling.max_new_tokens]


def preflight(config: EngineConfig) -> tuple[PreflightProblem, ...]:
    """The settings are right. Raises BadSettings, which the caller turns into problems."""
    _read(config)
    return ()


def _read(config: EngineConfig) -> int:
    settings = SettingsReader("echo", config.settings)
    window = settings.integer("window", 4096, minimum=1)
    settings.finish()
    return window
