"""SUTs by name. Nothing is imported until a SUT is asked for: `weighbridge --help` must not load torch.

A name is one of the built-in table, one of the entry point group ``weighbridge.suts``, or ``module:Class`` itself. The
class is called with an `EngineConfig` and must follow `sut.protocol.Engine`.
"""

import importlib
import sys
from collections.abc import Callable, Mapping
from difflib import get_close_matches
from importlib import metadata
from types import MappingProxyType, ModuleType
from typing import cast

from sut.errors import StartFailed, SutError, UnknownSut
from sut.preflight import PreflightProblem, dataset_problems, module_problems
from sut.protocol import Engine, EngineConfig

ENTRY_POINT_GROUP = "weighbridge.suts"
_METHODS = ("start", "warm_up", "begin", "submit", "end", "stop")

_BUILT_IN: Mapping[str, str] = MappingProxyType(
    {
        "null": "sut.null:NullEngine",
        "echo": "sut.echo:EchoEngine",
        "synthetic": "sut.synthetic:SyntheticEngine",
        "vllm-cpu": "sut.vllm.cpu:CpuEngine",
        "vllm-cuda": "sut.vllm.cuda:CudaEngine",
        "vllm-rocm": "sut.vllm.rocm:RocmEngine",
    }
)


def sut_names() -> tuple[str, ...]:
    """Every name `create` knows, built-in ones first; ``module:Class`` works besides."""
    return (*_BUILT_IN, *sorted(set(_entry_points()) - set(_BUILT_IN)))


def create(name: str, config: EngineConfig) -> Engine:
    """The engine of that name, made but not started.

    Raises UnknownSut, StartFailed when its module cannot be imported, BadSettings for its settings.
    """
    module, attribute = _load(name)
    factory = getattr(module, attribute, None)
    if not callable(factory):
        raise UnknownSut(f"SUT {name!r}: module {module.__name__} has no class {attribute!r}; check the spelling")
    if isinstance(factory, type):
        _require_protocol(name, factory)
    try:
        engine = cast("Callable[[EngineConfig], Engine]", factory)(config)
    except SutError:
        raise
    except Exception as error:
        raise UnknownSut(
            f"{name} is no SUT: {attribute}(config) raised {type(error).__name__}: {error}; see `sut.protocol`"
        ) from error
    _require_protocol(name, engine)
    return engine


def _require_protocol(name: str, found: object) -> None:
    missing = [method for method in _METHODS if not callable(getattr(found, method, None))]
    if missing:
        raise UnknownSut(f"{name} is no SUT: it has no method {', '.join(missing)}; see `sut.protocol.Engine`")


def describe(name: str) -> str:
    """What the SUT is and which settings it has: the docstring of its module. Raises as `create` does."""
    module, _ = _load(name)
    return (module.__doc__ or f"{name}: {module.__name__} has no docstring").strip()


def preflight(name: str, config: EngineConfig) -> tuple[PreflightProblem, ...]:
    """Everything that stands in the way of starting this SUT here. Raises UnknownSut; all else is a problem."""
    found = dataset_problems(config)
    try:
        module, _ = _load(name)
    except StartFailed as error:
        return (*found, PreflightProblem(f"SUT {name}", str(error), "install what is missing", fatal=True))
    return (*found, *module_problems(module, config))


def _load(name: str) -> tuple[ModuleType, str]:
    target = _target(name)
    module_name, _, attribute = target.partition(":")
    try:
        return importlib.import_module(module_name), attribute
    except ModuleNotFoundError as error:
        if error.name is not None and (module_name == error.name or module_name.startswith(error.name + ".")):
            raise UnknownSut(
                f"SUT {name!r}: no module {module_name!r}; put its folder on PYTHONPATH or install its distribution"
            ) from error
        raise StartFailed(
            f"SUT {name!r} needs the Python module {error.name!r}, which {sys.executable} does not have; install the "
            "SUT's extra there, or name another interpreter under `worker: {python: ...}`"
        ) from error
    except SutError:
        raise
    except Exception as error:
        raise StartFailed(f"SUT {name!r}: importing {module_name} raised {type(error).__name__}: {error}") from error


def _target(name: str) -> str:
    if name in _BUILT_IN:
        return _BUILT_IN[name]
    points = _entry_points()
    if name in points:
        return points[name]
    module, colon, attribute = name.partition(":")
    if colon and attribute.isidentifier() and all(part.isidentifier() for part in module.split(".")):
        return name
    near = get_close_matches(name, sut_names(), n=1)
    hint = f"did you mean {near[0]!r}?" if near else f"there are {', '.join(sut_names())}."
    raise UnknownSut(f"unknown SUT {name!r}; {hint} A class of your own is named module:Class.")


def _entry_points() -> dict[str, str]:
    return {point.name: point.value for point in metadata.entry_points(group=ENTRY_POINT_GROUP)}
