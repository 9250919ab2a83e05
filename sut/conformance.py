"""The conformance suite: proves that a SUT keeps the protocol of `sut.protocol`, call by call and answer by answer.

`run_conformance` drives the engine in this process through tests of every kind the harness makes, records what it
answers, and judges the recording with the pure checks of `sut.conformance_checks`. A call that hangs is a failed check
too: every call is bounded in time.
"""

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from itertools import count

from sut.conformance_checks import CHECKS, Event, FactsProbe, Recording, TestRun, facts_problems
from sut.dataset import TokenDataset
from sut.errors import SutError
from sut.protocol import Engine, EngineConfig, RunContext, Sample, SutFacts, TokenIds
from sut.registry import create

FIRST_ID = 2**63 + 1  # LoadGen's ids are addresses as uint64: a signed 64-bit number must not be able to hold them
SETTLE_S = 0.1


@dataclass(frozen=True, slots=True)
class ConformanceCheck:
    """One check: `passed` is None when the engine did not get that far. `why` tells what was seen."""

    name: str
    title: str
    passed: bool | None
    why: str = ""


@dataclass(frozen=True, slots=True)
class ConformanceReport:
    """What the suite found of one SUT."""

    sut: str
    facts: SutFacts | None
    checks: tuple[ConformanceCheck, ...]

    @property
    def passed(self) -> bool:
        """Every check was made and passed."""
        return all(check.passed for check in self.checks)


def run_conformance(
    name: str, config: EngineConfig, *, samples: int = 64, timeout_s: float = 120.0
) -> ConformanceReport:
    """Try the SUT `name`. `timeout_s` bounds each call, and each wait for the next answer.

    Raises UnknownSut, BadSettings and BadDataset: mistakes of the caller, not faults of the engine.
    """
    size = len(TokenDataset.open(config.dataset_path, verify=False))
    engine = create(name, config)
    suite = _Suite(engine, config, size, samples, timeout_s)
    with suite.watch_threads():
        suite.run()
    return ConformanceReport(name, suite.facts, suite.report())


class _Broken(Exception):  # control flow inside this module only
    """The engine is in no state to go on."""


class _Recorder:
    """The sink of the suite: keeps every event in its order."""

    def __init__(self) -> None:
        self.events: list[Event] = []
        self.answered: set[int] = set()
        self._changed = threading.Condition()

    def first_token(self, sample_id: int, token: int) -> None:
        self._put(Event("first_token", sample_id, token=token))

    def final(self, sample_id: int, tokens: TokenIds) -> None:
        self._put(Event("final", sample_id, tokens=tokens))

    def failed(self, sample_id: int, reason: str) -> None:
        self._put(Event("failed", sample_id, reason=reason))

    def restart(self) -> list[Event]:
        """A new, empty list of events for the next test; answers that come too late go where they belong, to it."""
        with self._changed:
            self.events = []
            self.answered = set()
            return self.events

    def wait_for(self, ids: set[int], timeout_s: float) -> None:
        """Return when all ids are answered, or when nothing came for `timeout_s`."""
        with self._changed:
            seen = -1
            while not ids <= self.answered and seen != len(self.events):
                seen = len(self.events)
                self._changed.wait_for(lambda: len(self.events) != seen, timeout_s)  # noqa: B023 called at once

    def _put(self, event: Event) -> None:
        with self._changed:
            self.events.append(event)
            if event.kind != "first_token":
                self.answered.add(event.sample_id)
            self._changed.notify()


