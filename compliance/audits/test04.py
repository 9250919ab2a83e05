"""TEST04: the system does not get faster when it is asked for one and the same sample (compliance/TEST04)."""

from dataclasses import dataclass

from compliance.audits.scores import RunScore, comparable

_SCRIPT_STREAM_LIMIT = 1.20


@dataclass(frozen=True, slots=True)
class Test04Verdict:
    """`ratio`: how many times as fast as the performance run the audit was; it passes below `limit`.

    `reason` says why the runs cannot be compared at all. `script_passes` is what the upstream script says of the same
    scores: it holds SingleStream's and MultiStream's rates against limits meant for latencies, and so grants a fifth to
    slow ones too.
    """

    ratio: float
    limit: float
    reason: str | None
    script_passes: bool

    @property
    def passed(self) -> bool:
        """Whether the runs can be compared and the audit was not faster."""
        return self.reason is None and self.ratio < self.limit


def verify(reference: RunScore, audit: RunScore) -> Test04Verdict:
    """Compare the speed of the run that repeats one sample with that of the performance run; slower always passes."""
    reason = comparable(reference, audit)
    ratio = audit.rate_per_s / reference.rate_per_s
    limit = 1 + reference.noise
    script_limit = _SCRIPT_STREAM_LIMIT if reference.is_latency else limit
    return Test04Verdict(ratio, limit, reason, reason is None and ratio < script_limit)
