"""Datasets: what is written comes back as views; a damaged folder is refused with the next step."""

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sut.dataset import TokenDataset, write_dataset
from sut.errors import BadDataset

PROMPTS = st.lists(st.lists(st.integers(0, 2**31 - 1), min_size=1, max_size=20), min_size=1, max_size=20)


def write(folder, prompts, name="tiny"):
    write_dataset(folder, name, prompts, source="generated", licence="CC0-1.0", tokenizer_sha256="ab" * 32)


@given(PROMPTS)
def test_prompts_come_back(tmp_path_factory, prompts):
    folder = tmp_path_factory.mktemp("dataset")
    write(folder, prompts)
    dataset = TokenDataset.open(folder)
    assert len(dataset) == len(prompts)
    assert [dataset.tokens(i).tolist() for i in range(len(dataset))] == prompts
    assert dataset.lengths().tolist() == [len(prompt) for prompt in prompts]
    assert dataset.lengths().dtype == np.int32
    assert dataset.tokens(0).dtype == np.int32
    assert dataset.info.max_input_tokens == max(map(len, prompts))


def test_prompts_are_read_only_views_of_the_mapped_file(tmp_path):
    write(tmp_path, [[1, 2], [3]])
    tokens = TokenDataset.open(tmp_path).tokens(1)
    assert isinstance(tokens.base, np.memmap)
    with pytest.raises(ValueError, match="read-only"):
        tokens[0] = 5


def test_the_hash_tells_datasets_apart_by_content_alone(tmp_path):
    for name, prompts in {"a": [[1, 2], [3]], "b": [[1, 2], [3]], "c": [[1], [2, 3]], "d": [[1, 2], [4]]}.items():
        write(tmp_path / name, prompts, name)
    hashes = {name: TokenDataset.open(tmp_path / name).sha256 for name in "abcd"}
    assert hashes["a"] == hashes["b"]
    assert len(set(hashes.values())) == 3


@pytest.mark.parametrize("index", [-1, 2])
def test_an_index_outside_is_an_error(tmp_path, index):
    write(tmp_path, [[1, 2], [3]])
    with pytest.raises(IndexError, match="of 2 samples"):
        TokenDataset.open(tmp_path).tokens(index)


@pytest.mark.parametrize(
    ("prompts", "says"),
    [
        ([], "no prompts"),
        ([[1], [], [2], []], "prompt 1 is empty; prompt 3 is empty"),
        ([[-1]], ">= 0"),
        ([[2**31]], "int32"),
    ],
)
def test_a_dataset_that_cannot_be_is_not_written(tmp_path, prompts, says):
    with pytest.raises(BadDataset, match=says):
        write(tmp_path, prompts)
    assert not list(tmp_path.iterdir())


def edit_info(**changes):
    def edit(folder):
        info = json.loads((folder / "dataset.json").read_text())
        (folder / "dataset.json").write_text(json.dumps({**info, **changes}))

    return edit


def save(name, array):
    return lambda folder: np.save(folder / name, array)


@pytest.mark.parametrize(
    ("damage", "says"),
    [
        (lambda folder: (folder / "dataset.json").unlink(), "does not exist"),
        (lambda folder: (folder / "dataset.json").write_text("{"), "cannot be read"),
        (edit_info(size="two"), "cannot be read"),
        (edit_info(schema_version=2), "schema version 2"),
        (edit_info(size=3), "3 samples, offsets.npy holds 3"),
        (edit_info(sha256="0" * 64), "damaged or mixed"),
        (lambda folder: (folder / "tokens.npy").unlink(), "cannot be read"),
        (lambda folder: (folder / "tokens.npy").write_bytes(b"\x93NUMPY"), "cannot be read"),
        (save("tokens.npy", np.arange(3)), "no flat array of int32"),
        (save("tokens.npy", np.zeros((3, 1), np.int32)), "no flat array of int32"),
        (save("tokens.npy", np.arange(4, dtype=np.int32)), "do not cut"),
        (save("tokens.npy", np.arange(3, dtype=np.int32)), "damaged or mixed"),
        (save("offsets.npy", np.array([0, 3, 3])), "do not cut"),
        (save("offsets.npy", np.array([0, 3, 2])), "do not cut"),
        (save("offsets.npy", np.array([1, 2, 3])), "do not cut"),
        (save("offsets.npy", np.array([None, {}], dtype=object)), "cannot be read"),
    ],
)
def test_a_damaged_folder_is_refused(tmp_path, damage, says):
    write(tmp_path, [[7, 8], [9]])
    damage(tmp_path)
    with pytest.raises(BadDataset, match=says):
        TokenDataset.open(tmp_path)


def test_a_failed_write_leaves_no_dataset_behind(tmp_path):
    write(tmp_path, [[1]])
    (tmp_path / "offsets.npy").unlink()
    (tmp_path / "offsets.npy").mkdir()
    with pytest.raises(OSError, match="offsets"):
        write(tmp_path, [[1], [2]])
    assert sorted(path.name for path in tmp_path.iterdir()) == ["offsets.npy", "tokens.npy"]
