import os

import pytest

from compliance.errors import RenderError, UnreadableFile
from compliance.submission.draft import Draft, DraftFile, Step, harmless, read_draft, settled
from compliance.submission.manifest import Manifest, manifest_path, manifest_text


def test_a_tree_is_its_files_and_empty_folders(tmp_path):
    (tmp_path / "closed/Acme/src").mkdir(parents=True)
    (tmp_path / "closed/Acme/README.md").write_text("x")
    (tmp_path / ".git/objects").mkdir(parents=True)
    (tmp_path / ".git/HEAD").write_text("ref")
    draft = read_draft(tmp_path)
    assert list(draft.files) == ["closed/Acme/README.md"]
    assert draft.folders == {"closed/Acme/src"}
    assert draft.holds("closed/Acme")
    assert not draft.holds("closed/Acm")


def test_no_tree(tmp_path):
    with pytest.raises(UnreadableFile, match="no such folder"):
        read_draft(tmp_path / "none")


def test_links_devices_and_unprintable_names_are_all_named(tmp_path):
    (tmp_path / "link").symlink_to("/etc")
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "a\x1b[31mb\nc").write_text("x")
    (tmp_path / os.fsdecode(b"caf\xe9")).write_text("x")
    with pytest.raises(RenderError) as caught:
        read_draft(tmp_path)
    text = str(caught.value)
    assert len(caught.value.problems) == 4
    assert "link: a link" in text
    assert "pipe: no regular file" in text
    assert "\x1b" not in text
    assert r"caf\xe9" in text


def test_the_hashes_of_whole_logs_come_with_the_tree(tmp_path):
    tree = tmp_path / "tree"
    tree.mkdir()
    (tree / "log.json").write_text("short")
    manifest_path(tree).write_text(manifest_text(Manifest("v6.1", tree, {}, {"log.json": "ab" * 32})))
    assert read_draft(tree).files["log.json"].original_sha256 == "ab" * 32
    manifest_path(tree).write_text("{")
    assert read_draft(tree).files["log.json"].original_sha256 is None


def test_folders_that_hold_something_are_no_empty_folders(tmp_path):
    file = DraftFile(tmp_path)
    draft = settled({"a/b/c": file}, ["a", "a/b", "d", "d/e"], ())
    assert draft == Draft({"a/b/c": file}, frozenset({"d/e"}), ())


@pytest.mark.parametrize(
    ("step", "line"),
    [
        (Step("move", "a", "b", "why"), "move     a -> b  (why)"),
        (Step("remove", "a"), "remove   a"),
    ],
)
def test_a_step_is_one_line(step, line):
    assert step.line() == line


@pytest.mark.parametrize(
    ("name", "shown"), [("plain.md", "plain.md"), ("é", "é"), ("a\nb", r"a\nb"), ("\x7f", r"\x7f")]
)
def test_names_print_harmlessly(name, shown):
    assert harmless(name) == shown


@pytest.mark.parametrize(
    ("width", "lines"),
    [
        (22, ("move     a -> b  (why)",)),
        (21, ("move     a", "      -> b  (why)")),
        (16, ("move     a", "      -> b", "      (why)")),
    ],
)
def test_a_step_that_is_too_wide_takes_several_lines(width, lines):
    assert Step("move", "a", "b", "why").lines(width) == lines
    assert Step("remove", "a").lines(1) == ("remove   a",)
