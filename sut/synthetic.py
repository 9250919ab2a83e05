"""The synthetic SUT: a timing model of one continuous-batching engine, one accelerator's worth per worker.

It answers at the times at which an engine of these rates would, with tokens made up from the sample's index, the same
in every run. Use it to rehearse a campaign, to try dispatch policies, and to test; its numbers are no measurement.

Settings:
  preset                       fast | llama2-70b-mi300x | llama2-70b-mi355x (fast); the settings below override it
  prefill_tokens_per_s         prompt tokens worked through per second
  prefill_chunk_tokens         prompt tokens of one step: small favours TPOT, large favours TTFT
  decode_step_ms               time of a decode step, without its sequences
  decode_step_per_sequence_ms  what each running sequence adds to a step
  max_num_seqs                 sequences that decode at once
  output_tokens_mean           of a lognormal distribution, cut to the benchmark's minimum and maximum
  output_tokens_sigma          its sigma, of the logarithm
  eos_token_id                 ends every answer that is shorter than the maximum (2)
  vocabulary                   ids are below this number (32000)
  seed                         of the output lengths (0)
  time_scale                   simulated seconds per real second (1)
  window                       samples it wants in flight (max_num_seqs + 1/8)
"""

import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np
import numpy.typing as npt

from sut.dataset import TokenDataset
from sut.errors import EngineLost
from sut.facts import modelless_facts
from sut.preflight import PreflightProblem
from sut.protocol import EngineConfig, EventSink, RunContext, Sample, Sampling, SutFacts, TokenIds
from sut.settings import SettingsReader
from sut.timing import BatchModel, Rates


@dataclass(frozen=True, slots=True)
class SyntheticSettings:
    """The settings as read, preset applied."""

    preset: str
    rates: Rates
    output_tokens_mean: float
    output_tokens_sigma: float
    eos_token_id: int
    vocabulary: int
    seed: int
    time_scale: float
    window: int


@dataclass(frozen=True, slots=True)
class _Preset:
    prefill_tokens_per_s: float
    prefill_chunk_tokens: int
    decode_step_ms: float
    decode_step_per_sequence_ms: float
    max_num_seqs: int
    output_tokens_mean: float
    output_tokens_sigma: float


# The two llama2-70b rows are fitted to published Offline results per accelerator at prompts of 290 tokens: 8x MI300X
# FP8, v5.1, 27,854 tok/s; 8x MI355X FP4, v6.0, 103,480 tok/s. How a step splits into its parts is an assumption.
PRESETS: Mapping[str, _Preset] = MappingProxyType(
    {
        "fast": _Preset(1e6, 8192, 0.2, 0.002, 256, 32, 0.5),
        "llama2-70b-mi300x": _Preset(12_000, 8192, 18.0, 0.181, 768, 294.45, 0.7),
        "llama2-70b-mi355x": _Preset(50_000, 8192, 9.0, 0.0488, 1024, 294.45, 0.7),
    }
)


class SyntheticEngine:
    """One thread lets simulated time pass and answers at the deadlines of the model."""

    def __init__(self, config: EngineConfig) -> None:
        self._config = config
        self._settings = read_settings(config)
        self._changed = threading.Condition()
        self._arrivals: list[Sample] = []
        self._stopping = False
        self._thread: threading.Thread | None = None
        self._reset(first_tokens=False)

    def start(self, sink: EventSink) -> SutFacts:
        """Open the dataset and start the thread. Raises BadDataset."""
        self._sink = sink
        self._dataset = TokenDataset.open(self._config.dataset_path)
        self._counts = output_counts(self._settings, self._config.sampling, len(self._dataset))
        self._thread = threading.Thread(target=self._run, name="synthetic-engine", daemon=True)
        self._thread.start()
        return modelless_facts(
            "synthetic",
            self._dataset,
            self._settings.window,
            details={"preset": self._settings.preset, "time_scale": str(self._settings.time_scale)},
        )

    def warm_up(self) -> None:
        """Nothing compiles here."""

    def begin(self, run: RunContext) -> None:
        with self._changed:
            self._reset(first_tokens=run.first_tokens)

    def submit(self, samples: Sequence[Sample]) -> None:
        """Hand the samples over. Raises EngineLost when the engine does not run, IndexError for a wrong index."""
        if self._thread is None or not self._thread.is_alive():
            raise EngineLost("the synthetic engine does not run; start it first")
        for sample in samples:
            if not 0 <= sample.index < len(self._dataset):
                raise IndexError(f"sample index {sample.index} outside a dataset of {len(self._dataset)}")
        with self._changed:
            self._arrivals.extend(samples)
            self._changed.notify()

    def end(self) -> None:
        """Forget what is in flight."""
        with self._changed:
            self._reset(first_tokens=False)

    def stop(self) -> None:
        with self._changed:
            self._stopping = True
            self._changed.notify()
        if self._thread is not None:
            self._thread.join()

    def _reset(self, *, first_tokens: bool) -> None:
        self._model = BatchModel(self._settings.rates)
        self._live: dict[int, Sample] = {}
        self._arrivals.clear()
        self._first_tokens = first_tokens
        self._began_s = time.monotonic()
        self._added = 0

    def _run(self) -> None:
        with self._changed:
            while not self._stopping:
                # Answers are given with the lock held: after `end` returns, nothing of the old test can follow.
                self._advance()
                self._changed.wait(self._until_next_s())

    def _advance(self) -> None:
        now_s = (time.monotonic() - self._began_s) * self._settings.time_scale
        for key, final in self._model.advance(now_s):
            sample = self._live[key]
            if final:
                del self._live[key]
                self._sink.final(sample.id, self._answer(sample.index))
            elif self._first_tokens:
                self._sink.first_token(sample.id, int(self._answer(sample.index)[0]))
        for sample in self._arrivals:
            self._added += 1
            self._live[self._added] = sample
            prompt = len(self._dataset.tokens(sample.index))
            self._model.add(self._added, prompt, int(self._counts[sample.index]))
        self._arrivals.clear()

    def _until_next_s(self) -> float | None:
        due_s = self._model.next_event_s()
        if due_s is None:
            return None
        return max(0.0, self._began_s + due_s / self._settings.time_scale - time.monotonic())

    def _answer(self, index: int) -> TokenIds:
        return answer_tokens(self._settings, self._config.sampling, index, int(self._counts[index]))


