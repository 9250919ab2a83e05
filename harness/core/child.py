"""The LoadGen process: one test, then the end. `python -m harness.core.child SPEC.json`.

One process per test, since a second test in a process silently loses the built-in rules (F22). The main thread watches;
T1 runs StartTest, T2 dispatches, T3 completes. Every path leaves outcome.json and ends the process by os._exit, for
LoadGen's own thread cannot be stopped. Exit codes: 0 ok, 1 failed, 2 configuration, 130 interrupted.
"""

import faulthandler
import os
import sys
import threading
import time
import traceback
from array import array
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import msgspec
import numpy as np
import numpy.typing as npt
import zmq

from harness.core.callbacks import Callbacks
from harness.core.completion import Completion
from harness.core.dispatcher import Dispatcher
from harness.core.ledger import Ledger
from harness.core.memory import peak, resident
from harness.core.outcome import broken_ledger, config_outcome, finish, say, unfinished_log
from harness.core.preflight import (
    check_spec,
    freeze_memory,
    load_lengths,
    loadgen_missing,
    prepare_folder,
    settle_process,
)
from harness.core.progress import ProgressPipe
from harness.core.spec import RunOutcome, RunSpec, WorkerTotals
from harness.core.state import Failure, Inbox, RunState
from harness.core.watchdog import Watchdog
from harness.errors import HarnessError, StorageError
from harness.storage import read_record

_EXIT_BOUND_S = 25.0
_JOIN_S = 2.0
_ABORT_GOODBYE_S = 0.3
_CONTROL_S = 10.0
_LAG_ALARM_MS = 5.0
_CONFIG_EXIT = 2


class Test:
    """The threads of one test and what they share."""

    def __init__(self, spec: RunSpec, lengths: npt.NDArray[np.int32], pipe: ProgressPipe) -> None:
        from harness.core.loadgen import LoadgenReporter, prepare, run_test  # noqa: PLC0415 LoadGen may be missing

        self.spec = spec
        self.prepared = prepare(spec)
        self.ledger = Ledger(len(spec.workers), first_tokens=spec.first_tokens)
        self.state = RunState(len(spec.workers))
        self.watchdog = Watchdog(spec, self.ledger, self.state, pipe)
        self._run_test = run_test
        self._reporter = LoadgenReporter()
        self._lengths = lengths
        self.threads: list[threading.Thread] = []
        self.dispatcher: Dispatcher | None = None
        self.cpu_s = 0.0
        self.memory_bytes = 0

    def run(self) -> None:
        """Runs the test to its end, good or bad; the state says which."""
        state, watchdog = self.state, self.watchdog
        watchdog.listen()
        if not self._take_keys():
            return
        context = zmq.Context()
        inbox = Inbox(context)
        self.dispatcher = Dispatcher(self.spec, self.ledger, state, inbox, self._lengths, context)
        completion = Completion(self.spec, self.ledger, state, inbox, self._reporter, context)
        self._start("completion", completion.run)
        self._start("dispatcher", self.dispatcher.run)
        if not self._workers_ready():
            return
        freeze_memory()
        self._start("loadgen", lambda: self._loadgen(inbox))
        watchdog.watch()

    def close(self) -> None:
        """Ends the threads: End to the workers, their Goodbye for a moment, then no more reports."""
        state = self.state
        state.closing = True
        if self.dispatcher is None:
            return
        self.dispatcher.ring()
        in_order = state.failure is None or state.failure.kind == "hopeless"
        grace_s = self.spec.limits.drain_grace_s if in_order else _ABORT_GOODBYE_S
        self.watchdog.wait(lambda: len(state.goodbyes) == len(self.spec.workers), grace_s, despite_failure=True)
        state.stopping = True
        for thread in self.threads[:2]:
            thread.join(_JOIN_S)
        if not self.threads[1].is_alive():
            self.dispatcher.take_rest()

    def _take_keys(self) -> bool:
        """The CURVE keys of TCP endpoints come by the runner's first line: a secret has no place in a file."""
        if not self.spec.events.startswith("tcp://"):
            return True
        line = self.watchdog.first_line(_CONTROL_S)
        if line is None or not line.startswith("curve "):
            self.state.fail(
                "config", "the endpoints are TCP, but the runner sent no keys; start runs by `weighbridge run`"
            )
            return False
        keys = msgspec.json.decode(line.removeprefix("curve "), type=dict[str, str])
        self.spec = replace(self.spec, curve=keys)
        return True

    def _start(self, name: str, body: Callable[[], None]) -> None:
        thread = threading.Thread(target=body, name=name, daemon=True)
        self.threads.append(thread)
        thread.start()

    def _workers_ready(self) -> bool:
        """Whether every worker has said Hello in time."""
        state, workers = self.state, range(len(self.spec.workers))
        timeout_s = self.spec.limits.start_timeout_s
        if self.watchdog.wait(lambda: len(state.hellos) == len(workers), timeout_s):
            return True
        silent = ", ".join(str(worker) for worker in workers if worker not in state.hellos)
        state.fail("worker_lost", f"worker {silent} did not get ready within {timeout_s:g} s; see its log")
        return False

    def _loadgen(self, inbox: Inbox) -> None:
        bell = inbox.bell()
        began_s, resident_bytes = time.process_time(), resident()
        try:
            callbacks = Callbacks(bell, self.state, self.spec.loadgen.total_sample_count)
            self._run_test(self.spec, self.prepared, callbacks)
        except Exception as error:  # noqa: BLE001 a thread's last words go to the outcome
            self.state.fail("loadgen", f"LoadGen failed: {type(error).__name__}: {error}")
        finally:
            self.cpu_s = time.process_time() - began_s
            self.memory_bytes = max(0, peak() - resident_bytes)
            self.state.finish()


