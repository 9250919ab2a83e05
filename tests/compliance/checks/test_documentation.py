"""What a submitter writes down: headings in their forms, and texts that identify what was run."""

import pytest

from compliance.checks.documentation import headings
from compliance.checks.model import State
from compliance.discovery.submission import discover
from compliance.judge import judge
from tests.support.trees import clean_tree

README = "closed/Acme/src/README.md"


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("# Run\n\ntext\n\n## LoadGen connection ##\n", ("Run", "LoadGen connection")),
        ("= Run\n\n=== Weights\n", ("Run", "Weights")),
        ("Run\n===\n\nWeights\r\n-------\r\n", ("Run", "Weights")),
        ("**Pre-processing:**\n", ("Pre-processing",)),
        ("run it\n\n---\n\ntext\n", ()),
        ("#\n", ()),
        ("", ()),
    ],
)
def test_headings(text, found):
    assert headings(text) == found


def outcome(tree, root, check_id):
    judgement = judge(discover(tree.write(root), tree.round), tree.round)
    (found,) = [one for one in judgement.above if one.check.id == check_id]
    return found


@pytest.mark.parametrize(
    ("says", "identified"),
    [
        ("vLLM 0.32.0", True),
        ("vLLM v0.32", True),
        ("https://example.org/engine.tar", True),
        ("commit 1a2b3c4d", True),
        ("with pull request #4711", True),
        ("sha256 " + "0f" * 32, True),
        ("Llama 3.1 8B of MLPerf Inference v6.1, llama2-70b-99.9", False),
        ("the engine as it was deadbeef", False),
        ("the engine of 20261201", False),
        ("", False),
    ],
)
def test_what_was_run_is_identified(says, identified, tmp_path):
    tree = clean_tree().replace(README, "vLLM 0.32.0, unchanged.", says)
    assert (outcome(tree, tmp_path, "STR-021").state is State.PASS) == identified


@pytest.mark.parametrize("name", ["src/requirements.txt", "src/Dockerfile", "documentation/environment.md"])
def test_versions_may_stand_elsewhere(name, tmp_path):
    tree = clean_tree().replace(README, "vLLM 0.32.0, unchanged.", "As pinned.")
    tree.texts[f"closed/Acme/{name}"] = "vllm==0.32.0\n"
    assert outcome(tree, tmp_path, "STR-021").state is State.PASS


def test_the_headings_may_stand_in_several_readmes(tmp_path):
    tree = clean_tree().replace(README, "## LoadGen connection", "")
    tree.replace(tree.path("Server", "README.md"), "vllm", "# LoadGen connection\n\nvllm")
    assert outcome(tree, tmp_path, "STR-022").state is State.PASS


@pytest.mark.parametrize("name", ["documentation/Network_Bandwidth.pdf", "bandwidth.md", "documentation/network.adoc"])
def test_a_bandwidth_write_up_by_name_or_text(name, tmp_path):
    tree = clean_tree().remove("closed/Acme/documentation/bandwidth.md")
    tree.texts[f"closed/Acme/{name}"] = "Ingress needs 1 MB/s.\n"
    assert outcome(tree, tmp_path, "STR-020").state is State.PASS


@pytest.mark.parametrize("options", [{"division": "open"}, {"benchmark": "resnet", "system_type": "edge"}])
def test_who_need_not_show_bandwidth(options, tmp_path):
    assert outcome(clean_tree(scenarios=("Offline",), **options), tmp_path, "STR-020").state is State.SKIP


def test_a_write_up_that_is_no_text_is_read_over(tmp_path):
    tree = clean_tree()
    root = tree.write(tmp_path)
    (root / "closed/Acme/src/README.bin").write_bytes(bytes(range(256)))
    (root / README).write_bytes(b"\xff\xfe# R\x00u\x00n\x00")
    judgement = judge(discover(root, tree.round), tree.round)
    assert {one.check.id for one in judgement.above if one.findings} == {"STR-021", "STR-022", "STR-023"}


@pytest.mark.parametrize(
    ("benchmark", "scenario", "says", "told"),
    [
        ("llama3.1-8b", "Interactive", "Speculative decoding with a draft model.", True),
        ("gpt-oss-120b", "Interactive", "Speculative decoding with a draft model.", False),
        ("gpt-oss-120b", "Server", "EAGLE-3, length 3.", True),
        ("llama3.1-8b", "Server", "No speculative decoding was used.", False),
        ("llama3.1-8b", "Server", "The eagles fly.", False),
        ("resnet", "Server", "a draft model", False),
    ],
)
def test_speculative_decoding_where_it_is_told_of(benchmark, scenario, says, told, tmp_path):
    tree = clean_tree(benchmark, ("Offline", scenario))
    tree.texts[tree.path(scenario, "README.md")] = f"vllm serve\n\n{says}\n"
    judgement = judge(discover(tree.write(tmp_path), tree.round), tree.round)
    (result,) = [one for one in judgement.results if one.result.scenario_dir == scenario]
    (found,) = [one for one in result.verdicts.outcomes if one.check.id == "MEAS-010"]
    assert [finding.line for finding in found.findings] == ([3] if told else [])
    assert {one.verdicts.strict for one in judgement.results} <= {"valid", "invalid" if benchmark == "resnet" else ""}