def output_counts(settings: SyntheticSettings, sampling: Sampling, size: int) -> npt.NDArray[np.int64]:
    """Output tokens of every sample of a dataset of `size`: lognormal, cut to the sampling's bounds, reproducible."""
    if sampling.ignore_eos:
        return np.full(size, sampling.max_new_tokens, np.int64)
    # The mean of a lognormal is exp(mu + sigma^2 / 2).
    mu = np.log(settings.output_tokens_mean) - settings.output_tokens_sigma**2 / 2
    drawn = np.random.default_rng(settings.seed).lognormal(mu, settings.output_tokens_sigma, size)
    low = max(1, sampling.min_new_tokens)
    return np.clip(np.rint(drawn), low, sampling.max_new_tokens).astype(np.int64)


def answer_tokens(settings: SyntheticSettings, sampling: Sampling, index: int, count: int) -> TokenIds:
    """The answer to sample `index`: `count` made-up ids, none of them EOS but the last of a short answer."""
    tokens = (index * 7919 + np.arange(count, dtype=np.int64) * 104_729) % (settings.vocabulary - 1)
    tokens[tokens >= settings.eos_token_id] += 1
    if 1 < count < sampling.max_new_tokens:
        tokens[-1] = settings.eos_token_id
    return tokens.astype(np.int32)


def read_settings(config: EngineConfig) -> SyntheticSettings:
    """The settings of a configuration, preset applied. Raises BadSettings with every problem."""
    read = SettingsReader("synthetic", config.settings)
    name = read.text("preset", "fast", choices=tuple(PRESETS))
    preset = PRESETS[name]
    tiny = 1e-9
    rates = Rates(
        prefill_tokens_per_s=read.number("prefill_tokens_per_s", preset.prefill_tokens_per_s, minimum=tiny),
        prefill_chunk_tokens=read.integer("prefill_chunk_tokens", preset.prefill_chunk_tokens, minimum=1),
        decode_base_s=read.number("decode_step_ms", preset.decode_step_ms, minimum=tiny) / 1e3,
        decode_per_sequence_s=read.number("decode_step_per_sequence_ms", preset.decode_step_per_sequence_ms, minimum=0)
        / 1e3,
        max_num_seqs=read.integer("max_num_seqs", preset.max_num_seqs, minimum=1),
    )
    settings = SyntheticSettings(
        preset=name,
        rates=rates,
        output_tokens_mean=read.number("output_tokens_mean", preset.output_tokens_mean, minimum=1),
        output_tokens_sigma=read.number("output_tokens_sigma", preset.output_tokens_sigma, minimum=0),
        eos_token_id=read.integer("eos_token_id", 2, minimum=0),
        vocabulary=read.integer("vocabulary", 32_000, minimum=3),
        seed=read.integer("seed", 0, minimum=0),
        time_scale=read.number("time_scale", 1.0, minimum=tiny),
        window=read.integer("window", rates.max_num_seqs + -(-rates.max_num_seqs // 8), minimum=1),
    )
    read.finish()
    return settings


def preflight(config: EngineConfig) -> tuple[PreflightProblem, ...]:
    """The settings are right. Raises BadSettings, which the caller turns into problems."""
    read_settings(config)
    return ()
