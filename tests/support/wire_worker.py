"""A worker that speaks the wire format and nothing else, well-behaved or with one fault; for tests of the core.

Usage: python -m tests.support.wire_worker TASKS EVENTS INDEX FAULT

It answers sample i with [i + 1, i + 2, ..., i + 4]. The fault is shown once, at the sample of dataset index 3.
"""

import os
import sys
import time

import numpy as np
import zmq

from sut.messages import Begin, End, Submit
from sut.wire import decode, encode_events, encode_goodbye, encode_heartbeat, encode_hello

FAULTY_INDEX = 3
ANSWER_TOKENS = 4
HEARTBEAT_S = 0.1
UNKNOWN_ID = 0xDEAD_BEEF_DEAD_BEEF


def answer(index: int) -> np.ndarray:
    return np.arange(index + 1, index + 1 + ANSWER_TOKENS, dtype=np.int32)


class WireWorker:
    def __init__(self, tasks: str, events: str, index: int, fault: str) -> None:
        context = zmq.Context()
        self.tasks, self.events = context.socket(zmq.PULL), context.socket(zmq.PUSH)
        self.tasks.connect(tasks)
        self.events.connect(events)
        self.index, self.fault = index, fault
        self.epoch, self.first_tokens = 0, False

    def serve(self) -> None:
        beat = 0.0
        while True:
            if time.monotonic() - beat > HEARTBEAT_S:
                beat = time.monotonic()
                self.events.send(encode_heartbeat(self.epoch, self.index, 0, 0))
            if self.tasks.poll(int(HEARTBEAT_S * 1000)):
                self.take(decode(self.tasks.recv()))

    def take(self, message) -> None:
        if isinstance(message, Begin):
            self.epoch, self.first_tokens = message.epoch, message.first_tokens
            if self.fault != "silent":
                self.events.send(encode_events(self.epoch - 1, self.index, [], [(1, answer(1))], []))
                self.events.send(encode_hello(self.epoch, self.index, 8))
        elif isinstance(message, End):
            self.events.send(encode_goodbye(self.epoch, self.index))
        elif isinstance(message, Submit):
            firsts, finals, failures = [], [], []
            for sample_id, index in zip(message.ids, message.indices, strict=True):
                tokens = answer(index)
                first, final = [(sample_id, int(tokens[0]))] if self.first_tokens else [], [(sample_id, tokens)]
                if index == FAULTY_INDEX:
                    first, final, failure = self.spoil(sample_id, tokens, first, final)
                    failures += failure
                firsts += first
                finals += final
            self.events.send(encode_events(self.epoch, self.index, firsts, finals, failures))

    def spoil(self, sample_id, tokens, first, final):  # noqa: C901, PLR0911 a table of faults
        match self.fault:
            case "lost":
                return [], [], []
            case "duplicate":
                return first, final + final, []
            case "duplicate-first":
                return first + first, final, []
            case "one-token":
                return first, [(sample_id, tokens[:1])], []
            case "no-token":
                return first, [(sample_id, tokens[:0])], []
            case "unknown":
                return first, [*final, (UNKNOWN_ID, tokens)], []
            case "wrong-first":
                return [(sample_id, 77777)], final, []
            case "no-first":
                return [], final, []
            case "failed":
                return [], [], [(sample_id, "out of memory on the device")]
            case "garbage":
                self.events.send(b"\x63garbage")
            case "stranger":
                self.events.send(encode_heartbeat(self.epoch, 42, 0, 0))
            case "die":
                os._exit(3)
        return first, final, []


if __name__ == "__main__":
    WireWorker(sys.argv[1], sys.argv[2], int(sys.argv[3]), sys.argv[4]).serve()
