"""The engine driven directly: no LoadGen, no sockets. One line on stdin, one run, tokens per second on stdout.

Usage: python -m tests.benchmarks.direct DATASET MODEL SAMPLES NEW_TOKENS
"""

import os
import sys
import threading
import time
from dataclasses import dataclass, field

from sut.dataset import TokenDataset
from sut.dispatch.policies import offline_order
from sut.protocol import EngineConfig, RunContext, Sample, Sampling, TokenIds
from sut.registry import create


@dataclass
class Counter:
    """Counts answers; `done` is set by the last."""

    wanted: int
    tokens: int = 0
    answers: int = 0
    done: threading.Event = field(default_factory=threading.Event)

    def first_token(self, sample_id: int, token: int) -> None:
        """Offline wants none."""

    def final(self, sample_id: int, tokens: TokenIds) -> None:
        self.tokens += len(tokens)
        self.answers += 1
        if self.answers == self.wanted:
            self.done.set()

    def failed(self, sample_id: int, reason: str) -> None:
        raise SystemExit(reason)


def main(dataset: str, model: str, samples: int, new_tokens: int) -> None:
    out = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    sampling = Sampling(min_new_tokens=2, max_new_tokens=new_tokens, ignore_eos=True)
    counter = Counter(samples)
    engine = create("vllm-cpu", EngineConfig(settings={"model": model}, dataset_path=dataset, sampling=sampling))
    engine.start(counter)
    engine.warm_up()
    order = offline_order(TokenDataset.open(dataset).lengths(), list(range(samples))).tolist()
    print("ready", file=out, flush=True)
    for epoch, _ in enumerate(sys.stdin, 1):
        counter.tokens = counter.answers = 0
        counter.done.clear()
        engine.begin(RunContext(scenario="Offline", first_tokens=False, epoch=epoch))
        started = time.perf_counter()
        engine.submit([Sample(index + 1, index) for index in order])
        counter.done.wait()
        print(counter.tokens / (time.perf_counter() - started), file=out, flush=True)
        engine.end()
    engine.stop()


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4]))
