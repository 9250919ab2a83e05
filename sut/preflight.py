"""What a SUT finds missing or wrong on this machine before it is started: devices, drivers, files, settings.

An engine's module may offer ``preflight(config: EngineConfig) -> tuple[PreflightProblem, ...]``: quick, and without
touching a device's memory. `weighbridge doctor` prints every problem, `weighbridge run` refuses on a fatal one.
"""

from dataclasses import dataclass
from types import ModuleType

from sut.dataset import TokenDataset
from sut.errors import BadDataset, BadSettings, SutError
from sut.protocol import EngineConfig


@dataclass(frozen=True, slots=True)
class PreflightProblem:
    """One thing that stands in the way: `what` was looked at, what was `found`, the `fix`; `fatal` stops a run."""

    what: str
    found: str
    fix: str
    fatal: bool


def dataset_problems(config: EngineConfig) -> tuple[PreflightProblem, ...]:
    """The dataset folder is there and whole, as every SUT needs it."""
    try:
        TokenDataset.open(config.dataset_path)
    except BadDataset as error:
        return (PreflightProblem("dataset", str(error), "write or copy the dataset folder again", fatal=True),)
    return ()


def module_problems(module: ModuleType, config: EngineConfig) -> tuple[PreflightProblem, ...]:
    """What the engine's own `preflight` reports; nothing when its module offers none.

    A preflight that itself raises is a problem too, not a crash of the doctor.
    """
    own = getattr(module, "preflight", None)
    if not callable(own):
        return ()
    try:
        return tuple(own(config))
    except BadSettings as error:
        return tuple(
            PreflightProblem("settings", problem, "correct it in the campaign", fatal=True)
            for problem in error.problems
        )
    except SutError as error:
        return (PreflightProblem(module.__name__, str(error), "see the message", fatal=True),)
    except Exception as error:  # noqa: BLE001 third-party code; whatever it raises is what the doctor must show
        found = f"its preflight raised {type(error).__name__}: {error}"
        return (PreflightProblem(module.__name__, found, "repair the SUT's preflight function", fatal=True),)
