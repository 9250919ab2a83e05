"""The score of one run as TEST01 and TEST04 compare it (compliance/TEST01/verify_performance.py)."""

import math
from dataclasses import dataclass

from compliance.audits.stated import stated
from compliance.logs.detail import DetailLog
from compliance.logs.verdicts import VerifyText
from compliance.metrics.performance import BASE_KEYS
from compliance.vocabulary import Scenario

_NS_PER_S = 1e9
_FAST_NS = {Scenario.SINGLE_STREAM: 200_000, Scenario.MULTI_STREAM: 1_600_000}
_NOISE, _NOISE_OF_FAST = 0.10, 0.20
_PRINTED = 1e-3
"""How exactly a printed score names a run: the summary log rounds."""


@dataclass(frozen=True, slots=True)
class RunScore:
    """A run's score: samples per second, in SingleStream and MultiStream the percentile latency in ns.

    `key` is the score's key in the detail log; `target_latency_ns` what the run was asked to keep, None if not logged.
    """

    scenario: Scenario
    key: str
    value: float
    valid: bool
    target_latency_ns: float | None

    @property
    def is_latency(self) -> bool:
        """Whether the score is a latency, so that less of it is faster."""
        return self.scenario in _FAST_NS

    @property
    def rate_per_s(self) -> float:
        """How fast the run was: queries or samples per second."""
        return _NS_PER_S / self.value if self.is_latency else self.value

    @property
    def noise(self) -> float:
        """How far two runs' scores may lie apart: a tenth; a fifth where latencies are so short that jitter counts."""
        return _NOISE_OF_FAST if self.value <= _FAST_NS.get(self.scenario, 0) else _NOISE


def compared(text: VerifyText, reference: RunScore) -> float | None:
    """The reference score that a verdict printed if it is another run's, None if it is this one's or none is printed.

    TEST04's script prints a rate where the score is a latency.
    """
    printed = stated(text, "reference score")
    if printed is None:
        return None
    own = (reference.value, reference.rate_per_s)
    return None if any(math.isclose(printed.value, score, rel_tol=_PRINTED) for score in own) else printed.value


def read_score(detail: DetailLog) -> RunScore | None:
    """The score that the scenario's general metric gives, None where the log lacks it or it is not above zero."""
    named = detail.value("effective_scenario")
    scenario = next((known for known in BASE_KEYS if known.value == named), None)
    value = None if scenario is None else detail.number(BASE_KEYS[scenario])
    if scenario is None or value is None or not 0 < value < math.inf:
        return None
    valid = detail.value("result_validity") == "VALID"
    return RunScore(scenario, BASE_KEYS[scenario], value, valid, detail.number("effective_target_latency_ns"))


def comparable(reference: RunScore, audit: RunScore) -> str | None:
    """Why the two runs cannot be compared, None if they can: both VALID, of one scenario, of one target latency."""
    if not reference.valid or not audit.valid:
        return f"the {'audit' if reference.valid else 'performance'} run is not VALID"
    if reference.scenario is not audit.scenario:
        return f"the audit ran {audit.scenario}, the performance run {reference.scenario}"
    if reference.scenario is Scenario.SERVER and reference.target_latency_ns != audit.target_latency_ns:
        return f"target latency {audit.target_latency_ns} ns in the audit, {reference.target_latency_ns} ns before"
    return None
