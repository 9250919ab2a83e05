"""The results table: the official form byte for byte, and the right one beside it."""

import csv
import io
import json
from pathlib import Path

import pytest

from compliance.discovery.submission import discover
from compliance.judge import judge
from compliance.report.csv_ import COLUMNS, render_csv, render_csv_official
from compliance.report.model import build_report
from compliance.rulebook.rounds import load_round, round_names
from compliance.vocabulary import Profile
from tests.support.faults import INTERACTIVE, numpy_scores
from tests.support.power_trees import power_tree
from tests.support.trees import clean_tree

SHARED = Path(__file__).parents[3].parent / "shared"
CASES = sorted(SHARED.glob("corpus/*/case.json"))


def report(made, root, profile=Profile.OFFICIAL):
    return build_report(judge(discover(made.write(root), made.round), made.round), profile)


def rows(text):
    return list(csv.DictReader(io.StringIO(text)))


def awkward():
    made = clean_tree("llama3.1-8b", INTERACTIVE)
    made.system.update(system_name='Acme "Node", 8x\nnew', number_of_nodes=2, accelerators_per_node="8")
    made.system.update(hw_notes="liquid", sw_notes="tuned, a lot", host_processor_core_count=64.5, framework="vLLM é")
    return made.copy(made.path("Server"), made.path("server")).remove(made.path("Server"))


MAY_DIFFER = {"inferred", "design_power_watts", "Accuracy", "Units"}
HEADER = (
    "Organization,Availability,Division,SystemType,SystemName,Platform,Model,MlperfModel,Scenario,Result,Accuracy,"
    "number_of_nodes,host_processor_model_name,host_processors_per_node,host_processor_core_count,"
    "accelerator_model_name,accelerators_per_node,total_accelerators,Location,framework,operating_system,notes,"
    "compliance,errors,version,inferred,has_power,Units,weight_data_types,design_power_watts,PrivateID\n"
)
ACCURACY = "ROUGE1: 38.7792  ROUGE2: 15.9075  ROUGEL: 24.4957  ROUGELSUM: 35.793  GEN_LEN: 8167644"
# What mlcommons/inference b66003e1 writes for this tree under --input sub/tree/ --version v6.1.
ROW = (
    '"Acme","available","closed","datacenter","Acme "Node", 8x\nnew","node8","llama3.1-8b","llama3.1-8b","{scenario}",'
    '"27600.5","{accuracy}","2","as sold","2","64.5","as sold","8","16",'
    '"sub/tree/closed/Acme/results/node8/llama3.1-8b/{scenario}/performance/run_1","vLLM é","as sold",'
    '"liquid. tuned, a lot","closed","0","v6.1","{inferred}","False","Tokens/s","bf16","None",""\n'
)


@pytest.mark.parametrize("root", ["sub/tree", "sub/tree/"])
def test_the_official_table_is_the_same_byte_for_byte(root, tmp_path):
    made = awkward()
    inferred = {"Interactive": 1, "Offline": 0, "server": 1}
    body = (ROW.format(scenario=name, accuracy=ACCURACY, inferred=wrong) for name, wrong in inferred.items())
    assert render_csv_official(report(made, tmp_path), root) == HEADER + "".join(body)


def test_the_official_table_lists_what_passes_officially_whatever_the_profile(tmp_path):
    found = report(clean_tree().performance("Server", result_validity="INVALID"), tmp_path, Profile.STRICT)
    assert [row["Scenario"] for row in rows(render_csv(found))] == ["Offline"]
    assert [row["Scenario"] for row in rows(render_csv_official(found, "t"))] == ["Offline", "Server"]


def test_the_official_table_is_in_the_order_of_names(tmp_path):
    made = clean_tree()
    other = clean_tree(division="open")
    other.write(tmp_path)
    network = clean_tree(division="network")
    network.write(tmp_path)
    divisions = [row["Division"] for row in rows(render_csv_official(report(made, tmp_path), "t"))]
    assert divisions == ["closed", "closed", "network", "network", "open", "open"]


