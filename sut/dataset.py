"""Datasets as token ids: memory-mapped, the same folder for every SUT, so that a sample can travel as its index.

A dataset folder holds ``dataset.json``, ``tokens.npy`` (int32, all prompts one after another) and ``offsets.npy``
(int64, size + 1; prompt i is tokens[offsets[i]:offsets[i+1]]). ``references.jsonl`` beside them, where it exists, is
for evaluation only and is never read here: an engine must not know the answers.
"""

import contextlib
import hashlib
import io
import os
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import msgspec
import numpy as np
import numpy.typing as npt

from sut.errors import BadDataset
from sut.protocol import TokenIds

SCHEMA_VERSION = 1

_Int = TypeVar("_Int", np.int32, np.int64)


@dataclass(frozen=True, slots=True)
class DatasetInfo:
    """dataset.json. `sha256` is over offsets then tokens as little-endian bytes: what engines are compared by."""

    schema_version: int
    name: str
    size: int
    sha256: str
    tokenizer_sha256: str
    source: str
    licence: str
    max_input_tokens: int


@dataclass(frozen=True, slots=True, eq=False)
class TokenDataset:
    """An open dataset. Prompts are read-only views of the mapped file."""

    info: DatasetInfo
    _tokens: TokenIds
    _offsets: npt.NDArray[np.int64]

    @classmethod
    def open(cls, path: str | Path, *, verify: bool = True) -> "TokenDataset":
        """Open the dataset folder at `path`. `verify` re-computes the hash (about a second per GB).

        Raises BadDataset when a file is missing, cannot be read, or does not fit the others.
        """
        folder = Path(path)
        info = _read_info(folder / "dataset.json")
        dataset = cls(info, _read_array(folder / "tokens.npy", np.int32), _read_array(folder / "offsets.npy", np.int64))
        dataset._check(folder)
        if verify and (found := _hash(dataset._offsets, dataset._tokens)) != info.sha256:
            raise BadDataset(
                f"{folder}: the tokens hash to {found[:12]}... but dataset.json says {info.sha256[:12]}...; "
                "the files are damaged or mixed: write the dataset again"
            )
        return dataset

    def __len__(self) -> int:
        return self.info.size

    @property
    def sha256(self) -> str:
        """The hash that harness and workers compare before a run."""
        return self.info.sha256

    def tokens(self, index: int) -> TokenIds:
        """The prompt of sample `index`. Raises IndexError outside 0..size-1."""
        if not 0 <= index < self.info.size:
            raise IndexError(f"sample index {index} outside dataset {self.info.name!r} of {self.info.size} samples")
        return self._tokens[int(self._offsets[index]) : int(self._offsets[index + 1])]

    def lengths(self) -> npt.NDArray[np.int32]:
        """The length of every prompt, in tokens."""
        return np.diff(self._offsets).astype(np.int32)

    def _check(self, folder: Path) -> None:
        size = self.info.size
        if size < 1 or len(self._offsets) != size + 1:
            raise BadDataset(
                f"{folder}: dataset.json says {size} samples, offsets.npy holds {len(self._offsets)} offsets "
                "(one more than samples are needed); write the dataset again"
            )
        if self._offsets[0] != 0 or self._offsets[-1] != len(self._tokens) or np.any(np.diff(self._offsets) < 1):
            raise BadDataset(
                f"{folder}: the offsets do not cut tokens.npy ({len(self._tokens)} tokens) into {size} non-empty "
                "prompts; write the dataset again"
            )


def write_dataset(
    path: str | Path,
    name: str,
    prompts: Sequence[Sequence[int]],
    *,
    source: str,
    licence: str,
    tokenizer_sha256: str,
) -> None:
    """Write a dataset folder. dataset.json comes last, so that a folder that has it is complete.

    Raises BadDataset for an empty dataset, an empty prompt or a token id that is not an int32 >= 0.
    """
    problems = [f"prompt {index} is empty" for index, prompt in enumerate(prompts) if len(prompt) == 0]
    if not prompts or problems:
        raise BadDataset(f"dataset {name!r}: " + ("; ".join(problems[:10]) or "no prompts") + "; drop or repair them")
    offsets = np.zeros(len(prompts) + 1, "<i8")
    np.cumsum([len(prompt) for prompt in prompts], out=offsets[1:])
    flat = np.concatenate([np.asarray(prompt, dtype=np.int64) for prompt in prompts])
    if flat.min() < 0 or flat.max() > np.iinfo(np.int32).max:
        raise BadDataset(f"dataset {name!r}: token ids from {flat.min()} to {flat.max()}; ids are int32 and >= 0")
    tokens = flat.astype("<i4")
    info = DatasetInfo(
        schema_version=SCHEMA_VERSION,
        name=name,
        size=len(prompts),
        sha256=_hash(offsets, tokens),
        tokenizer_sha256=tokenizer_sha256,
        source=source,
        licence=licence,
        max_input_tokens=int(np.diff(offsets).max()),
    )
    folder = Path(path)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "dataset.json").unlink(missing_ok=True)
    _write(folder / "tokens.npy", _npy(tokens))
    _write(folder / "offsets.npy", _npy(offsets))
    _write(folder / "dataset.json", msgspec.json.format(msgspec.json.encode(info), indent=2) + b"\n")


def _read_info(path: Path) -> DatasetInfo:
    try:
        info = msgspec.json.decode(path.read_bytes(), type=DatasetInfo)
    except FileNotFoundError:
        raise BadDataset(f"{path} does not exist; make the folder with `weighbridge dataset convert`") from None
    except (OSError, msgspec.DecodeError, UnicodeDecodeError) as error:
        raise BadDataset(f"{path} cannot be read: {error}; make it again with `weighbridge dataset convert`") from None
    if info.schema_version != SCHEMA_VERSION:
        raise BadDataset(f"{path} is of schema version {info.schema_version}, this reads {SCHEMA_VERSION}; convert it")
    return info


def _read_array(path: Path, dtype: type[_Int]) -> npt.NDArray[_Int]:
    try:
        array = np.load(path, mmap_mode="r", allow_pickle=False)
    except (OSError, ValueError, EOFError) as error:
        raise BadDataset(f"{path} cannot be read: {error}; write the dataset again") from None
    if not isinstance(array, np.ndarray) or array.dtype != dtype or array.ndim != 1:
        raise BadDataset(f"{path} is no flat array of {np.dtype(dtype)}; write the dataset again")
    return array


def _hash(offsets: npt.NDArray[np.int64], tokens: TokenIds) -> str:
    digest = hashlib.sha256(np.ascontiguousarray(offsets, "<i8").data)
    digest.update(np.ascontiguousarray(tokens, "<i4").data)
    return digest.hexdigest()


def _npy(array: npt.NDArray[np.generic]) -> bytes:
    buffer = io.BytesIO()
    np.save(buffer, array, allow_pickle=False)
    return buffer.getvalue()


def _write(path: Path, data: bytes) -> None:
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=path.name)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        Path(temporary).chmod(0o644)
        Path(temporary).replace(path)
    except BaseException:
        with contextlib.suppress(OSError):
            Path(temporary).unlink()
        raise
