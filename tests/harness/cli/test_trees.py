import json
import shutil
import sys
import tarfile

import pytest

from tests.support.snapshots import snapshot
from tests.support.trees import clean_tree


@pytest.fixture
def tree(tmp_path):
    return clean_tree("llama2-70b-99.9", round_name="v5.1").write(tmp_path / "tree")


def test_a_plan_is_printed_and_nothing_written_without_apply(weighbridge, tree, tmp_path):
    for command in (
        ("package", "--from", tree, "--to-layout", "v6.1", "--out", tmp_path / "new"),
        ("preprocess", tree, "--out", tmp_path / "new", "--round", "v5.1"),
        ("truncate", tree, tmp_path / "new"),
    ):
        code, out, err = weighbridge(*command)
        assert code == 0, err
        assert "nothing was written" in out
        assert [path.name for path in tmp_path.iterdir()] == ["tree"]


def test_to_the_new_layout_and_back(weighbridge, tree, tmp_path):
    before = snapshot(tree)
    there, back = tmp_path / "there", tmp_path / "back"
    code, out, err = weighbridge("package", "--from", tree, "--to-layout", "v6.1", "--out", there, "--apply")
    assert code == 0, err
    assert "node8_Offline.json\n      -> closed/Acme/results/node8/llama2-70b-99.9/Offline/measurements.json\n" in out
    assert f"next: weighbridge check {there} --round v6.1" in out
    assert weighbridge("package", "--from", there, "--to-layout", "v5.1", "--out", back, "--apply")[0] == 0
    assert snapshot(back) == before == snapshot(tree)


def test_the_record_follows_a_tree_that_is_prepared_further(weighbridge, tree, tmp_path):
    before = snapshot(tree)
    steps = (
        ("package", "--from", tree, "--to-layout", "v6.0", "--out", tmp_path / "a", "--apply"),
        ("truncate", tmp_path / "a", tmp_path / "b", "--apply"),
        ("package", "--from", tmp_path / "b", "--to-layout", "v5.1", "--out", tmp_path / "c", "--apply"),
    )
    for step in steps:
        code, _, err = weighbridge(*step)
        assert code == 0, err
    assert snapshot(tmp_path / "c") == before


def test_several_trees_low_targets_and_open(weighbridge, tree, tmp_path):
    other = clean_tree("llama3.1-8b", round_name="v6.0").write(tmp_path / "other")
    shutil.copyfile(tree / "closed/Acme/code/README.md", other / "closed/Acme/src/README.md")
    merged = ("package", "--from", tree, "--from", other, "--out", tmp_path / "new")
    code, _, err = weighbridge(*merged)
    assert code == 2
    assert "the layouts of v5.1, v6.1" in err
    more = ("--to-layout", "v6.0", "--low-targets", "--to-open", "node8/llama3.1-8b", "--apply")
    code, _, err = weighbridge(*merged, *more)
    assert code == 0, err
    names = snapshot(tmp_path / "new").keys()
    folders = {"/".join(name.split("/")[i] for i in (0, 4)) for name in names if "/results/" in name}
    assert folders == {"closed/llama2-70b-99.9", "closed/llama2-70b-99", "open/llama3.1-8b"}
    code, _, err = weighbridge(*merged, "--to-layout", "v6.0", "--to-open", "node8/absent")
    assert code == 2
    assert "there are: node8/llama2-70b-99.9, node8/llama3.1-8b" in err


def test_a_conflict_is_named(weighbridge, tree, tmp_path):
    other = tmp_path / "other"
    shutil.copytree(tree, other)
    (other / "closed/Acme/code/README.md").write_text("other")
    code, _, err = weighbridge("package", "--from", tree, "--from", other, "--out", tmp_path / "new", "--apply")
    assert code == 1
    assert "closed/Acme/code/README.md" in err
    assert not (tmp_path / "new").exists()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("package", "--out", "{tmp}/x"), "give a campaign's YAML file"),
        (("package", "{tmp}/c.yaml", "--from", "{tmp}", "--out", "{tmp}/x"), "takes neither a campaign"),
        (("package", "{tmp}/c.yaml", "--to-layout", "v6.1", "--out", "{tmp}/x"), "go with --from"),
        (("package", "--from", "{tmp}/tree", "--to-layout", "v9", "--out", "{tmp}/x"), "no rules for round 'v9'"),
        (("package", "--from", "{tmp}/absent", "--out", "{tmp}/x"), "does not exist"),
        (("truncate", "{tmp}/c.yaml", "{tmp}/x", "--apply"), "are for a whole tree"),
        (("truncate", "{tmp}/bare", "{tmp}/x"), "no results in it"),
        (
            ("preprocess", "{tmp}/tree", "--out", "{tmp}/x", "--round", "v6.1"),
            "has the layout of v5.1, not that of v6.1",
        ),
        (("pack", "{tmp}/tree", "--profile", "loose"), "loose is none of"),
        (("pack", "{tmp}/tree", "--passphrase-env", "X"), "without --encrypt"),
        (("package", "--from", "{tmp}/tree", "--out", "{tmp}/tree/x", "--apply"), "only read"),
    ],
)
def test_user_mistakes(weighbridge, tree, tmp_path, arguments, words):
    (tmp_path / "bare/closed").mkdir(parents=True)
    (tmp_path / "c.yaml").write_text("x: 1\n")
    code, out, err = weighbridge(*(argument.format(tmp=tmp_path) for argument in arguments))
    assert code == 2, (out, err)
    assert words in " ".join(err.split())


