"""A real worker process with the runner's and the LoadGen process's side of it, for tests."""

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from queue import Queue
from typing import Any, Self

import msgspec
import zmq

from sut import messages, wire
from sut.control import WorkerConfig, WorkerStatus
from sut.dataset import write_dataset
from sut.protocol import EngineConfig, Sampling

REPO = Path(__file__).parents[2]
FAULTY = "tests.support.faulty_engines:FaultyEngine"
DEADLINE_MS = 30_000


def small_dataset(folder: Path, size: int = 20) -> str:
    """A dataset whose prompt i is 3 + i % 5 tokens long and begins with 100 + i."""
    prompts = [list(range(100 + i, 103 + i + i % 5)) for i in range(size)]
    write_dataset(folder, "small", prompts, source="generated", licence="CC0-1.0", tokenizer_sha256="0" * 64)
    return str(folder)


def engine_config(dataset: str, *, low: int = 1, high: int = 16, **settings: object) -> EngineConfig:
    return EngineConfig(settings=settings, dataset_path=dataset, sampling=Sampling(low, high))


@dataclass
class WorkerProcess:
    """The process, its status lines, and where its log went."""

    process: subprocess.Popen
    log: Path
    statuses: Queue = field(default_factory=Queue)

    def status(self) -> WorkerStatus:
        return self.statuses.get(timeout=DEADLINE_MS / 1000)

    def say(self, line: bytes) -> None:
        self.process.stdin.write(line + b"\n")
        self.process.stdin.flush()

    def wait(self) -> int:
        return self.process.wait(DEADLINE_MS / 1000)


@contextmanager
def worker_process(config: WorkerConfig | bytes, folder: Path, python: str = sys.executable) -> Iterator[WorkerProcess]:
    """Start a worker in its own process group; kill what is left of it at the end."""
    log = folder / "worker.log"
    with log.open("wb") as stderr:
        process = subprocess.Popen(
            [python, "-m", "sut.worker"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=stderr,
            cwd=REPO,
            start_new_session=True,
        )
    worker = WorkerProcess(process, log)
    reader = threading.Thread(target=_read, args=(worker,))
    reader.start()
    try:
        worker.say(config if isinstance(config, bytes) else msgspec.json.encode(config))
        yield worker
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        reader.join()
        process.stdin.close()
        process.stdout.close()


def _read(worker: WorkerProcess) -> None:
    for line in worker.process.stdout:
        worker.statuses.put(msgspec.json.decode(line, type=WorkerStatus))


class LoadgenSide:
    """The sockets the LoadGen process binds, and the events that came."""

    def __init__(self, tasks: str, events: str, curve: dict[str, Any] | None = None) -> None:
        self.context = zmq.Context()
        self.push = self.context.socket(zmq.PUSH)
        self.pull = self.context.socket(zmq.PULL)
        for socket, endpoint in ((self.push, tasks), (self.pull, events)):
            socket.set(zmq.LINGER, 0)
            if curve:
                socket.curve_server = True
                socket.curve_publickey = curve["public"].encode()
                socket.curve_secretkey = curve["secret"].encode()
            socket.bind(endpoint)
        self.firsts: list[tuple[int, int, int]] = []
        self.finals: list[tuple[int, int, list[int]]] = []
        self.failures: list[tuple[int, int, str]] = []
        self.beats: list[messages.Heartbeat] = []
        self.hellos: list[messages.Hello] = []
        self.goodbyes: list[messages.Goodbye] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.context.destroy(linger=0)

    def endpoints(self) -> tuple[str, str]:
        return self.push.last_endpoint.decode(), self.pull.last_endpoint.decode()

    def begin(self, epoch: int, *, first_tokens: bool = True, scenario: str = "Server") -> messages.Hello:
        self.push.send(wire.encode_begin(epoch, first_tokens, scenario))
        self.until(lambda: any(hello.epoch == epoch for hello in self.hellos))
        return self.hellos[-1]

    def end(self, epoch: int) -> None:
        self.push.send(wire.encode_end(epoch))
        self.until(lambda: any(goodbye.epoch == epoch for goodbye in self.goodbyes))

    def submit(self, epoch: int, samples: dict[int, int]) -> None:
        self.push.send(wire.encode_submit(epoch, list(samples), list(samples.values())))

    def until(self, done: Any) -> None:
        while not done():
            assert self.pull.poll(DEADLINE_MS), "no event within the deadline"
            self.take(wire.decode(self.pull.recv()))

    def drain(self, wait_ms: int = 0) -> None:
        while self.pull.poll(wait_ms):
            self.take(wire.decode(self.pull.recv()))

    def take(self, message: messages.Message) -> None:
        match message:
            case messages.Hello():
                self.hellos.append(message)
            case messages.Goodbye():
                self.goodbyes.append(message)
            case messages.Heartbeat():
                self.beats.append(message)
            case messages.Events():
                epoch = message.epoch
                pairs = zip(message.first_ids, message.first_tokens, strict=True)
                self.firsts += [(epoch, sample_id, token) for sample_id, token in pairs]
                self.finals += [(epoch, sample_id, tokens.tolist()) for sample_id, tokens in message.finals()]
                self.failures += [(epoch, sample_id, reason) for sample_id, reason in message.failures]
