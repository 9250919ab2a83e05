"""The system a campaign runs on: a shipped description, a file, or this machine as it is (`capture`)."""

import json
import re
import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from harness.campaign.model import Campaign
from harness.errors import CampaignError
from harness.storage import write_atomic
from systems.capture import Stated, capture
from systems.catalogue import system_ids, system_text

CAPTURE = "capture"
CAPTURED_FILE = "system.json"
_NOT_IN_A_NAME = re.compile(r"[^A-Za-z0-9._+-]+")


@dataclass(frozen=True, slots=True)
class SystemDescription:
    """A system's id (its folder's name) and its description in MLPerf's form."""

    id: str
    description: Mapping[str, object]


def describe_system(campaign: Campaign) -> SystemDescription:
    """The campaign's system. A captured one is kept in the campaign's `out`, so that it stays what was measured.

    Raises CampaignError when there is no such system or its file is no JSON object.
    """
    return _captured(campaign) if campaign.system == CAPTURE else _stated(campaign.system)


def check_system(campaign: Campaign) -> None:
    """Look whether `describe_system` would find the system and `package` would take it; write nothing.

    Raises CampaignError as `describe_system` does, and when the description is of another division or submitter.
    """
    kept = campaign.out / CAPTURED_FILE
    if campaign.system != CAPTURE:
        found = _stated(campaign.system)
        _check_owner(campaign, found.description, _capture_again(campaign, found.id))
    elif kept.is_file():
        _check_owner(campaign, _read(kept), f"remove {kept}: this machine is described anew")


def _check_owner(campaign: Campaign, description: Mapping[str, object], fix: str) -> None:
    """A system is submitted by one submitter in one division, and its file says which (submission rules)."""
    wanted = {"division": campaign.division.value, "submitter": campaign.submitter}
    other = [
        f"{key} {description.get(key)!r} where the campaign has {value!r}"
        for key, value in wanted.items()
        if str(description.get(key)).lower() != value.lower()
    ]
    if other:
        name = campaign.system if campaign.system != CAPTURE else CAPTURED_FILE
        raise CampaignError((f"system {name}: {' and '.join(other)}; {fix}",))


def _capture_again(campaign: Campaign, name: str) -> str:
    asked = f"--division {campaign.division} --submitter {shlex.quote(campaign.submitter)}"
    if campaign.system.endswith(".json"):
        again = f"`weighbridge systems capture {asked} --name {name} --out {name}.json`"
        return f"correct the campaign or the file, or describe the machine anew: {again}"
    return (
        f"`weighbridge systems show {name}` prints it: keep it as {name}.json with the campaign's values, or describe "
        f"this machine: `weighbridge systems capture {asked} --out my-box.json`"
    )


def _stated(system: str) -> SystemDescription:
    if system.endswith(".json"):
        path = Path(system)
        return SystemDescription(path.stem, _read(path))
    if system in system_ids():
        return SystemDescription(system, _object(system_text(system), system))
    known, name = ", ".join(system_ids()), _NOT_IN_A_NAME.sub("_", Path(system).name) or "my-box"
    problem = f"system {system!r} is neither a shipped id ({known}), nor the path of a <id>.json, nor `{CAPTURE}`"
    raise CampaignError((f"{problem}; {_describe_it(name)}",))


def _describe_it(name: str) -> str:
    """The next step for who has no description of a system yet."""
    return (
        f"`weighbridge systems capture --name {name} --out {name}.json` describes this machine: fill in what it calls "
        f"unknown and write `system: {name}.json`"
    )


def _read(path: Path) -> Mapping[str, object]:
    try:
        return _object(path.read_text(encoding="utf-8"), path.name)
    except OSError as error:
        raise CampaignError((f"system {path}: {error.strerror}; {_describe_it(path.stem)}",)) from None
    except UnicodeDecodeError:
        raise CampaignError((f"system {path}: not UTF-8; save it as UTF-8",)) from None


def _captured(campaign: Campaign) -> SystemDescription:
    kept = campaign.out / CAPTURED_FILE
    if kept.is_file():
        description = _read(kept)
    else:
        stated = Stated(framework=campaign.sut.name, system_type_detail="N/A", cooling="unknown")
        description = dict(capture(CAPTURE, campaign.submitter, campaign.division.value, stated=stated))
        description["system_name"] = captured_name(description)
        campaign.out.mkdir(parents=True, exist_ok=True)
        write_atomic(kept, json.dumps(description, indent=2) + "\n")
    return SystemDescription(captured_name(description), description)


def captured_name(description: Mapping[str, object]) -> str:
    """A folder name for a machine: its accelerators and processors, as submitters name theirs."""
    parts = []
    for count, model in (
        ("accelerators_per_node", "accelerator_model_name"),
        ("host_processors_per_node", "host_processor_model_name"),
    ):
        number, name = str(description.get(count, "0")), str(description.get(model, ""))
        if number not in ("0", "N/A", "") and name:
            short = re.sub(r"\((R|TM)\)|\b(AMD|Intel|NVIDIA|Instinct|CPU|Processor|\d+-Core)\b|@.*", "", name)
            parts.append(f"{number}x{_NOT_IN_A_NAME.sub('_', short.strip()).strip('_')}")
    return "_".join(parts)[:80].rstrip("_") or "this_machine"


def _object(text: str, name: str) -> Mapping[str, object]:
    try:
        found = json.loads(text)
    except ValueError as error:
        raise CampaignError((f"{name}: not JSON: {error}; correct the file",)) from None
    if not isinstance(found, dict):
        raise CampaignError((f"{name}: a system description is a JSON object; correct the file",))
    return found
