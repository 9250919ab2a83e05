"""What is checked before LoadGen starts, since LoadGen itself would go on in silence (F21, F23)."""

import gc
import os
import sys
from pathlib import Path

import numpy as np
import numpy.typing as npt

from compliance.vocabulary import Mode, Scenario
from harness.core.outcome import FAILED_NAME, LOG_NAMES, OUTCOME_NAME, SAMPLES_NAME
from harness.core.spec import RunSpec
from harness.errors import LoadgenError, PreflightError, StorageError
from harness.storage import write_atomic
from sut.dispatch.policies import POLICIES

# LoadGen takes a file named audit.config in its working directory for the audit's, whatever it is (F23): the name is
# always given, and where there is no audit it is one that does not exist.
AUDIT_NAME = "audit.config"
NO_AUDIT_NAME = "no-audit.config"
USER_CONF_NAME = "user.conf"
# LoadGen writes some hundred bytes per sample and log; below this it would end with a cut log.
_LEAST_FREE_BYTES = 1 << 20
_SWITCH_INTERVAL_S = 0.0002


def check_spec(spec: RunSpec) -> None:
    """Raises PreflightError with everything that is wrong in the specification itself."""
    problems = []
    if spec.loadgen.scenario not in {str(scenario) for scenario in Scenario}:
        problems.append(f"scenario {spec.loadgen.scenario!r} is none; take one of {', '.join(Scenario)}")
    if spec.loadgen.mode not in {str(mode) for mode in Mode}:
        problems.append(f"mode {spec.loadgen.mode!r} is none; take one of {', '.join(Mode)}")
    if spec.policy not in POLICIES:
        problems.append(f"dispatch policy {spec.policy!r} is none; take one of {', '.join(POLICIES)}")
    if not spec.workers:
        problems.append("there is no worker; give the SUT at least one")
    if any(worker.window < 1 for worker in spec.workers):
        problems.append("a worker's window is under 1; an engine takes at least one sample at a time")
    if problems:
        raise PreflightError(tuple(problems))


def load_lengths(spec: RunSpec) -> npt.NDArray[np.int32]:
    """The prompt length of every sample of the dataset, in tokens; a test may use its first samples alone.

    Raises PreflightError when the file cannot be read or has lengths for fewer samples than the test.
    """
    try:
        lengths: npt.NDArray[np.int32] = np.load(spec.lengths, allow_pickle=False).astype(np.int32)
    except (OSError, ValueError, EOFError) as error:
        raise PreflightError((f"{spec.lengths} cannot be read: {error}; write the dataset again",)) from error
    if lengths.ndim != 1 or len(lengths) < spec.loadgen.total_sample_count:
        raise PreflightError(
            (f"{spec.lengths} has {lengths.shape} lengths for {spec.loadgen.total_sample_count} samples; plan again",)
        )
    return lengths


def prepare_folder(spec: RunSpec) -> None:
    """Makes the run folder ready: no stray audit file, no logs of an earlier test, the conf files written.

    Raises PreflightError for a stray audit file or a folder that cannot be written or is on a full disk.
    """
    folder = Path(spec.folder)
    try:
        if stray := stray_audit(folder, spec.loadgen.audit_conf):
            raise PreflightError((stray,))
        for name in (*LOG_NAMES, OUTCOME_NAME, FAILED_NAME, SAMPLES_NAME):
            (folder / name).unlink(missing_ok=True)
        space = os.statvfs(folder)
        free_bytes = space.f_bavail * space.f_frsize
        if free_bytes < _LEAST_FREE_BYTES:
            raise PreflightError((f"{folder} has {free_bytes} bytes left; free space, LoadGen would not tell",))
        write_atomic(folder / USER_CONF_NAME, spec.loadgen.user_conf)
        if spec.loadgen.audit_conf is not None:
            write_atomic(folder / AUDIT_NAME, spec.loadgen.audit_conf)
    except (OSError, StorageError) as error:
        raise PreflightError((f"the run folder cannot be used: {error}; choose another --out",)) from error


def stray_audit(folder: Path, wanted: str | None) -> str:
    """What is wrong about an audit file in a run folder, empty when nothing is; `wanted` is the text of the test's own.

    LoadGen would take the file over the mode that was asked for. Raises OSError when the file cannot be read.
    """
    for name in (AUDIT_NAME, NO_AUDIT_NAME):
        path = folder / name
        ours = name == AUDIT_NAME and wanted is not None and path.is_file() and path.read_bytes() == wanted.encode()
        if os.path.lexists(path) and not ours:
            return f"{path} is in the way: it would change the test in silence; move it away"
    return ""


def settle_process(spec: RunSpec) -> None:
    """The process set up for timing: its own folder, its own cores, short GIL turns. Raises PreflightError."""
    os.chdir(spec.folder)
    sys.setswitchinterval(_SWITCH_INTERVAL_S)
    if spec.cores:
        try:
            os.sched_setaffinity(0, spec.cores)
        except OSError as error:
            raise PreflightError((f"cores {spec.cores} cannot be taken: {error}; correct the plan's cores",)) from error


def freeze_memory() -> None:
    """No garbage collection during the test: a pause is latency (F12)."""
    gc.collect()
    gc.freeze()
    gc.disable()


def loadgen_missing(error: ImportError) -> LoadgenError:
    """What to say where LoadGen cannot be imported."""
    return LoadgenError(
        f"LoadGen cannot be imported ({error}); it has wheels for x86-64 Linux and Python 3.9 to 3.13: "
        "install mlcommons-loadgen there, or build it from source"
    )
