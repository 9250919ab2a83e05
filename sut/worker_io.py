"""The I/O thread of a worker: the only thread that touches its sockets.

It takes task frames in, hands them to the engine's thread by a queue, sends what the outbox holds, and beats while a
test is open. The engine's thread may block for as long as it likes: the heart beats on, and tells its own lateness.
"""

import contextlib
import os
import threading
import time
from queue import SimpleQueue
from typing import TypeAlias

import zmq

from sut import messages, wire
from sut.control import WorkerConfig
from sut.errors import SutError, WireError
from sut.outbox import Outbox

RECONNECT_MS = 100
LINGER_MS = 1000
FLUSH_S = 5.0

_SECOND_NS = 1_000_000_000


class Stop:
    """Posted to the engine's thread: the runner wants the worker to end."""


class Broken:
    """Posted to the engine's thread: the worker cannot go on, for this error."""

    def __init__(self, error: SutError) -> None:
        self.error = error


Task: TypeAlias = messages.Begin | messages.Submit | messages.End | Stop | Broken


class WorkerIo:
    """Owns the sockets. `tasks` is the queue it feeds; `outbox` is where the engine reports."""

    def __init__(self, config: WorkerConfig) -> None:
        self.tasks: SimpleQueue[Task] = SimpleQueue()
        self._context = zmq.Context()
        address = f"inproc://wake-{os.getpid()}-{id(self)}"
        self._wake_in = self._context.socket(zmq.PULL)
        self._wake_in.bind(address)
        self._wake_out = self._context.socket(zmq.PUSH)
        self._wake_out.connect(address)
        self._wake_lock = threading.Lock()
        self.outbox = Outbox(config.worker_index, self.wake)
        self._config = config
        self._newest_epoch = -1
        self._open_epoch: int | None = None
        self._ending = False
        self._due_ns = 0
        self._lag_ns = 0
        self._thread = threading.Thread(target=self._run, name="worker-io", daemon=True)

    def start(self) -> None:
        """Connect and serve. Raises WireError for CURVE keys or endpoints that ZMQ refuses."""
        self._pull = self._connect(zmq.PULL, self._config.tasks)
        self._push = self._connect(zmq.PUSH, self._config.events)
        self._thread.start()

    def wake(self) -> None:
        """Make the I/O thread look at the outbox; any thread may call this, none waits."""
        # One socket for all threads: the lock is the fence that ZMQ asks for when a socket changes threads.
        with self._wake_lock, contextlib.suppress(zmq.ZMQError):
            self._wake_out.send(b"", zmq.NOBLOCK)

    def is_current(self, epoch: int) -> bool:
        """Whether no later test has begun; tasks of an older one are stale."""
        return epoch >= self._newest_epoch

    def beat(self, epoch: int | None) -> None:
        """The test whose heartbeats to send; None stops them."""
        self._due_ns = time.monotonic_ns()
        self._open_epoch = epoch
        self.wake()

    def close(self) -> None:
        """Send what is left, bounded in time, and end the thread."""
        self._ending = True
        self.wake()
        if self._thread.is_alive():
            self._thread.join(FLUSH_S)
        if not self._thread.is_alive():
            # Waits for what is queued to leave, LINGER_MS at most: the process ends without Python's own clean-up.
            with self._wake_lock:
                self._context.destroy(linger=LINGER_MS)

    def _connect(self, kind: int, endpoint: str) -> "zmq.Socket[bytes]":
        socket = self._context.socket(kind)
        socket.set(zmq.RECONNECT_IVL, RECONNECT_MS)
        socket.set(zmq.LINGER, LINGER_MS)
        # Unbounded queues: the samples in flight bound them, and a send must never stop the heartbeat.
        socket.set(zmq.SNDHWM, 0)
        socket.set(zmq.RCVHWM, 0)
        keys = self._config.curve
        try:
            if keys is not None:
                socket.curve_publickey = keys["public"].encode()
                socket.curve_secretkey = keys["secret"].encode()
                socket.curve_serverkey = keys["server"].encode()
            socket.connect(endpoint)
        except KeyError as error:
            raise WireError(f"the CURVE keys lack {error}; give public, secret and server") from None
        except zmq.ZMQError as error:
            raise WireError(f"cannot connect to {endpoint}: {error}; check the endpoint and the CURVE keys") from None
        return socket

    def _run(self) -> None:
        try:
            self._serve()
        except Exception as error:  # noqa: BLE001 whatever it is, the engine's thread must learn of it and end
            self.tasks.put(Broken(SutError(f"the worker's I/O thread failed: {type(error).__name__}: {error}")))

    def _serve(self) -> None:
        poller = zmq.Poller()
        poller.register(self._pull, zmq.POLLIN)
        poller.register(self._wake_in, zmq.POLLIN)
        while True:
            ready = dict(poller.poll(self._wait_ms()))
            if self._pull in ready:
                self._drain()
            if self._wake_in in ready:
                # One wake at a time: a second one finds an empty outbox.
                self._wake_in.recv()
                self._send()
            if self._ending:
                # Once more: what was put just before the end may have missed the drain above.
                self._send()
                return
            self._beat_if_due()

    def _send(self) -> None:
        for frame in self.outbox.drain():
            self._push.send(frame)

    def _drain(self) -> None:
        with contextlib.suppress(zmq.Again):
            while True:
                self._take(self._pull.recv(zmq.NOBLOCK))

    def _take(self, frame: bytes) -> None:
        try:
            message = wire.decode(frame)
        except WireError as error:
            self.tasks.put(Broken(error))
            return
        if not isinstance(message, messages.Begin | messages.Submit | messages.End):
            self.tasks.put(
                Broken(WireError(f"a {type(message).__name__} frame on the tasks socket; check the endpoints"))
            )
            return
        if isinstance(message, messages.Begin):
            self._newest_epoch = max(self._newest_epoch, message.epoch)
        if self.is_current(message.epoch):
            self.tasks.put(message)

    def _wait_ms(self) -> int | None:
        if self._open_epoch is None:
            return None
        return max(0, -(-(self._due_ns - time.monotonic_ns()) // 1_000_000))

    def _beat_if_due(self) -> None:
        epoch = self._open_epoch
        now_ns = time.monotonic_ns()
        if epoch is None or now_ns < self._due_ns:
            return
        lag_ns = now_ns - self._due_ns
        self._push.send(wire.encode_heartbeat(epoch, self._config.worker_index, self.outbox.in_flight, lag_ns))
        self._due_ns = now_ns + int(self._config.heartbeat_s * _SECOND_NS)
