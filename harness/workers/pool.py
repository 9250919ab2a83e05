"""The workers of one SUT configuration: started once, kept over many tests, ended with the pool."""

import contextlib
import os
import secrets
import shutil
import socket
import sys
import tempfile
import time
from dataclasses import dataclass, replace
from pathlib import Path
from types import TracebackType
from typing import Self

import numpy as np
import zmq

import sut
from harness.core.spec import WorkerEndpoint
from harness.errors import WorkerChoiceError, WorkerError
from harness.workers.launch import LENT_PACKAGES, Surroundings, WorkerPlace, launch
from harness.workers.process import WorkerProcess
from sut.control import WorkerConfig
from sut.dataset import TokenDataset
from sut.protocol import EngineConfig, SutFacts

READY_TIMEOUT_S = 1800.0
STOP_TIMEOUT_S = 25.0
# The longest socket path Linux takes is 107 bytes; a socket here is named at most "t65535".
MAX_FOLDER_BYTES = 100


@dataclass(frozen=True, slots=True)
class PoolPlan:
    """What a pool is made of: the SUT, its engine configuration, the places of its workers, and where logs go.

    `dataset_sha256` is what every worker must have loaded; None takes what this process finds under the dataset path.
    `inherited` are descriptors that the processes of a run keep open: the campaign's lock.
    """

    sut: str
    engine: EngineConfig
    places: tuple[WorkerPlace, ...]
    log_folder: Path
    heartbeat_s: float = 1.0
    ready_timeout_s: float = READY_TIMEOUT_S
    stop_timeout_s: float = STOP_TIMEOUT_S
    dataset_sha256: str | None = None
    inherited: tuple[int, ...] = ()


