"""One fault per tree of a power submission, with the check ids that must then fail, and no other."""

from tests.support import power_faults as faults
from tests.support.broken_trees import BOTH, NONE, OFFICIAL, STRICT, Broken
from tests.support.power_faults import UNSURE, at, ends, member, message, said
from tests.support.power_trees import NAME, NAMEPLATE, RANGING_BEGIN, TESTING_BEGIN, power_tree, sample
from tests.support.trees import clean_tree

MIDDLE_S, EARLY_S = 1000, 100
ZEROS = "0" * 40
TIME = at(TESTING_BEGIN, MIDDLE_S)
LATER = TESTING_BEGIN.replace(year=2027)


def _late(phases):
    phases["testing"][1][0] += 15


def _two_channels(document, *, channel, option):
    document["ptd_config"][0].update(device_type=77, channel=channel, command=["ptd", "-c", option, "77"])


FILES = (
    Broken("PWR-001", faults.removed("ranging/spl.txt"), BOTH),
    Broken("PWR-001", faults.removed("ranging"), BOTH, name="no-ranging"),
    Broken("PWR-001", faults.text("ranging/notes.txt", "x"), BOTH, name="extra"),
    Broken("PWR-001", faults.text("run_1/notes.txt", "x"), BOTH, name="extra-in-run-1", also=("STR-012",)),
    Broken("PWR-002", faults.removed("power/client.log"), BOTH),
    Broken("PWR-002", faults.removed("power/server.json"), BOTH, name="no-session"),
    Broken("PWR-002", faults.text("power/ptd.log", "x"), BOTH, name="extra"),
    Broken("PWR-003", faults.written("power/client.json", lambda path: path.write_text("{")), BOTH, name="cut"),
    Broken("PWR-003", faults.without("server", "modules"), BOTH),
    Broken(
        "PWR-003",
        faults.written("power/client.json", lambda path: faults.edited(path, '"version": 3,', '"version": [3,],')),
        OFFICIAL,
        name="comma",
    ),
    Broken("PWR-004", faults.marks("ranging", power_end=None), BOTH),
    Broken("PWR-004", faults.marks("run_1", power_begin="2026-11-28 21:00"), BOTH, name="other-form"),
    Broken("PWR-004", faults.marks("run_1", power_begin=f"at {at(TESTING_BEGIN, 0)}"), BOTH, name="words"),
    Broken("PWR-004", faults.marks("run_1", power_begin=None), BOTH, name="missing"),
    Broken("PWR-005", faults.spl_line("run_1", "Time,now,Watts,500"), BOTH, name="no-time"),
    Broken("PWR-005", faults.spl_line("ranging", f"Time,{at(RANGING_BEGIN, 5)},Watts,high"), BOTH),
    Broken("PWR-005", faults.spl_line("run_1", f"Time,{TIME},Watts,500.0"), BOTH, name="no-power-factor"),
    Broken(
        "PWR-005",
        faults.written("run_1/spl.txt", lambda path: path.write_bytes(path.read_bytes() + b"\xff\n")),
        BOTH,
        name="not-utf-8",
        also=("PWR-015",),
    ),
    Broken(
        "PWR-005",
        faults.short(faults.spl_line("ranging", f"Time,{at(RANGING_BEGIN, 5)},Watts,high")),
        STRICT,
        name="unseen",
        also=("PWR-019",),
    ),
    Broken("PWR-006", faults.text("run_1/spl.txt", sample(LATER)), BOTH),
    Broken("PWR-006", faults.watts(500.0, 0.0), BOTH, name="zero"),
    Broken("PWR-007", faults.queries(None), BOTH, at="SingleStream"),
    Broken("PWR-007", faults.queries(0), BOTH, at="SingleStream", name="zero"),
    Broken("PWR-007", faults.queries(-5), STRICT, at="SingleStream", name="negative"),
)

