"""The worker process, ``python -m sut.worker``: one engine, its sockets, and the control lines of `sut.control`.

Three threads: the main thread owns the engine and makes every call of the protocol in order; the I/O thread owns the
sockets (`sut.worker_io`); the control thread reads standard input, whose end means that the runner is gone.
Exit status: 0 stopped, 1 failed (a `failed` line says why), 2 no configuration could be read.
"""

import contextlib
import ctypes
import gc
import os
import signal
import sys
import threading
import traceback
from collections.abc import Callable
from typing import BinaryIO, NoReturn

import msgspec

from sut import messages, wire
from sut.control import WorkerCommand, WorkerConfig, WorkerStatus
from sut.errors import EngineLost, SutError, WireError
from sut.protocol import Engine, RunContext, Sample
from sut.registry import create
from sut.worker_io import Broken, Stop, Task, WorkerIo

SWITCH_INTERVAL_S = 0.0002

_PR_SET_PDEATHSIG = 1


class Control:
    """The control lines: the real standard input and output, which the engine never sees."""

    def __init__(self) -> None:
        # Engines print, and so do their child processes: fd 1 becomes standard error, fd 0 becomes empty.
        self._out: BinaryIO = os.fdopen(os.dup(1), "wb", buffering=0)
        self._in: BinaryIO = os.fdopen(os.dup(0), "rb")
        os.dup2(2, 1)
        empty = os.open(os.devnull, os.O_RDONLY)
        os.dup2(empty, 0)
        os.close(empty)

    def read_config(self) -> WorkerConfig:
        """The first line. Raises WireError."""
        try:
            return msgspec.json.decode(self._in.readline(), type=WorkerConfig)
        except msgspec.DecodeError as error:
            raise WireError(f"the first line is no worker configuration: {error}; start workers by the pool") from None

    def write(self, status: WorkerStatus) -> None:
        """Write one status line; a runner that is gone is no error here."""
        with contextlib.suppress(OSError):
            self._out.write(msgspec.json.encode(status) + b"\n")

    def wait_for_stop(self) -> None:
        """Return when the runner says stop, or is gone."""
        for line in self._in:
            with contextlib.suppress(msgspec.DecodeError):
                if msgspec.json.decode(line, type=WorkerCommand).command == "stop":
                    return


