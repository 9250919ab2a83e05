import json

import pytest

from harness.campaign.system import captured_name, check_system, describe_system
from harness.errors import CampaignError
from systems.catalogue import system_ids
from tests.support.campaigns import campaign_in


def test_this_machine_is_captured_once_and_kept(tmp_path):
    campaign = campaign_in(tmp_path)
    first = describe_system(campaign)
    kept = tmp_path / "out" / "system.json"
    changed = {**json.loads(kept.read_text()), "hw_notes": "kept"}
    kept.write_text(json.dumps(changed))
    second = describe_system(campaign)
    assert second.description["hw_notes"] == "kept"
    assert second.id == first.id
    assert second.description["submitter"] == "Example"


def test_a_shipped_system_by_id(tmp_path):
    name = system_ids()[0]
    found = describe_system(campaign_in(tmp_path, system=name))
    assert found.id == name
    assert found.description["system_name"]


def test_a_file(tmp_path):
    (tmp_path / "mine.json").write_text('{"system_name": "Mine"}')
    found = describe_system(campaign_in(tmp_path, system="mine.json"))
    assert (found.id, found.description["system_name"]) == ("mine", "Mine")


@pytest.mark.parametrize(
    ("system", "content", "words"),
    [
        ("my-box", None, "'my-box' is neither .* capture --name my-box --out my-box.json` .* `system: my-box.json`"),
        ("boxes/mine", None, "'boxes/mine' is neither .* --out mine.json`"),
        ("absent.json", None, "absent.json: No such file .* capture --name absent --out absent.json`"),
        ("latin.json", "\xff", "not UTF-8"),
        ("cut.json", "{", "not JSON"),
        ("list.json", "[]", "is a JSON object"),
    ],
)
def test_what_is_no_system(tmp_path, system, content, words):
    if content is not None:
        (tmp_path / system).write_text(content, encoding="latin-1")
    campaign = campaign_in(tmp_path, system=system)
    for look in (describe_system, check_system):
        with pytest.raises(CampaignError, match=words):
            look(campaign)


def test_a_look_at_the_system_writes_nothing(tmp_path):
    campaign = campaign_in(tmp_path)
    check_system(campaign)
    assert not campaign.out.exists()
    campaign.out.mkdir()
    (campaign.out / "system.json").write_text("{")
    with pytest.raises(CampaignError, match="not JSON"):
        check_system(campaign)


@pytest.mark.parametrize(
    ("owner", "words"),
    [
        ({"division": "closed", "submitter": "Example"}, "division 'closed' where .* 'open'; .*--division open"),
        ({"division": "open", "submitter": "Other"}, "submitter 'Other' where .* --submitter Example --name mine"),
        ({}, "division None .* and submitter None"),
    ],
)
def test_a_system_of_another_division_or_submitter_is_refused(tmp_path, owner, words):
    (tmp_path / "mine.json").write_text(json.dumps(owner))
    with pytest.raises(CampaignError, match=words):
        check_system(campaign_in(tmp_path, system="mine.json"))


def test_a_shipped_and_a_kept_system_of_another_division(tmp_path):
    with pytest.raises(CampaignError, match=r"division 'closed' .*`weighbridge systems show"):
        check_system(campaign_in(tmp_path, system=system_ids()[0]))
    campaign = campaign_in(tmp_path)
    describe_system(campaign)
    check_system(campaign)
    with pytest.raises(CampaignError, match=r"submitter 'Example' .*; remove .*system\.json"):
        check_system(campaign_in(tmp_path, submitter="Other"))


@pytest.mark.parametrize(
    ("accelerators", "processors", "name"),
    [
        ((8, "AMD Instinct MI300X"), (2, "AMD EPYC 9534 64-Core Processor"), "8xMI300X_2xEPYC_9534"),
        (("0", "N/A"), (1, "Intel(R) Xeon(R) Processor @ 2.00GHz"), "1xXeon"),
        (("0", "N/A"), ("0", ""), "this_machine"),
    ],
)
def test_names_are_as_submitters_write_them(accelerators, processors, name):
    description = {
        "accelerators_per_node": accelerators[0],
        "accelerator_model_name": accelerators[1],
        "host_processors_per_node": processors[0],
        "host_processor_model_name": processors[1],
    }
    assert captured_name(description) == name
