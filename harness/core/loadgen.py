"""LoadGen's Python binding: settings, the test itself, and the reports to it. The only module that imports it."""

import importlib.metadata
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import mlperf_loadgen as lg

from compliance.vocabulary import Mode, Scenario
from harness.core.callbacks import Callbacks
from harness.core.preflight import AUDIT_NAME, NO_AUDIT_NAME, USER_CONF_NAME
from harness.core.spec import LoadgenSettings, RunSpec
from harness.errors import LoadgenError

_TOKEN_BYTES = 4
_MODES = {Mode.PERFORMANCE: lg.TestMode.PerformanceOnly, Mode.ACCURACY: lg.TestMode.AccuracyOnly}


@dataclass(frozen=True, slots=True)
class Prepared:
    """One test, ready to start: LoadGen's own objects and the audit file's name."""

    settings: Any
    log_settings: Any
    audit: str


def version() -> str:
    """The version of the LoadGen distribution, as the package says."""
    try:
        return importlib.metadata.version("mlcommons-loadgen")
    except importlib.metadata.PackageNotFoundError:
        return "unknown"


def prepare(spec: RunSpec) -> Prepared:
    """Settings from user.conf in the run folder and the spec's attributes.

    Raises LoadgenError when LoadGen does not take the file (its return code says so, nothing is raised there) or does
    not know a setting. To be called once per process: a second FromConfig silently loses the built-in rules (F22).
    """
    folder = Path(spec.folder)
    asked = spec.loadgen
    settings = lg.TestSettings()
    scenario = Scenario(asked.scenario).loadgen_name
    conf = folder / USER_CONF_NAME
    code = settings.FromConfig(str(conf), asked.model, scenario, 1)
    if code != 0:
        raise LoadgenError(
            f"LoadGen refuses {conf} (code {code}); it takes lines of the form `model.scenario.key = number`, "
            "without a comment behind the number"
        )
    settings.scenario = getattr(lg.TestScenario, scenario)
    settings.mode = _MODES[Mode(asked.mode)]
    _set_attributes(settings, asked)
    output = lg.LogOutputSettings()
    output.outdir = str(folder)
    output.copy_summary_to_stdout = False
    log_settings = lg.LogSettings()
    log_settings.log_output = output
    log_settings.enable_trace = False
    audit = NO_AUDIT_NAME if asked.audit_conf is None else AUDIT_NAME
    return Prepared(settings, log_settings, str(folder / audit))


def _set_attributes(settings: Any, asked: LoadgenSettings) -> None:
    known = {name for name in dir(settings) if not name.startswith("_")}
    for name, value in asked.attributes.items():
        if name not in known:
            raise LoadgenError(f"LoadGen {version()} has no setting {name!r}; take it out of the plan")
        try:
            setattr(settings, name, value)
        except TypeError as error:
            raise LoadgenError(f"LoadGen does not take {value!r} for {name}: {error}; correct the plan") from error


def run_test(spec: RunSpec, prepared: Prepared, callbacks: Callbacks) -> None:
    """Runs the test on the calling thread and returns when LoadGen has its logs written.

    The SUT and the QSL are left to the end of the process: to destroy them while a completion is under way is a crash.
    """
    sut = lg.ConstructFastSUT(callbacks.issue, callbacks.flush)
    qsl = lg.ConstructQSL(
        spec.loadgen.total_sample_count, spec.loadgen.performance_sample_count, callbacks.load, callbacks.unload
    )
    lg.StartTestWithLogSettings(sut, qsl, prepared.settings, prepared.log_settings, prepared.audit)


class LoadgenReporter:
    """Reports first tokens and answers to LoadGen; for one thread. Response objects are used again and again."""

    def __init__(self) -> None:
        self._firsts: list[Any] = []
        self._finals: list[Any] = []
        self._first_count = 0
        self._final_count = 0

    def first(self, sample_id: int, address: int) -> None:
        """Gathers a first token: one int32 at `address`."""
        if self._first_count == len(self._firsts):
            self._firsts.append(lg.QuerySampleResponse(0, 0, _TOKEN_BYTES, 1))
        response = self._firsts[self._first_count]
        response.id = sample_id
        response.data = address
        self._first_count += 1

    def final(self, sample_id: int, address: int, token_count: int) -> None:
        """Gathers an answer: `token_count` int32 at `address`."""
        if self._final_count == len(self._finals):
            self._finals.append(lg.QuerySampleResponse(0, 0, 0, 0))
        response = self._finals[self._final_count]
        response.id = sample_id
        response.data = address
        response.size = _TOKEN_BYTES * token_count
        response.n_tokens = token_count
        self._final_count += 1

    def flush(self) -> None:
        """Hands over what was gathered: first tokens, then answers. LoadGen copies what it keeps."""
        if self._first_count:
            lg.FirstTokenComplete(self._firsts[: self._first_count])
            self._first_count = 0
        if self._final_count:
            lg.QuerySamplesComplete(self._finals[: self._final_count])
            self._final_count = 0
