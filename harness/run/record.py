"""run.json: what one run was, how it ended, and from what; the record that resume, package and report read."""

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from harness.core.spec import RunOutcome
from sut.protocol import SutFacts

# samples.npy beside run.json: one row per issued sample, times in ns of the monotonic clock, 0 where it never happened.
SAMPLES_DTYPE = np.dtype(
    [
        ("index", "<u4"),
        ("worker", "<u2"),
        ("issued_ns", "<i8"),
        ("first_ns", "<i8"),
        ("done_ns", "<i8"),
        ("output_tokens", "<u4"),
    ]
)


@dataclass(frozen=True, slots=True)
class Provenance:
    """From what a run came: versions, code, machine, time (UTC, ISO 8601)."""

    weighbridge_version: str
    git_commit: str
    git_dirty: bool
    python: str
    packages: Mapping[str, str]
    host: Mapping[str, str]
    started_at: str
    ended_at: str


@dataclass(frozen=True, slots=True)
class SettingMismatch:
    """A detail-log key that does not show what was asked of LoadGen."""

    key: str
    expected: str
    found: str


@dataclass(frozen=True, slots=True)
class RunRecord:
    """One run. `step`: performance | accuracy | TEST06 | ... `status`: ok | failed | interrupted.

    `validity` is LoadGen's VALID or INVALID (None for accuracy runs). `metrics` holds the result_* numbers of the
    detail log by key. `plan_sha256` is over the step's settings: a changed plan makes the run stale. `files` maps the
    names in the run folder to their SHA-256.
    """

    schema_version: int
    run_id: str
    benchmark: str
    scenario: str
    step: str
    status: str
    cause: str
    validity: str | None
    invalid_reason: str
    plan_sha256: str
    outcome: RunOutcome
    metrics: Mapping[str, float]
    effective: Mapping[str, str]
    mismatches: tuple[SettingMismatch, ...]
    workers: tuple[SutFacts, ...]
    provenance: Provenance
    files: Mapping[str, str] = field(default_factory=dict)
