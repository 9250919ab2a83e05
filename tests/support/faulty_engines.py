"""Engines that break the SUT protocol on purpose, one fault each; the worker, the ledger and the conformance suite
must each catch theirs. Loaded as ``tests.support.faulty_engines:FaultyEngine`` with the repository root on the path.

Settings:
  fault      one of FAULTS
  after      samples answered well before the fault begins (0)
  delay_s    for the slow and late kinds (0.2)
  window     samples wanted in flight (64)
"""

import os
import threading
import time
from collections.abc import Callable, Mapping, Sequence

import numpy as np

from sut.dataset import TokenDataset
from sut.echo import echo
from sut.errors import StartFailed
from sut.facts import modelless_facts
from sut.protocol import EngineConfig, EventSink, RunContext, Sample, SutFacts
from sut.settings import SettingsReader


class FaultyEngine:
    """An echo engine whose answers go wrong from sample number `after` on."""

    def __init__(self, config: EngineConfig) -> None:
        reader = SettingsReader("faulty", config.settings)
        self.fault = reader.text("fault", "none", choices=("none", *FAULTS, *LIFE_CYCLE_FAULTS))
        self.after = reader.integer("after", 0, minimum=0)
        self.delay_s = reader.number("delay_s", 0.2, minimum=0)
        self.window = reader.integer("window", 64, minimum=1)
        reader.finish()
        self.config = config
        self.sink: EventSink
        self.dataset: TokenDataset
        self.first_tokens = False
        self.seen = 0
        self.timers: list[threading.Timer] = []
        self.stopped = False

    def start(self, sink: EventSink) -> SutFacts:
        print("an engine prints to standard output")  # must never mix with the control lines
        os.system("echo so does its child process")  # noqa: S605 the same, past Python's own stream
        if self.fault == "start_fails":
            raise StartFailed("no device found; plug one in")
        if self.fault == "start_raises":
            raise RuntimeError("bus error")
        if self.fault == "start_hangs":
            time.sleep(3600)
        self.sink = sink
        self.dataset = TokenDataset.open(self.config.dataset_path)
        facts = modelless_facts("" if self.fault == "no_facts" else "faulty", self.dataset, self.window)
        if self.fault == "no_window":
            return modelless_facts("faulty", self.dataset, 0)
        return facts

    def warm_up(self) -> None:
        if self.fault == "warm_up_raises":
            raise RuntimeError("kernel does not compile")

    def begin(self, run: RunContext) -> None:
        if self.fault == "begin_raises":
            raise RuntimeError("begin refused")
        self.first_tokens = run.first_tokens
        self.seen = 0

    def submit(self, samples: Sequence[Sample]) -> None:
        if self.fault == "empty_submit_raises" and not samples:
            raise ValueError("max() of an empty batch")
        if self.fault == "repeats_collapse":
            samples = list({sample.index: sample for sample in samples}.values())
        for sample in samples:
            self.seen += 1
            faulty = FAULTS.get(self.fault)
            if faulty is None or self.seen <= self.after:
                self.answer(sample)
            else:
                faulty(self, sample)

    def end(self) -> None:
        if self.fault == "end_raises":
            raise RuntimeError("end refused")

    def stop(self) -> None:
        if self.fault == "stop_hangs":
            time.sleep(3600)
        if self.fault == "second_stop_raises" and self.stopped:
            raise RuntimeError("stopped twice")
        self.stopped = True
        for timer in self.timers:
            timer.cancel()
            timer.join()

    def answer(self, sample: Sample) -> None:
        """The right answer."""
        tokens = echo(self.dataset.tokens(sample.index), self.config.sampling)
        if self.first_tokens:
            self.sink.first_token(sample.id, int(tokens[0]))
        self.sink.final(sample.id, tokens)

    def later(self, work: Callable[[Sample], None], sample: Sample) -> None:
        """Do `work` in another thread after `delay_s`."""
        timer = threading.Timer(self.delay_s, work, (sample,))
        timer.daemon = True
        self.timers.append(timer)
        timer.start()

    def tokens(self, sample: Sample) -> np.ndarray:
        return np.array(echo(self.dataset.tokens(sample.index), self.config.sampling))

    def first(self, sample: Sample, token: int) -> None:
        if self.first_tokens:
            self.sink.first_token(sample.id, token)


def _lost(engine: FaultyEngine, sample: Sample) -> None:
    """First token comes, the final never does."""
    engine.first(sample, int(engine.tokens(sample)[0]))


