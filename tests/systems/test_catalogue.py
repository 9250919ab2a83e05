"""The accelerators and systems that are shipped."""

import json

import pytest
import yaml

from compliance.rulebook.rounds import load_round
from systems import catalogue
from systems.catalogue import CatalogueError, accelerator_models, find_accelerator, sut_text, system_ids, system_text


def test_every_cell_has_a_source_and_peaks_grow_as_formats_shrink() -> None:
    for model in accelerator_models().values():
        cells = (model.memory_gb, model.bandwidth_tb_per_s, model.fp16_tflops, model.fp8_tflops, model.power_w)
        assert all(cell.source and cell.value for cell in cells)
        assert model.fp16_tflops.value < model.fp8_tflops.value
        assert model.fp4_tflops.value is None or model.fp8_tflops.value < model.fp4_tflops.value
        assert model.fp4_tflops.source


@pytest.mark.parametrize(
    ("name", "wanted"),
    [
        ("AMD Instinct MI300X", "mi300x"),
        ("AMD Instinct MI325X OAM", "mi325x"),
        ("AMD Instinct MI355X", "mi355x"),
        ("NVIDIA H100 80GB HBM3", "h100"),
        ("NVIDIA H100 PCIe", None),
        ("NVIDIA H200", "h200"),
        ("NVIDIA B200", "b200"),
        ("NVIDIA GB200", "gb200"),
        ("AMD EPYC 9534", None),
        ("", None),
    ],
)
def test_find_accelerator(name: str, wanted: str | None) -> None:
    found = find_accelerator(name)
    assert (found.id if found else None) == wanted


def test_published_figures() -> None:
    mi300x, h200 = accelerator_models()["mi300x"], accelerator_models()["h200"]
    assert (mi300x.memory_gb.value, mi300x.bandwidth_tb_per_s.value, mi300x.fp8_tflops.value) == (192, 5.3, 2614.9)
    assert (h200.memory_gb.value, h200.bandwidth_tb_per_s.value, h200.power_w.value) == (141, 4.8, 700)


@pytest.mark.parametrize("system_id", system_ids())
def test_shipped_systems_are_whole(system_id: str) -> None:
    fields = load_round("v6.1").system_fields
    description = json.loads(system_text(system_id))
    assert set(fields.required) <= set(description) <= set(fields.required) | set(fields.known)
    assert [name for name in fields.meaningful if not description[name]] == []
    sut = yaml.safe_load(sut_text(system_id))
    assert set(sut) == {"sut", "worker"}
    assert find_accelerator(description["accelerator_model_name"]) is not None


def test_unknown_system_names_those_there_are() -> None:
    with pytest.raises(CatalogueError, match="8xMI300X_2xEPYC_9534"):
        system_text("../pyproject")


@pytest.mark.parametrize("cell", [3, {}, {"value": 3}, {"value": 3, "source": ""}])
def test_a_cell_without_a_source_is_refused(cell: object) -> None:
    with pytest.raises(TypeError, match="without a source"):
        catalogue._cell(cell)
