"""Documents of a tree: what the checks turn down is what their JSON Schema turns down."""

from dataclasses import replace

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from compliance.checks.registry import all_checks
from compliance.discovery.submission import discover
from compliance.judge import run_check, subject_of
from compliance.rulebook.rounds import load_round
from compliance.rulebook.system_schema import schema_name
from compliance.schema import validate
from compliance.vocabulary import Severity
from tests.support.trees import clean_tree

ROUNDS = ("v5.0", "v5.1", "v6.0", "v6.1")
CHECKS = {check.id: check for check in all_checks()}
OF_A_DESCRIPTION = ("SYS-003", "SYS-004", "SYS-006", "SYS-007")
"""Availability, system type, fields that must be there, fields that must say something."""
OF_MEASUREMENTS = ("MEAS-004",)
WORDS = ("N/A", "x", "8", "available", "RDI", "soon", "edge", "datacenter,edge", "Edge")
VALUES = st.sampled_from(["", 0, 0.0, None, False, [], {}, True, 8, ["a"], *WORDS])
ONCE = settings(suppress_health_check=[HealthCheck.function_scoped_fixture])


@pytest.fixture(scope="module", params=ROUNDS)
def subject(request, tmp_path_factory):
    """What checks of the one result of a clean tree are given."""
    root = clean_tree("llama2-70b-99.9", round_name=request.param).write(tmp_path_factory.mktemp("tree"))
    round_ = load_round(request.param)
    submission = discover(root, round_)
    (submitter,) = submission.submitters
    (system,) = submitter.systems
    return subject_of(round_, submission, (submitter, system, system.results[0]))


def turned_down(subject, ids):
    findings = (finding for one in ids for finding in run_check(CHECKS[one], subject).findings)
    return any(finding.severity is Severity.ERROR for finding in findings)


def changed(document, changes):
    """The document with members changed, those that are ... taken out."""
    members = {name: value for name, value in {**document.members, **changes}.items() if value is not ...}
    return replace(document, members=members, lines={})


@ONCE
@given(data=st.data())
def test_a_description(subject, data):
    fields = subject.round.system_fields
    # The division is compared with the folder (SYS-009), is_network with the division (SYS-005): not of the form alone.
    names = sorted({*fields.required, *fields.network, *fields.known, "new"} - {"division", "is_network"})
    changes = data.draw(st.dictionaries(st.sampled_from(names), VALUES | st.just(...), max_size=4))
    description = changed(subject.system.description, changes)
    other = replace(subject, system=replace(subject.system, description=description))
    schema = schema_name(subject.round.name)
    assert turned_down(other, OF_A_DESCRIPTION) == bool(validate(dict(description.members), schema))


@ONCE
@given(data=st.data())
def test_measurements(subject, data):
    names = st.sampled_from([*subject.round.measurements_fields, "new"])
    document = changed(
        subject.result.measurements, data.draw(st.dictionaries(names, VALUES | st.just(...), max_size=3))
    )
    other = replace(subject, result=replace(subject.result, measurements=document))
    assert turned_down(other, OF_MEASUREMENTS) == bool(validate(dict(document.members), "measurements"))
