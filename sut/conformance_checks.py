"""What conformance asks of a recorded test, as pure functions: each yields the problems it sees."""

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, fields

import numpy as np

from sut.protocol import Sample, Sampling, SutFacts, TokenIds


@dataclass(frozen=True, slots=True, eq=False)
class Event:
    """One call of the sink. `kind`: first_token | final | failed."""

    kind: str
    sample_id: int
    token: int | None = None
    tokens: TokenIds | None = None
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Recording:
    """The events of a test in their order."""

    events: tuple[Event, ...]

    def of(self, *kinds: str) -> Iterator[Event]:
        """The events of these kinds."""
        return (event for event in self.events if event.kind in kinds)


@dataclass(frozen=True, slots=True)
class TestRun:
    """One test: what was submitted, what came back, what was asked for."""

    __test__ = False  # the word is LoadGen's; pytest must not collect it

    samples: tuple[Sample, ...]
    recording: Recording
    first_tokens: bool
    sampling: Sampling


@dataclass(frozen=True, slots=True)
class FactsProbe:
    """The dataset as the harness sees it."""

    dataset_sha256: str
    dataset_size: int


@dataclass(frozen=True, slots=True)
class Check:
    """A named question to a test."""

    name: str
    title: str
    problems: Callable[[TestRun], Iterator[str]]


def facts_problems(facts: SutFacts, probe: FactsProbe) -> list[str]:
    """Empty facts, a window below 1, or another dataset than the harness has."""
    texts = [item.name for item in fields(facts) if getattr(facts, item.name) == ""]
    problems = [f"{name} is empty; say 'none' where there is none" for name in texts]
    if facts.window < 1:
        problems.append(f"window is {facts.window}; give at least 1")
    if (facts.dataset_sha256, facts.dataset_size) != (probe.dataset_sha256, probe.dataset_size):
        problems.append(
            f"it holds dataset {facts.dataset_sha256[:12]} of {facts.dataset_size} samples, the harness "
            f"{probe.dataset_sha256[:12]} of {probe.dataset_size}; open the folder of the configuration"
        )
    return problems


def _once(run: TestRun) -> Iterator[str]:
    answers = Counter(event.sample_id for event in run.recording.of("final", "failed"))
    for position, sample in enumerate(run.samples):
        if answers[sample.id] != 1:
            yield f"sample {position} (index {sample.index}) answered {answers[sample.id]} times"


def _none_failed(run: TestRun) -> Iterator[str]:
    for event in run.recording.of("failed"):
        yield f"a sample failed: {event.reason}"


def _known(run: TestRun) -> Iterator[str]:
    ids = {sample.id for sample in run.samples}
    for event in run.recording.events:
        if event.sample_id not in ids:
            yield f"{event.kind} for id {event.sample_id}, which is not in flight"


def _first_before_final(run: TestRun) -> Iterator[str]:
    state: dict[int, str] = {}
    for event in run.recording.events:
        before = state.get(event.sample_id)
        if event.kind == "first_token" and before is not None:
            yield f"first token of {event.sample_id} after its {before.replace('_', ' ')}"
        if event.kind == "final" and before is None and run.first_tokens:
            yield f"final of {event.sample_id} without a first token"
        state[event.sample_id] = event.kind


def _unwanted_first(run: TestRun) -> Iterator[str]:
    if not run.first_tokens:
        for event in run.recording.of("first_token"):
            yield f"first token of {event.sample_id}, which this test did not ask for"


def _first_in_final(run: TestRun) -> Iterator[str]:
    firsts = {event.sample_id: event.token for event in run.recording.of("first_token")}
    for event in run.recording.of("final"):
        token = firsts.get(event.sample_id)
        begins = None if event.tokens is None or len(event.tokens) == 0 else int(event.tokens[0])
        if token is not None and begins != token:
            yield f"first token {token}, but the final answer begins with {begins}"


def _counts(run: TestRun) -> Iterator[str]:
    low, high = run.sampling.min_new_tokens, run.sampling.max_new_tokens
    for event in run.recording.of("final"):
        count = 0 if event.tokens is None else len(event.tokens)
        if not max(low, 1) <= count <= high:
            yield f"an answer of {count} tokens, outside {max(low, 1)} to {high}"


def _dtype(run: TestRun) -> Iterator[str]:
    for event in run.recording.of("final"):
        tokens = event.tokens
        if not isinstance(tokens, np.ndarray) or tokens.dtype != np.int32 or tokens.ndim != 1:
            yield f"an answer of {getattr(tokens, 'dtype', type(tokens).__name__)}, not a flat int32 array"


CHECKS = (
    Check("once", "every sample is answered exactly once, in bursts and for repeated indices too", _once),
    Check("none_failed", "no sample fails", _none_failed),
    Check("known_ids", "only samples in flight are answered: none after end or stop", _known),
    Check(
        "first_before_final", "one first token, before the final answer, where the test wants them", _first_before_final
    ),
    Check("no_unwanted_first", "no first token where the test does not want them", _unwanted_first),
    Check("first_in_final", "the final answer begins with the first token", _first_in_final),
    Check("token_counts", "answers lie within the benchmark's minimum and maximum of tokens", _counts),
    Check("dtype", "answers are flat int32 arrays", _dtype),
)
