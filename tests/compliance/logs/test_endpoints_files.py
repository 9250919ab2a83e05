"""The files of endpoints runs: what is read, with which line, and that nothing but UnreadableFile is raised."""

import json

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from compliance.errors import UnreadableFile
from compliance.logs.endpoints import (
    named_values,
    read_accuracy_json,
    read_audit_json,
    read_config,
    read_summary_json,
)
from compliance.logs.endpoints_files import JSON_LIMIT_BYTES, load_json
from compliance.logs.endpoints_official import TOTAL_COUNT, at_path, official_values
from compliance.logs.endpoints_yaml import YAML_LIMIT_BYTES, load_yaml
from compliance.rulebook.rounds import load_round
from compliance.schema import validate
from compliance.vocabulary import Scenario
from tests.support.endpoint_trees import config, endpoints_tree, scores, summary

NULL_QPS = {
    "n_samples_issued": 13368,
    "n_samples_completed": 13368,
    "n_samples_failed": 0,
    "duration_ns": 610_000_000_000,
    "qps": None,
    "tps": 2805.2,
    "ttft": {"percentiles": {"99.0": 812_000_000.0}},
    "tpot": {"percentiles": {"99.0": 61_000_000.0}},
}
"""The summary of a public bug report: no rate, percentiles keyed "99.0"."""
BOMB = "a: &a [x, x, x, x, x, x, x, x, x, x]\n" + "".join(
    f"{new}: &{new} [{', '.join([f'*{old}'] * 10)}]\n" for old, new in zip("abcdefgh", "bcdefghi", strict=True)
)
MERGES = "a: &a {x: 1}\n" + "".join(
    f"{new}: &{new} {{<<: [{', '.join([f'*{old}'] * 30)}]}}\n" for old, new in zip("abcde", "bcdef", strict=True)
)


def written(folder, text, name="file"):
    path = folder / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


@pytest.mark.parametrize("key", ["99", "99.0", "99.00"])
def test_a_percentile_is_found_however_its_key_is_spelled(key, tmp_path):
    text = json.dumps(NULL_QPS).replace('"99.0"', f'"{key}"')
    read, _ = read_summary_json(written(tmp_path, text))
    assert (read.ttft.percentiles.at(99.0), read.tpot.percentiles.at(99.0)) == (812e6, 61e6)
    assert read.ttft.percentiles.spellings == (key,)
    assert read.qps == pytest.approx(21.91, abs=0.01)


@pytest.mark.parametrize(
    ("changes", "qps"),
    [
        ({"qps": 3.5}, 3.5),
        ({"qps": "3.5"}, 13368 / 610),
        ({"duration_ns": 0}, None),
        ({"duration_ns": None}, None),
        ({"n_samples_issued": None}, None),
        ({"duration_ns": 10**400}, None),
    ],
)
def test_the_rate_is_the_logged_one_else_issued_by_duration(changes, qps, tmp_path):
    read, _ = read_summary_json(written(tmp_path, json.dumps(NULL_QPS | changes)))
    assert read.qps == (None if qps is None else pytest.approx(qps))


def test_a_percentile_of_null_and_a_key_that_is_no_number_are_kept_apart(tmp_path):
    document = {"ttft": {"early_stopping_percentiles": {"p99": 5, "99.9": None}}}
    read, _ = read_summary_json(written(tmp_path, json.dumps(document)))
    assert read.ttft.early_stopping.values == {99.9: None}
    assert read.ttft.early_stopping.spellings == ("p99", "99.9")


