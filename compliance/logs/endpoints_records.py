"""An endpoints run as frozen records: the files that mlcommons/endpoints writes in place of LoadGen's logs."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from compliance.logs.documents import DocumentProblem, JsonValue
from compliance.logs.endpoints_official import OfficialValues
from compliance.schema import SchemaProblem

_NS_PER_S = 1e9


@dataclass(frozen=True, slots=True)
class EndpointsForm:
    """Where a file stands and how it is written: lines by JSON pointer, what was read over, what no schema has."""

    path: Path
    lines: Mapping[str, int]
    problems: tuple[DocumentProblem, ...] = ()
    schema: tuple[SchemaProblem, ...] = ()


@dataclass(frozen=True, slots=True)
class Percentiles:
    """A map of percentiles: value in ns by percentile, however its keys are spelled ("99", "99.0", "99.00").

    `spellings` are the keys as written, those that are no number too. A value is None where the file says null: too few
    samples for an estimate.
    """

    values: Mapping[float, float | None]
    spellings: tuple[str, ...]

    def at(self, percent: float) -> float | None:
        """The value at a percentile, None where the file has none."""
        return self.values.get(percent)


NO_PERCENTILES = Percentiles({}, ())


@dataclass(frozen=True, slots=True)
class Distribution:
    """One measured quantity: latencies in ns, output lengths in tokens.

    `early_stopping` holds the upper bounds that early stopping warrants; the official checker reads these alone
    (constants.py:2229-2246). `percentiles` are the plain ones.
    """

    minimum: float | None = None
    maximum: float | None = None
    average: float | None = None
    percentiles: Percentiles = NO_PERCENTILES
    early_stopping: Percentiles = NO_PERCENTILES


@dataclass(frozen=True, slots=True)
class EndpointsConfig:
    """config.yaml. `kind` is offline or online. None where the file says nothing, or nothing of the right kind."""

    form: EndpointsForm
    kind: str | None
    min_duration_ms: float | None
    max_duration_ms: float | None
    sample_index_seed: int | None
    schedule_seed: int | None
    samples_to_issue: int | None
    target_qps: float | None
    target_concurrency: int | None


@dataclass(frozen=True, slots=True)
class EndpointsSummary:
    """performance/result_summary.json. `qps_logged` is None where the file says null."""

    form: EndpointsForm
    issued: int | None
    completed: int | None
    failed: int | None
    duration_ns: float | None
    qps_logged: float | None
    tps: float | None
    complete: bool | None
    ttft: Distribution
    tpot: Distribution
    latency: Distribution
    output_tokens: Distribution

    @property
    def qps(self) -> float | None:
        """Queries per second: as logged, else issued / duration; None where neither can be had."""
        if self.qps_logged is not None:
            return self.qps_logged
        if self.issued is None or not self.duration_ns:
            return None
        return self.issued / (self.duration_ns / _NS_PER_S)


@dataclass(frozen=True, slots=True)
class EndpointsScore:
    """One entry of accuracy_scores. `values` holds the scores by name; one that has no name stands under "".

    `samples` were scored or issued, repeats included; `unit_samples` are those of the data set, once each.
    """

    dataset: str
    is_accuracy: bool
    values: Mapping[str, float]
    samples: int | None
    unit_samples: float | None
    complete: bool | None
    pointer: str
    line: int | None


@dataclass(frozen=True, slots=True)
class EndpointsAccuracy:
    """accuracy/accuracy_results.json."""

    form: EndpointsForm
    scores: tuple[EndpointsScore, ...]
    failed: int | None

    @property
    def accuracy_scores(self) -> tuple[EndpointsScore, ...]:
        """The entries that are of accuracy data sets: a performance run may be scored in passing."""
        return tuple(score for score in self.scores if score.is_accuracy)


@dataclass(frozen=True, slots=True)
class EndpointsAudit:
    """audit/audit_<name>.json: which test it says it is of, and its verdict as written."""

    form: EndpointsForm
    test: JsonValue
    passed: JsonValue


@dataclass(frozen=True, slots=True)
class EndpointsRun:
    """What stands in a results folder in place of LoadGen's logs.

    `config_path`, relative to the tree, is the one found, else config.yaml. `audit_files` are the names in audit/;
    `audits` holds those of them that could be read, by file name. `official` is what the official checker makes of
    these files.
    """

    folder: str
    config_path: str
    config: EndpointsConfig | None
    summary: EndpointsSummary | None
    accuracy: EndpointsAccuracy | None
    official: OfficialValues
    audit_files: tuple[str, ...] = ()
    audits: Mapping[str, EndpointsAudit] = field(default_factory=dict)
