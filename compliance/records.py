"""What is found in a submission tree, as frozen records; checks only read them.

`compliance.discovery.submission` makes them. A file that could not be read is None in its field and stands in
`unreadable` with its reason, so that a check can say so.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from compliance.logs.accuracy import AccuracyLog
from compliance.logs.accuracy_txt import AccuracyText
from compliance.logs.detail import DetailLog
from compliance.logs.documents import Document
from compliance.logs.endpoints_records import EndpointsRun
from compliance.logs.power.nameplate import Nameplate
from compliance.logs.power.run import PowerRun
from compliance.logs.summary import SummaryLog
from compliance.logs.user_conf import Conf
from compliance.logs.verdicts import VerifyText
from compliance.vocabulary import AuditId, Division, Scenario


@dataclass(frozen=True, slots=True)
class Unreadable:
    """A file that should have been there and readable: path relative to the tree, 1-based line or None, and why not.

    `parsed` when it is JSON, but of another form. `fix` where one is known that the reason alone does not give.
    """

    path: str
    line: int | None
    reason: str
    parsed: bool = False
    fix: str = ""


@dataclass(frozen=True, slots=True)
class RunLogs:
    """LoadGen's files of one test. `folder` is relative to the tree's root; `files` are the names found in it."""

    folder: str
    files: tuple[str, ...]
    detail: DetailLog | None
    summary: SummaryLog | None
    accuracy: AccuracyLog | None


@dataclass(frozen=True, slots=True)
class AuditRun:
    """One TESTxx folder of a result: its performance logs, its accuracy log and its verify_*.txt.

    `accuracy_files` are the names in its accuracy folder, `accuracy_texts` those of them that are score files (TEST01:
    accuracy.txt, baseline_accuracy.txt, compliance_accuracy.txt). `files` are the names beside verify_*.txt.
    """

    audit: AuditId
    folder: str
    run: RunLogs
    accuracy: AccuracyLog | None
    verify_accuracy: VerifyText | None
    verify_output_len: VerifyText | None
    verify_performance: VerifyText | None
    accuracy_files: tuple[str, ...] = ()
    accuracy_texts: Mapping[str, AccuracyText] = field(default_factory=dict)
    files: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Result:
    """One results folder: a system, a benchmark, a scenario. `path` is relative to the tree's root.

    `scenario` is None when the folder's name is no scenario. `benchmark` is the folder's name, `rules_benchmark` the
    benchmark of the round it maps to (alias or model_mapping.json), None when there is none. `siblings` are the other
    folders of the benchmark's folder. `user_conf` is None when there is no readable user.conf. `sample_outputs` are the
    names in the accuracy run's folder of images or videos, where the benchmark asks for one. `endpoints` holds the
    endpoints files where they stand in place of both detail logs. `power` is None where performance/power is not there.
    """

    path: str
    division: Division
    submitter: str
    system: str
    benchmark: str
    rules_benchmark: str | None
    scenario_dir: str
    scenario: Scenario | None
    performance: RunLogs
    accuracy: RunLogs
    accuracy_text: AccuracyText | None
    measurements: Document | None
    user_conf_bytes: int | None
    readme_bytes: int | None
    audits: Mapping[AuditId, AuditRun]
    siblings: tuple[str, ...]
    unreadable: tuple[Unreadable, ...]
    user_conf: Conf | None = None
    sample_outputs: tuple[str, ...] = ()
    power: PowerRun | None = None
    endpoints: EndpointsRun | None = None


@dataclass(frozen=True, slots=True)
class SystemEntry:
    """One system of a submitter: its description (None when missing or unreadable) and its results.

    `nameplate` is None where there is no readable <system>_power.yaml, and in rounds that know none.
    """

    path: str
    name: str
    description: Document | None
    results: tuple[Result, ...]
    unreadable: tuple[Unreadable, ...]
    nameplate: Nameplate | None = None


@dataclass(frozen=True, slots=True)
class SubmitterEntry:
    """One submitter of one division. `source_dir` is the path of src/ when it exists."""

    path: str
    division: Division
    name: str
    systems: tuple[SystemEntry, ...]
    source_dir: str | None
    calibration: str | None
    model_mapping: Document | None
    orphan_descriptions: tuple[str, ...]
    unreadable: tuple[Unreadable, ...]


@dataclass(frozen=True, slots=True)
class TreeFile:
    """One file or link of the tree, for the structure checks. `kind`: file, dir, link, broken_link."""

    path: str
    kind: str
    bytes: int


@dataclass(frozen=True, slots=True)
class Submission:
    """A whole tree, walked once.

    `files` are in order of path; `empty_folders` are those of the folders with nothing in them. `left_out` names the
    submitters that were not asked for. `differences` are the files that the manifest beside the tree knows otherwise,
    as (path, how); none where there is no manifest.
    """

    root: Path
    round_name: str
    submitters: tuple[SubmitterEntry, ...]
    files: tuple[TreeFile, ...]
    unreadable: tuple[Unreadable, ...]
    empty_folders: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()
    differences: tuple[tuple[str, str], ...] = ()
