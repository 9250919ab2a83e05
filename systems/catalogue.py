"""The accelerators this installation knows (accelerators.toml): memory, bandwidth, peaks, power; a source per cell."""

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib import resources


class CatalogueError(Exception):
    """accelerators.toml or a shipped description is damaged or missing. The message ends in the next step."""


@dataclass(frozen=True, slots=True)
class Cell:
    """One figure and where it stands. `value` is None where no source gives it (a format the device does not have)."""

    value: float | None
    source: str


@dataclass(frozen=True, slots=True)
class AcceleratorModel:
    """One accelerator model. Peaks are dense (no sparsity). Memory and bandwidth are decimal, as vendors state them.

    `fp8_tflops` is the peak of the 8-bit formats, INT8 too; `fp16_tflops` that of FP16 and BF16. `match` holds
    what a name must contain; `memory_type` and `interconnect` are words for a description.
    """

    id: str
    name: str
    vendor: str
    match: tuple[str, ...]
    memory_type: str
    interconnect: str
    memory_gb: Cell
    bandwidth_tb_per_s: Cell
    fp16_tflops: Cell
    fp8_tflops: Cell
    fp4_tflops: Cell
    power_w: Cell


_MARKS = re.compile(r"\((?:R|TM)\)|[®™]", re.IGNORECASE)
_CELLS = ("memory_gb", "bandwidth_tb_per_s", "fp16_tflops", "fp8_tflops", "fp4_tflops", "power_w")


@cache
def accelerator_models() -> Mapping[str, AcceleratorModel]:
    """Every model by its id. Raises CatalogueError when the shipped file is damaged."""
    text = (resources.files("systems") / "accelerators.toml").read_text(encoding="utf-8")
    try:
        rows = tomllib.loads(text)["accelerators"]
        return {name: _model(name, row) for name, row in rows.items()}
    except (tomllib.TOMLDecodeError, KeyError, TypeError, AttributeError) as error:
        raise CatalogueError(f"accelerators.toml is damaged: {error!r}; install Weighbridge again") from error


def _model(name: str, row: Mapping[str, object]) -> AcceleratorModel:
    words = {key: value for key, value in row.items() if key not in _CELLS and key != "match"}
    cells = {key: _cell(row[key]) for key in _CELLS}
    match = row["match"]
    if not isinstance(match, list):
        raise TypeError(f"{name}.match")
    return AcceleratorModel(id=name, match=tuple(map(str, match)), **words, **cells)  # type: ignore[arg-type] # the dataclass refuses what is missing or unknown


def _cell(cell: object) -> Cell:
    if not isinstance(cell, dict) or not cell.get("source"):
        raise TypeError(f"a cell without a source: {cell!r}")
    value = cell.get("value")
    return Cell(None if value is None else float(value), str(cell["source"]))


@lru_cache(maxsize=256)
def find_accelerator(name: str) -> AcceleratorModel | None:
    """The model that a vendor tool's or a description's name means, None for an unknown one. The longest match wins."""
    folded = _MARKS.sub("", name).upper()
    hits = [(len(text), m) for m in accelerator_models().values() for text in m.match if _names(text, folded)]
    return max(hits, key=lambda hit: hit[0])[1] if hits else None


def _names(text: str, folded: str) -> bool:
    """Whether a name contains a model's: L4 is not in L40."""
    return re.search(rf"{re.escape(text.upper())}(?!\d)", folded) is not None


def system_ids() -> tuple[str, ...]:
    """The ids of the descriptions that are shipped as examples."""
    names = (entry.name for entry in resources.files("systems").iterdir())
    return tuple(sorted(name.removesuffix(".json") for name in names if name.endswith(".json")))


def system_text(system_id: str) -> str:
    """The shipped description of a system, as JSON text. Raises CatalogueError for an id that is not shipped."""
    return _shipped(system_id, ".json")


def sut_text(system_id: str) -> str:
    """How the shipped system is started, as YAML text. Raises CatalogueError for an id that is not shipped."""
    return _shipped(system_id, ".sut.yaml")


def _shipped(system_id: str, suffix: str) -> str:
    if system_id not in system_ids():
        known = ", ".join(system_ids())
        raise CatalogueError(
            f"no system {system_id!r} is shipped; there are {known}, or describe your own with `capture`"
        )
    return (resources.files("systems") / f"{system_id}{suffix}").read_text(encoding="utf-8")
