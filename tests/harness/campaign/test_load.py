from pathlib import Path

import pytest
import yaml

from compliance.vocabulary import Division, Scenario
from harness.campaign.load import load_campaign, parse_campaign
from harness.errors import CampaignError

DATA = Path(__file__).parents[2] / "data" / "campaigns"
GOOD = sorted((DATA / "good").glob("*.yaml"))
BAD = sorted((DATA / "bad").glob("*.yaml"))
MINIMAL = """\
round: v6.1
division: open
submitter: Example
system: capture
benchmark: llama2-70b-99.9
sut: synthetic
dataset: dataset
scenarios: {Offline: {target_qps: 10}}
"""


def parse(text, **environment):
    return parse_campaign(text, "c.yaml", Path("/base"), environment)


@pytest.mark.parametrize("path", GOOD, ids=lambda path: path.stem)
def test_a_good_campaign_is_read(path):
    campaign = load_campaign(path, {"EXAMPLE_KEY": "secret"})
    assert campaign.dataset == path.parent / "dataset"
    assert campaign.out.is_absolute()


@pytest.mark.parametrize("path", BAD, ids=lambda path: path.stem)
def test_a_bad_campaign_says_where_and_why_and_nothing_else(path):
    expected = [line[10:].strip() for line in path.read_text().splitlines() if line.startswith("# expect: ")]
    with pytest.raises(CampaignError) as caught:
        load_campaign(path, {})
    found = [problem.removeprefix(f"{path}:") for problem in caught.value.problems]
    assert len(found) == len(expected), found
    for wanted in expected:
        assert any(problem.startswith(wanted) for problem in found), (wanted, found)


def test_short_forms_and_defaults():
    campaign = parse(MINIMAL)
    assert campaign.sut.name == "synthetic"
    assert campaign.division is Division.OPEN
    assert campaign.worker[0].count == 1
    assert campaign.scenarios[Scenario.OFFLINE].target_qps == 10
    assert campaign.folder_name == "llama2-70b-99.9"
    assert campaign.worker_count == 1


@pytest.mark.parametrize(
    ("written", "counts"),
    [
        ("worker: {count: 3}", [3]),
        ("worker: [{count: 3}]", [3]),
        ("worker: [{python: /p, count: 3}, {host: h}]", [3, 1]),
    ],
)
def test_worker_is_an_entry_or_a_list_of_entries(written, counts):
    assert [worker.count for worker in parse(MINIMAL + written + "\n").worker] == counts


@pytest.mark.parametrize(
    ("written", "problem"),
    [
        (
            "worker:\n  python: /p\n  contaner: image",
            "c.yaml:11: unknown key 'worker.contaner'; did you mean 'container'?",
        ),
        (
            "worker:\n- python: /p\n  contaner: i",
            "c.yaml:11: unknown key 'worker.0.contaner'; did you mean 'container'?",
        ),
        ("worker: []", "c.yaml:9: worker: "),
        ("worker: many", "c.yaml:9: worker: "),
    ],
)
def test_a_wrong_worker_is_named_as_it_is_written(written, problem):
    with pytest.raises(CampaignError) as caught:
        parse(MINIMAL + written + "\n")
    assert caught.value.problems[0].startswith(problem)


@pytest.mark.parametrize(
    ("written", "value"),
    [
        ("count: ${N}", 4),
        ('label: "${N}"', "4"),
        ("label: x-${N}-y", "x-4-y"),
        ("label: a$$b", "a$b"),
        ("label: $N", "$N"),
        ("label: $${N}", "${N}"),
        ("label: 2026-01-02", "2026-01-02"),
        ("label: ~", None),
        ("label: [1, true, x]", [1, True, "x"]),
    ],
)
def test_variables_fill_values_and_plain_ones_are_typed(written, value):
    campaign = parse(MINIMAL.replace("sut: synthetic", f"sut:\n  name: synthetic\n  settings:\n    {written}"), N="4")
    found = next(iter(campaign.sut.settings.values()))
    assert found == value
    assert type(found) is type(value)


def test_a_variable_cannot_add_structure():
    campaign = parse(MINIMAL.replace("Example", "${WHO}"), WHO="x, division: closed")
    assert campaign.submitter == "x, division: closed"
    assert campaign.division is Division.OPEN


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("round: v6.1", "round: 6.1", '6.1 is a number, not the name of a round; write one of "'),
        ("round: v6.1", "round: 6.1", '"v6.1"'),
        ("submitter: Example", "submitter: ../../etc", "submitter: is the name of a folder; "),
        ("submitter: Example", "submitter: 42", 'put "42" in quotes'),
        ("submitter: Example", "submitter: ${WHO/d", "'${WHO/d' has no closing brace"),
        ("submitter: Example", "submitter: ${", "'${' has no closing brace"),
        (
            "system: capture",
            "system: capture\nmeasurements: {retraining: no}",
            "retraining: YAML reads a plain no as false",
        ),
        ("system: capture", "system: capture\nmeasurements: {retraining: no}", 'put "no" in quotes'),
        ("system: capture", "system: capture\nmeasurements: {retraining: yes}", 'put "yes" in quotes'),
    ],
)
def test_slips_are_told_in_plain_words(old, new, words):
    with pytest.raises(CampaignError) as caught:
        parse(MINIMAL.replace(old, new), WHO="x")
    assert words in str(caught.value)
    assert "pattern" not in str(caught.value)


def test_paths_follow_the_file_and_a_system_id_stays_an_id():
    campaign = parse(MINIMAL.replace("system: capture", "system: a/b.json"))
    assert campaign.dataset == Path("/base/dataset")
    assert campaign.system == "/base/a/b.json"
    assert parse(MINIMAL).system == "capture"


@pytest.mark.parametrize(
    ("content", "words"),
    [(b"\xff\xfe\x00", "not UTF-8 at byte 0"), (b"#" * (2 << 20), "is no campaign file")],
)
def test_a_file_that_is_no_text(tmp_path, content, words):
    path = tmp_path / "c.yaml"
    path.write_bytes(content)
    with pytest.raises(CampaignError, match=words):
        load_campaign(path)


def test_a_missing_file_points_to_init(tmp_path):
    with pytest.raises(CampaignError, match="weighbridge init"):
        load_campaign(tmp_path / "absent.yaml")


def test_aliases_cannot_make_a_small_file_large():
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 9)]
    with pytest.raises(CampaignError, match="too many or too deeply nested"):
        parse("\n".join(lines))


def test_the_example_is_yaml_for_any_reader():
    for path in GOOD:
        assert isinstance(yaml.safe_load(path.read_text()), dict)
