"""ComplianceError and its kinds.

ComplianceError
├── RuleError        a round or a benchmark that this installation has no rules for, or a rule file that is wrong
├── UndecidedRound   a tree that tells nothing of its round, where none was named
├── UnknownRound     a tree of a round that this installation has no rules for: it is not judged
├── UnreadableFile   a file that cannot be read as what it should be; carries path and line
└── RenderError      a tree that cannot be written completely, and therefore is not written at all
    └── TargetError  the place for the tree is taken, missing, or not ours
"""

from pathlib import Path


class ComplianceError(Exception):
    """Root of this package's errors. The message ends in the next step to take."""


class RuleError(ComplianceError):
    """No rule data for what was asked, or rule data that contradicts itself."""


class UndecidedRound(ComplianceError):
    """Nothing in a tree tells of its round, and none was named."""


class UnknownRound(ComplianceError):
    """A tree is of a round that this installation has no rules for, so that nothing can be judged."""


class RenderError(ComplianceError):
    """A submission tree that cannot be rendered; `problems` holds every reason, one per line."""

    def __init__(self, problems: tuple[str, ...]) -> None:
        self.problems = problems
        super().__init__("\n".join(problems))


class TargetError(RenderError):
    """A tree that cannot be rendered where it was asked for: the folder is in use, its parent missing, or not ours."""


class UnreadableFile(ComplianceError):
    """A file that is missing, empty, undecodable or of the wrong form; `parsed` when it is JSON of another form."""

    def __init__(self, path: Path, reason: str, line: int | None = None, *, parsed: bool = False) -> None:
        self.path, self.reason, self.line, self.parsed = path, reason, line, parsed
        super().__init__(f"{path}{f':{line}' if line else ''}: {reason}")
