"""The rulebook: rounds as folders of TOML under `compliance/rules/`. The only reader of rule files."""

from difflib import get_close_matches
from functools import cache
from pathlib import Path

from compliance.errors import RuleError
from compliance.rulebook.builders import build_benchmark, build_layout, build_round
from compliance.rulebook.files import Toml, read_rule_file
from compliance.rulebook.model import BenchmarkRules, Round, RoundMarks, Seeds

RULES_DIR = Path(__file__).parents[1] / "rules"


@cache
def round_names() -> tuple[str, ...]:
    """The rounds this installation has rules for: official ones by age, then the others."""
    names = (path.parent.name for path in RULES_DIR.glob("*/round.toml"))
    return tuple(sorted(names, key=lambda name: (not name.startswith("v"), name)))


@cache
def load_round(name: str) -> Round:
    """The rules of a round, read once. Raises RuleError for an unknown round or a wrong rule file."""
    if name not in round_names():
        raise RuleError(f"no rules for round {name!r}{_hint(name, round_names())}")
    return read_round(RULES_DIR / name, shipped=True)


@cache
def round_marks(name: str) -> RoundMarks:
    """What a tree of the round is known by; its benchmarks stay unread. Raises RuleError as `load_round` does."""
    if name not in round_names():
        raise RuleError(f"no rules for round {name!r}{_hint(name, round_names())}")
    layout_path, round_path = (RULES_DIR / name / file for file in ("layout.toml", "round.toml"))
    toml = read_rule_file(round_path, "round-rules", shipped=True)
    seeds = toml["seeds"]
    return RoundMarks(
        name=toml["name"],
        official=toml["official"],
        seeds=Seeds(qsl=seeds["qsl"], sample_index=seeds["sample_index"], schedule=seeds["schedule"]),
        loadgen_versions=tuple(toml["run"]["loadgen_versions"]),
        layout=build_layout(layout_path, read_rule_file(layout_path, "layout-rules", shipped=True)),
    )


def read_round(folder: Path, *, shipped: bool = False) -> Round:
    """The rules in one folder: round.toml, layout.toml, benchmarks/*.toml. Raises RuleError naming file and key.

    The files of a `shipped` round are known to be of their schemas' form.
    """

    def read(path: Path, schema: str) -> Toml:
        return read_rule_file(path, schema, shipped=shipped)

    layout_path, round_path = folder / "layout.toml", folder / "round.toml"
    toml, layout_toml = read(round_path, "round-rules"), read(layout_path, "layout-rules")
    benchmarks = tuple(
        build_benchmark(path, read(path, "benchmark-rules"))
        for path in sorted((folder / "benchmarks").glob("*.toml"), key=lambda path: path.stem)
    )
    return build_round(round_path, toml, (build_layout(layout_path, layout_toml), layout_toml), benchmarks)


def benchmark_of(round_: Round, name: str) -> BenchmarkRules | None:
    """The benchmark of that name or alias, None when the round has none; a results folder may bear either name."""
    if name in round_.benchmarks:
        return round_.benchmarks[name]
    return next((rules for rules in round_.benchmarks.values() if name in rules.aliases), None)


def require_benchmark(round_: Round, name: str) -> BenchmarkRules:
    """As `benchmark_of`; raises RuleError with the nearest names where the round has no such benchmark."""
    rules = benchmark_of(round_, name)
    if rules is None:
        raise RuleError(f"round {round_.name} has no rules for {name!r}{_hint(name, tuple(round_.benchmarks))}")
    return rules


def _hint(name: str, known: tuple[str, ...]) -> str:
    near = get_close_matches(name, known, n=1)
    guess = f"; did you mean {near[0]}?" if near else ""
    return f"{guess} Known: {', '.join(known)}" if guess else f"; known: {', '.join(known)}"