def test_members_have_their_lines(tmp_path):
    text = '{\n "a": 1,\n "b": {\n  "x/y": [\n   {"s": "}\\n{"},\n   {\n    "t": 2}]}}'
    assert load_json(written(tmp_path, text)).lines == {
        "/a": 2,
        "/b": 3,
        "/b/x~1y": 4,
        "/b/x~1y/0": 5,
        "/b/x~1y/0/s": 5,
        "/b/x~1y/1": 6,
        "/b/x~1y/1/t": 7,
    }
    text = "# run\ntype: online\nsettings:\n  runtime: {min_duration_ms: 1}\n"
    assert load_yaml(written(tmp_path, text)).lines == {
        "/type": 2,
        "/settings": 3,
        "/settings/runtime": 4,
        "/settings/runtime/min_duration_ms": 4,
    }


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("", None),
        ("- a\n", 1),
        ("just words\n", 1),
        ("a: 1\n: [\n", 2),
        ("a: [*a]\n", 1),
        ("a: &a [*a]\n", 1),
        ("a: !!python/object/apply:os.system [id]\n", 1),
        ("a: 2026-13-45\n", None),
        (f"a: {'9' * 5000}\n", 1),
        (f"a: 1\nb: 0x{'f' * 5000}\n", 2),
        ("!!set {a: null}\n", 1),
        ("? [a]\n: b\n", 1),
        ("a: {<<: [1]}\n", 1),
        ("a:\n" + "".join(f"{' ' * n}- \n" for n in range(1, 90)), 66),
        (f"a: {'[' * 3000}", None),
        (BOMB, 5),
        (MERGES, 4),
        (b"a: \xff\n", None),
        (b"a: \x07\n", None),
        ("--- {a: 1}\n--- {b: 1}\n", 2),
    ],
)
def test_yaml_that_cannot_be_read_is_named_with_its_line(text, line, tmp_path):
    path = written(tmp_path, text)
    with pytest.raises(UnreadableFile) as caught:
        load_yaml(path)
    assert caught.value.line == line


@pytest.mark.parametrize(("reader", "limit"), [(load_json, JSON_LIMIT_BYTES), (load_yaml, YAML_LIMIT_BYTES)])
def test_a_file_over_the_limit_is_not_read(reader, limit, tmp_path):
    assert reader(written(tmp_path, '{"a": 1}'.ljust(limit))).members == {"a": 1}
    with pytest.raises(UnreadableFile, match="bytes"):
        reader(written(tmp_path, '{"a": 1}'.ljust(limit + 1)))
    with pytest.raises(UnreadableFile, match="missing"):
        reader(tmp_path / "none")


def test_values_of_yaml_that_are_none_of_jsons_are_read(tmp_path):
    text = "type: 2026-01-01\nsettings: !!set {a, b}\n1: x\n? !!binary YQ==\n: y\nqps: !!binary YQ==\nduration_ns: 2026-01-01\n"
    read, loaded = read_config(written(tmp_path, text))
    assert read.kind is None
    assert official_values(loaded.members, {"n_samples_issued": 1}, {}).crash


def test_names_that_stand_twice_are_read_over(tmp_path):
    loaded = load_yaml(written(tmp_path, "a: 1\nb: {c: 1, c: 2}\na: 2\n"))
    assert loaded.members == {"a": 2, "b": {"c": 2}}
    assert [(problem.line, problem.official) for problem in loaded.problems] == [(2, True), (3, True)]


@pytest.mark.parametrize(
    ("score", "values"),
    [
        (0.5, {"": 0.5}),
        ("0.5", {"": 0.5}),
        ({"rouge1": 38.7, "n": "12", "note": "x", "flag": True}, {"rouge1": 38.7, "n": 12.0}),
        ('{"rouge1": 38.7}', {"rouge1": 38.7}),
        ("many", {}),
        (None, {}),
        (True, {}),
        ([1], {}),
    ],
)
def test_a_score_is_a_number_or_numbers_by_name(score, values):
    assert named_values(score) == values


@pytest.mark.parametrize(
    ("dotted", "value"),
    [
        ("latency.early_stopping_percentiles.99.0", 7),
        ("latency.early_stopping_percentiles.99.9", 9),
        ("latency.early_stopping_percentiles.90.0", None),
        ("latency.early_stopping_percentiles.95.0", 5),
        ("latency.early_stopping_percentiles.95.5", None),
        ("empty", None),
        ("zero", 0),
        ("zero.0", 0),
        ("none.x", None),
    ],
)
def test_a_dotted_path_is_followed_as_the_official_checker_does(dotted, value):
    members = {
        "latency": {"early_stopping_percentiles": {"99": 7, "99.9": 9, "95.0": 5}},
        "empty": {},
        "zero": 0,
    }
    assert at_path(members, dotted) == value


def test_the_counts_of_several_data_sets_add_up_and_those_of_performance_do_not_count():
    entries = [
        {"total_samples": 240},
        {"response_counts": {"issued": "990"}, "dataset_type": "accuracy"},
        {"total_samples": 7, "dataset_type": "performance"},
    ]
    values = official_values({}, {}, {"accuracy_scores": entries})
    assert values.accuracy["effective_accuracy_sample_count"] == 1230
    assert values.accuracy[TOTAL_COUNT] == 1230
    assert values.crash is None


