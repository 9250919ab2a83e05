"""What a newcomer gets wrong: each command says what is wrong and what to do, and prints names harmlessly."""

import pytest

from tests.support.trees import clean_tree

LOGS = "closed/Acme/results/node8/llama3.1-8b/Offline/accuracy"


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    clean_tree().write(tmp_path / "tree")
    (tmp_path / "empty").mkdir()
    (tmp_path / "file").write_text("x")
    return tmp_path


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("check", "absent"), "'absent' does not exist; give the root"),
        (("check", "file"), "'file' is no folder; give the root"),
        (("check", "a\n\x1b[31m"), "'a\\n\\x1b[31m' does not exist"),
        (("check", "tree/closed"), "tree/closed lies in the tree tree; give tree"),
        (("check", "tree/closed/Acme", "--round", "v6.1"), "lies in the tree tree; give tree"),
        (("check", "."), "did you mean tree?"),
        (("check", "tree", "--submitter", "acme"), "did you mean 'Acme'? There are: Acme"),
        (("check", "tree", "--waivers", "absent"), "file 'absent' does not exist"),
        (("package", "tree", "--out", "new"), "tree is a folder; a tree that is there is given by --from"),
        (("package", "--from", "absent", "--out", "new"), "'absent' does not exist"),
        (("package", "--from", "empty", "--out", "new"), "no closed/, open/ or network/ in it"),
        (("package", "--from", "tree/closed", "--out", "new"), "give tree, which does"),
        (("package", "--from", "tree", "--out", "tree"), "lies in tree, which is only read; give another --out"),
        (("package", "--from", "tree", "--out", "file"), "file: exists already; remove it or give another --out"),
        (("package", "--from", "tree", "--out", "absent/new"), "absent: no such folder; create it"),
        (("package", "--from", "tree", "--to-open", "x/y", "--out", "new"), "there are: node8/llama3.1-8b"),
        (("package", "--from", "tree", "--to-open", "x", "--out", "new"), "there are: node8/llama3.1-8b"),
        (("truncate", "tree", "new", "--skip", "Ofline"), "to skip; there are: Offline, Server"),
        (("truncate", "tree/closed", "new"), "give the log's folder, or tree for the whole tree"),
        (("truncate", "empty", "new"), "give mlperf_log_accuracy.json or its folder"),
        (("preprocess", "empty", "--out", "new"), "no closed/, open/ or network/ in it"),
        (("preprocess", "tree/closed", "--out", "new"), "give tree, which does"),
        (("preprocess", "tree", "--out", "file"), "exists already"),
        (("pack", "tree/closed"), "give tree, which does"),
        (("pack", "tree", "--encrypt", "--passphrase-file", "absent"), "No such file or directory; give another file"),
        (("pack", "tree", "--encrypt", "--passphrase-env", "ABSENT"), "at least 12 characters; put one there"),
    ],
    ids=lambda value: " ".join(value).encode("unicode_escape").decode() if isinstance(value, tuple) else "",
)
def test_the_message_ends_in_the_next_step(weighbridge, here, arguments, said):
    if "--encrypt" in arguments:
        pytest.importorskip("cryptography", reason="encrypts the archive")
    code, out, err = weighbridge(*arguments)
    assert (code, out) == (2, "")
    assert said in err
    assert "Traceback" not in err
    assert "\x1b" not in err
    assert not (here / "new").exists()


@pytest.mark.parametrize("arguments", [("package", "--from", "tree"), ("preprocess", "tree")])
def test_names_that_are_given_are_printed_harmlessly(weighbridge, here, arguments):
    code, out, _ = weighbridge(*arguments, "--out", "new\n\x1b[31m", "--apply")
    assert code == 0
    assert "\x1b" not in out
    assert "next: weighbridge check new\\n\\x1b[31m --round v6.1" in out


def test_a_plan_without_steps_says_so(weighbridge, here):
    code, out, _ = weighbridge("truncate", "tree", "new")
    assert code == 0
    assert "nothing to change; nothing was written." in out
    assert "With --apply a copy is written." in out


@pytest.mark.parametrize("command", ["package", "pack"])
def test_a_place_that_cannot_be_written_to(weighbridge, here, command):
    given = ("--from", "tree", "--apply") if command == "package" else ("tree",)
    code, _, err = weighbridge(command, *given, "--out", "/proc/new")
    assert code == 1
    assert err.startswith("error: /proc")
    assert "nothing was written" in err
    assert err.rstrip().endswith("give another --out")
