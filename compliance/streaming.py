"""A tree judged system by system, in one process or several: a system's files and logs are let go with it.

The judgement is that of `judge(discover(...))` with results that keep only what reports read. Checks of the scopes tree
and submitter see systems without logs, and of their files the READMEs alone; checks of a system or result the files of
that system alone; checks of files each file once.
"""

from bisect import bisect_left
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from compliance.checks.documentation import is_readme
from compliance.checks.model import Outcome, Scope, Subject, Verdicts
from compliance.discovery.files import fill
from compliance.discovery.submission import Outline, find_system, outline, walk_system, with_parts, with_systems
from compliance.discovery.walk import PATH, Walked
from compliance.judge import (
    INVALID,
    JudgedResult,
    Judgement,
    counts,
    judged_result,
    of_submitter,
    run_checks,
    subject_of,
)
from compliance.logs.detail_keys import REPORTED_KEYS
from compliance.records import Result, RunLogs, Submission, SubmitterEntry, SystemEntry, TreeFile
from compliance.rulebook.model import Round
from compliance.vocabulary import Profile

_LAST = "\U0010ffff"


@dataclass(frozen=True, slots=True)
class JudgedSystem:
    """One system and its results, judged by their own checks alone. `submitter` is the place of its submitter.

    `of_files` are the outcomes with findings of the checks of its files. `walked` is what is kept of these: READMEs,
    which checks of the submitter read, and what could not be listed; `bytes` is the size of all of them.
    """

    submitter: int
    system: SystemEntry
    outcomes: tuple[Outcome, ...]
    results: tuple[JudgedResult, ...]
    of_files: tuple[Outcome, ...]
    walked: Walked
    bytes: int


@dataclass(frozen=True, slots=True)
class Job:
    """What is known before any system is read, and the same for all of them."""

    round: Round
    outlined: Outline

    def system(self, at: int, name: str) -> JudgedSystem:
        """Reads and judges one system of the submitter at a place."""
        tree, submitter = self.outlined.tree, self.outlined.submission.submitters[at]
        walked = walk_system(tree, self.round, submitter, name)
        try:
            return self._judged(at, name, walked)
        finally:
            tree.forget(walked.folders)

    def _judged(self, at: int, name: str, walked: Walked) -> JudgedSystem:
        whole = self.outlined.submission
        submitter = whole.submitters[at]
        system = find_system(self.outlined.tree, self.round, submitter, name)
        described = _described(whole.files, self.round, submitter, name)
        near = replace(whole, files=tuple(sorted((*walked.files, *described), key=PATH)))
        results = tuple(self._result(near, submitter, system, result) for result in system.results)
        alone = replace(whole, files=walked.files, empty_folders=walked.empty)
        of_files = run_checks(Scope.FILES, Subject(self.round, alone, submitter))
        return JudgedSystem(
            submitter=at,
            system=replace(system, results=tuple(one.result for one in results)),
            outcomes=run_checks(Scope.SYSTEM, Subject(self.round, near, submitter, system)),
            results=results,
            of_files=tuple(one for one in of_files if one.findings),
            walked=Walked(tuple(file for file in walked.files if is_readme(file.path)), (), walked.refused, ()),
            bytes=walked.bytes,
        )

    def _result(self, near: Submission, submitter: SubmitterEntry, system: SystemEntry, result: Result) -> JudgedResult:
        judged = judged_result(subject_of(self.round, near, (submitter, system, result)), result, ())
        return replace(judged, result=without_logs(result))


Systems = Callable[[Job], Iterator[JudgedSystem]]
"""How the systems of a job are judged: here, or in other processes."""


def one_by_one(job: Job) -> Iterator[JudgedSystem]:
    """The systems of a tree in order, judged in this process."""
    for at, name in job.outlined.systems:
        yield job.system(at, name)


def judge_streaming(
    root: Path,
    round_: Round,
    submitter: str | None = None,
    systems: Systems = one_by_one,
    seen: Callable[[JudgedSystem], None] | None = None,
) -> Judgement:
    """Judges a tree; `seen` is told of each system as soon as it is judged. Raises UnreadableFile as discover does."""
    job = Job(round_, outline(root, round_, submitter))
    judged: dict[int, list[JudgedSystem]] = {}
    for system in systems(job):
        judged.setdefault(system.submitter, []).append(system)
        if seen is not None:
            seen(system)
    return _together(job, judged)


def _together(job: Job, judged: dict[int, list[JudgedSystem]]) -> Judgement:
    """The judgement, with the checks above the systems."""
    submission = with_parts(job.outlined.submission, (one.walked for own in judged.values() for one in own))
    submission = with_systems(submission, {at: [one.system for one in own] for at, own in judged.items()})
    of_tree = run_checks(Scope.TREE, Subject(job.round, submission))
    above, results = list(of_tree), list[JudgedResult]()
    for at, submitter in enumerate(submission.submitters):
        systems = judged.get(at, [])
        near = replace(submission, files=_beneath(submission.files, submitter.path))
        parts = (outcome for one in systems for outcome in one.of_files)
        own = of_submitter(Subject(job.round, near, submitter), parts)
        above.extend(own)
        for one in systems:
            above.extend(one.outcomes)
            inherited = (*of_tree, *own, *one.outcomes)
            results.extend(_under(result, inherited) for result in one.results)
    return Judgement(submission, job.round, tuple(above), tuple(results))


def _under(judged: JudgedResult, inherited: tuple[Outcome, ...]) -> JudgedResult:
    """A result beneath what was found above it."""
    bearing = tuple(outcome for outcome in inherited if outcome.check.lowers and outcome.findings)
    findings = tuple(finding for outcome in bearing for finding in outcome.findings)
    verdicts = judged.verdicts
    official, strict = (
        INVALID if any(counts(finding, profile) for finding in findings) else own
        for profile, own in ((Profile.OFFICIAL, verdicts.official), (Profile.STRICT, verdicts.strict))
    )
    return JudgedResult(judged.result, Verdicts(official, strict, verdicts.outcomes), bearing)


def without_logs(result: Result) -> Result:
    """A result with only what reports read of it: the metric, the scores, the measurements, the endpoints' figures."""
    detail = result.performance.detail
    logs = RunLogs(result.performance.folder, (), None if detail is None else detail.only(REPORTED_KEYS), None, None)
    measurements = result.measurements
    return replace(
        result,
        measurements=None if measurements is None else replace(measurements, lines={}, problems=()),
        performance=logs,
        accuracy=RunLogs(result.accuracy.folder, (), None, None, None),
        audits={},
        unreadable=(),
        user_conf=None,
        sample_outputs=(),
        power=None if result.power is None else result.power.without_logs(),
    )


def _beneath(files: tuple[TreeFile, ...], path: str) -> tuple[TreeFile, ...]:
    """A folder and what lies beneath it. `files` are in order of their paths."""
    at = bisect_left(files, path, key=PATH)
    itself = files[at : at + 1] if at < len(files) and files[at].path == path else ()
    return (*itself, *_starting(files, f"{path}/"))


def _described(
    files: tuple[TreeFile, ...], round_: Round, submitter: SubmitterEntry, name: str
) -> tuple[TreeFile, ...]:
    """The files beside a system's folders that bear its name, as its description; names that begin alike included."""
    names = {"division": submitter.division.value, "submitter": submitter.name}
    return _starting(files, fill(round_.layout.system.partition("{system}")[0], names) + name)


def _starting(files: tuple[TreeFile, ...], prefix: str) -> tuple[TreeFile, ...]:
    return files[bisect_left(files, prefix, key=PATH) : bisect_left(files, prefix + _LAST, key=PATH)]
