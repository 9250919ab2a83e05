"""The control lines between the runner and a worker: one JSON object per line on the worker's stdin and stdout.

Standard streams work the same for a local interpreter, a container (`run -i`) and another machine (`ssh`), carry the
secret without a file, and end with their owner: a worker whose stdin closes stops.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from sut.protocol import EngineConfig, SutFacts


@dataclass(frozen=True, slots=True)
class WorkerConfig:
    """The first line a worker reads. It connects a PULL socket to `tasks` and a PUSH socket to `events`.

    `tasks` and `events` are bound by the LoadGen process of each run, so both connections outlive runs. `curve` holds
    {public, secret, server} Z85 keys where the endpoints are TCP, None for ipc in a folder only the user may enter.
    A worker that was told to stop ends itself, and its process group where it leads one, after `stop_grace_s`.
    """

    sut: str
    engine: EngineConfig
    tasks: str
    events: str
    worker_index: int
    heartbeat_s: float = 1.0
    curve: Mapping[str, str] | None = None
    stop_grace_s: float = 20.0


@dataclass(frozen=True, slots=True)
class WorkerStatus:
    """A line a worker writes. `state`: ready (facts set) | failed (reason set, the process ends) | stopped."""

    state: str
    facts: SutFacts | None = None
    reason: str = ""


@dataclass(frozen=True, slots=True)
class WorkerCommand:
    """A line a worker reads after its configuration. `command`: stop."""

    command: str
