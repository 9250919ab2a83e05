"""The system a campaign runs on: a shipped description, a file, or this machine as it is (`capture`)."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from harness.campaign.model import Campaign
from harness.errors import CampaignError
from harness.storage import write_atomic
from systems.capture import Stated, capture
from systems.catalogue import CatalogueError, system_text

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
    if campaign.system == CAPTURE:
        return _captured(campaign)
    try:
        if campaign.system.endswith(".json"):
            path = Path(campaign.system)
            return SystemDescription(path.stem, _object(path.read_text(encoding="utf-8"), path.name))
        return SystemDescription(campaign.system, _object(system_text(campaign.system), campaign.system))
    except OSError as error:
        problem = f"system {campaign.system}: {error.strerror}; write one with `weighbridge systems capture`"
        raise CampaignError((problem,)) from None
    except CatalogueError as error:
        raise CampaignError((str(error),)) from None


def _captured(campaign: Campaign) -> SystemDescription:
    kept = campaign.out / CAPTURED_FILE
    if kept.is_file():
        description = _object(kept.read_text(encoding="utf-8"), str(kept))
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
