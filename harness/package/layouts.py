"""Which rounds' layout a tree has, by where its measurements stand; looks at the names of a few results alone."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path

from compliance.discovery.files import Tree, fill
from compliance.rulebook.model import Layout, RoundMarks
from compliance.vocabulary import Division

_MOST_RESULTS = 32


def layout_rounds(tree: Path, rounds: Sequence[RoundMarks], submitter: str | None = None) -> tuple[str, ...]:
    """The rounds whose layout a tree's measurements fit, the official ones first; none where nothing tells.

    A result counts for the layouts that its measurements stand where they want them; the layouts of most results win.
    `submitter` limits the look to the folders of that name. Raises UnreadableFile when `tree` is no folder.
    """
    looked_at = Tree.at(tree)
    votes: Counter[str] = Counter()
    for names in islice(_results(looked_at, submitter), _MOST_RESULTS):
        votes.update(one.name for one in rounds if _measured(looked_at, one.layout, names))
    most = max(votes.values(), default=0)
    return tuple(
        one.name for one in sorted(rounds, key=lambda one: not one.official) if most and votes[one.name] == most
    )


def _results(tree: Tree, submitter: str | None) -> Iterator[Mapping[str, str]]:
    """The names that make up each results folder, which every layout puts in the same place."""
    for division in Division:
        for holder in tree.dirs(division.value):
            if submitter in {None, holder}:
                yield from _of_submitter(tree, {"division": division.value, "submitter": holder})


def _of_submitter(tree: Tree, names: Mapping[str, str]) -> Iterator[Mapping[str, str]]:
    results = "/".join((names["division"], names["submitter"], "results"))
    for system in tree.dirs(results):
        for benchmark in tree.dirs(f"{results}/{system}"):
            for scenario in tree.dirs(f"{results}/{system}/{benchmark}"):
                yield {**names, "system": system, "benchmark": benchmark, "scenario": scenario}


def _measured(tree: Tree, layout: Layout, names: Mapping[str, str]) -> bool:
    """Whether a result's measurements, or where their name is open its user.conf, stand where a layout wants them."""
    template = layout.user_conf if "{file}" in layout.measurements else layout.measurements
    folder, _, name = fill(template, names).rpartition("/")
    return name in tree.files(folder)
