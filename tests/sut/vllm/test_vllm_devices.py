from pathlib import Path

import pytest

from sut.protocol import EngineConfig, Sampling
from sut.registry import create
from sut.vllm.cpu import defaults
from sut.vllm.devices import cores, cpu_class, cpu_flags, cpu_name, numbers, share, thread_count
from sut.vllm.engine import VllmEngine
from sut.vllm.platform import WarmUp


@pytest.mark.parametrize(
    ("devices", "per_worker", "index", "expected"),
    [
        ((0, 1, 2, 3), 1, 2, (2,)),
        ((0, 1, 2, 3), 2, 1, (2, 3)),
        ((4, 6, 5, 7), 2, 0, (4, 6)),
        ((0, 1, 2, 3), 2, 2, (0, 1)),
        ((0, 1, 2), 2, 1, (0, 1)),
        ((0,), 2, 1, (0,)),
        ((), 1, 0, ()),
    ],
)
def test_devices_are_shared_in_order(
    devices: tuple[int, ...], per_worker: int, index: int, expected: tuple[int, ...]
) -> None:
    assert share(devices, per_worker, index) == expected


@pytest.mark.parametrize(
    ("value", "expected"),
    [("0,1", (0, 1)), (" 3 , 2", (3, 2)), ("", None), (None, None), ("GPU-1a2b", None), ("-1", None)],
)
def test_numbers_of_visible_devices(value: str | None, expected: tuple[int, ...] | None) -> None:
    assert numbers(value) == expected


@pytest.mark.parametrize(
    ("flags", "expected"),
    [
        ("avx2 avx512f avx512_bf16 amx_bf16", "amx-bf16"),
        ("avx2 avx512f avx512_bf16", "avx512-bf16"),
        ("avx2 avx512f", "avx512"),
        ("sse4_2 avx2", "avx2"),
        ("asimd", "other"),
    ],
)
def test_cpu_class(tmp_path: Path, flags: str, expected: str) -> None:
    cpuinfo = tmp_path / "cpuinfo"
    cpuinfo.write_text(f"processor\t: 0\nmodel name\t: Test CPU: fast\nflags\t\t: {flags}\n\nprocessor\t: 1\n")
    assert cpu_class(cpu_flags(cpuinfo)) == expected
    assert cpu_name(cpuinfo) == "Test CPU: fast"


def test_a_system_without_cpuinfo(tmp_path: Path) -> None:
    assert cpu_flags(tmp_path / "none") == frozenset()
    assert cpu_name(tmp_path / "none") == "CPU"


@pytest.mark.parametrize(
    ("given", "workers", "environment", "expected"),
    [
        (5, 2, {"OMP_NUM_THREADS": "7"}, 5),
        (None, 2, {"OMP_NUM_THREADS": "7"}, 7),
        (None, 10_000, {}, 1),
        (None, 0, {"OMP_NUM_THREADS": "0"}, None),
    ],
)
def test_threads_of_a_worker(
    given: int | None, workers: int, environment: dict[str, str], expected: int | None
) -> None:
    assert thread_count(given, workers, environment) == (expected or cores())


@pytest.mark.parametrize(
    ("flags", "dtype"), [("avx512_bf16", "bfloat16"), ("amx_bf16", "bfloat16"), ("avx512f", "float32")]
)
def test_cpu_computes_in_what_the_processor_multiplies(flags: str, dtype: str) -> None:
    assert defaults(frozenset({flags}))["dtype"] == dtype


@pytest.mark.parametrize("name", ["vllm-cpu", "vllm-cuda", "vllm-rocm"])
def test_platforms_are_registered_under_their_names(name: str) -> None:
    config = EngineConfig({"model": "m"}, "dataset", Sampling(2, 8))
    assert isinstance(create(name, config), VllmEngine)


@pytest.mark.parametrize(
    ("every", "most", "expected"),
    [(True, 1, (1,)), (True, 8, (1, 2, 4, 8)), (True, 6, (1, 2, 4, 6)), (False, 64, (1, 64)), (False, 1, (1,))],
)
def test_warm_up_ends_with_the_largest_batch(every: bool, most: int, expected: tuple[int, ...]) -> None:
    assert WarmUp(prompt_tokens=None, new_tokens=4, every_size=every).sizes(most) == expected
