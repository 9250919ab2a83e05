"""Clean submission trees with a power measurement: what PTDaemon and both ends of the power workflow would have left."""

import hashlib
import json
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from compliance.rulebook.power import load_power_rules
from tests.support.tree_files import Record
from tests.support.trees import DETAIL, SUMMARY, SYSTEM, Tree, clean_tree

RANGING_BEGIN = datetime(2026, 11, 28, 20, 0, 0, 500_000, UTC)
TESTING_BEGIN = datetime(2026, 11, 28, 21, 0, 0, 500_000, UTC)
RANGING_S, TESTING_S = 1900, 2000
STEP_S = 10
NAME = "2026-11-28_19-59-00_loadgen"
IDENTITY = (
    "YokogawaWT310,1000,1,0,0,0,0,0,1,version=1.11.1-0a1b2c3d-20260101,OS=Linux,mode=power,0,0,1,0,0,no_cal_date,na"
)
NAMEPLATE = """node:
  chassis:
    PSUs:
      - PowerCapacityWatts: 3000
      - PowerCapacityWatts: 3000
      - PowerCapacityWatts: 2400
    Min PSUs Needed: 2
  switch:
    psus:
      - PowerCapacityWatts: 250.5
    min psus needed: 1
"""
NAMEPLATE_W = 6250.5
MILLISECOND_DIGITS = 3


def stamp(time: datetime) -> str:
    return time.strftime("%m-%d-%Y %H:%M:%S.%f")[:-MILLISECOND_DIGITS]


def ptd_line(time: datetime, text: str) -> str:
    return f"{stamp(time)}: {text}\n"


def sample(time: datetime, watts: float = 500.0, power_factor: float = 0.97) -> str:
    return f"Time,{stamp(time)},Watts,{watts:.6f},Volts,229.100000,Amps,2.2,PF,{power_factor:.6f},Mark,{NAME}\n"


def spl(begin: datetime, duration_s: int, watts: float = 500.0) -> str:
    """Samples from half a minute before a run to half a minute after it."""
    return "".join(sample(begin + timedelta(seconds=second), watts) for second in range(-30, duration_s + 31, STEP_S))


def power_tree(scenario: str = "Server", *, measured: tuple[str, ...] = (), **options: Any) -> Tree:
    """A clean tree with power measured in a scenario, or in those `measured`."""
    tree = clean_tree(**options)
    tree.system.update(dict.fromkeys(load_power_rules().system_fields, "as sold"))
    if tree.round.name in load_power_rules().nameplate_rounds:
        tree.texts[f"{tree.submitter}/systems/{SYSTEM}_power.yaml"] = NAMEPLATE
    for one in measured or (scenario,):
        _measure(tree, one)
    folder = tree.path((measured or (scenario,))[0], "measurements.json").rpartition("/")[0].rpartition("/")[0]
    tree.texts[f"{folder}/analyzer_table.md"] = "Yokogawa WT310\n"
    tree.texts[f"{folder}/power_settings.md"] = "as the vendor ships it\n"
    return tree


def _measure(tree: Tree, scenario: str) -> None:
    base = tree.path(scenario, "performance")
    run, ranging = f"{base}/run_1", f"{base}/ranging"
    tree.logs[f"{ranging}/{DETAIL}"] = [Record(one.key, one.value) for one in tree.logs[f"{run}/{DETAIL}"]]
    tree.texts[f"{ranging}/{SUMMARY}"] = tree.texts[f"{run}/{SUMMARY}"]
    for folder, begin, duration_s in ((ranging, RANGING_BEGIN, RANGING_S), (run, TESTING_BEGIN, TESTING_S)):
        end = begin + timedelta(seconds=duration_s)
        tree.logs[f"{folder}/{DETAIL}"] += [
            Record("power_begin", stamp(begin)),
            Record("power_end", stamp(end)),
            Record("result_query_count", 1000),
        ]
        tree.texts[f"{folder}/spl.txt"] = spl(begin, duration_s)
    tree.documents[f"{base}/power/client.json"] = _session(0.0)
    tree.documents[f"{base}/power/server.json"] = {
        **_session(0.25),
        "ptd_messages": _ptd_messages(),
        "ptd_config": [{"device_type": 49, "channel": None, "command": ["ptd", "-l", "ptd.log", "49"]}],
        "debug": False,
    }
    tree.texts[f"{base}/power/client.log"] = "client 2026-11-28 19:59:00,001 [INFO] Session 'loadgen'\n"
    tree.texts[f"{base}/power/server.log"] = "server 2026-11-28 19:59:00,002 [INFO] Connected\n"
    tree.texts[f"{base}/power/ptd_logs.txt"] = ptd_log()
    tree.afterwards.append(lambda root: _record_digests(root / base))


