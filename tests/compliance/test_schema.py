import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from compliance.errors import ComplianceError
from compliance.logs.detail_decode import decode_strict
from compliance.rulebook.rounds import load_round, round_names
from compliance.rulebook.system_schema import schema_name, schema_path, system_schema
from compliance.schema import BASE_URI, SchemaProblem, schema_names, schema_text, validate
from tests.support.loadgen_run import loadgen_logs
from tests.support.log_lines import record

ROUNDS = round_names()
OWN = ("detail-log-record", "measurements", "model-mapping", *map(schema_name, ROUNDS))


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


def system(round_name="v6.1", **changes):
    fields = load_round(round_name).system_fields
    full = dict.fromkeys(fields.required, "N/A") | {"division": "closed", "status": "available", "system_type": "edge"}
    return {name: value for name, value in (full | changes).items() if value is not ...}


@pytest.mark.parametrize("round_name", ROUNDS)
def test_the_system_schema_of_a_round_is_that_of_its_rules(round_name):
    written = schema_path(round_name).read_text()
    assert written == system_schema(load_round(round_name)), "run `python -m compliance.rulebook.system_schema`"
    fields, schema = load_round(round_name).system_fields, json.loads(schema_text(schema_name(round_name)))
    assert set(schema["required"]) == set(fields.required)
    assert set(schema["properties"]) == {*fields.required, *fields.network, *fields.known}
    assert ("system_power_capacity" in schema["properties"]) == (round_name in {"v6.1", "demo"})
    assert validate(system(round_name), schema_name(round_name)) == ()


@pytest.mark.parametrize("round_name", ROUNDS)
def test_an_empty_answer_is_turned_down_where_the_round_wants_one(round_name):
    fields = load_round(round_name).system_fields
    for name in fields.required:
        found = validate(system(round_name, **{name: ""}), schema_name(round_name))
        assert bool(found) == (name in fields.meaningful), name
        assert all(problem.pointer == f"/{name}" for problem in found)


@pytest.mark.parametrize("flag", ["true", "false", True])
def test_network_fields_are_asked_for_with_is_network(flag):
    fields = load_round("v6.1").system_fields
    lacking = len(fields.network) - 1
    assert len(validate(system(is_network=flag), schema_name("v6.1"))) == lacking
    full = dict.fromkeys(fields.network, "") | {"is_network": flag}
    assert validate(system(**full), schema_name("v6.1")) == ()


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
    assert (validate(system(**{name: value}), schema_name("v6.1")) == ()) == fits


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
