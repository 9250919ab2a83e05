import hashlib
import json

import pytest

from compliance.errors import RenderError
from compliance.rulebook.rounds import load_round
from compliance.submission.draft import read_draft
from compliance.submission.manifest import read_manifest
from compliance.submission.truncate_tree import truncate_tree
from compliance.submission.write_draft import NewTree, write_tree
from tests.support.snapshots import snapshot
from tests.support.trees import clean_tree

LOG, TEXT = "mlperf_log_accuracy.json", "accuracy.txt"
WHOLE = ("[\n" + json.dumps({"seq_id": 0, "qsl_idx": 0, "data": "00"}) + " " * 20_000 + "\n]\n").encode()
HASH = hashlib.sha256(WHOLE).hexdigest()
AUDITS = ("TEST01", "TEST04", "TEST06", "TEST07", "TEST08", "TEST09")


def whole_tree(root, round_name="v6.1"):
    """A tree with whole logs in every folder that holds one, and no hashes yet."""
    tree = clean_tree("gpt-oss-120b" if round_name > "v6" else "llama2-70b-99", round_name=round_name)
    for scenario in tree.scenarios:
        for audit in AUDITS:
            tree.texts[tree.path(scenario, f"{audit}/accuracy/{LOG}")] = ""
            tree.texts[tree.path(scenario, f"{audit}/verify_accuracy.txt")] = "TEST PASS\n"
    tree.write(root)
    for path in root.rglob(LOG):
        if path.parent.name == "accuracy":
            path.write_bytes(WHOLE)
    for path in root.rglob(TEXT):
        path.write_text("{'rouge1': 44.4}\n")
    return root


def cut(tree, out, round_name="v6.1", skip=frozenset()):
    plan = truncate_tree(read_draft(tree), load_round(round_name).layout, skip)
    write_tree(plan, NewTree(out, round_name))
    return plan


@pytest.mark.parametrize("round_name", ["v5.1", "v6.0", "v6.1"])
def test_every_log_but_those_of_test06_and_its_kind(tmp_path, round_name):
    tree = whole_tree(tmp_path / "tree", round_name)
    before = snapshot(tree)
    plan = cut(tree, tmp_path / "new", round_name)
    after = snapshot(tmp_path / "new")
    short = WHOLE[:4096] + b"\n\n...\n\n" + WHOLE[-4096:]
    for path in (path for path in after if path.endswith(f"accuracy/{LOG}")):
        left = any(audit in path for audit in ("TEST04", "TEST06", "TEST08"))
        assert after[path] == (WHOLE if left else short), path
        text = path.replace(LOG, TEXT)
        if not left:
            scored = before.get(text) is not None
            assert after[text] == (b"{'rouge1': 44.4}\n\n" if scored else b"") + f"hash={HASH}\n".encode(), text
    originals = snapshot(tmp_path / "new.originals")
    logs = [path for path in originals if path.endswith(LOG)]
    assert len(logs) == 2 * 4
    assert all(originals[path] == before[path] for path in originals if path != "SHA256SUMS")
    assert read_manifest(tmp_path / "new").originals == dict.fromkeys(logs, HASH)
    assert snapshot(tree) == before
    assert {step.verb for step in plan.steps} == {"hash", "truncate"}


def test_a_second_time_finds_nothing_to_do(tmp_path):
    cut(whole_tree(tmp_path / "tree"), tmp_path / "new")
    plan = cut(tmp_path / "new", tmp_path / "again")
    assert (plan.steps, plan.problems, plan.removed) == ((), (), {})
    assert snapshot(tmp_path / "again") == snapshot(tmp_path / "new")
    assert not (tmp_path / "again.originals").exists()
    assert read_manifest(tmp_path / "again").originals == read_manifest(tmp_path / "new").originals


def test_a_scenario_can_be_left_out(tmp_path):
    plan = truncate_tree(read_draft(whole_tree(tmp_path)), load_round("v6.1").layout, frozenset({"Server"}))
    assert plan.steps
    assert not any("/Server/" in step.path for step in plan.steps)


RESULT = "closed/Acme/results/node8/gpt-oss-120b/Offline"


def change(tree, name, data):
    path = tree / RESULT / name
    path.unlink() if data is None else path.write_bytes(data)


SHORT = WHOLE[:4096] + b"\n\n...\n\n" + WHOLE[-4096:]


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({f"accuracy/{TEXT}": None}, f"accuracy/{TEXT}: missing"),
        ({f"accuracy/{LOG}": None}, f"accuracy/{LOG}: missing"),
        ({f"accuracy/{LOG}": SHORT}, "its hash stands nowhere"),
        ({f"accuracy/{TEXT}": b"x\nhash=abc\n"}, "states hash=abc"),
        ({f"TEST07/accuracy/{LOG}": SHORT}, "its hash stands nowhere"),
    ],
)
def test_what_keeps_a_tree_from_being_truncated(tmp_path, changes, problem):
    tree = whole_tree(tmp_path / "tree")
    for name, data in changes.items():
        change(tree, name, data)
    plan = truncate_tree(read_draft(tree), load_round("v6.1").layout)
    assert len(plan.problems) == 1
    assert problem in plan.problems[0]
    with pytest.raises(RenderError, match="accuracy"):
        write_tree(plan, NewTree(tmp_path / "new", "v6.1"))
    assert sorted(path.name for path in tmp_path.iterdir()) == ["tree"]


@pytest.mark.parametrize(
    ("log", "text", "verbs"),
    [
        (WHOLE, f"x\nhash={HASH}\n".encode(), ["truncate"]),
        (WHOLE, f"x\r\nhash={HASH}\r\n".encode(), ["truncate"]),
        (WHOLE, f"x\nhash={HASH.upper()}".encode(), ["truncate"]),
        (b"[]" + b" " * 10238, b"x", ["hash"]),
        (b"[]" + b" " * 10239, b"x", ["hash", "truncate"]),
        (b"[]" + b" " * 10238, b"x\nhash=abc\n", []),
        (SHORT, b"x\nhash=abc\n", []),
    ],
)
def test_one_log(tmp_path, log, text, verbs):
    tree = whole_tree(tmp_path)
    change(tree, f"accuracy/{LOG}", log)
    change(tree, f"accuracy/{TEXT}", text)
    plan = truncate_tree(read_draft(tree), load_round("v6.1").layout)
    assert not plan.problems
    assert [step.verb for step in plan.steps if step.path.startswith(f"{RESULT}/accuracy/")] == verbs


@pytest.mark.parametrize("name", ["config.yaml", "config.yml"])
def test_endpoints_results_hold_no_such_log(tmp_path, name):
    tree = whole_tree(tmp_path)
    (tree / RESULT / name).write_text("type: offline\n")
    change(tree, f"accuracy/{LOG}", None)
    assert truncate_tree(read_draft(tree), load_round("v6.1").layout).problems == ()
