"""A result's scores with their bounds, as a report shows them."""

import math
from collections.abc import Iterator
from dataclasses import dataclass

from compliance.metrics.endpoints import target_scores
from compliance.records import Result
from compliance.rulebook.model import BenchmarkRules


@dataclass(frozen=True, slots=True)
class AccuracyValue:
    """One metric as accuracy.txt has it (None when it cannot be read) and its bounds."""

    value: float | None
    minimum: float | None
    maximum: float | None

    @property
    def margin(self) -> float | None:
        """How far inside its nearest bound the value lies, as a fraction of the bound; negative is outside."""
        if self.value is None:
            return None
        above = [] if self.minimum is None else [self.value / self.minimum - 1]
        below = [] if self.maximum is None else [1 - self.value / self.maximum]
        return min((*above, *below), default=None)


def accuracy_values(result: Result, benchmark: BenchmarkRules) -> Iterator[tuple[str, AccuracyValue]]:
    """Each metric that the benchmark has a target for in the result's scenario, and its value."""
    text, run = result.accuracy_text, result.endpoints
    targets = benchmark.targets(result.scenario)
    if run is not None and run.accuracy is not None:
        for one in target_scores(run.accuracy, targets):
            yield one.target.metric, AccuracyValue(finite(one.value), one.target.minimum, one.target.maximum)
        return
    for target in targets:
        written = text.written(target.metric) if text else ()
        value = written[-1].value if written else None
        yield target.metric, AccuracyValue(finite(value), target.minimum, target.maximum)


def finite(value: float | None) -> float | None:
    """The value, None for NaN and the infinities, which a report has no form for."""
    return value if value is not None and math.isfinite(value) else None
