import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from compliance.errors import ComplianceError
from compliance.logs.detail_decode import decode_strict
from compliance.rulebook.rounds import load_round
from compliance.schema import BASE_URI, SchemaProblem, schema_names, schema_text, validate
from tests.support.loadgen_run import loadgen_logs
from tests.support.log_lines import record

OWN = ("detail-log-record", "measurements", "model-mapping", "system-description")


@pytest.mark.parametrize("name", schema_names())
def test_each_schema_is_of_draft_2020_12(name):
    schema = json.loads(schema_text(name))
    assert schema["$schema"] == "https://json-schema.org/draft/2020-12/schema"
    Draft202012Validator.check_schema(schema)


@pytest.mark.parametrize("name", OWN)
def test_each_schema_has_an_id_under_its_name(name):
    assert json.loads(schema_text(name))["$id"] == f"{BASE_URI}{name}.schema.json"


def test_an_unknown_schema_names_the_known():
    with pytest.raises(ComplianceError, match="measurements"):
        validate({}, "measurement")


def agrees(instance):
    """Whether decoder and schema say the same of a record."""
    return (decode_strict(json.dumps(instance).encode()) is not None) == (not validate(instance, "detail-log-record"))


@pytest.mark.parametrize(
    ("scenario", "mode"),
    [
        ("Offline", "PerformanceOnly"),
        ("Server", "PerformanceOnly"),
        ("Server", "AccuracyOnly"),
        ("SingleStream", "PerformanceOnly"),
        ("MultiStream", "PerformanceOnly"),
    ],
)
def test_decoder_and_schema_take_every_line_of_a_real_log(scenario, mode):
    path = loadgen_logs(scenario, mode) / "mlperf_log_detail.txt"
    for line in path.read_bytes().splitlines():
        body = line.removeprefix(b":::MLLOG")
        assert decode_strict(body) is not None
        assert validate(json.loads(body), "detail-log-record") == ()


NUMBERS = st.integers(-(2**64), 2**70) | st.floats(allow_nan=False, allow_infinity=False)
SCALARS = st.none() | st.booleans() | NUMBERS | st.text(max_size=5)
VALUES = SCALARS | st.lists(SCALARS, max_size=3) | st.dictionaries(st.text(max_size=3), SCALARS, max_size=3)
VALUES |= st.lists(st.integers(), max_size=3) | st.lists(st.lists(st.integers(), max_size=2), max_size=2)
KEYS = st.sampled_from(["loaded_qsl_set", "num_errors"]) | st.text(max_size=5)


@given(key=KEYS, value=VALUES)
def test_decoder_and_schema_agree_on_any_value(key, value):
    assert agrees(record(key, value))


MEMBERS = st.sampled_from(["key", "value", "time_ms", "namespace", "event_type", "metadata", "more"])
METADATA = st.sampled_from(["is_error", "is_warning", "file", "line_no", "pid", "tid", "more"])


@given(data=st.data())
def test_decoder_and_schema_agree_on_changed_records(data):
    changed = record(data.draw(KEYS), data.draw(VALUES))
    holder, names = data.draw(st.sampled_from([(changed, MEMBERS), (changed["metadata"], METADATA)]))
    name = data.draw(names)
    if data.draw(st.booleans()):
        holder.pop(name, None)
    else:
        holder[name] = data.draw(VALUES)
    assert agrees(changed)


def system(**changes):
    fields = load_round("v6.1").system_fields
    full = dict.fromkeys(fields.required, "N/A") | {"division": "closed", "status": "available", "system_type": "edge"}
    return {name: value for name, value in (full | changes).items() if value is not ...}


def test_the_system_schema_asks_for_the_fields_of_the_round():
    fields = load_round("v6.1").system_fields
    schema = json.loads(schema_text("system-description"))
    assert set(schema["required"]) == set(fields.required)
    assert set(schema["properties"]) == {*fields.required, *fields.network, *fields.known}
    assert validate(system(), "system-description") == ()


def test_an_empty_answer_is_turned_down_where_the_round_wants_one():
    fields = load_round("v6.1").system_fields
    for name in fields.required:
        found = validate(system(**{name: ""}), "system-description")
        assert bool(found) == (name in fields.meaningful), name
        assert all(problem.pointer == f"/{name}" for problem in found)


@pytest.mark.parametrize(
    ("name", "value", "fits"),
    [
        ("status", "AVAILABLE", True),
        ("status", "RDI", True),
        ("status", "soon", False),
        ("division", "Open", True),
        ("division", "closed ", False),
        ("system_type", "datacenter,edge", True),
        ("system_type", "Datacenter", False),
        ("accelerators_per_node", "0", True),
        ("accelerators_per_node", 0, False),
        ("accelerators_per_node", 8, True),
        ("number_of_nodes", None, False),
        ("is_network", False, True),
        ("is_network", 1, False),
        ("hw_notes", ..., False),
        ("a_new_field", "x", True),
        ("other_software_stack", {"vllm": "0.10"}, True),
    ],
)
def test_answers_of_a_system_description(name, value, fits):
    assert (validate(system(**{name: value}), "system-description") == ()) == fits


MEASUREMENTS = dict.fromkeys(load_round("v6.1").measurements_fields, "fp8")


@pytest.mark.parametrize(
    ("changes", "pointers"),
    [
        ({}, []),
        ({"more": ""}, []),
        ({"retraining": False}, ["/retraining"]),
        ({"retraining": "", "weight_data_types": None}, ["/retraining", "/weight_data_types"]),
        ({"retraining": True, "weight_data_types": ["a"]}, []),
    ],
)
def test_answers_of_measurements(changes, pointers):
    assert [problem.pointer for problem in validate(MEASUREMENTS | changes, "measurements")] == pointers


def test_each_missing_measurement_is_a_problem():
    assert len(validate({}, "measurements")) == len(MEASUREMENTS) == 5


@pytest.mark.parametrize(
    ("mapping", "pointers"),
    [({}, []), ({"mine": "resnet"}, []), ({"a/b": "resnet"}, [""]), ({"a~b": 1}, ["/a~0b"]), ([], [""])],
)
def test_model_mappings(mapping, pointers):
    assert [problem.pointer for problem in validate(mapping, "model-mapping")] == pointers


def test_a_long_message_is_cut():
    (problem,) = validate(record("k", ["x" * 5000]), "detail-log-record")
    assert isinstance(problem, SchemaProblem)
    assert len(problem.message) < 400
