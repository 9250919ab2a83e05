"""What power submissions are compared with: compliance/rules/power.toml as a typed record, the same for every round."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from compliance.rulebook.files import Toml, read_rule_file

POWER_RULES_PATH = Path(__file__).parents[1] / "rules" / "power.toml"


@dataclass(frozen=True, slots=True)
class PtdRules:
    """What is asked of PTDaemon: its versions, its meters with their device numbers, its replies and its complaints.

    `replies` maps the beginning of a command to the answer; `last_stop_reply` is that to the third Stop and later ones.
    `ranging_errors` are beginnings of errors let through while ranging, `accepted_errors` texts let through always.
    `uncertainty` is what stands around the number in the warning that is an error under load.
    """

    versions: tuple[str, ...]
    meters: Mapping[str, int]
    multichannel_device: int
    replies: Mapping[str, str]
    last_stop_reply: str
    ranging_errors: tuple[str, ...]
    accepted_errors: tuple[str, ...]
    uncertainty: tuple[str, str]


@dataclass(frozen=True, slots=True)
class PowerRules:
    """The rules of power measurement.

    `sources` holds, per admitted release of the power workflow, the SHA-1 of each of its files. `hashed_files` are
    relative to performance/. `official_load_margin_s` is by how much the official checker narrows the load window.
    """

    power_files: tuple[str, ...]
    run_files: tuple[str, ...]
    hashed_files: tuple[str, ...]
    measure_prefixes: tuple[str, ...]
    ptd: PtdRules
    sources: tuple[Mapping[str, str], ...]
    phase_tolerance_ms: int
    power_drop_percent: int
    duration_drop_percent: int
    official_load_margin_s: int
    system_fields: tuple[str, ...]
    nameplate_rounds: tuple[str, ...]
    nameplate_path: str
    nameplate_field: str


@cache
def load_power_rules() -> PowerRules:
    """The rules this installation ships, read once. Raises RuleError for a wrong file."""
    return read_power_rules(POWER_RULES_PATH)


def read_power_rules(path: Path) -> PowerRules:
    """The rules in one file. Raises RuleError naming the file and every key that is wrong."""
    toml = read_rule_file(path, "power-rules", shipped=path == POWER_RULES_PATH)
    files, limits, nameplate = toml["files"], toml["limits"], toml["nameplate"]
    return PowerRules(
        power_files=tuple(files["power"]),
        run_files=tuple(files["run"]),
        hashed_files=tuple(files["hashed"]),
        measure_prefixes=tuple(files["measure_prefixes"]),
        ptd=_ptd(toml),
        sources=tuple(release["files"] for release in toml["sources"]),
        phase_tolerance_ms=limits["phase_tolerance_ms"],
        power_drop_percent=limits["power_drop_percent"],
        duration_drop_percent=limits["duration_drop_percent"],
        official_load_margin_s=limits["official_load_margin_s"],
        system_fields=tuple(toml["system_fields"]["required"]),
        nameplate_rounds=tuple(nameplate["rounds"]),
        nameplate_path=nameplate["path"],
        nameplate_field=nameplate["field"],
    )


def power_sources() -> Mapping[str, str]:
    """Where each block of the shipped file stands, by the block's name."""
    toml = read_rule_file(POWER_RULES_PATH, "power-rules", shipped=True)
    blocks = {name: block for name, block in toml.items() if isinstance(block, dict)}
    named = {name: str(block["source"]) for name, block in blocks.items()}
    return {**named, "sources": "; ".join(str(release["source"]) for release in toml["sources"])}


def _ptd(toml: Toml) -> PtdRules:
    ptd, replies, messages = toml["ptd"], toml["ptd_replies"], toml["ptd_messages"]
    before, after = messages["uncertainty"]
    return PtdRules(
        versions=tuple(ptd["versions"]),
        meters=ptd["meters"],
        multichannel_device=ptd["multichannel_device"],
        replies=replies["replies"],
        last_stop_reply=replies["last_stop_reply"],
        ranging_errors=tuple(messages["ranging_errors"]),
        accepted_errors=tuple(messages["accepted_errors"]),
        uncertainty=(before, after),
    )
