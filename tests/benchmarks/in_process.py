"""The core with a null engine in the same process: LoadGen, ledger, dispatcher and completion thread, no worker process.

Usage: python -m tests.benchmarks.in_process QPS SAMPLES FOLDER COALESCE

The engine is a thread behind inproc sockets that answers every frame at once with 300 tokens a sample. Its work counts
against the harness here, as the inline null SUT's counts against LoadGen.
"""

import os
import sys
import threading
from pathlib import Path

import numpy as np
import zmq

from harness.core.callbacks import Callbacks
from harness.core.completion import Completion
from harness.core.dispatcher import Dispatcher
from harness.core.ledger import Ledger
from harness.core.loadgen import LoadgenReporter, prepare, run_test
from harness.core.outcome import broken_ledger
from harness.core.preflight import freeze_memory, settle_process
from harness.core.spec import LoadgenSettings, RunSpec, WorkerEndpoint
from harness.core.state import Inbox, RunState
from sut.messages import Begin, Submit
from sut.wire import decode, encode_events, encode_hello

ANSWER = np.arange(1, 301, dtype=np.int32)


def spec(qps: float, samples: int, folder: Path, coalesce: int) -> RunSpec:
    conf = (
        f"*.Server.target_qps = {qps}\n*.*.min_duration = 0\n*.*.min_query_count = {samples}\n"
        f"*.*.performance_sample_count_override = {samples}\n*.*.sample_concatenate_permutation = 0\n*.Server.coalesce_queries = {coalesce}\n"
    )
    (folder / "user.conf").write_text(conf, encoding="utf-8")
    loadgen = LoadgenSettings("llama2-70b", "Server", "PerformanceOnly", conf, None, samples, samples)
    return RunSpec(
        run_id="bench",
        folder=str(folder),
        epoch=1,
        loadgen=loadgen,
        first_tokens=True,
        events="inproc://events",
        workers=(WorkerEndpoint(0, "inproc://tasks", 4096),),
        lengths="",
        policy="least_outstanding_tokens",
        max_new_tokens=len(ANSWER),
    )


def null(context: zmq.Context[zmq.Socket[bytes]]) -> None:
    """The engine: first token and answer of every sample, one frame for one frame."""
    tasks, events = context.socket(zmq.PULL), context.socket(zmq.PUSH)
    for socket in (tasks, events):
        socket.set_hwm(0)
    tasks.connect("inproc://tasks")
    events.connect("inproc://events")
    first = int(ANSWER[0])
    while True:
        message = decode(tasks.recv())
        if isinstance(message, Begin):
            events.send(encode_hello(message.epoch, 0, 4096))
        elif isinstance(message, Submit):
            finals = [(sample_id, ANSWER) for sample_id in message.ids]
            events.send(encode_events(1, 0, [(sample_id, first) for sample_id in message.ids], finals))


def main(qps: float, samples: int, folder: Path, coalesce: int) -> None:
    asked = spec(qps, samples, folder, coalesce)
    prepared = prepare(asked)
    settle_process(asked)
    context, state, ledger = zmq.Context(), RunState(1), Ledger(1, first_tokens=True)
    inbox = Inbox(context)
    dispatcher = Dispatcher(asked, ledger, state, inbox, np.full(samples, 3, np.int32), context)
    completion = Completion(asked, ledger, state, inbox, LoadgenReporter(), context)
    for body in (completion.run, dispatcher.run, lambda: null(context)):
        threading.Thread(target=body, daemon=True).start()
    while not state.hellos:
        if state.failure:
            raise SystemExit(state.failure.cause)
    freeze_memory()
    run_test(asked, prepared, Callbacks(inbox.bell(), state, samples))
    if state.failure or (fault := broken_ledger(ledger.totals(), first_tokens=True)):
        raise SystemExit(state.failure.cause if state.failure else fault)


if __name__ == "__main__":
    main(float(sys.argv[1]), int(sys.argv[2]), Path(sys.argv[3]), int(sys.argv[4]))
    # The threads wait for ever: there is nothing to join.
    os._exit(0)
