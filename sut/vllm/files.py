"""The identity of a model folder: one SHA-256 over its configuration and weights."""

import hashlib
from collections.abc import Iterator
from pathlib import Path

from sut.errors import StartFailed

FULL_HASH_LIMIT_BYTES = 8 << 30
"""Above this the weights are sampled: reading 140 GB for a hash takes longer than many runs."""
_BLOCK_BYTES = 1 << 20
_BLOCKS = 64
_PATTERNS = ("config.json", "*.safetensors", "*.safetensors.index.json", "hf_quant_config.json")


def model_files(folder: Path) -> tuple[Path, ...]:
    """The files that decide what the model computes, by name. Raises StartFailed when there are none."""
    found = sorted({path for pattern in _PATTERNS for path in folder.glob(pattern)})
    if not any(path.suffix == ".safetensors" for path in found):
        raise StartFailed(f"{folder} holds no *.safetensors file: set 'model' to a folder with the model's weights")
    return tuple(found)


def model_sha256(folder: Path) -> tuple[str, str]:
    """The hash and how it was made: "full", or "sampled" (names, sizes and 64 blocks of each file) for big models.

    Raises StartFailed when the folder holds no weights.
    """
    files = model_files(folder)
    full = sum(path.stat().st_size for path in files) <= FULL_HASH_LIMIT_BYTES
    digest = hashlib.sha256()
    for path in files:
        digest.update(f"{path.name}\0{path.stat().st_size}\0".encode())
        for block in _blocks(path, full=full):
            digest.update(block)
    return digest.hexdigest(), "full" if full else "sampled"


def _blocks(path: Path, *, full: bool) -> Iterator[bytes]:
    with path.open("rb") as file:
        if full:
            while block := file.read(_BLOCK_BYTES):
                yield block
            return
        last = max(path.stat().st_size - _BLOCK_BYTES, 0)
        for number in range(_BLOCKS):
            file.seek(last * number // (_BLOCKS - 1))
            yield file.read(_BLOCK_BYTES)


def check_model(folder: str) -> None:
    """The model is a local folder with weights: nothing is ever fetched by name. Raises StartFailed."""
    if not Path(folder).is_dir():
        raise StartFailed(f"setting 'model': {folder} is not a folder; give the path of a local copy of the model")
    model_files(Path(folder))
