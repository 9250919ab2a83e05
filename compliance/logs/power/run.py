"""What is found of a power measurement in a results folder, as records. `compliance.discovery.power` makes them."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from compliance.logs.power.ptd import PtdLog
from compliance.logs.power.session import Session
from compliance.logs.power.spl import SplLog
from compliance.logs.power.text_log import SessionLog
from compliance.logs.power.window import PowerWindow

CLIENT, SERVER = "client.json", "server.json"
CLIENT_LOG, SERVER_LOG, PTD_LOG, SPL = "client.log", "server.log", "ptd_logs.txt", "spl.txt"


@dataclass(frozen=True, slots=True)
class PowerPhase:
    """One of the two runs of a power measurement: ranging, which finds the meter's ranges, or testing (run_1).

    `folder` is relative to the tree's root. `window` is where power counts, by the detail log; `samples` are spl.txt's,
    averaged inside it. None for what cannot be read.
    """

    folder: str
    files: tuple[str, ...]
    window: PowerWindow | None
    samples: SplLog | None


@dataclass(frozen=True, slots=True)
class PowerRun:
    """performance/power of a results folder and the two runs it is about.

    `metered` are the testing run's samples inside the window of the detail log's first power_begin and power_end, which
    the power metric is made of. `digests` maps each file the session vouches for, relative to performance/, to its
    SHA-1. `measure_files` maps the files about the analyser's settings, in the four folders where they may stand, to
    their bytes.
    """

    folder: str
    files: tuple[str, ...]
    client: Session | None
    server: Session | None
    client_log: SessionLog | None
    server_log: SessionLog | None
    ptd_log: PtdLog | None
    ranging: PowerPhase
    testing: PowerPhase
    metered: SplLog | None
    digests: Mapping[str, str]
    measure_files: Mapping[str, int]

    @property
    def performance_folder(self) -> str:
        """The folder that holds power/, ranging/ and run_1/."""
        return self.folder.rpartition("/")[0]

    def without_logs(self) -> "PowerRun":
        """Only what reports read of it: the samples' means."""
        return replace(
            self,
            client=None,
            server=None,
            client_log=None,
            server_log=None,
            ptd_log=None,
            digests={},
            measure_files={},
        )
