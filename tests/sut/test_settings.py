"""Typed settings: right ones are read, all wrong ones are told at once."""

import pytest

from sut.errors import BadSettings
from sut.settings import SettingsReader


def read(settings):
    reader = SettingsReader("demo", settings)
    values = (
        reader.text("kind", "a", choices=("alpha", "a")),
        reader.flag("eager", default=False),
        reader.integer("seqs", 8, minimum=1, maximum=64),
        reader.number("share", 0.5, minimum=0.0, maximum=1.0),
        reader.texts("args"),
    )
    reader.finish()
    return values


@pytest.mark.parametrize(
    ("settings", "values"),
    [
        ({}, ("a", False, 8, 0.5, ())),
        (
            {"kind": "alpha", "eager": True, "seqs": 64, "share": 1, "args": ["--x"]},
            ("alpha", True, 64, 1.0, ("--x",)),
        ),
        ({"seqs": 1, "share": 0}, ("a", False, 1, 0.0, ())),
    ],
)
def test_right_settings_are_read(settings, values):
    assert read(settings) == values


@pytest.mark.parametrize(
    ("name", "value", "says"),
    [
        ("kind", "alph", "did you mean 'alpha'?"),
        ("kind", "zzz", "take one of alpha, a"),
        ("kind", 3, "give text"),
        ("eager", "yes", "give true or false"),
        ("eager", 1, "give true or false"),
        ("seqs", 0, "give at least 1 and at most 64"),
        ("seqs", 65, "is 65"),
        ("seqs", 1.5, "give a whole number"),
        ("seqs", True, "give a whole number"),
        ("share", -0.1, "at least 0.0"),
        ("share", float("nan"), "is nan"),
        ("share", "half", "give a number"),
        ("share", False, "give a number"),
        ("args", "--x", "give a list of text"),
        ("args", [1], "give a list of text"),
        ("seq", 4, "unknown setting 'seq' of SUT demo; did you mean 'seqs'?"),
        ("zzz", 4, "it knows args, eager, kind, seqs, share"),
    ],
)
def test_a_wrong_setting_says_what_to_give(name, value, says):
    with pytest.raises(BadSettings) as caught:
        read({name: value})
    (problem,) = caught.value.problems
    assert says in problem


def test_all_problems_come_together():
    with pytest.raises(BadSettings) as caught:
        read({"seqs": 0, "share": "x", "foo": 1, "eager": 2})
    assert len(caught.value.problems) == 4


def test_a_sut_without_settings_says_so():
    with pytest.raises(BadSettings, match="it has no settings"):
        SettingsReader("bare", {"x": 1}).finish()


def test_given_tells_a_setting_from_its_default():
    reader = SettingsReader("demo", {"seqs": 8})
    assert reader.given("seqs")
    assert not reader.given("share")
