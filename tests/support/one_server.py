"""An engine with one server and a queue: answers one sample after another, each after `1 / capacity_qps` seconds."""

import queue
import threading
import time
from collections.abc import Sequence

import numpy as np

from sut.dataset import TokenDataset
from sut.facts import modelless_facts
from sut.protocol import EngineConfig, EventSink, RunContext, Sample, SutFacts
from sut.settings import SettingsReader

ANSWER = np.arange(5, 9, dtype=np.int32)


class OneServer:
    def __init__(self, config: EngineConfig) -> None:
        read = SettingsReader("one_server", config.settings)
        self.service_s = 1 / read.number("capacity_qps", 100, minimum=1e-6)
        read.finish()
        self.config = config
        self.waiting: queue.SimpleQueue[tuple[int, Sample] | None] = queue.SimpleQueue()
        self.test = 0

    def start(self, sink: EventSink) -> SutFacts:
        self.sink = sink
        threading.Thread(target=self.serve, daemon=True).start()
        return modelless_facts("one_server", TokenDataset.open(self.config.dataset_path), 1)

    def serve(self) -> None:
        free_s = time.monotonic()
        while (item := self.waiting.get()) is not None:
            test, sample = item
            if test != self.test:
                continue
            # On an absolute clock: sleeping late must not lower the capacity.
            free_s = max(free_s, time.monotonic()) + self.service_s
            time.sleep(max(0.0, free_s - time.monotonic()))
            if test == self.test:
                self.sink.first_token(sample.id, int(ANSWER[0]))
                self.sink.final(sample.id, ANSWER)

    def warm_up(self) -> None:
        pass

    def begin(self, run: RunContext) -> None:
        self.test += 1

    def submit(self, samples: Sequence[Sample]) -> None:
        for sample in samples:
            self.waiting.put((self.test, sample))

    def end(self) -> None:
        self.test += 1

    def stop(self) -> None:
        self.waiting.put(None)