class WorkerPool:
    """Workers and the endpoints by which a LoadGen process reaches them. A context manager: leaving it stops them."""

    def __init__(self, plan: PoolPlan) -> None:
        self.plan = plan
        self.places = tuple(replace(place, count=1) for place in plan.places for _ in range(place.count))
        self.facts: tuple[SutFacts, ...] = ()
        self.curve: dict[str, str] | None = None
        self._client_curve: dict[str, str] | None = None
        self._sha256 = ""
        self.events = ""
        self._tasks: tuple[str, ...] = ()
        self._folder: Path | None = None
        self._processes: list[WorkerProcess] = []
        self._epoch = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    def start(self) -> tuple[SutFacts, ...]:
        """Starts the workers, where they do not run already, and waits until all are ready.

        A pool that has lost a worker between two runs is started anew.

        Raises WorkerError with what every worker that failed said; none is left running then.
        """
        if self._processes and self.lost() is None:
            return self.facts
        self.stop()
        try:
            self._prepare()
            self._spawn()
            self.facts = self._wait_ready()
        except BaseException:
            self.stop()
            raise
        return self.facts

    def endpoints(self, run_dir: Path | None = None) -> tuple[WorkerEndpoint, ...]:
        """Where each worker takes its tasks and how many samples it wants in flight. The same for every run."""
        del run_dir
        if not self.facts:
            raise WorkerError("the workers have not been started; call start() first")
        return tuple(
            WorkerEndpoint(index, tasks, facts.window)
            for index, (tasks, facts) in enumerate(zip(self._tasks, self.facts, strict=True))
        )

    @property
    def lengths(self) -> Path:
        """The .npy file of the prompt lengths in tokens, for longest-first dispatch."""
        return self._private / "lengths.npy"

    def next_epoch(self) -> int:
        """The number of the next test: greater than any before, so that stale frames can be told."""
        self._epoch += 1
        return self._epoch

    def lost(self) -> str | None:
        """The first worker that cannot answer any more: its index, a colon, and why. None while all live."""
        for process in self._processes:
            if (reason := process.lost()) is not None:
                return f"{process.index}: {reason}"
        return None

    def stop(self) -> None:
        """Ends all workers within a bound, whatever they do; idempotent."""
        deadline = time.monotonic() + self.plan.stop_timeout_s
        for process in self._processes:
            process.ask_to_stop()
        for process in self._processes:
            process.wait_stopped(deadline)
        self._processes, self.facts = [], ()
        if self._folder is not None:
            shutil.rmtree(self._folder, ignore_errors=True)
            self._folder = None

    @property
    def _private(self) -> Path:
        if self._folder is None:
            raise WorkerError("the workers have not been started; call start() first")
        return self._folder

    def _prepare(self) -> None:
        """The private folder with sockets, links and lengths; the endpoints; the keys where the sockets are TCP."""
        folder = Path(tempfile.mkdtemp(prefix="wb-"))
        self._folder = folder
        if len(os.fsencode(folder)) > MAX_FOLDER_BYTES:
            raise WorkerChoiceError(f"{folder} is too long a path for sockets; set TMPDIR to a short one")
        root = Path(sut.__file__).resolve().parents[1]
        (folder / "lent").mkdir()
        for package in LENT_PACKAGES:
            (folder / "lent" / package).symlink_to(root / package)
        dataset = TokenDataset.open(self.plan.engine.dataset_path, verify=False)
        np.save(self.lengths, dataset.lengths())
        self._sha256 = self.plan.dataset_sha256 or dataset.sha256
        heads = {head for place in self.places if (head := _head(place)) is not None}
        if len(heads) > 1:
            raise WorkerChoiceError(
                f"workers reach this machine by {', '.join(sorted(heads))}; give all hosts one `head`"
            )
        if heads:
            self._use_tcp(heads.pop())
        else:
            self.curve, self._client_curve = None, None
            self.events = f"ipc://{folder}/e"
            self._tasks = tuple(f"ipc://{folder}/t{index}" for index in range(len(self.places)))

    def _use_tcp(self, head: str) -> None:
        server, client = zmq.curve_keypair(), zmq.curve_keypair()
        self.curve = {"public": server[0].decode(), "secret": server[1].decode()}
        self._client_curve = {
            "public": client[0].decode(),
            "secret": client[1].decode(),
            "server": server[0].decode(),
        }
        self.events, *tasks = (f"tcp://{head}:{port}" for port in _free_ports(head, len(self.places) + 1))
        self._tasks = tuple(tasks)

    def _spawn(self) -> None:
        self.plan.log_folder.mkdir(parents=True, exist_ok=True)
        around = Surroundings(
            interpreter=sys.executable,
            root=Path(sut.__file__).resolve().parents[1],
            lent=self._private / "lent",
            sockets=self._private,
            folders=(Path(self.plan.engine.dataset_path).resolve(),),
            env=dict(os.environ),
        )
        name = f"weighbridge-{secrets.token_hex(4)}"
        for index, place in enumerate(self.places):
            config = WorkerConfig(
                sut=self.plan.sut,
                engine=replace(self.plan.engine, worker_index=index, worker_count=len(self.places)),
                tasks=self._tasks[index],
                events=self.events,
                worker_index=index,
                heartbeat_s=self.plan.heartbeat_s,
                curve=self._client_curve,
            )
            log = self.plan.log_folder / f"worker-{index}.log"
            # A client of another host may stay behind for reasons of its own, and would keep the lock.
            inherited = self.plan.inherited if place.host is None else ()
            command = launch(place, around, f"{name}-{index}")
            self._processes.append(WorkerProcess(index, command, config, log, inherited))

    def _wait_ready(self) -> tuple[SutFacts, ...]:
        deadline = time.monotonic() + self.plan.ready_timeout_s
        problems: list[str] = []
        for process in self._processes:
            if problem := process.wait_ready(deadline if not problems else time.monotonic() + 1.0):
                problems.append(problem)
        facts = tuple(process.facts for process in self._processes if process.facts is not None)
        problems += [
            f"worker {index} has loaded a dataset of hash {fact.dataset_sha256[:12]}, not {self._sha256[:12]}; "
            "copy the same dataset folder to it"
            for index, fact in enumerate(facts)
            if not problems and fact.dataset_sha256 != self._sha256
        ]
        if problems:
            raise WorkerError("\n".join(problems))
        return facts


def _head(place: WorkerPlace) -> str | None:
    """The address by which a worker of this place reaches this machine over TCP; None for one on this machine."""
    if place.host is None:
        return None
    if place.head is not None:
        return place.head
    with contextlib.suppress(OSError), socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        # Connecting a datagram socket sends nothing; it only asks the routing table.
        probe.connect((place.host.rpartition("@")[2], 9))
        return str(probe.getsockname()[0])
    raise WorkerChoiceError(
        f"no address of this machine is known that {place.host} could reach; give the worker a `head`"
    )


def _free_ports(address: str, count: int) -> list[int]:
    with contextlib.ExitStack() as stack:
        sockets = [stack.enter_context(socket.socket()) for _ in range(count)]
        for one in sockets:
            one.bind((address, 0))
        return [int(one.getsockname()[1]) for one in sockets]
