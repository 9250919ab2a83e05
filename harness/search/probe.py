"""One probe of a rate, as it stands in the search's ledger on disk."""

from dataclasses import dataclass
from pathlib import Path

from harness.errors import StorageError
from harness.storage import read_record, write_record

LEDGER_NAME = "probes.json"
VALID, INVALID, HOPELESS = "VALID", "INVALID", "hopeless"


@dataclass(frozen=True, slots=True)
class Probe:
    """A rate that was tried. `full`: with the campaign's own duration and counts, not as a short probe.

    `verdict` is LoadGen's VALID or INVALID, or hopeless for a test that was ended early. Latencies in ms, None where
    the test has none; `queries` were issued in `duration_s`. `reason` says why it is not VALID.
    """

    qps: float
    full: bool
    verdict: str
    queries: int
    duration_s: float
    ttft_p99_ms: float | None
    tpot_p99_ms: float | None
    reason: str

    @property
    def valid(self) -> bool:
        """Whether LoadGen calls it VALID."""
        return self.verdict == VALID


@dataclass(frozen=True, slots=True)
class Probes:
    """All probes of one search. `identity` is over everything but the rate that decides what a probe shows."""

    identity: str
    probes: tuple[Probe, ...] = ()


def load_probes(folder: Path, identity: str) -> tuple[Probe, ...]:
    """The probes that an earlier search of the same identity has finished; none where there is no such search."""
    try:
        found = read_record(folder / LEDGER_NAME, Probes)
    except StorageError:
        return ()
    return found.probes if found.identity == identity else ()


def save_probes(folder: Path, identity: str, probes: tuple[Probe, ...]) -> None:
    """Writes the ledger, whole or not at all: a probe that is not in it was not made. Raises StorageError."""
    write_record(folder / LEDGER_NAME, Probes(identity, probes))
