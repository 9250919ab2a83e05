import dataclasses
from pathlib import Path

import pytest

from sut.dataset import TokenDataset, write_dataset
from sut.errors import BadSettings
from sut.protocol import EngineConfig, Sampling
from sut.vllm.args import engine_arg_names, length_problem, read_settings

KNOWN = ("max_num_seqs", "max_model_len", "tensor_parallel_size", "pipeline_parallel_size", "enforce_eager")


def config(**settings: object) -> EngineConfig:
    return EngineConfig({"model": "m", **settings}, "dataset", Sampling(2, 8))


def problems(**settings: object) -> tuple[str, ...]:
    with pytest.raises(BadSettings) as caught:
        read_settings(config(**settings), {"max_num_seqs": 4}, KNOWN)
    return caught.value.problems


def test_campaign_overlays_defaults() -> None:
    read = read_settings(
        config(
            enforce_eager=True,
            max_num_seqs=8,
            threads=3,
            devices=[2, 0],
            tensor_parallel_size=2,
            pipeline_parallel_size=3,
        ),
        {"max_num_seqs": 4, "max_model_len": 64},
        KNOWN,
    )
    assert read.engine_args == {
        "max_num_seqs": 8, "max_model_len": 64, "enforce_eager": True, "tensor_parallel_size": 2, "pipeline_parallel_size": 3
    }  # fmt: skip
    assert (read.model, read.window, read.threads, read.devices) == ("m", 16, 3, (2, 0))
    assert (read.max_num_seqs, read.devices_per_worker) == (8, 6)


def test_window_of_the_campaign_wins_and_devices_default_to_one() -> None:
    read = read_settings(config(window=5), {"max_num_seqs": 4}, None)
    assert (read.window, read.devices_per_worker, read.devices, read.threads) == (5, 1, (), None)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"model": 3}, "'model' is missing"),
        ({"model": ""}, "'model' is missing"),
        ({"max_num_seq": 3}, "did you mean 'max_num_seqs'"),
        ({"windows": 3}, "did you mean 'window'"),
        ({"swap_space": 4}, "unknown setting 'swap_space'"),
        ({"window": 0}, "'window' is 0"),
        ({"threads": True}, "'threads' is True"),
        ({"devices": [0, 0]}, "'devices'"),
        ({"devices": [-1]}, "'devices'"),
        ({"devices": "0"}, "'devices'"),
        ({"max_num_seqs": 0}, "'max_num_seqs' is 0"),
        ({"max_num_seqs": True}, "'max_num_seqs' is True"),
        ({"stream_interval": 4}, "cannot be set here"),
        ({"data_parallel_size": 4}, "set the number of workers"),
    ],
)
def test_a_wrong_setting_says_what_to_do(settings: dict[str, object], message: str) -> None:
    found = problems(**settings)
    assert len(found) == 1
    assert message in found[0]


def test_all_problems_are_told_at_once() -> None:
    assert len(problems(model=None, window="x", max_num_seq=3, devices=1)) == 4


def test_unknown_names_pass_where_no_engine_is_installed() -> None:
    assert read_settings(config(anything=1), {"max_num_seqs": 4}, None).engine_args["anything"] == 1


@pytest.mark.parametrize(("limit", "fits"), [(13, True), (12, False), (None, True)])
def test_longest_prompt_and_answer_fit_exactly(tmp_path: Path, limit: int | None, fits: bool) -> None:
    write_dataset(tmp_path, "d", [[1, 2], [1, 2, 3, 4, 5]], source="", licence="", tokenizer_sha256="")
    defaults = {"max_num_seqs": 1} | ({} if limit is None else {"max_model_len": limit})
    problem = length_problem(read_settings(config(), defaults, None), TokenDataset.open(tmp_path), Sampling(2, 8))
    assert (problem is None) is fits
    assert problem is None or "at least 13" in problem


@pytest.mark.engine
def test_names_read_from_the_source_are_the_fields(vllm_environment: None) -> None:
    from vllm.engine.arg_utils import EngineArgs

    assert engine_arg_names() == {field.name for field in dataclasses.fields(EngineArgs)}
