"""The loop with an engine that is stepped by the test's script: real threads, no vLLM."""

import threading
from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np
import pytest

from sut.conformance import run_conformance
from sut.errors import EngineLost
from sut.vllm.loop import Loop, Output, Request, first_line
from tests.support.engine_sink import Recorder
from tests.support.worker_process import engine_config, small_dataset

WAIT_S = 20


class Scripted:
    """Answers each request with its deltas, one a step, the last with its reason."""

    def __init__(
        self, deltas: Sequence[Sequence[int]] = ((7,), (8, 2)), reason: str = "stop", *, raises: Exception | None = None
    ) -> None:
        self.deltas, self.reason, self.raises = deltas, reason, raises
        self.left: dict[str, int] = {}
        self.threads: set[int] = set()
        self.stepped = threading.Semaphore(0)
        self.closed = threading.Event()

    def add(self, request_id: str, request: Request) -> None:
        self.threads.add(threading.get_ident())
        if len(request.prompt) > 10:
            raise ValueError("prompt of 11 tokens\nis too long")
        self.left[request_id] = 0

    def unfinished(self) -> bool:
        return bool(self.left)

    def step(self) -> Iterable[Output]:
        self.threads.add(threading.get_ident())
        if self.raises:
            raise self.raises
        yield Output("nobody", [1], None)
        for request_id, at in list(self.left.items()):
            last = at + 1 == len(self.deltas)
            yield Output(request_id, self.deltas[at], self.reason if last else None)
            self.left[request_id] = at + 1
            if last:
                del self.left[request_id]
        self.stepped.release()

    def abort(self, request_ids: Sequence[str]) -> None:
        self.threads.add(threading.get_ident())
        for request_id in request_ids:
            del self.left[request_id]

    def close(self) -> None:
        self.closed.set()


def request(sample_id: int, size: int = 3, *, first: bool = True) -> Request:
    return Request(sample_id, np.arange(size, dtype=np.int32), first)


def running(engine: Scripted) -> Loop:
    loop = Loop(lambda: engine)
    loop.start()
    return loop


def test_first_token_then_all_tokens_from_one_thread() -> None:
    engine, sink = Scripted(), Recorder()
    loop = running(engine)
    loop.submit([request(1), request(2, first=False)], sink)
    sink.wait(2)
    loop.submit([request(3)], sink)
    sink.wait(1)
    loop.stop(WAIT_S)
    assert sink.of(1) == sink.of(3) == [("first", 7), ("final", [7, 8, 2])]
    assert sink.of(2) == [("final", [7, 8, 2])]
    assert len(engine.threads) == 1
    assert threading.get_ident() not in engine.threads
    assert engine.closed.is_set()
    assert engine.left == {}


@pytest.mark.parametrize(
    ("deltas", "reason", "event"),
    [
        (((5,),), "length", ("final", [5])),
        (((), (5,)), "stop", ("final", [5])),
        (((),), "stop", ("failed", "the engine ended the request with 'stop'")),
        (((5,),), "abort", ("failed", "the engine ended the request with 'abort'")),
    ],
)
def test_how_a_request_ends(deltas: tuple[tuple[int, ...], ...], reason: str, event: tuple[str, object]) -> None:
    sink = Recorder()
    loop = running(Scripted(deltas, reason))
    loop.submit([request(1, first=False)], sink)
    sink.wait(1)
    loop.stop(WAIT_S)
    assert [entry[::2] for entry in sink.events] == [event]


def test_a_refused_request_fails_alone() -> None:
    sink = Recorder()
    loop = running(Scripted())
    loop.submit([request(1, size=11), request(2)], sink)
    sink.wait(2)
    loop.check()
    loop.stop(WAIT_S)
    assert ("failed", 1, "the engine refused the request: prompt of 11 tokens") in sink.events
    assert ("final", 2, [7, 8, 2]) in sink.events


def test_a_raising_engine_fails_everything_and_is_lost() -> None:
    sink, engine = Recorder(), Scripted(raises=RuntimeError("device lost"))
    loop = running(engine)
    loop.submit([request(index) for index in range(5)], sink)
    sink.wait(5)
    assert engine.closed.wait(WAIT_S)
    assert {event[0] for event in sink.events} == {"failed"}
    assert "RuntimeError: device lost" in str(sink.events[0][2])
    with pytest.raises(EngineLost, match="device lost"):
        loop.submit([request(9)], sink)
    with pytest.raises(EngineLost):
        loop.check()
    loop.stop(WAIT_S)


def test_dropped_requests_are_aborted_and_never_reported() -> None:
    sink, engine = Recorder(), Scripted(deltas=[(1,)] * 100_000_000)
    loop = running(engine)
    loop.submit([request(1), request(2, first=False)], sink)
    engine.stepped.acquire(timeout=WAIT_S)
    loop.submit([request(3)], sink)
    loop.drop()
    seen = sink.take()
    assert engine.left == {}
    assert len(engine.threads) == 1
    assert {kind for kind, _, _ in seen} == {"first"}
    engine.deltas = ((7,), (8, 2))
    loop.submit([request(4)], sink)
    sink.wait(1)
    loop.drop()
    loop.stop(WAIT_S)
    assert sink.events == [("first", 4, 7), ("final", 4, [7, 8, 2])]
    with pytest.raises(EngineLost, match="stopped"):
        loop.drop()


def test_dropping_tells_of_an_engine_that_raises_meanwhile() -> None:
    sink, engine = Recorder(), Scripted(deltas=[(1,)] * 100_000_000)
    loop = running(engine)
    loop.submit([request(1)], sink)
    engine.stepped.acquire(timeout=WAIT_S)
    engine.abort = lambda _: (_ for _ in ()).throw(RuntimeError("device lost"))
    with pytest.raises(EngineLost, match="device lost"):
        loop.drop()
    assert sink.events[-1][0] == "failed"
    loop.stop(WAIT_S)


@pytest.mark.parametrize("bounds", [(1, 1), (2, 16)])
def test_an_engine_over_the_loop_conforms(tmp_path: Path, bounds: tuple[int, int]) -> None:
    """With it the abandoned test: `end` while samples are in flight, and nothing of them afterwards."""
    config = engine_config(small_dataset(tmp_path / "dataset"), low=bounds[0], high=bounds[1])
    report = run_conformance("tests.support.stepped_engine:SteppedEngine", config, samples=24, timeout_s=30)
    assert [check for check in report.checks if not check.passed] == []


def test_stopping_fails_what_waits_and_is_idempotent() -> None:
    sink = Recorder()
    loop = running(Scripted(deltas=[(1,)] * 100_000_000))
    loop.submit([request(1)], sink)
    loop.stop(WAIT_S)
    loop.stop(WAIT_S)
    sink.wait(1)
    assert sink.events[-1] == ("failed", 1, "the engine was stopped")
    with pytest.raises(EngineLost, match="stopped"):
        loop.submit([request(2)], sink)


def test_start_raises_what_building_raised() -> None:
    def build() -> Scripted:
        raise OSError("no weights")

    loop = Loop(build)
    with pytest.raises(OSError, match="no weights"):
        loop.start()
    with pytest.raises(EngineLost, match="did not start"):
        loop.submit([request(1)], Recorder())


def test_first_line_of_a_message() -> None:
    assert first_line(ValueError("\n  one\ntwo")) == "one"
    assert first_line(ValueError("")) == "ValueError"
