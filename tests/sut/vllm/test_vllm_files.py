from pathlib import Path

import pytest

from sut.errors import StartFailed
from sut.vllm import files
from sut.vllm.files import check_model, model_sha256


@pytest.fixture
def model(tmp_path: Path) -> Path:
    (tmp_path / "config.json").write_text("{}")
    (tmp_path / "model.safetensors").write_bytes(bytes(range(256)) * 20_000)
    (tmp_path / "README.md").write_text("not part of the model")
    return tmp_path


def test_the_hash_follows_weights_and_configuration_only(model: Path) -> None:
    first = model_sha256(model)
    assert first[1] == "full"
    (model / "README.md").write_text("changed")
    assert model_sha256(model) == first
    (model / "config.json").write_text("{ }")
    assert model_sha256(model) != first


def test_big_models_are_sampled(model: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    full = model_sha256(model)
    monkeypatch.setattr(files, "FULL_HASH_LIMIT_BYTES", 1000)
    sampled = model_sha256(model)
    assert sampled[1] == "sampled"
    assert sampled[0] != full[0]
    weights = bytearray((model / "model.safetensors").read_bytes())
    weights[-1] ^= 1
    (model / "model.safetensors").write_bytes(weights)
    assert model_sha256(model) != sampled


def test_a_folder_without_weights(tmp_path: Path) -> None:
    with pytest.raises(StartFailed, match="holds no"):
        check_model(str(tmp_path))
    with pytest.raises(StartFailed, match="is not a folder"):
        check_model(str(tmp_path / "absent"))