SESSIONS = (
    Broken("PWR-008", ends(lambda one: one["sources"].update({"client.py": ZEROS}), "client"), BOTH),
    Broken("PWR-008", member("client", sources=[]), BOTH, name="other-form"),
    Broken("PWR-009", ends(lambda one: one["sources"].pop("lib/server.py"), "server"), BOTH),
    Broken("PWR-010", ends(lambda one: one["uuid"].update(server=one["uuid"]["client"]), "client"), BOTH),
    Broken("PWR-010", ends(lambda one: one["uuid"].update(client="none")), BOTH, name="no-uuid"),
    Broken("PWR-011", member("client", session_name="other"), BOTH),
    Broken("PWR-012", ends(lambda one: one["messages"][3].update(reply="Error"), "client"), BOTH),
    Broken("PWR-012", ends(lambda one: one["messages"][4].update(cmd="stop"), "client"), BOTH, name="command"),
    Broken("PWR-012", ends(lambda one: one["messages"].pop(), "server"), BOTH, name="fewer"),
    Broken("PWR-012", ends(lambda one: one["messages"][3].pop("reply")), BOTH, name="no-reply"),
    Broken("PWR-012", member("client", messages="none"), BOTH, name="other-form"),
    Broken("PWR-013", ends(lambda one: one["messages"][0].update(reply="mlcommons/power server v2")), BOTH),
    Broken("PWR-013", ends(lambda one: one.update(messages=[])), BOTH, name="none"),
    Broken("PWR-014", member("server", debug=True), BOTH),
    Broken("PWR-014", member("server", debug="false"), BOTH, name="text"),
    Broken("PWR-015", faults.written("power/server.log", lambda path: path.write_text("server: none\n")), BOTH),
    Broken("PWR-015", ends(lambda one: one["results"].update({"run_1/spl.txt": ZEROS}), "client"), BOTH, name="ends"),
    Broken("PWR-015", faults.forgotten("power/client.log"), BOTH, name="neither"),
    Broken("PWR-015", member("server", results=None), BOTH, name="other-form"),
)

PHASES = (
    Broken("PWR-016", faults.phases(lambda one: one["ranging"][2].__setitem__(0, 1.0), "server"), BOTH),
    Broken("PWR-016", faults.phases(lambda one: one["testing"].pop(), "server"), BOTH, name="fewer"),
    Broken("PWR-016", faults.phases(lambda one: one.pop("testing"), "server"), BOTH, name="none"),
    Broken("PWR-017", faults.phases(_late), BOTH),
    Broken("PWR-017", faults.phases(lambda one: one["ranging"].__delitem__(slice(2, None))), BOTH, name="two-phases"),
    Broken("PWR-018", faults.watts(500.0, 470.0), BOTH),
    Broken("PWR-018", faults.watts(0.0, 500.0), BOTH, name="no-ranging-sample"),
    Broken("PWR-018", faults.short(faults.watts(500.0, 470.0)), STRICT, name="unseen", also=("PWR-019",)),
    Broken("PWR-019", faults.short(), NONE),
    Broken("PWR-019", faults.marks("ranging", power_end=at(RANGING_BEGIN, 0)), BOTH, name="no-time", also=("PWR-018",)),
)

PTD = (
    Broken("PWR-020", message(1, reply="YokogawaWT310,1,version=1.10.0-0a1b2c3d-20200101,na"), BOTH),
    Broken("PWR-020", message(1, cmd="Identity"), BOTH, name="no-answer"),
    Broken("PWR-020", faults.without("server", "ptd_messages"), BOTH, name="none"),
    Broken("PWR-021", message(1, reply="FlukeNorma,1,version=1.11.1-0a1b2c3d-20260101,na"), BOTH),
    Broken("PWR-022", message(6, reply="Error: no measurement to stop"), BOTH),
    Broken("PWR-022", message(11, reply="Stopping untimed measurement"), BOTH, name="third-stop"),
    Broken("PWR-023", message(14, cmd="SR,A,20"), BOTH),
    Broken("PWR-023", message(2, reply="Ranges,0"), BOTH, name="no-ranges"),
    Broken("PWR-023", faults.ptd(lambda messages: messages.pop()), BOTH, name="too-few"),
    Broken("PWR-024", ends(lambda one: one["ptd_config"][0].update(device_type=5), "server"), BOTH),
    Broken("PWR-024", ends(lambda one: _two_channels(one, channel=[1], option="1"), "server"), BOTH, name="channel"),
    Broken("PWR-024", member("server", ptd_config=[]), STRICT, name="empty"),
    Broken("PWR-024", faults.without("server", "ptd_config"), BOTH, name="none"),
)

