"""The power measurement of a results folder, and the nameplate of a system, into records."""

import hashlib
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path, PurePosixPath

from compliance.discovery.files import Reading, Tree, fill
from compliance.logs.detail import DetailLog
from compliance.logs.power.lines import parse_time
from compliance.logs.power.nameplate import Nameplate, read_nameplate
from compliance.logs.power.ptd import read_ptd_log
from compliance.logs.power.run import CLIENT, CLIENT_LOG, PTD_LOG, SERVER, SERVER_LOG, SPL, PowerPhase, PowerRun
from compliance.logs.power.session import read_session
from compliance.logs.power.spl import SplLog, read_spl
from compliance.logs.power.text_log import read_session_log
from compliance.logs.power.window import read_window
from compliance.rulebook.model import Round
from compliance.rulebook.power import PowerRules, load_power_rules

_POWER, _RANGING = "power", "ranging"
_DETAIL = "mlperf_log_detail.txt"
_MEASURE_LEVELS = 4
_CHUNK_BYTES = 1 << 20

Times = tuple[datetime, datetime]


def find_power(reading: Reading, performance_dir: str, measurements: str, detail: DetailLog | None) -> PowerRun | None:
    """Reads performance/power and what belongs to it; None where no power was measured (no such folder).

    `performance_dir` is the testing run's folder (run_1), `measurements` the path of the measurements file, `detail`
    the testing run's detail log. What cannot be read is None in its field and noted.
    """
    tree, base = reading.tree, performance_dir.rpartition("/")[0]
    folder = f"{base}/{_POWER}"
    if not _exists(tree, folder):
        return None
    rules = load_power_rules()
    testing = _phase(reading, performance_dir)
    return PowerRun(
        folder=folder,
        files=tree.files(folder),
        client=reading.take(f"{folder}/{CLIENT}", read_session, required=False),
        server=reading.take(f"{folder}/{SERVER}", read_session, required=False),
        client_log=reading.take(f"{folder}/{CLIENT_LOG}", read_session_log, required=False),
        server_log=reading.take(f"{folder}/{SERVER_LOG}", read_session_log, required=False),
        ptd_log=reading.take(f"{folder}/{PTD_LOG}", read_ptd_log, required=False),
        ranging=_phase(reading, f"{base}/{_RANGING}"),
        testing=testing,
        metered=_metered(reading, testing, detail),
        digests=_digests(tree, base, rules),
        measure_files=_measure_files(tree, measurements, rules),
    )


def find_nameplate(reading: Reading, round_: Round, names: Mapping[str, str]) -> Nameplate | None:
    """The system's nameplate file, None where there is none and in rounds that know none."""
    path = nameplate_path(round_, names)
    return reading.take(path, read_nameplate, required=False) if path else None


def nameplate_path(round_: Round, names: Mapping[str, str]) -> str | None:
    """Where a system's nameplate file stands; None in rounds that know none."""
    rules = load_power_rules()
    return fill(rules.nameplate_path, names) if round_.name in rules.nameplate_rounds else None


def _exists(tree: Tree, path: str) -> bool:
    """Whether there is anything of that name; the official checker asks no more (power_check.py:56)."""
    try:
        return (tree.root / path).exists()
    except (OSError, ValueError):
        return False


def _phase(reading: Reading, folder: str) -> PowerPhase:
    window = reading.take(f"{folder}/{_DETAIL}", read_window, required=False)
    times = window.times if window else None
    return PowerPhase(folder, reading.tree.files(folder), window, _samples(reading, folder, times))


def _samples(reading: Reading, folder: str, times: Times | None) -> SplLog | None:
    return reading.take(f"{folder}/{SPL}", lambda path: read_spl(path, times), required=False)


def _metered(reading: Reading, testing: PowerPhase, detail: DetailLog | None) -> SplLog | None:
    """The testing run's samples by the log's first marks, read anew only where those are other ones."""
    times = logged_window(detail)
    known = testing.window.times if testing.window else None
    if times is None or times == known or testing.samples is None:
        return testing.samples if times is not None else None
    return _samples(reading, testing.folder, times)


def logged_window(detail: DetailLog | None) -> Times | None:
    """power_begin and power_end as a detail log's records have them, None unless both are times."""
    values = [detail.value(key) if detail else None for key in ("power_begin", "power_end")]
    begin, end = (parse_time(value) if isinstance(value, str) else None for value in values)
    return None if begin is None or end is None else (begin, end)


def _digests(tree: Tree, base: str, rules: PowerRules) -> Mapping[str, str]:
    """SHA-1 of each file that the session vouches for and that is there."""
    found: dict[str, str] = {}
    for name in rules.hashed_files:
        if tree.kind(f"{base}/{name}") == "file":
            digest = _sha1(tree.root / base / name)
            if digest is not None:
                found[name] = digest
    return found


def _sha1(path: Path) -> str | None:
    # SHA-1 is what the power workflow records; it says here that a file is the same, and keeps no secret.
    digest = hashlib.sha1(usedforsecurity=False)
    try:
        with path.open("rb") as stream:
            while chunk := stream.read(_CHUNK_BYTES):
                digest.update(chunk)
    except OSError:
        return None
    return digest.hexdigest()


def _measure_files(tree: Tree, measurements: str, rules: PowerRules) -> Mapping[str, int]:
    """The analyser's settings beside the measurements file and up to three folders above (old checker, 3435-3473)."""
    found: dict[str, int] = {}
    for folder in list(PurePosixPath(measurements).parents)[:_MEASURE_LEVELS]:
        for name in tree.files(folder.as_posix()):
            if name.startswith(rules.measure_prefixes):
                path = f"{folder.as_posix()}/{name}"
                found[path] = tree.size(path) or 0
    return found
