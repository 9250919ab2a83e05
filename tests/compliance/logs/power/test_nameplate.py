"""<system>_power.yaml: capacities of the supplies that are needed, and nothing that a file can do to the reader."""

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compliance.errors import UnreadableFile
from compliance.logs.power.nameplate import NAMEPLATE_LIMIT_BYTES, read_nameplate
from tests.support.power_trees import NAMEPLATE, NAMEPLATE_W

LEAF = "{{PSUs: [{0}], Min PSUs Needed: {1}}}"
BOMB = "a: &a [x, x]\n" + "".join(
    f"{chr(98 + i)}: &{chr(98 + i)} [*{chr(97 + i)}, *{chr(97 + i)}]\n" for i in range(24)
)


def read(tmp_path, text):
    path = tmp_path / "node_power.yaml"
    path.write_text(text, encoding="utf-8")
    return read_nameplate(path)


def supplies(*watts):
    return ", ".join(f"{{PowerCapacityWatts: {one}}}" for one in watts)


@pytest.mark.parametrize(
    ("text", "watts", "components"),
    [
        (NAMEPLATE, NAMEPLATE_W, 2),
        (LEAF.format(supplies(1, 3, 2), 2), 5, 1),
        (LEAF.format(supplies(1, 3), 5), 4, 1),
        (LEAF.format(supplies(1, 3), 0), 0, 1),
        (LEAF.format(supplies(1, 3), "null"), 4, 1),
        (LEAF.format("{}, {Model: x}", 1), 0, 1),
        ("- " + LEAF.format(supplies(1), 1) + "\n- [" + LEAF.format(supplies(2), 1) + "]", 3, 2),
        (LEAF.format(supplies("x"), 0), 0, 1),
        ("{PSUs: {}, Min PSUs Needed: 1}", 0, 1),
        ("5", 0, 0),
        ("node: {PSUs: 3}", 0, 0),
    ],
)
def test_the_sum(text, watts, components, tmp_path):
    found = read(tmp_path, text)
    assert (found.design_power_watts, found.components, found.problem) == (watts, components, "")


@pytest.mark.parametrize(
    "text",
    [
        LEAF.format(supplies("'1 kW'"), 1),
        LEAF.format(supplies(1, "x"), 1),
        LEAF.format(supplies("null"), 1),
        LEAF.format(supplies("0x" + "f" * 5000), 1),
        LEAF.format(supplies(1), "two"),
        LEAF.format(supplies(1), 1.5),
        LEAF.format("5", 1),
        "{PSUs: none, Min PSUs Needed: 1}",
        "{5: {PSUs: [], Min PSUs Needed: 1}}",
        "&a [*a]",
        BOMB,
        f"{BOMB}z: {{PSUs: *y, Min PSUs Needed: *y}}",
    ],
)
def test_what_does_not_add_up_says_why(text, tmp_path):
    found = read(tmp_path, text)
    assert found.design_power_watts is None
    assert 0 < len(found.problem) < 200


def test_a_file_that_says_nothing(tmp_path):
    assert read(tmp_path, "# nothing\n").empty


@pytest.mark.parametrize("text", ["node: [", "a: b: c", "!!int ''", "!!bool x", "!!python/object:os.system x", "\x01"])
def test_what_is_no_yaml_is_refused(text, tmp_path):
    with pytest.raises(UnreadableFile, match="not YAML"):
        read(tmp_path, text)


def test_too_large_no_utf_8_or_missing(tmp_path):
    path = tmp_path / "x.yaml"
    with pytest.raises(UnreadableFile, match="missing"):
        read_nameplate(path)
    path.write_bytes(b"\xff")
    with pytest.raises(UnreadableFile, match="UTF-8"):
        read_nameplate(path)
    with path.open("wb") as stream:
        stream.truncate(NAMEPLATE_LIMIT_BYTES + 1)
    with pytest.raises(UnreadableFile, match="at most"):
        read_nameplate(path)


@given(st.text(alphabet="-:[]{}&*a1 \n!#|>'\"?,.PSUs", max_size=60))
def test_any_text_is_read_or_refused(tmp_path_factory, text):
    with suppress(UnreadableFile):
        read(tmp_path_factory.mktemp("yaml"), text)
