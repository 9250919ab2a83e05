"""TEST06: a language model's logged answers are consistent with what LoadGen was told (compliance/TEST06)."""

from collections.abc import Iterable
from dataclasses import dataclass

from compliance.audits.base import ACCURACY_LOG_RNG_SEED, AuditPlan, plan_of
from compliance.logs.accuracy import AccuracyEntry
from compliance.vocabulary import AuditId, Scenario

_INT32_BYTES, _INT64_BYTES = 4, 8
_EOS_RUN = 2
_SHOWN = 5


@dataclass(frozen=True, slots=True)
class Test06Fault:
    """One answer that fails: its line in the accuracy log (1-based), its sample index and what is wrong with it."""

    line: int
    qsl_idx: int
    reason: str


@dataclass(frozen=True, slots=True)
class Test06Verdict:
    """What the answers show. `first_token` is None in Offline, where LoadGen logs no first tokens.

    `faults` holds the first few answers that fail; `entries` counts all. A log without entries passes nothing.
    """

    entries: int
    first_token: bool | None
    eos: bool
    length: bool
    faults: tuple[Test06Fault, ...]

    @property
    def passed(self) -> bool:
        """Whether all of the test holds."""
        return self.first_token is not False and self.eos and self.length


def plan() -> AuditPlan:
    """The run TEST06 is made of: performance mode, 100 logged answers, no equal issue (its upstream audit.config)."""
    settings = {
        "accuracy_log_rng_seed": ACCURACY_LOG_RNG_SEED,
        "accuracy_log_sampling_target": 100,
        "min_query_count": 100,
        "min_duration": 0,
        "sample_concatenate_permutation": 0,
    }
    return plan_of(AuditId.TEST06, settings)


def verify(entries: Iterable[AccuracyEntry], scenario: Scenario, eos_token_ids: frozenset[int]) -> Test06Verdict:
    """Test every logged answer: first token, end of sequence, length.

    The first token reported is the answer's first; an answer ends in at most one EOS token, of any of the model's; it
    holds as many tokens as LoadGen was told. Unlike the upstream script EOS ids are numbers, the first position counts,
    and a first token that was never reported fails. Tokens are little-endian int32, or int64 where the byte count says
    so.
    """
    count, faults = 0, list[Test06Fault]()
    failed = {"first": False, "eos": False, "length": False}
    for entry in entries:
        count += 1
        for kind, reason in _faults_of(entry, scenario, eos_token_ids):
            failed[kind] = True
            if len(faults) < _SHOWN:
                faults.append(Test06Fault(entry.line, entry.qsl_idx, reason))
    any_entries = count > 0
    first = any_entries and not failed["first"] if scenario.streams else None
    eos, length = any_entries and not failed["eos"], any_entries and not failed["length"]
    return Test06Verdict(count, first, eos, length, tuple(faults))


def render_verify_text(verdict: Test06Verdict) -> str:
    """verify_accuracy.txt: the three lines the official checker reads and the verdict line the script writes."""
    first = "Skipped" if verdict.first_token is None else str(verdict.first_token)
    return (
        f"First token check pass: {first}\n"
        f"EOS check pass: {verdict.eos}\n"
        f"Sample length check pass: {verdict.length}\n"
        f"TEST06 verification {'complete' if verdict.passed else 'failed'}\n"
    )


def _faults_of(entry: AccuracyEntry, scenario: Scenario, eos_token_ids: frozenset[int]) -> Iterable[tuple[str, str]]:
    width = _width(entry)
    count = len(entry.data) // width
    if scenario.streams:
        reported = entry.token_data or b""
        reported = reported[: len(reported) // width * width]
        if not reported:
            yield "first", "no first token was reported"
        elif not entry.data[: count * width].startswith(reported):
            begins = _token(entry.data, 0, width) if count else "nothing"
            yield "first", f"first token reported {_token(reported, 0, width)}, answer begins with {begins}"
    trailing = 0
    while trailing < count and _token(entry.data, count - 1 - trailing, width) in eos_token_ids:
        trailing += 1
    if trailing >= _EOS_RUN:
        yield "eos", f"ends in {trailing} EOS tokens"
    if entry.token_count is None:
        yield "length", "no token_count: token latencies were off"
    elif count != entry.token_count or len(entry.data) % width:
        yield "length", f"holds {count} tokens, LoadGen was told {entry.token_count}"


def _width(entry: AccuracyEntry) -> int:
    count = entry.token_count
    return _INT64_BYTES if count and len(entry.data) == count * _INT64_BYTES else _INT32_BYTES


def _token(data: bytes, position: int, width: int) -> int:
    return int.from_bytes(data[position * width : (position + 1) * width], "little", signed=True)