def _session(shift_s: float) -> dict[str, object]:
    def phases(begin: datetime, duration_s: int) -> list[list[float]]:
        first = begin.timestamp() - 20
        times = (first, first + 10, first + duration_s + 40, first + duration_s + 60)
        return [[time + shift_s, time + shift_s - 1000] for time in times]

    return {
        "version": 3,
        "timezone": 0,
        "modules": {},
        "sources": dict(load_power_rules().sources[0]),
        "messages": [
            {"cmd": "mlcommons/power client v3", "reply": "mlcommons/power server v3"},
            {"cmd": "time", "reply": str(1_700_000_000 + shift_s)},
            {"cmd": "new,loadgen,7c3f6f6e-8c1b-4b6a-9d3a-0d8a4a5b6c7d", "reply": f"OK {NAME}"},
            {"cmd": "session,ranging,start", "reply": "OK"},
            {"cmd": "session,ranging,stop", "reply": "OK"},
            {"cmd": "session,testing,start", "reply": "OK"},
            {"cmd": "session,testing,stop", "reply": "OK"},
        ],
        "uuid": {
            "client": "7c3f6f6e-8c1b-4b6a-9d3a-0d8a4a5b6c7d",
            "server": "0f9e8d7c-6b5a-4a3b-8c2d-1e0f9a8b7c6d",
        },
        "session_name": NAME,
        "results": {},
        "phases": {"ranging": phases(RANGING_BEGIN, RANGING_S), "testing": phases(TESTING_BEGIN, TESTING_S)},
    }


def _ptd_messages() -> list[dict[str, str]]:
    go = "Starting untimed measurement, maximum 500000 samples at 1000ms with 0 rampup samples"
    stop, last = "Stopping untimed measurement", "Error: no measurement to stop"
    return [
        {"cmd": "Hello", "reply": "Hello, PTDaemon here!"},
        {"cmd": "Identify", "reply": IDENTITY},
        {"cmd": "RR", "reply": "Ranges,0,5.000000,1,300.000000"},
        {"cmd": "SR,A,Auto", "reply": "Range A changed"},
        {"cmd": "SR,V,Auto", "reply": "Range V changed"},
        {"cmd": f"Go,1000,0,{NAME}_ranging", "reply": go},
        {"cmd": "Stop", "reply": stop},
        {"cmd": "SR,V,300", "reply": "Range V changed"},
        {"cmd": "SR,A,20", "reply": "Range A changed"},
        {"cmd": f"Go,1000,0,{NAME}_testing", "reply": go},
        {"cmd": "Stop", "reply": stop},
        {"cmd": "Stop", "reply": last},
        {"cmd": "SR,A,Auto", "reply": "Range A changed"},
        {"cmd": "SR,V,Auto", "reply": "Range V changed"},
        {"cmd": "SR,A,5.000000", "reply": "Range A changed"},
    ]


def ptd_log(*extra: str) -> str:
    """A whole PTD log with further lines put in by their times."""
    ranging, testing = (timedelta(seconds=seconds + 25) for seconds in (RANGING_S, TESTING_S))
    before = timedelta(seconds=15)
    lines = [
        ptd_line(RANGING_BEGIN - timedelta(seconds=60), "Uncertainty checking for YokogawaWT310 is activated"),
        ptd_line(RANGING_BEGIN - before, f"Go with mark '{NAME}_ranging'"),
        ptd_line(RANGING_BEGIN + ranging, "Completed test"),
        ptd_line(TESTING_BEGIN - before, f"Go with mark '{NAME}_testing'"),
        ptd_line(TESTING_BEGIN + testing, "Completed test"),
    ]
    return "PTDaemon v1.11.1\n\n" + "".join(sorted([*lines, *extra]))


def _record_digests(performance: Path) -> None:
    """Write into both sessions the SHA-1 of every file, but those that a session names already."""
    for name, half in (("client", ("run_1", "ranging")), ("server", ("power", "run_1", "ranging"))):
        path = performance / "power" / f"{name}.json"
        try:
            session = json.loads(path.read_text("utf-8"))
            recorded = session["results"]
        except (OSError, ValueError, KeyError):
            continue
        if recorded is None:
            continue
        for folder in half:
            for file in sorted((performance / folder).glob("*")):
                known = f"{folder}/{file.name}"
                if file.is_file() and known not in recorded and file.name not in {"client.json", "server.json"}:
                    recorded[known] = hashlib.sha1(file.read_bytes(), usedforsecurity=False).hexdigest()
        path.write_text(json.dumps({**session, "results": recorded}, indent=1), encoding="utf-8")


Change = Callable[[dict[str, Any]], object]


def session(tree: Tree, name: str, change: Change, scenario: str = "Server") -> Tree:
    """Change one end's session; `name` is client or server."""
    change(tree.documents[tree.path(scenario, f"performance/power/{name}.json")])
    return tree
