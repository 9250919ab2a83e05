"""The null SUT: answers every sample at once with the same tokens. What it measures is the harness itself.

Settings:
  output_tokens  ids per answer, at least 2 (8); never outside the benchmark's minimum and maximum
  window         samples it wants in flight (4096)
"""

from collections.abc import Sequence

import numpy as np

from sut.dataset import TokenDataset
from sut.errors import EngineLost
from sut.facts import modelless_facts
from sut.preflight import PreflightProblem
from sut.protocol import EngineConfig, EventSink, RunContext, Sample, SutFacts, TokenIds
from sut.settings import SettingsReader


class NullEngine:
    """Answers inside `submit`, on the caller's thread."""

    def __init__(self, config: EngineConfig) -> None:
        self._config = config
        self._answer, self._window = _read(config)
        self._sink: EventSink | None = None
        self._first_tokens = False

    def start(self, sink: EventSink) -> SutFacts:
        """Open the dataset, for its hash only. Raises BadDataset."""
        self._sink = sink
        return modelless_facts("null", TokenDataset.open(self._config.dataset_path), self._window)

    def warm_up(self) -> None:
        """Nothing compiles here."""

    def begin(self, run: RunContext) -> None:
        self._first_tokens = run.first_tokens

    def submit(self, samples: Sequence[Sample]) -> None:
        """Answer. Raises EngineLost when not started."""
        if self._sink is None:
            raise EngineLost("the null SUT is not started; call start first")
        first = int(self._answer[0])
        for sample in samples:
            if self._first_tokens:
                self._sink.first_token(sample.id, first)
            self._sink.final(sample.id, self._answer)

    def end(self) -> None:
        """Nothing is ever in flight."""

    def stop(self) -> None:
        self._sink = None


def preflight(config: EngineConfig) -> tuple[PreflightProblem, ...]:
    """The settings are right. Raises BadSettings, which the caller turns into problems."""
    _read(config)
    return ()


def _read(config: EngineConfig) -> tuple[TokenIds, int]:
    settings = SettingsReader("null", config.settings)
    wanted = settings.integer("output_tokens", 8, minimum=2)
    window = settings.integer("window", 4096, minimum=1)
    settings.finish()
    count = max(config.sampling.min_new_tokens, min(wanted, config.sampling.max_new_tokens))
    answer = np.arange(1000, 1000 + count, dtype=np.int32)
    answer.flags.writeable = False
    return answer, window
