"""Which accelerators a system description states, and how many: MLPerf's fields and the names in use."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

from systems.catalogue import AcceleratorModel, find_accelerator

_PARTS = re.compile(r"[,;+&/|]|\band\b", re.IGNORECASE)
_COUNT = re.compile(r"\(\s*x\s*(\d{1,6})\s*\)|\b(\d{1,6})\s?x(?![a-z0-9])", re.IGNORECASE)
_NUMBER = re.compile(r"\s*(\d{1,6})(?:\.0*)?\s*x?\s*", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Accelerators:
    """So many accelerators of one model."""

    model: AcceleratorModel
    count: int


@dataclass(frozen=True, slots=True)
class Fleet:
    """The accelerators of a whole system. Empty where they cannot be told; `reason` says why."""

    groups: tuple[Accelerators, ...]
    reason: str = ""

    @property
    def count(self) -> int:
        """All accelerators together."""
        return sum(group.count for group in self.groups)


def read_fleet(description: Mapping[str, object]) -> Fleet:
    """The accelerators of a description: accelerators_per_node x number_of_nodes of accelerator_model_name.

    A cluster of unlike nodes has its counts in the name: "MI300X (x32), MI325X (x16)". Where name and fields differ in
    number, the greater one counts, as more of the strongest model: the roof must not be too low.
    """
    name = str(description.get("accelerator_model_name") or "").strip()
    return _fleet(name, _product(description))


@lru_cache(maxsize=256)
def _fleet(name: str, stated: int) -> Fleet:
    """The accelerators that a name means where the fields state so many. All results of a system ask for the same."""
    unknown = Fleet(
        (), f"accelerator {name[:80]!r} is not in systems/accelerators.toml" if name else "no accelerator named"
    )
    groups: list[Accelerators] = []
    for part in _PARTS.split(name):
        model, count = find_accelerator(part), _COUNT.search(part)
        if model is not None:
            groups.append(Accelerators(model, int(next(filter(None, count.groups()))) if count else 0))
        elif count:
            return unknown
    if not groups:
        return unknown
    named = sum(group.count for group in groups)
    if not max(stated, named):
        return Fleet((), "the description states no number of accelerators")
    return Fleet(_with_rest(groups, max(stated - named, 0)))


def _with_rest(groups: list[Accelerators], rest: int) -> tuple[Accelerators, ...]:
    """The groups, `rest` more of the strongest model, without empty ones."""
    strongest = max(range(len(groups)), key=lambda place: peak_tflops(groups[place].model, None)[0])
    whole = (
        Accelerators(group.model, group.count + (rest if place == strongest else 0))
        for place, group in enumerate(groups)
    )
    return tuple(group for group in whole if group.count)


def _product(description: Mapping[str, object]) -> int:
    per_node, nodes = (_whole(description.get(key)) for key in ("accelerators_per_node", "number_of_nodes"))
    return (per_node or 0) * (1 if nodes is None else nodes)


def _whole(value: object) -> int | None:
    fits = _NUMBER.fullmatch(str(value))
    return int(fits[1]) if fits and not isinstance(value, bool) else None


def peak_tflops(model: AcceleratorModel, bits: int | None) -> tuple[float, int]:
    """(dense peak in TFLOPS, bits of the format) for weights of so many bits; None takes the device's fastest format.

    Weights of a format that the device has not are computed in the next wider one it has. Fewer than eight bits
    count as four: the MI355X runs FP6 at the rate of FP4.
    """
    peaks = ((4, model.fp4_tflops.value), (8, model.fp8_tflops.value), (16, model.fp16_tflops.value))
    least = 4 if bits is None or bits < 8 else bits  # noqa: PLR2004 - see above
    fitting = [(value, width) for width, value in peaks if value is not None and width >= least]
    return fitting[0] if fitting else (model.fp16_tflops.value or 0.0, 16)
