"""What one token of a text-generating benchmark costs (models.toml): parameters, attention cache, mean lengths."""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib import resources

from systems.catalogue import CatalogueError, Cell

_CELLS = (
    "total_parameters",
    "active_parameters",
    "prompt_parameters",
    "kv_elements_per_token",
    "kv_elements_per_sequence",
    "input_tokens",
    "output_tokens",
)


@dataclass(frozen=True, slots=True)
class TokenCosts:
    """One model as a roofline sees it.

    `active_parameters` are multiplied for each output token, `prompt_parameters` for each prompt token (experts that
    are not chosen and looked-up embeddings count in `total_parameters` alone). The attention cache holds
    `kv_elements_per_token` numbers per token of context and `kv_elements_per_sequence` per sequence. `input_tokens` and
    `output_tokens` are means. `draft_tokens` is how many tokens a step may guess, by scenario.
    """

    name: str
    benchmarks: tuple[str, ...]
    total_parameters: float
    active_parameters: float
    prompt_parameters: float
    kv_elements_per_token: float
    kv_elements_per_sequence: float
    input_tokens: float
    output_tokens: float
    sources: Mapping[str, str]
    draft_tokens: Mapping[str, int] = field(default_factory=dict)

    def kv_elements(self) -> float:
        """Numbers the attention cache holds for one sequence in the middle of its answer."""
        context_tokens = self.input_tokens + self.output_tokens / 2
        return self.kv_elements_per_sequence + self.kv_elements_per_token * context_tokens


@cache
def token_costs() -> Mapping[str, TokenCosts]:
    """The costs by benchmark name. Raises CatalogueError when the shipped file is damaged."""
    text = (resources.files("systems") / "models.toml").read_text(encoding="utf-8")
    try:
        models = [_costs(name, row) for name, row in tomllib.loads(text)["models"].items()]
    except (tomllib.TOMLDecodeError, KeyError, TypeError, ValueError, AttributeError) as error:
        raise CatalogueError(f"models.toml is damaged: {error!r}; install Weighbridge again") from error
    return {benchmark: model for model in models for benchmark in model.benchmarks}


def _costs(name: str, row: Mapping[str, object]) -> TokenCosts:
    benchmarks, drafts = row["benchmarks"], row.get("draft_tokens", {})
    if not isinstance(benchmarks, list) or not isinstance(drafts, dict):
        raise TypeError(name)
    cells = {key: _cell(row[key]) for key in _CELLS}
    guessed = {scenario: _cell(cell) for scenario, cell in drafts.items()}
    sources = {key: cell.source for key, cell in cells.items()}
    return TokenCosts(
        name=name,
        benchmarks=tuple(map(str, benchmarks)),
        **{key: _value(cell) for key, cell in cells.items()},
        sources={**sources, **{f"draft_tokens.{key}": cell.source for key, cell in guessed.items()}},
        draft_tokens={scenario: int(_value(cell)) for scenario, cell in guessed.items()},
    )


def _cell(cell: object) -> Cell:
    if not isinstance(cell, dict) or not cell.get("source") or "value" not in cell:
        raise TypeError(f"a cell without a value or a source: {cell!r}")
    return Cell(float(cell["value"]), str(cell["source"]))


def _value(cell: Cell) -> float:
    if cell.value is None:
        raise TypeError("a cell without a value")
    return cell.value
