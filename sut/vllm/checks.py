"""Preflight checks that every vLLM platform shares: package, settings, model, lengths. Imports no vLLM."""

from collections.abc import Iterator, Mapping
from importlib import metadata

from sut.dataset import TokenDataset
from sut.errors import BadDataset, BadSettings, StartFailed
from sut.preflight import PreflightProblem
from sut.protocol import EngineConfig
from sut.vllm.args import VllmSettings, engine_arg_names, length_problem, read_settings
from sut.vllm.files import check_model


def common_problems(config: EngineConfig, defaults: Mapping[str, object], install: str) -> Iterator[PreflightProblem]:
    """What stands in the way on any platform. `install` is the step that brings vLLM to this one."""
    known = engine_arg_names()
    if known is None:
        yield PreflightProblem("vllm", "not installed in this Python", install, fatal=True)
    try:
        settings = read_settings(config, defaults, known)
    except BadSettings as error:
        for problem in error.problems:
            yield PreflightProblem("settings", problem, "correct it in the campaign", fatal=True)
        return
    try:
        check_model(settings.model)
    except StartFailed as error:
        yield PreflightProblem("model", str(error), "copy the model's folder to this machine", fatal=True)
    too_long = _too_long(config, settings)
    if too_long:
        yield PreflightProblem("lengths", too_long, "raise max_model_len", fatal=True)
    if settings.engine_args.get("enable_prefix_caching"):
        yield PreflightProblem(
            "enable_prefix_caching",
            "on: answers to earlier queries would speed up later ones",
            "turn it off unless the round's rules allow it for this benchmark",
            fatal=False,
        )


def _too_long(config: EngineConfig, settings: VllmSettings) -> str | None:
    try:
        dataset = TokenDataset.open(config.dataset_path, verify=False)
    except BadDataset:
        return None  # sut.preflight.dataset_problems tells it
    return length_problem(settings, dataset, config.sampling)


def version(package: str) -> str | None:
    """The installed version of a distribution, None when it is not installed."""
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None