LOGS = (
    Broken("PWR-025", faults.ptd_text(lambda text: text.replace(f"{NAME}_ranging", "other")), BOTH),
    Broken("PWR-025", member("server", timezone="UTC"), BOTH, name="timezone"),
    Broken("PWR-025", faults.text("power/ptd_logs.txt", ""), BOTH, name="empty"),
    Broken("PWR-025", faults.ptd_text(lambda text: f"13-45-2026 00:00:00.000: x\n{text}"), BOTH, name="no-date"),
    Broken("PWR-026", faults.ptd_text(lambda text: text.replace("YokogawaWT310 is", "it is")), BOTH),
    Broken(
        "PWR-026",
        faults.ptd_text(lambda text: text.replace("11-28-2026 19:59:00", "11-28-2026 22:59:00")),
        BOTH,
        name="late",
    ),
    Broken(
        "PWR-026", faults.ptd_text(lambda text: text.replace("11-28-2026 19:59:00.500: ", "")), BOTH, name="no-time"
    ),
    Broken("PWR-027", said((TESTING_BEGIN, EARLY_S, "ERROR: Bad watts reading nan from meter")), BOTH),
    Broken("PWR-027", said((RANGING_BEGIN, EARLY_S, "ERROR: Out of paper")), NONE, name="while-ranging"),
    Broken("PWR-027", faults.ptd_text(lambda text: f"{text}ERROR: lost\n"), BOTH, name="no-time"),
    Broken(
        "PWR-027",
        said((TESTING_BEGIN, 5, "ERROR: USB."), (TESTING_BEGIN, EARLY_S, "ERROR: Out of paper")),
        STRICT,
        name="unseen",
    ),
    Broken("PWR-028", said((TESTING_BEGIN, MIDDLE_S, UNSURE)), BOTH),
    Broken("PWR-028", said((TESTING_BEGIN, EARLY_S, UNSURE)), STRICT, name="early"),
    Broken("PWR-028", said((TESTING_BEGIN, MIDDLE_S, "WARNING: Sample late")), NONE, name="other"),
    Broken("PWR-028", faults.ptd_text(lambda text: f"{text}WARNING: lost\n"), OFFICIAL, name="no-time"),
    Broken(
        "PWR-028",
        said((TESTING_BEGIN, MIDDLE_S, "WARNING: Sample late"), (TESTING_BEGIN, MIDDLE_S + 5, UNSURE)),
        STRICT,
        name="unseen",
    ),
    Broken("PWR-029", faults.text("power/server.log", "server 2026-11-28 20:00:00,001 [ERROR] Lost\n"), NONE),
    Broken("PWR-029", faults.text("power/client.log", ""), NONE, name="empty"),
)

SYSTEM = (
    Broken("PWR-030", faults.nameplate("node: [\n"), BOTH),
    Broken("PWR-030", faults.nameplate("node: [\n", clean_tree), OFFICIAL, name="no-power"),
    Broken("PWR-031", faults.nameplate(None), NONE),
    Broken("PWR-031", faults.nameplate("# nothing\n"), BOTH, name="empty"),
    Broken("PWR-031", faults.nameplate(NAMEPLATE.replace("2400", "2400 W")), BOTH, name="no-number"),
    Broken("PWR-031", faults.nameplate(NAMEPLATE.replace("Needed: 2", "Needed: two")), BOTH, name="no-count"),
    Broken("PWR-031", faults.nameplate("node: {PSUs: [], Min PSUs Needed: 1}\n"), STRICT, name="zero"),
    Broken("PWR-031", faults.described(system_power_capacity="much"), NONE, name="no-capacity"),
    Broken("PWR-032", faults.described(disk_drives=None), STRICT),
    Broken("PWR-033", faults.settings("power_settings.md", None), STRICT),
    Broken("PWR-033", faults.settings("analyzer_table.md", ""), STRICT, name="empty"),
)

POWER_CASES = (*FILES, *SESSIONS, *PHASES, *PTD, *LOGS, *SYSTEM)
"""Every check of power submissions."""

GOOD = {
    "server": power_tree,
    "interactive": lambda: power_tree("Interactive", scenarios=("Offline", "Server", "Interactive")),
    "both": lambda: power_tree(measured=("Offline", "Server")),
    "open": lambda: power_tree(division="open"),
    "v6.0": lambda: power_tree(round_name="v6.0"),
    "v5.1": lambda: power_tree(round_name="v5.1"),
    "v5.0": lambda: power_tree(round_name="v5.0", benchmark="llama2-70b-99"),
    "single-stream": faults.edge,
    "multi-stream": lambda: faults.edge("MultiStream", "resnet"),
    "two-channels": ends(lambda one: _two_channels(one, channel=[1, 2], option="1,2"), "server"),
    "ranging-error": said((RANGING_BEGIN, EARLY_S, "ERROR: Bad watts reading nan from meter")),
    "capacity": faults.described(faults.nameplate(None), system_power_capacity=6000),
    "summer-time": faults.phases(lambda one: [phase.__setitem__(0, phase[0] - 3600) for phase in one["testing"]]),
}
"""Trees that pass every check, each in its round."""