class Worker:
    """Runs one engine from start to stop, on the main thread."""

    def __init__(self, config: WorkerConfig, control: Control) -> None:
        self._config = config
        self._control = control
        self._io = WorkerIo(config)
        self._engine: Engine | None = None
        self._window = 1
        self._epoch: int | None = None
        self._stop_wanted = threading.Event()

    def run(self) -> int:
        """The whole life; returns the exit status. Never raises for what an engine does."""
        self._watch()
        try:
            self._start()
            while not self._stop_wanted.is_set():
                self._handle(self._io.tasks.get())
            self._stop_engine()
        except Exception as error:  # noqa: BLE001 an engine may raise anything; all of it ends as a failed status
            self._fail(error)
            return 1
        self._io.close()
        self._control.write(WorkerStatus("stopped"))
        return 0

    def _watch(self) -> None:
        threading.excepthook = self._thread_died
        signal.signal(signal.SIGINT, _do_nothing)
        signal.signal(signal.SIGTERM, lambda *_: self._request_stop())
        _die_with_parent(self._request_stop)
        threading.Thread(target=self._read_control, name="worker-control", daemon=True).start()

    def _start(self) -> None:
        self._engine = create(self._config.sut, self._config.engine)
        facts = self._engine.start(self._io.outbox)
        self._window = facts.window
        self._engine.warm_up()
        # What start and warm-up left lives as long as the process: no collection need walk it in a timed run.
        gc.collect()
        gc.freeze()
        sys.setswitchinterval(SWITCH_INTERVAL_S)
        self._io.start()
        self._control.write(WorkerStatus("ready", facts))

    def _handle(self, task: Task) -> None:
        if isinstance(task, Broken):
            raise task.error
        if isinstance(task, Stop) or not self._io.is_current(task.epoch):
            return
        if isinstance(task, messages.Begin):
            self._begin(task)
        elif task.epoch == self._epoch:
            if isinstance(task, messages.Submit):
                self._submit(task)
            else:
                self._end()
                self._io.outbox.put_frame(wire.encode_goodbye(task.epoch, self._config.worker_index))

    def _begin(self, task: messages.Begin) -> None:
        if self._epoch is not None:
            # The LoadGen process of that test is gone; its samples are answered to nobody.
            self._end()
        self._io.outbox.open(task.epoch)
        self._epoch = task.epoch
        self._running().begin(RunContext(task.scenario, task.first_tokens, task.epoch))
        self._io.outbox.put_frame(wire.encode_hello(task.epoch, self._config.worker_index, self._window))
        self._io.beat(task.epoch)

    def _submit(self, task: messages.Submit) -> None:
        self._io.outbox.submitted(task.ids)
        self._running().submit([Sample(i, index) for i, index in zip(task.ids, task.indices, strict=True)])

    def _end(self) -> None:
        self._io.beat(None)
        self._io.outbox.close()
        self._epoch = None
        self._running().end()

    def _running(self) -> Engine:
        if self._engine is None:
            raise WireError("a task before the engine started; start workers by the pool")
        return self._engine

    def _stop_engine(self) -> None:
        self._io.beat(None)
        self._io.outbox.close()
        if self._engine is not None:
            self._engine.stop()

    def _fail(self, error: Exception) -> None:
        reason = _reason(error)
        if not isinstance(error, SutError):
            traceback.print_exception(error, file=sys.stderr)
        self._bound_the_end()
        self._io.outbox.fail_all(reason)
        self._io.close()
        self._control.write(WorkerStatus("failed", reason=reason))
        with contextlib.suppress(Exception):
            self._stop_engine()

    def _thread_died(self, args: threading.ExceptHookArgs) -> None:
        traceback.print_exception(args.exc_type, args.exc_value, args.exc_traceback, file=sys.stderr)
        name = args.thread.name if args.thread else "?"
        self._io.tasks.put(Broken(EngineLost(f"the engine's thread {name} died of {_reason(args.exc_value)}")))

    def _read_control(self) -> None:
        self._control.wait_for_stop()
        self._request_stop()

    def _request_stop(self) -> None:
        self._stop_wanted.set()
        self._io.tasks.put(Stop())
        self._bound_the_end()

    def _bound_the_end(self) -> None:
        # An engine that hangs in start, submit or stop must not outlive the runner.
        bound = threading.Timer(self._config.stop_grace_s, _end_now)
        bound.daemon = True
        bound.start()


def main() -> NoReturn:
    """Entry point of the process."""
    control = Control()
    try:
        config = control.read_config()
    except WireError as error:
        control.write(WorkerStatus("failed", reason=str(error)))
        os._exit(2)
    status = Worker(config, control).run()
    sys.stdout.flush()
    sys.stderr.flush()
    # Not sys.exit: an engine's leftover thread must not keep the process, and with it the device's memory.
    os._exit(status)


def _reason(error: BaseException | None) -> str:
    return str(error) if isinstance(error, SutError) else f"{type(error).__name__}: {error}"


def _end_now() -> None:
    """End the process and, where it leads its own process group, the engine's children with it."""
    os.write(2, b"worker: the engine did not stop in time; ending the process and its group\n")
    if os.getpgrp() == os.getpid():
        os.killpg(0, signal.SIGKILL)
    os._exit(1)


def _do_nothing(*_: object) -> None:
    """Ctrl-C is the runner's to answer; a handler, unlike SIG_IGN, is not inherited by the engine's children."""


def _die_with_parent(request_stop: Callable[[], None]) -> None:
    """Be told by the kernel when the parent dies (Linux). Standard input's end says the same; this needs no pipe.

    The signal also comes when only the thread that started this process ends, hence the look at the parent's id.
    """
    if sys.platform != "linux":
        return
    parent = os.getppid()

    def on_signal(*_: object) -> None:
        if os.getppid() != parent:
            request_stop()

    signal.signal(signal.SIGUSR2, on_signal)
    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGUSR2)


if __name__ == "__main__":
    main()
