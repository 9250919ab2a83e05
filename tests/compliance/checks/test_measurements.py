"""Where a measurements file is looked for in rounds whose layout leaves its name open."""

import pytest

from compliance.discovery.submission import discover
from compliance.judge import judge
from compliance.rulebook.rounds import load_round
from tests.support.trees import SYSTEM, clean_tree

FOLDER = f"closed/Acme/measurements/{SYSTEM}/llama3.1-8b/Server"


def measurements_findings(root):
    round_ = load_round("v5.1")
    judged = judge(discover(root, round_), round_).results
    return [
        (outcome.check.id, finding.where, finding.line)
        for result in judged
        for outcome in result.verdicts.outcomes
        for finding in outcome.findings
        if outcome.check.id in {"MEAS-001", "INT-001"}
    ]


@pytest.mark.parametrize(
    ("name", "text", "where", "line"),
    [
        (None, "", f"{SYSTEM}.json", None),
        (f"{SYSTEM}_Server.json", '{\n"a": }', f"{SYSTEM}_Server.json", 2),
        ("other.json", "{}", f"{SYSTEM}.json", None),
    ],
)
def test_a_measurements_file_that_is_not_there_or_broken_is_named(name, text, where, line, tmp_path):
    tree = clean_tree(round_name="v5.1")
    tree.remove(tree.path("Server", "measurements.json"))
    if name is not None:
        tree.texts[f"{FOLDER}/{name}"] = text
    assert measurements_findings(tree.write(tmp_path)) == [("MEAS-001", f"{FOLDER}/{where}", line)]
