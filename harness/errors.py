"""HarnessError and its kinds.

HarnessError
├── UsageError       a command was given something it cannot work with: a file that is not there, or is another kind
├── CampaignError    the campaign file is wrong; carries every problem
├── PlanError        the campaign is well formed, but no plan that keeps the rules can be made from it
├── PreflightError   something this machine lacks; carries every problem
├── StorageError     a file that cannot be written where it must be
├── WorkerError      a worker could not be started, or answers for another dataset than the rest
│   └── WorkerChoiceError  a worker that cannot be started as the campaign or the surroundings describe it
├── LoadgenError     LoadGen is missing, refused its settings, or left no whole log
├── RunAborted       a run that was ended before LoadGen ended it; carries the kind of its outcome
├── EvaluationError  answers that cannot be scored
└── PackageError     a campaign that cannot be packaged; carries every problem
"""


class HarnessError(Exception):
    """Root of this package's errors. The message ends in the next step to take."""


class UsageError(HarnessError):
    """A command was given something it cannot work with: a file that is missing, of another kind, or in the way."""


class _CollectedError(HarnessError):
    """An error that carries all its problems, one line each."""

    def __init__(self, problems: tuple[str, ...]) -> None:
        self.problems = problems
        super().__init__("\n".join(problems))


class CampaignError(_CollectedError):
    """A campaign file that is wrong; `problems` lists everything found, each with its line and its fix."""


class PlanError(HarnessError):
    """No plan that keeps the rules can be made."""


class PreflightError(_CollectedError):
    """A machine that cannot make the runs; `problems` lists what is missing, each with its fix."""


class StorageError(HarnessError):
    """A file cannot be written: the disk is full, or the folder is not ours."""


class WorkerError(HarnessError):
    """A worker could not be started or used."""


class WorkerChoiceError(WorkerError):
    """A worker that cannot be started as it is described: no such interpreter, no room for its sockets' paths."""


class LoadgenError(HarnessError):
    """LoadGen is missing, refused its settings, or left no whole log."""


class RunAborted(HarnessError):
    """A run that ended before LoadGen ended it; `kind` is the outcome's (harness.core.spec.RunOutcome)."""

    def __init__(self, kind: str, cause: str) -> None:
        self.kind = kind
        super().__init__(cause)


class EvaluationError(HarnessError):
    """Answers that cannot be scored."""


class PackageError(_CollectedError):
    """A campaign that cannot be packaged; `problems` lists every reason."""
