import pytest
from hypothesis import given
from hypothesis import strategies as st

from compliance.rulebook.rounds import load_round
from compliance.submission.layout_paths import ResultKey, folders_of, locate, match, place_of, results_in

OLD, NEW = load_round("v5.1").layout, load_round("v6.1").layout
R = "closed/Acme/results/s/b/Offline"


@pytest.mark.parametrize(
    ("layout", "path", "role", "rest", "known"),
    [
        (OLD, "closed/Acme/systems/s.json", "system", "", True),
        (OLD, "closed/Acme/code/b/run.sh", "source_dir", "b/run.sh", True),
        (NEW, "closed/Acme/src", "source_dir", "", True),
        (OLD, "closed/Acme/measurements/s/b/Offline/s_Offline.json", "measurements", "", True),
        (OLD, "closed/Acme/measurements/s/b/Offline/other.json", "measurements_dir", "other.json", False),
        (OLD, "closed/Acme/measurements/s/b/Offline/mlperf.conf", "measurements_dir", "mlperf.conf", True),
        (OLD, "closed/Acme/compliance/s/b/Offline/TEST06/x/y", "audit_dir", "x/y", True),
        (OLD, "closed/Acme/compliance/s/b/Offline/TEST99/y", "audits_dir", "TEST99/y", False),
        (NEW, f"{R}/measurements.json", "measurements", "", True),
        (NEW, f"{R}/mlperf.conf", "measurements_dir", "mlperf.conf", True),
        (NEW, f"{R}/TEST01/verify_accuracy.txt", "audit_dir", "verify_accuracy.txt", True),
        (NEW, f"{R}/performance/run_1/a", "performance_dir", "a", True),
        (NEW, f"{R}/performance/power/a", "scenario_dir", "performance/power/a", True),
        (NEW, f"{R}/notes.md", "scenario_dir", "notes.md", False),
        (NEW, "open/Acme/model_mapping.json", "model_mapping", "", True),
    ],
)
def test_what_a_path_is(layout, path, role, rest, known):
    spot = locate(path, layout)
    assert (spot.role, spot.rest, spot.known) == (role, rest, known)
    assert place_of(spot, layout) == path or role == "measurements"


@pytest.mark.parametrize(
    ("layout", "path"),
    [
        (NEW, "README.md"),
        (NEW, "ajar/Acme/systems/s.json"),
        (NEW, "closed/Acme/results/s/privateid.json"),
        (NEW, "closed/Acme/measurements/s/b/Offline/s.json"),
        (OLD, "closed/Acme/src/x"),
        (OLD, "closed/Acme/systems/.json"),
    ],
)
def test_what_a_layout_has_no_place_for(layout, path):
    assert locate(path, layout) is None


def test_the_folders_of_a_result():
    key = ResultKey("closed", "Acme", "s", "b", "Offline")
    assert folders_of(key, NEW) == (R,)
    assert folders_of(key, OLD) == (
        R,
        "closed/Acme/measurements/s/b/Offline",
        "closed/Acme/compliance/s/b/Offline",
    )
    assert folders_of(ResultKey("closed", "Acme", "s", "b"), NEW) == ("closed/Acme/results/s/b",)


def test_a_result_is_a_scenario_folder_with_a_file():
    paths = dict.fromkeys(
        [f"{R}/performance/run_1/x", f"{R}/y", "closed/Acme/results/s/b/z", "closed/Acme/results/s/q"]
    )
    assert results_in(paths, NEW) == (ResultKey("closed", "Acme", "s", "b", "Offline"),)


@given(
    st.lists(st.text(st.characters(blacklist_characters="/\0", blacklist_categories=["Cs"]), min_size=1), max_size=9)
)
def test_any_path_has_one_place_and_stays_there(parts):
    path = "/".join(parts)
    for layout in (OLD, NEW):
        spot = locate(path, layout)
        if spot is not None and spot.role != "measurements":
            assert place_of(spot, layout) == path


def test_a_template_and_another_depth():
    assert match("{division}/{submitter}", "closed/Acme/x") is None
    assert match("{division}/{submitter}", "closed/Acme") == {"division": "closed", "submitter": "Acme"}
