"""What is written beside trees and archives is of its shipped schema's form, and the schemas refuse what is not."""

import json

import pytest

from compliance.rulebook.rounds import load_round
from compliance.schema import BASE_URI, schema_text, validate
from compliance.submission.draft import read_draft
from compliance.submission.manifest import Manifest, list_files, manifest_text
from compliance.submission.merge import same_bytes
from compliance.submission.migrate import Side, migrate, migration_text
from compliance.submission.pack import Verdict, beside, pack
from tests.support.trees import clean_tree

NAMES = ("pack-manifest", "tree-manifest", "migration-record")


@pytest.fixture
def tree(tmp_path):
    made = clean_tree("llama2-70b-99.9", round_name="v5.1")
    made.folders.append("closed/Acme/code/empty")
    return made.write(tmp_path / "tree")


def pack_manifest(tree, secret=None):
    archive = tree.parent / f"upload{'.enc' if secret else ''}"
    pack(read_draft(tree), Verdict("v5.1", "strict", "pass", "PASS", "{}\n"), archive, secret)
    return json.loads(beside(archive)[0].read_text())


def tree_manifest(tree):
    return json.loads(manifest_text(Manifest("v5.1", tree, list_files(tree), {"closed/Acme/x.json": "0" * 64})))


def migration_record(tree):
    sides = (Side(name, load_round(name).layout) for name in ("v5.1", "v6.1"))
    return json.loads(migration_text(migrate(read_draft(tree), *sides, same_bytes)[1]))


MAKERS = dict(zip(NAMES, (pack_manifest, tree_manifest, migration_record), strict=True))


@pytest.mark.parametrize("name", NAMES)
def test_what_is_written_is_of_the_form(name, tree):
    document = MAKERS[name](tree)
    assert validate(document, name) == ()
    assert json.loads(schema_text(name))["$id"] == f"{BASE_URI}{name}.schema.json"
    assert document["schema_version"] == 1
    if name == "migration-record":
        assert document["moves"]
        assert document["folders"] == ["closed/Acme/code/empty"]


def test_an_encrypted_archive_says_how_to_decrypt_it(tree):
    pytest.importorskip("cryptography", reason="encrypts the archive")
    document = pack_manifest(tree, b"secret")
    assert validate(document, "pack-manifest") == ()
    del document["archive"]["decrypt"]
    assert [one.pointer for one in validate(document, "pack-manifest")] == ["/archive"]


SHA = "0" * 64


@pytest.mark.parametrize(
    ("name", "change", "pointer"),
    [
        ("pack-manifest", {"verdict": "maybe"}, "/verdict"),
        ("pack-manifest", {"more": 1}, ""),
        ("pack-manifest", {"files": {"../x": {"sha256": SHA, "bytes": 1}}}, "/files"),
        ("pack-manifest", {"files": {"/x": {"sha256": SHA, "bytes": 1}}}, "/files"),
        ("pack-manifest", {"files": {"x": {"sha256": SHA, "bytes": -1}}}, "/files/x/bytes"),
        ("pack-manifest", {"files": {"x": {"sha256": SHA[1:], "bytes": 1}}}, "/files/x/sha256"),
        ("tree-manifest", {"originals": {"a/../b": SHA}}, "/originals"),
        ("tree-manifest", {"schema_version": 2}, "/schema_version"),
        ("migration-record", {"moves": [{"from": "a"}]}, "/moves/0"),
        ("migration-record", {"folders": ["a", "a"]}, "/folders"),
        ("migration-record", {"moves": [{"from": "a", "to": ".."}]}, "/moves/0/to"),
    ],
)
def test_what_is_not_of_the_form_is_refused_at_its_place(name, change, pointer, tree):
    document = {**MAKERS[name](tree), **change}
    assert {one.pointer for one in validate(document, name)} == {pointer}


@pytest.mark.parametrize("path", ["a..b/c", "..a", "a..", "dir/..b/c", "a b", "ü"])
def test_dots_within_a_name_are_harmless(path, tree):
    document = {**tree_manifest(tree), "originals": {path: SHA}}
    assert validate(document, "tree-manifest") == ()
