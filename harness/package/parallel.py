"""The systems of a tree judged in several processes; in order, and with the same judgement as in one."""

import copyreg
import gc
import os
import signal
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache, lru_cache
from itertools import islice
from typing import TYPE_CHECKING, cast

import msgspec

from compliance.checks.model import Check, CheckFunction, Outcome, State, Verdicts
from compliance.checks.registry import all_checks, checks_by_id
from compliance.judge import ended, internal_check
from compliance.streaming import Job, JudgedSystem, Systems

if TYPE_CHECKING:
    from concurrent.futures import Future, ProcessPoolExecutor
    from multiprocessing.context import BaseContext

MOST_JOBS = 8
SMALL_TREE_BYTES = 64 << 20
"""A smaller tree is judged before a second process could help."""

_OBJECTS_PER_COLLECTION = 50_000

# So many systems per process are given out ahead: enough to keep it busy, few enough to be held.
_AHEAD = 4


def judged_by(jobs: int | None = None) -> Systems:
    """How a tree's systems are judged with so many processes.

    None: as many as there are cores, at most eight, and one for a small tree. Raises ValueError for fewer than one.
    """
    if jobs is not None and jobs < 1:
        raise ValueError(f"{jobs} processes cannot judge anything; ask for one or more")

    def judged(job: Job) -> Iterator[JudgedSystem]:
        with _rare_collections():
            yield from _judged(job, jobs)

    return judged


def _judged(job: Job, jobs: int | None) -> Iterator[JudgedSystem]:
    """The systems in order: here until enough of them are known to be left for further processes to pay."""
    systems = job.outlined.systems
    read_bytes = 0
    for done, (at, name) in enumerate(systems, start=1):
        system = job.system(at, name)
        yield system
        read_bytes += system.bytes
        left = len(systems) - done
        count = min(fitting_jobs(left * read_bytes // done) if jobs is None else jobs, left)
        if count > 1:
            yield from _in_processes(job, count, systems[done:])
            return


@contextmanager
def _rare_collections() -> Iterator[None]:
    """Looks for unreachable cycles rarely: records hold none, and a tree's worth of them is long to look through."""
    usual = gc.get_threshold()
    gc.set_threshold(_OBJECTS_PER_COLLECTION, *usual[1:])
    try:
        yield
    finally:
        gc.set_threshold(*usual)


def fitting_jobs(left_bytes: int) -> int:
    """The number of processes for what is left to be read of a tree: its size decides whether more than one pays."""
    return 1 if left_bytes < SMALL_TREE_BYTES else min(_cores(), MOST_JOBS)


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _in_processes(job: Job, count: int, systems: Sequence[tuple[int, str]]) -> Iterator[JudgedSystem]:
    """The systems in order, judged by this process and by further ones.

    A process that is killed costs its work, which is done here, and never the judgement.
    """
    from concurrent.futures import ProcessPoolExecutor  # noqa: PLC0415 - not needed for one process
    from concurrent.futures.process import BrokenProcessPool  # noqa: PLC0415 - as above

    done = 0
    with ProcessPoolExecutor(count - 1, _context(), initializer=_take_job, initargs=(job,)) as pool:
        try:
            for system in _in_order(pool, job, count, systems):
                yield system
                done += 1
        except BrokenProcessPool:
            pass
        finally:
            pool.shutdown(wait=False, cancel_futures=True)
    for at, name in systems[done:]:
        yield job.system(at, name)


def _in_order(
    pool: "ProcessPoolExecutor", job: Job, count: int, systems: Iterable[tuple[int, str]]
) -> Iterator[JudgedSystem]:
    """Gives systems out, and judges one here while the next in order is still being judged elsewhere."""
    waiting = iter(systems)
    line: list[Future[JudgedSystem] | JudgedSystem] = []
    out: list[Future[JudgedSystem]] = []
    while True:
        out = [given for given in out if not given.done()]
        given = [pool.submit(_judge, at, name) for at, name in islice(waiting, (count - 1) * _AHEAD - len(out))]
        out += given
        line += given
        if not line:
            return
        if len(line) <= count * _AHEAD and not isinstance(line[0], JudgedSystem) and not line[0].done():
            line += [job.system(at, name) for at, name in islice(waiting, 1)]
        first = line.pop(0)
        yield first if isinstance(first, JudgedSystem) else first.result()


def _context() -> "BaseContext":
    """Forked processes share what is loaded; beside other threads a fork is not safe."""
    import multiprocessing  # noqa: PLC0415 - not needed for one process

    methods = multiprocessing.get_all_start_methods()
    if "fork" in methods and threading.active_count() == 1 and os.name == "posix":
        return multiprocessing.get_context("fork")
    return multiprocessing.get_context("spawn")


_OWN: list[Job] = []
_ENCODER = msgspec.json.Encoder()
_DECODER = msgspec.json.Decoder(list[tuple[str, str | None] | None])


def _take_job(job: Job) -> None:
    """Keeps the job of this process, which leaves an interrupt to the one that started it."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    _OWN[:] = [job]


def _judge(at: int, name: str) -> JudgedSystem:
    return _OWN[0].system(at, name)


def _by_reference(check: Check) -> tuple[Callable[[str, CheckFunction], Check], tuple[str, CheckFunction]]:
    return _recalled, (check.id, check.function)


def _recalled(check_id: str, function: CheckFunction) -> Check:
    """The check of this process that an outcome of another one is of."""
    known = _by_function()[function]
    return known if known.id == check_id else internal_check(known)


@cache
def _by_function() -> dict[CheckFunction, Check]:
    return {check.function: check for check in all_checks()}


def _in_short(verdicts: Verdicts) -> tuple[Callable[..., Verdicts], tuple[object, ...]]:
    """Both verdicts with what has findings; of all else, which is nearly all, ids and reasons as one text."""
    found = tuple([outcome for outcome in verdicts.outcomes if outcome.findings])
    ends = [
        None if outcome.findings else (outcome.check.id, outcome.reason if outcome.state is State.SKIP else None)
        for outcome in verdicts.outcomes
    ]
    return _at_length, (verdicts.official, verdicts.strict, _ENCODER.encode(ends), found)


def _at_length(official: str, strict: str, ends: bytes, found: tuple[Outcome, ...]) -> Verdicts:
    outcomes = _outcomes(ends)
    if found:
        rest = iter(found)
        outcomes = tuple([next(rest) if outcome is None else outcome for outcome in outcomes])
    return Verdicts(official, strict, cast("tuple[Outcome, ...]", outcomes))


@lru_cache(maxsize=1024)
def _outcomes(ends: bytes) -> tuple[Outcome | None, ...]:
    """The outcomes of a text of ends, None for each that has findings; results of a kind end alike."""
    known = checks_by_id()
    return tuple(
        None if end is None else ended(known[end[0]], State.PASS if end[1] is None else State.SKIP, end[1] or "")
        for end in _DECODER.decode(ends)
    )


# A check goes from process to process by its name: it is the same code on either side.
copyreg.pickle(Check, _by_reference)
copyreg.pickle(Verdicts, _in_short)
