"""The rules of power measurement: what the official checker has, and a wrong file is refused with its key."""

import pytest

from compliance.errors import RuleError
from compliance.rulebook.power import POWER_RULES_PATH, load_power_rules, read_power_rules

METERS = {
    "YokogawaWT210": 8,
    "YokogawaWT500": 35,
    "YokogawaWT500_multichannel": 48,
    "YokogawaWT310": 49,
    "YokogawaWT310E": 49,
    "YokogawaWT330": 52,
    "YokogawaWT330E": 52,
    "YokogawaWT330_multichannel": 77,
    "YokogawaWT210_DC": 508,
    "YokogawaWT310_DC": 549,
    "YokogawaWT330_DC": 586,
}


def test_what_ships():
    rules = load_power_rules()
    assert rules.ptd.versions == ("1.11.1",)
    assert rules.ptd.meters == METERS
    assert (rules.phase_tolerance_ms, rules.power_drop_percent, rules.duration_drop_percent) == (800, 5, 50)
    assert len(rules.hashed_files) == 9
    assert len(rules.power_files) == 5
    assert len(rules.system_fields) == 15
    assert rules.nameplate_rounds == ("v6.1",)
    (release,) = rules.sources
    assert len(release) == 15
    assert release["server.py"] == "c3f90f2f7eeb4db30727556d0c815ebc89b3d28b"


@pytest.mark.parametrize(
    ("old", "new", "key"),
    [
        ("phase_tolerance_ms = 800", 'phase_tolerance_ms = "800"', "limits.phase_tolerance_ms"),
        ('versions = ["1.11.1"]', "versions = []", "ptd.versions"),
        ("YokogawaWT210 = 8\n", "YokogawaWT210 = 8.5\n", "ptd.meters.YokogawaWT210"),
        ("c3f90f2f", "c3f90f2", "sources.0.files.server.py"),
        ("power_drop_percent = 5\n", "", "limits"),
    ],
)
def test_a_wrong_file_names_the_key(old, new, key, tmp_path):
    text = POWER_RULES_PATH.read_text("utf-8")
    assert old in text
    path = tmp_path / "power.toml"
    path.write_text(text.replace(old, new, 1), encoding="utf-8")
    with pytest.raises(RuleError, match=key):
        read_power_rules(path)


def test_the_shipped_file_is_of_its_schemas_form(tmp_path):
    path = tmp_path / "power.toml"
    path.write_bytes(POWER_RULES_PATH.read_bytes())
    assert read_power_rules(path) == load_power_rules()
