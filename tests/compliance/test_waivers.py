"""Waiver files and what a waiver does to a report."""

from datetime import date

import pytest

from compliance.discovery.submission import discover
from compliance.errors import UnreadableFile
from compliance.judge import judge
from compliance.report.model import build_report
from compliance.report.text import render_text
from compliance.vocabulary import Profile
from compliance.waivers import Waiver, load_waivers
from tests.support.faults import invalid_run, perf

DAY = date(2026, 11, 30)
YAML = "waivers:\n  - {id: PERF-008, reason: agreed with the group, until: 2026-12-31}\n"
TOML = '[[waivers]]\nid = "PERF-008"\nreason = "agreed with the group"\nuntil = 2026-12-31\nwhere = "closed/Acme"\n'


def write(tmp_path, name, text):
    path = tmp_path / name
    path.write_text(text)
    return path


def report(made, root, profile, *waivers):
    judgement = judge(discover(made.write(root), made.round), made.round)
    return build_report(judgement, profile, waivers, today=DAY)


@pytest.mark.parametrize(("name", "text", "where"), [("w.yaml", YAML, ""), ("w.toml", TOML, "closed/Acme")])
def test_a_waiver_file_is_yaml_or_toml(name, text, where, tmp_path):
    expected = Waiver("PERF-008", "agreed with the group", date(2026, 12, 31), where)
    assert load_waivers(write(tmp_path, name, text)) == (expected,)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("waivers: 3\n", "no list of waivers"),
        ("[3]\n", "waiver 1: not a mapping"),
        ("[{id: PERF-08, reason: x, until: 2026-12-31}]\n", "did you mean PERF-00"),
        ("[{id: INT-001, reason: x, until: 2026-12-31}]\n", "INT-001 is a fault of weighbridge and cannot be waived"),
        ("[{id: PERF-008, until: 2026-12-31}]\n", "no reason"),
        ("[{id: PERF-008, reason: x, until: soon}]\n", "until 'soon' is no day"),
        (
            "[{id: PERF-008, reason: x, until: 2026-12-31, where: 3, since: 1}]\n",
            "unknown key 'since'; waiver 1: where",
        ),
        ("[{id: ", "not YAML"),
    ],
)
def test_a_wrong_waiver_file_names_every_fault(text, said, tmp_path):
    with pytest.raises(UnreadableFile, match="waiver") as caught:
        load_waivers(write(tmp_path, "w.yaml", text))
    assert said in str(caught.value)


def test_a_missing_file_and_bad_toml_are_named(tmp_path):
    with pytest.raises(UnreadableFile, match="the file is missing"):
        load_waivers(tmp_path / "none.yaml")
    with pytest.raises(UnreadableFile, match="not TOML"):
        load_waivers(write(tmp_path, "w.toml", "["))


def test_days_and_times_and_text_are_days(tmp_path):
    text = "[{id: PERF-008, reason: x, until: 2026-12-31T10:00:00}, {id: PERF-008, reason: x, until: '2026-12-31'}]\n"
    assert {one.until for one in load_waivers(write(tmp_path, "w.yaml", text))} == {date(2026, 12, 31)}


def test_a_waiver_lifts_the_strict_verdict_and_is_printed(tmp_path):
    waiver = Waiver("PERF-008", "agreed with the group", DAY)
    found = report(invalid_run(), tmp_path, Profile.STRICT, waiver)
    assert found.exit_code == 0
    assert [one.verdict for one in found.results] == ["valid", "valid"]
    text = render_text(found)
    assert "waived  until 2026-11-30: agreed with the group" in text
    assert "waiver PERF-008 until 2026-11-30: agreed with the group (1 findings)" in text


@pytest.mark.parametrize(
    "waiver",
    [
        Waiver("PERF-008", "agreed", date(2026, 11, 29)),
        Waiver("PERF-008", "agreed", DAY, "open/Acme"),
        Waiver("PERF-007", "agreed", DAY),
    ],
    ids=["expired", "elsewhere", "another-check"],
)
def test_a_waiver_that_does_not_cover_changes_nothing(waiver, tmp_path):
    assert report(invalid_run(), tmp_path, Profile.STRICT, waiver).exit_code == 1


def test_an_expired_waiver_is_named(tmp_path):
    found = report(invalid_run(), tmp_path, Profile.STRICT, Waiver("PERF-008", "agreed", date(2026, 11, 29)))
    assert "waiver PERF-008 expired on 2026-11-29 and is not applied" in render_text(found)


def test_the_official_verdict_knows_no_waivers(tmp_path):
    waiver = Waiver("PERF-007", "agreed", DAY)
    made = perf(effective_min_duration_ms=1)()
    official = report(made, tmp_path / "a", Profile.OFFICIAL, waiver)
    assert official.exit_code == 1
    assert "waivers do not change the official verdict" in render_text(official)
    strict = report(made, tmp_path / "b", Profile.STRICT, waiver)
    assert [(one.official_verdict, one.strict_verdict) for one in strict.results] == [
        ("valid", "valid"),
        ("invalid", "valid"),
    ]


BOMB = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n" + "".join(
    f"a{at}: &a{at} [{', '.join([f'*a{at - 1}'] * 10)}]\n" for at in range(1, 10)
)


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("w.yaml", "waivers:\n- {id: PERF-007, reason: r, until: 2027-02-30}\n", "not YAML: day is out of range"),
        ("w.yaml", "waivers:\n- {id: PERF-007, reason: r, until: 2027-13-45}\n", "not YAML: month must be in 1..12"),
        ("w.yaml", "[" * 5000 + "]" * 5000, "nested too deeply"),
        ("w.toml", "a = " + "[" * 5000 + "]" * 5000, "nested too deeply"),
        ("w.yaml", f"waivers:\n- {{id: {'9' * 5000}, reason: r, until: 2027-01-01}}\n", "YAML|a long number"),
        ("w.toml", f"a = {'9' * 5000}\n", "not TOML"),
        ("w.yaml", BOMB + "waivers:\n- {id: *a9, reason: r, until: 2027-01-01}\n", "no check a list"),
        ("w.yaml", BOMB + "waivers:\n- {id: PERF-007, reason: r, until: *a9}\n", "until a list is no day"),
        ("w.yaml", "waivers:\n- {id: INT-001, reason: r, until: 2027-01-01}\n", "INT-001 is a fault of weighbridge"),
        ("w.yaml", "", "empty"),
    ],
)
def test_a_hostile_file_is_refused_in_words(name, text, said, tmp_path):
    path = tmp_path / name
    path.write_text(text)
    with pytest.raises(UnreadableFile, match=said) as told:
        load_waivers(path)
    assert len(str(told.value)) < 800