def _silent(engine: FaultyEngine, sample: Sample) -> None:
    """Nothing comes at all."""


def _duplicate(engine: FaultyEngine, sample: Sample) -> None:
    engine.answer(sample)
    engine.sink.final(sample.id, engine.tokens(sample))


def _duplicate_first(engine: FaultyEngine, sample: Sample) -> None:
    engine.first(sample, int(engine.tokens(sample)[0]))
    engine.answer(sample)


def _no_first(engine: FaultyEngine, sample: Sample) -> None:
    engine.sink.final(sample.id, engine.tokens(sample))


def _unwanted_first(engine: FaultyEngine, sample: Sample) -> None:
    engine.sink.first_token(sample.id, int(engine.tokens(sample)[0]))
    engine.sink.final(sample.id, engine.tokens(sample))


def _first_after_final(engine: FaultyEngine, sample: Sample) -> None:
    tokens = engine.tokens(sample)
    engine.sink.final(sample.id, tokens)
    engine.first(sample, int(tokens[0]))


def _first_not_in_final(engine: FaultyEngine, sample: Sample) -> None:
    tokens = engine.tokens(sample)
    engine.first(sample, int(tokens[0]) + 1)
    engine.sink.final(sample.id, tokens)


def _late(engine: FaultyEngine, sample: Sample) -> None:
    """The answer is right but comes `delay_s` later, perhaps after the test has ended."""
    engine.later(engine.answer, sample)


def _slow(engine: FaultyEngine, sample: Sample) -> None:
    """`submit` itself blocks."""
    time.sleep(engine.delay_s)
    engine.answer(sample)


def _count(tokens: int) -> Callable[[FaultyEngine, Sample], None]:
    def answer(engine: FaultyEngine, sample: Sample) -> None:
        ids = np.resize(engine.tokens(sample), tokens).astype(np.int32)
        if tokens:
            engine.first(sample, int(ids[0]))
        engine.sink.final(sample.id, ids)

    return answer


def _too_long(engine: FaultyEngine, sample: Sample) -> None:
    _count(engine.config.sampling.max_new_tokens + 1)(engine, sample)


def _dtype(dtype: str) -> Callable[[FaultyEngine, Sample], None]:
    def answer(engine: FaultyEngine, sample: Sample) -> None:
        tokens = engine.tokens(sample)
        engine.first(sample, int(tokens[0]))
        engine.sink.final(sample.id, tokens.astype(dtype))

    return answer


def _raise(engine: FaultyEngine, sample: Sample) -> None:
    raise RuntimeError("device lost")


def _raise_in_thread(engine: FaultyEngine, sample: Sample) -> None:
    def crash(_: Sample) -> None:
        raise RuntimeError("engine thread died")

    engine.later(crash, sample)


def _fail(engine: FaultyEngine, sample: Sample) -> None:
    engine.sink.failed(sample.id, "prompt too long for the engine")


def _exit(engine: FaultyEngine, sample: Sample) -> None:
    os._exit(7)


def _hang(engine: FaultyEngine, sample: Sample) -> None:
    time.sleep(3600)


def _unknown_id(engine: FaultyEngine, sample: Sample) -> None:
    """An answer to a sample nobody issued, then the right one."""
    engine.sink.final(sample.id ^ 0x5555, engine.tokens(sample))
    engine.answer(sample)


FAULTS: Mapping[str, Callable[[FaultyEngine, Sample], None]] = {
    "lost": _lost,
    "silent": _silent,
    "duplicate": _duplicate,
    "duplicate_first": _duplicate_first,
    "no_first": _no_first,
    "unwanted_first": _unwanted_first,
    "first_after_final": _first_after_final,
    "first_not_in_final": _first_not_in_final,
    "late": _late,
    "slow": _slow,
    "one_token": _count(1),
    "empty": _count(0),
    "too_long": _too_long,
    "int64": _dtype("int64"),
    "float": _dtype("float32"),
    "submit_raises": _raise,
    "thread_raises": _raise_in_thread,
    "fails": _fail,
    "exit": _exit,
    "hang": _hang,
    "unknown_id": _unknown_id,
}

LIFE_CYCLE_FAULTS = (
    "start_fails",
    "start_raises",
    "start_hangs",
    "no_facts",
    "no_window",
    "warm_up_raises",
    "begin_raises",
    "empty_submit_raises",
    "repeats_collapse",
    "end_raises",
    "stop_hangs",
    "second_stop_raises",
)