def test_a_link_in_a_tree_is_an_error(weighbridge, tree, tmp_path):
    (tree / "closed/link").symlink_to("/etc")
    code, _, err = weighbridge("package", "--from", tree, "--to-layout", "v6.1", "--out", tmp_path / "new")
    assert code == 1
    assert "closed/link: a link" in err


def test_preprocess_writes_what_it_planned(weighbridge, tmp_path):
    broken = clean_tree("llama3.1-8b").performance("Server", effective_min_duration_ms=1).write(tmp_path / "broken")
    code, out, err = weighbridge(
        "preprocess", broken, "--out", tmp_path / "new", "--round", "v6.1", "--to-layout", "v5.1", "--apply"
    )
    assert code == 0, err
    assert "originals with their hashes in" in out
    assert (tmp_path / "new/open/Acme/measurements/node8/llama3.1-8b/Offline/node8_Offline.json").is_file()
    assert (tmp_path / "new.originals/closed/Acme/results/node8/llama3.1-8b/Server/README.md").is_file()


def test_a_truncated_tree_says_what_is_missing(weighbridge, tmp_path):
    broken = clean_tree()
    broken.remove(broken.path("Server", "accuracy/accuracy.txt"))
    code, _, err = weighbridge("truncate", broken.write(tmp_path / "tree"), tmp_path / "new", "--apply")
    assert code == 1
    assert "accuracy.txt: missing" in err
    assert not (tmp_path / "new").exists()


def test_pack(weighbridge, tmp_path):
    tree = clean_tree().write(tmp_path / "acme")
    code, out, err = weighbridge("pack", tree, "--round", "v6.1")
    assert code == 0, err
    assert "files in" in out
    with tarfile.open(tmp_path / "acme.tar.gz") as tar:
        assert len([member for member in tar if member.isreg()]) == len(snapshot(tree))
    log = json.loads((tmp_path / "acme.tar.gz.check.json").read_text())
    assert log["round"] == "v6.1"
    assert (tmp_path / "acme.tar.gz.check.txt").read_text().strip().splitlines()[-1] in out
    code, _, err = weighbridge("pack", tree, "--round", "v6.1")
    assert code == 2
    assert "exists already" in err


def test_a_tree_with_errors_is_packed_only_when_that_is_asked_for(weighbridge, tmp_path):
    tree = clean_tree().performance("Server", effective_min_duration_ms=1).write(tmp_path / "acme")
    code, _, err = weighbridge("pack", tree, "--round", "v6.1")
    assert code == 1
    assert "weighbridge check" in err
    assert [path.name for path in tmp_path.iterdir()] == ["acme"]
    code, _, err = weighbridge("pack", tree, "--round", "v6.1", "--allow-invalid", "--out", tmp_path / "x.tgz")
    assert code == 0, err
    assert json.loads((tmp_path / "x.tgz.manifest.json").read_text())["verdict"] == "fail"


def test_encryption_wants_a_passphrase_and_the_library(weighbridge, tmp_path, monkeypatch):
    tree = clean_tree().write(tmp_path / "acme")
    for name in [name for name in sys.modules if name.partition(".")[0] == "cryptography"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "cryptography", None)
    monkeypatch.setenv("WB_SECRET", "correct horse battery")
    code, _, err = weighbridge("pack", tree, "--encrypt", "--passphrase-env", "WB_SECRET")
    assert code == 2
    assert "not installed" in err
    assert [path.name for path in tmp_path.iterdir()] == ["acme"]


def test_an_encrypted_archive(weighbridge, tmp_path, monkeypatch):
    pytest.importorskip("cryptography", reason="the extra `pack` is not installed")
    tree = clean_tree().write(tmp_path / "acme")
    monkeypatch.setenv("WB_SECRET", "correct horse battery")
    code, _, err = weighbridge("pack", tree, "--round", "v6.1", "--encrypt")
    assert code == 2
    assert "--passphrase-env" in err
    code, _, err = weighbridge("pack", tree, "--round", "v6.1", "--encrypt", "--passphrase-env", "WB_SECRET")
    assert code == 0, err
    assert (tmp_path / "acme.tar.gz.enc").read_bytes().startswith(b"Salted__")
