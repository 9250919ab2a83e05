"""The form of a check and of what it yields. See `compliance/README.md` on how to add one."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from enum import StrEnum

from compliance.records import Result, Submission, SubmitterEntry, SystemEntry
from compliance.rulebook.model import BenchmarkRules, Round, ScenarioRules
from compliance.vocabulary import Profile, Severity


@dataclass(frozen=True, slots=True)
class Finding:
    """One fault found: where, what the rule wants, what is there, and what to do.

    `where` is a path relative to the tree; `line` is 1-based; `pointer` is an RFC 6901 JSON pointer. `profiles` are the
    profiles in which the finding counts with its severity; in the others it is shown as information only. An empty
    `fix` means that of the check.
    """

    where: str
    expected: str
    found: str
    fix: str = ""
    message: str = ""
    line: int | None = None
    pointer: str | None = None
    severity: Severity = Severity.ERROR
    profiles: tuple[Profile, ...] = (Profile.OFFICIAL, Profile.STRICT)


@dataclass(frozen=True, slots=True)
class Skip:
    """A check that does not apply here, with the reason."""

    reason: str


class Scope(StrEnum):
    """What a check looks at: the tree, a submitter, a submitter's files, a system or one results folder.

    A check of files looks at each for itself, in order of path: it is asked of all of them or of one part at a time.
    """

    TREE = "tree"
    SUBMITTER = "submitter"
    FILES = "files"
    SYSTEM = "system"
    RESULT = "result"


@dataclass(frozen=True, slots=True)
class Subject:
    """What a check is given: the round, and as much of the tree as its scope names (the rest is None).

    `endpoints` says that the result holds endpoints logs in place of LoadGen's (submission_checker/loader.py:469).
    """

    round: Round
    submission: Submission
    submitter: SubmitterEntry | None = None
    system: SystemEntry | None = None
    result: Result | None = None
    benchmark: BenchmarkRules | None = None
    scenario: ScenarioRules | None = None
    endpoints: bool = False


CheckFunction = Callable[[Subject], Iterator[Finding | Skip]]


@dataclass(frozen=True, slots=True)
class Check:
    """A pure function with an id, a title, the rule it asks for and where that stands.

    `needs` names what must be at hand (`compliance.checks.facts.NEEDS`), else the check is skipped. `fix` is what to do
    about its findings unless they say something more exact. `lowers` says whether its errors turn down the results
    beneath the place they stand at, or only the tree.
    """

    id: str
    title: str
    source: str
    scope: Scope
    needs: tuple[str, ...]
    function: CheckFunction
    fix: str = ""
    lowers: bool = True


class State(StrEnum):
    """How a check ended."""

    PASS = "pass"  # noqa: S105 - a state, no password
    FAIL = "fail"
    SKIP = "skip"


@dataclass(frozen=True, slots=True)
class Outcome:
    """One check on one subject: pass, fail or skip-with-reason, with its findings.

    `where` is the subject's path; it may be empty where there is no finding.
    """

    check: Check
    state: State
    where: str
    findings: tuple[Finding, ...] = ()
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Verdicts:
    """Both verdicts of one result: valid, invalid or not_judged."""

    official: str
    strict: str
    outcomes: tuple[Outcome, ...] = field(default=())