def run(spec: RunSpec, pipe: ProgressPipe) -> tuple[RunOutcome, Ledger | None]:
    """Makes one test; returns how it ended. Never raises for what can go wrong in a test."""
    started = time.monotonic()
    try:
        check_spec(spec)
        lengths = load_lengths(spec)
        prepare_folder(spec)
        settle_process(spec)
        test = Test(spec, lengths, pipe)
    except ImportError as error:
        return config_outcome(spec.run_id, str(loadgen_missing(error))), None
    except HarnessError as error:
        return config_outcome(spec.run_id, str(error)), None
    test.run()
    faulthandler.dump_traceback_later(_EXIT_BOUND_S, exit=True)
    test.close()
    return _outcome(test, time.monotonic() - started), test.ledger


def _outcome(test: Test, duration_s: float) -> RunOutcome:
    from harness.core.loadgen import version  # noqa: PLC0415 LoadGen may be missing

    failure = test.state.failure or _judge(test)
    totals = test.ledger.totals()
    lag_ms = np.array(test.watchdog.lag_ns or array("q", [0])) / 1e6
    issue_ns = test.dispatcher.issue_lag_ns if test.dispatcher else array("q")
    return RunOutcome(
        run_id=test.spec.run_id,
        kind=failure.kind if failure else "ok",
        cause=failure.cause if failure else "",
        ledger=totals,
        workers=tuple(
            WorkerTotals(worker.index, samples, tokens)
            for worker, samples, tokens in zip(
                test.spec.workers, test.ledger.worker_samples, test.ledger.worker_tokens, strict=True
            )
        ),
        duration_s=duration_s,
        loop_lag_p99_ms=float(np.percentile(lag_ms, 99)),
        loop_lag_max_ms=float(lag_ms.max()),
        loadgen_version=version(),
        details=_details(test, float(np.percentile(lag_ms, 99))),
        issue_lag_p99_ms=float(np.percentile(np.array(issue_ns or array("q", [0])) / 1e6, 99)),
        cpu_s=test.cpu_s,
        memory_bytes=test.memory_bytes,
        workers_free=len(test.state.goodbyes) == len(test.spec.workers),
    )


def _judge(test: Test) -> Failure | None:
    """What is wrong with a test that ran to its end, by the ledger and LoadGen's logs."""
    if fault := broken_ledger(test.ledger.totals(), first_tokens=test.spec.first_tokens):
        cut = unfinished_log(Path(test.spec.folder)) if not test.ledger.issued else ""
        return Failure("loadgen", cut) if cut else Failure("ledger", test.ledger.fault or fault)
    if cut := unfinished_log(Path(test.spec.folder)):
        return Failure("loadgen", cut)
    return None


def _details(test: Test, lag_p99_ms: float) -> tuple[str, ...]:
    """Facts that explain a run without deciding it."""
    state, details = test.state, []
    if state.stale_frames:
        details.append(f"{state.stale_frames} frames of an earlier test were dropped")
    if late := test.ledger.late_firsts:
        details.append(f"{late} first tokens were reported with their answer: the engine did not report them in time")
    if lag_p99_ms > _LAG_ALARM_MS:
        details.append(f"the main loop woke {lag_p99_ms:.1f} ms late (p99): give LoadGen cores of its own")
    details.extend(
        f"worker {worker} did not say goodbye within {test.spec.limits.drain_grace_s:g} s"
        for worker in range(len(test.spec.workers))
        if state.failure is None and worker not in state.goodbyes
    )
    details.extend(
        f"worker {worker}: its I/O loop woke {lag_ns / 1e6:.0f} ms late at worst"
        for worker, lag_ns in enumerate(state.worker_lag_ns)
        if lag_ns > 1e8  # noqa: PLR2004 a tenth of a second
    )
    return tuple(details)


def main(arguments: list[str]) -> None:
    """Ends the process, always."""
    if len(arguments) != 1:
        say("usage: python -m harness.core.child SPEC.json")
        os._exit(_CONFIG_EXIT)
    try:
        spec = read_record(Path(arguments[0]), RunSpec)
    except StorageError as error:
        say(f"weighbridge: {error}")
        os._exit(_CONFIG_EXIT)
    # A crash inside LoadGen leaves its place in core.log.
    faulthandler.enable()
    pipe = ProgressPipe()
    try:
        outcome, ledger = run(spec, pipe)
    except Exception as error:  # noqa: BLE001 whatever it is, the runner must be told
        say(traceback.format_exc())
        cause = f"the LoadGen process failed: {type(error).__name__}: {error}; see core.log"
        outcome, ledger = replace(config_outcome(spec.run_id, cause), kind="internal"), None
    faulthandler.dump_traceback_later(_EXIT_BOUND_S, exit=True)
    os._exit(finish(Path(spec.folder), outcome, ledger, pipe))


if __name__ == "__main__":
    main(sys.argv[1:])
