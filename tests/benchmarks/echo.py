"""The yardstick of the harness's own cost: LoadGen and a ZMQ echo, one message per query, and nothing else.

Usage: python -m tests.benchmarks.echo QPS SAMPLES FOLDER

The issue callback sends (id, index) to an echo process, which sends it back; one thread reports the first token and the
answer. No ledger, no policy, no token ids over the wire. Prints one JSON object: the processor time of this process per
query, in microseconds.
"""

import json
import struct
import subprocess
import sys
import threading
import time
from pathlib import Path

import mlperf_loadgen as lg
import zmq

from tests.benchmarks.inline import ADDRESS, COUNT, SIZE, settings

PAIR = struct.Struct("<QI")


def echo(tasks: str, events: str) -> None:
    """The other process: every message back as it came."""
    context = zmq.Context()
    pull, push = context.socket(zmq.PULL), context.socket(zmq.PUSH)
    pull.connect(tasks)
    push.connect(events)
    while message := pull.recv():
        push.send(message)


def main(qps: float, samples: int, folder: Path) -> None:
    tasks, events = f"ipc://{folder}/tasks", f"ipc://{folder}/events"
    context = zmq.Context()
    push, pull = context.socket(zmq.PUSH), context.socket(zmq.PULL)
    for socket, address in ((push, tasks), (pull, events)):
        socket.set_hwm(0)
        socket.bind(address)

    def issue(ids: list[int], indices: list[int]) -> None:
        for sample_id, index in zip(ids, indices, strict=True):
            push.send(PAIR.pack(sample_id, index))

    def complete() -> None:
        for _ in range(samples):
            sample_id, _index = PAIR.unpack(pull.recv())
            lg.FirstTokenComplete([lg.QuerySampleResponse(sample_id, ADDRESS, 4, 1)])
            lg.QuerySamplesComplete([lg.QuerySampleResponse(sample_id, ADDRESS, SIZE, COUNT)])

    sut = lg.ConstructFastSUT(issue, lambda: None)
    qsl = lg.ConstructQSL(samples, samples, lambda _i: None, lambda _i: None)
    output = lg.LogOutputSettings()
    output.outdir = str(folder)
    log = lg.LogSettings()
    log.log_output = output
    log.enable_trace = False
    with subprocess.Popen([sys.executable, "-m", "tests.benchmarks.echo", tasks, events]):
        thread = threading.Thread(target=complete)
        thread.start()
        asked = settings("Server", qps, samples, folder)
        started_s = time.process_time()
        lg.StartTestWithLogSettings(sut, qsl, asked, log, str(folder / "none"))
        cpu_s = time.process_time() - started_s
        thread.join()
        push.send(b"")
    print(json.dumps({"cpu_us": cpu_s / samples * 1e6}))


if __name__ == "__main__":
    if sys.argv[1].startswith("ipc://"):
        echo(sys.argv[1], sys.argv[2])
    else:
        main(float(sys.argv[1]), int(sys.argv[2]), Path(sys.argv[3]))