@pytest.mark.parametrize(
    ("config_members", "summary_members", "accuracy_members"),
    [
        ({"type": "offline"}, {"n_samples_issued": 1, "duration_ns": "1"}, {}),
        ({"type": 3}, {"n_samples_issued": 1, "duration_ns": 1}, {}),
        ({}, {}, {"accuracy_scores": None}),
        ({}, {}, {"accuracy_scores": [3]}),
        ({}, {}, {"accuracy_scores": [{"total_samples": "x"}]}),
        ({}, {}, {"accuracy_scores": [{"response_counts": None}]}),
    ],
)
def test_what_the_official_checker_stops_over_is_said(config_members, summary_members, accuracy_members):
    assert official_values(config_members, summary_members, accuracy_members).crash


@pytest.mark.parametrize("scenario", [Scenario.OFFLINE, Scenario.SERVER])
def test_good_files_are_of_the_shipped_schemas(scenario):
    tree = endpoints_tree()
    rules = load_round("v6.1").benchmarks["llama3.1-8b"]
    assert validate(config(tree, scenario), "endpoints-config") == ()
    assert validate(summary(rules, scenario), "endpoints-result-summary") == ()
    assert validate(scores(rules, scenario), "endpoints-accuracy-results") == ()
    assert validate({"test": "output_caching_test", "passed": True}, "endpoints-audit") == ()


@pytest.mark.parametrize(
    ("name", "document", "pointer"),
    [
        ("endpoints-config", {"settings": {}}, ""),
        (
            "endpoints-config",
            {"type": "online", "settings": {"runtime": {"min_duration_ms": "1"}}},
            "/settings/runtime/min_duration_ms",
        ),
        ("endpoints-result-summary", {"n_samples_issued": 1.5, "duration_ns": 1}, "/n_samples_issued"),
        (
            "endpoints-result-summary",
            {"n_samples_issued": 1, "duration_ns": 1, "ttft": {"percentiles": {"p99": 1}}},
            "/ttft/percentiles",
        ),
        ("endpoints-accuracy-results", {"accuracy_scores": [3]}, "/accuracy_scores/0"),
        ("endpoints-audit", {"test": "x", "passed": "yes"}, "/passed"),
    ],
)
def test_other_files_are_not(name, document, pointer):
    assert [problem.pointer for problem in validate(document, name)] == [pointer]


LEAVES = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8)
NAMED = st.sampled_from(
    [
        "type",
        "settings",
        "runtime",
        "min_duration_ms",
        "n_samples_issued",
        "duration_ns",
        "qps",
        "ttft",
        "99.0",
        "avg",
        "early_stopping_percentiles",
        "percentiles",
        "accuracy_scores",
        "score",
        "total_samples",
        "response_counts",
        "issued",
        "dataset_type",
        "passed",
        "test",
        "load_pattern",
        "n_samples_failed",
    ]
)
VALUES = st.recursive(
    LEAVES, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMED | st.text(max_size=3), inner, max_size=5)
)
READERS = (read_config, read_summary_json, read_accuracy_json, read_audit_json)


@settings(max_examples=60)
@given(st.dictionaries(NAMED, VALUES, max_size=6))
def test_any_members_can_be_read(tmp_path_factory, members):
    folder = tmp_path_factory.mktemp("any")
    path = written(folder, json.dumps(members))
    for reader in READERS[1:]:
        reader(path)
    loaded = load_json(path).members
    official_values(loaded, loaded, loaded)
    try:
        _, config_file = read_config(written(folder, yaml.safe_dump(members)))
    except UnreadableFile:
        return
    official_values(config_file.members, loaded, loaded)


@settings(max_examples=60)
@given(st.binary(max_size=300) | st.text(alphabet=" \n:-[]{}&*!|>'\"#?,ab<1.\t%@", max_size=200).map(str.encode))
def test_any_bytes_are_read_or_refused(tmp_path_factory, data):
    path = written(tmp_path_factory.mktemp("any"), data)
    for reader in READERS:
        refused = None
        try:
            reader(path)
        except UnreadableFile as error:
            refused = error
        if refused is not None:
            assert refused.reason
            assert refused.line is None or 1 <= refused.line <= data.count(b"\n") + data.count(b"\r") + 2