@pytest.mark.parametrize(("round_name", "design"), [("v6.0", ""), ("v6.1", "6250.5")])
def test_a_result_with_power_has_a_second_row(round_name, design, tmp_path):
    found = report(power_tree("Server", round_name=round_name), tmp_path)
    for text in (render_csv(found), render_csv_official(found, "t")):
        listed = [row for row in rows(text) if row["Scenario"] == "Server"]
        assert [(row["Result"], row["Units"]) for row in listed] == [("27600.5", "Tokens/s"), ("500.0", "Watts")]
        assert {(row["has_power"], row["design_power_watts"]) for row in listed} == {("True", design)}


def test_the_right_table_has_the_same_columns_and_is_escaped(tmp_path):
    made = awkward()
    made.system["accelerator_model_name"] = "MI355X\x1b[31m"
    text = render_csv(report(made, tmp_path))
    assert text.startswith(HEADER)
    assert tuple(rows(text)[0]) == COLUMNS
    assert len(COLUMNS) == 31
    for row in rows(text):
        assert row["SystemName"] == r'Acme "Node", 8x\nnew'
        assert row["accelerator_model_name"] == r"MI355X\x1b[31m"
        assert row["inferred"] == "0"
        assert row["total_accelerators"] == "16"
        assert row["design_power_watts"] == ""
        assert row["Location"].startswith("closed/Acme/results/node8/")
        assert row["Accuracy"] == ACCURACY


def test_an_inferred_result_is_one_in_both(tmp_path):
    made = clean_tree("llama3.1-8b-edge", ("SingleStream",), system_type="edge")
    made.copy(made.path("SingleStream"), made.path("Offline"))
    found = report(made, tmp_path)
    for text in (render_csv(found), render_csv_official(found, "t")):
        assert [(row["Result"], row["inferred"]) for row in rows(text)] == [("1.25", "1"), ("0.0276005", "0")]


@pytest.mark.parametrize(
    ("nodes", "each", "total"),
    [(2, "8x", "16"), ("2", 8, "16"), (1, " 4 X ", "4"), (1, "0", "0"), (1, "some", ""), (None, 8, ""), (1.5, 8, "")],
)
def test_the_total_is_that_of_counts_as_people_write_them(nodes, each, total, tmp_path):
    made = clean_tree()
    made.system.update(number_of_nodes=nodes, accelerators_per_node=each)
    listed = {result.listing.accelerators for result in report(made, tmp_path).results}
    assert listed == {int(total) if total else None}


def test_scores_that_the_official_checker_overlooks_are_in_the_right_table(tmp_path):
    found = report(numpy_scores(), tmp_path, Profile.STRICT)
    server = next(row for row in rows(render_csv(found)) if row["Scenario"] == "Server")
    assert server["Accuracy"].startswith("ROUGE1: 38.7792  ROUGE2: ")


@pytest.mark.skipif(not CASES, reason="no collection of judged submissions beside the checkout")
@pytest.mark.parametrize("path", CASES, ids=lambda path: path.parent.name)
def test_rows_of_real_submissions_are_the_recorded_ones(path):
    case = json.loads(path.read_text())
    if case["round"] not in round_names() or case["official"]["overall"] == "crash":
        pytest.skip("the official checker wrote no table")
    round_ = load_round(case["round"])
    found = build_report(judge(discover(path.parent / "submission", round_), round_), Profile.OFFICIAL)
    wanted = [row for result in case["official"]["results"].values() for row in result.get("csv_rows") or []]
    wanted.sort(key=lambda row: row["Location"].split("/"))
    assert rows(render_csv_official(found, "")) == wanted
    for right, official in zip(rows(render_csv(found)), wanted, strict=True):
        assert {name: right[name] for name in COLUMNS if right[name] != official[name]}.keys() <= MAY_DIFFER
        assert right["Accuracy"] == official["Accuracy"] or ":" not in official["Accuracy"]
