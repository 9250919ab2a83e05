"""SutError and its kinds.

SutError
├── UnknownSut      no SUT of that name; says which there are
├── BadSettings     settings the engine does not know or cannot use; carries every problem
├── StartFailed     the engine could not start: what was probed and what to do
├── EngineLost      the engine died while samples were in flight
├── WireError       a frame that is not of this protocol
└── BadDataset      a dataset folder that is missing, damaged or of another form
"""


class SutError(Exception):
    """Root of this package's errors. The message ends in the next step to take."""


class UnknownSut(SutError):
    """No SUT is registered under the name."""


class BadSettings(SutError):
    """Engine settings that are wrong; `problems` lists all of them."""

    def __init__(self, problems: tuple[str, ...]) -> None:
        self.problems = problems
        super().__init__("\n".join(problems))


class StartFailed(SutError):
    """The engine could not start."""


class EngineLost(SutError):
    """The engine ended or hung while samples were in flight."""


class WireError(SutError):
    """A frame of another protocol version or a wrong shape."""


class BadDataset(SutError):
    """A dataset folder that is missing, damaged or not of this form."""