class _Suite:
    def __init__(self, engine: Engine, config: EngineConfig, size: int, samples: int, timeout_s: float) -> None:
        self._engine = engine
        self._config = config
        self._size = size
        self._samples = samples
        self._timeout_s = timeout_s
        self._sink = _Recorder()
        self._ids = count(FIRST_ID, 16)
        self._runs: dict[str, TestRun] = {}
        self._calls: list[tuple[str, str]] = []
        self._died: list[str] = []
        self.facts: SutFacts | None = None

    def run(self) -> None:
        try:
            self._call("start", self._start)
            self._call("warm_up", self._engine.warm_up)
            spread = [index % self._size for index in range(self._samples)]
            self._test("singles", spread, first_tokens=True, batch=1)
            self._test("burst", spread, first_tokens=False, batch=self._samples)
            self._test("repeats", [0] * self._samples, first_tokens=True, batch=self._samples)
            self._abandon(spread)
            self._test("after_abandon", spread[:8], first_tokens=True, batch=4)
            self._stop_busy(spread)
        except _Broken:
            return

    def report(self) -> tuple[ConformanceCheck, ...]:
        """Every check with its outcome, in the order of the protocol."""
        checks = [self._facts_check()]
        for check in CHECKS:
            run_problems = [f"{name}: {problem}" for name, run in self._runs.items() for problem in check.problems(run)]
            passed = not run_problems if self._runs else None
            checks.append(ConformanceCheck(check.name, check.title, passed, _join(run_problems)))
        calls = [f"{call}: {problem}" for call, problem in self._calls if problem]
        finished = any(call == "second stop" for call, _ in self._calls)
        passed = False if calls else (True if finished else None)
        checks.append(ConformanceCheck("calls", "every call returns in time and raises nothing", passed, _join(calls)))
        checks.append(ConformanceCheck("threads", "no thread of the engine dies", not self._died, _join(self._died)))
        return tuple(checks)

    @contextmanager
    def watch_threads(self) -> Iterator[None]:
        """Note uncaught exceptions of the engine's threads, which nothing else would show."""
        before = threading.excepthook
        threading.excepthook = self._note_death
        try:
            yield
        finally:
            threading.excepthook = before

    def _note_death(self, args: threading.ExceptHookArgs) -> None:
        name = args.thread.name if args.thread else "?"
        self._died.append(f"{name}: {args.exc_type.__name__}: {args.exc_value}")

    def _facts_check(self) -> ConformanceCheck:
        title = "the facts are complete and of this dataset"
        if self.facts is None:
            return ConformanceCheck("facts", title, None)
        dataset = TokenDataset.open(self._config.dataset_path, verify=False)
        problems = facts_problems(self.facts, FactsProbe(dataset.sha256, len(dataset)))
        return ConformanceCheck("facts", title, not problems, _join(problems))

    def _start(self) -> None:
        self.facts = self._engine.start(self._sink)

    def _test(self, name: str, indices: Sequence[int], *, first_tokens: bool, batch: int) -> None:
        events = self._sink.restart()
        samples = self._new_samples(indices)
        self._begin(name, first_tokens=first_tokens)
        self._call(f"{name}: empty submit", lambda: self._engine.submit([]))
        for at in range(0, len(samples), batch):
            self._call(f"{name}: submit", partial(self._engine.submit, samples[at : at + batch]))
        self._sink.wait_for({sample.id for sample in samples}, self._timeout_s)
        # Long enough for an answer given twice from another thread to show up.
        time.sleep(SETTLE_S)
        self._call(f"{name}: end", self._engine.end)
        self._keep(name, samples, events, first_tokens=first_tokens)

    def _abandon(self, indices: Sequence[int]) -> None:
        """The LoadGen process dies in a test: `end` comes with samples in flight, and nothing may follow it."""
        self._begin("abandon", first_tokens=True)
        self._call("abandon: submit", partial(self._engine.submit, self._new_samples(indices)))
        self._call("abandon: end", self._engine.end)
        events = self._sink.restart()
        time.sleep(SETTLE_S)
        self._keep("after end", (), events, first_tokens=True)

    def _stop_busy(self, indices: Sequence[int]) -> None:
        self._begin("stop", first_tokens=True)
        self._call("stop: submit", partial(self._engine.submit, self._new_samples(indices)))
        self._call("stop while busy", self._engine.stop)
        events = self._sink.restart()
        self._call("second stop", self._engine.stop)
        time.sleep(SETTLE_S)
        self._keep("after stop", (), events, first_tokens=True)

    def _new_samples(self, indices: Sequence[int]) -> list[Sample]:
        """Samples with ids never used before, so that an answer to an earlier test is seen as such."""
        return [Sample(next(self._ids), index) for index in indices]

    def _begin(self, name: str, *, first_tokens: bool) -> None:
        scenario = "Server" if first_tokens else "Offline"
        context = RunContext(scenario, first_tokens, len(self._runs) + 1)
        self._call(f"{name}: begin", lambda: self._engine.begin(context))

    def _keep(self, name: str, samples: Sequence[Sample], events: list[Event], *, first_tokens: bool) -> None:
        self._runs[name] = TestRun(
            samples=tuple(samples),
            recording=Recording(tuple(events)),
            first_tokens=first_tokens,
            sampling=self._config.sampling,
        )

    def _call(self, name: str, call: Callable[[], None]) -> None:
        problem = _bounded(call, self._timeout_s)
        self._calls.append((name, problem))
        if problem:
            raise _Broken


def _bounded(call: Callable[[], None], timeout_s: float) -> str:
    """Make the call in a thread that can be left behind; what went wrong, or an empty string."""
    problems: list[str] = []

    def work() -> None:
        try:
            call()
        except SutError as error:
            problems.append(str(error))
        except Exception as error:  # noqa: BLE001 whatever the engine raises is what the check reports
            problems.append(f"raised {type(error).__name__}: {error}")

    thread = threading.Thread(target=work, name="conformance-call", daemon=True)
    thread.start()
    thread.join(timeout_s)
    return f"did not return within {timeout_s:g} s" if thread.is_alive() else "".join(problems)


def _join(problems: Sequence[str], most: int = 5) -> str:
    more = f"; and {len(problems) - most} more" if len(problems) > most else ""
    return "; ".join(problems[:most]) + more
