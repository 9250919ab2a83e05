"""Which round a tree is of, by what stands in it: seeds, LoadGen's release, the layout, the benchmarks.

Reads the first bytes of a few logs, whatever the size of the tree, and nothing outside it.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path

from compliance.discovery.files import Tree, fill, folder_of
from compliance.rulebook.model import RoundMarks
from compliance.vocabulary import Division

# LoadGen logs its settings, seeds among them, in about 25 kB before anything long.
_HEAD_BYTES = 64 * 1024
_MOST_LOGS = 32
_LOGS = ("performance/run_1/mlperf_log_detail.txt", "accuracy/mlperf_log_detail.txt")
_MEASUREMENTS = "measurements.json"
_CONFIGS = ("config.yaml", "config.yml")
_SEED = re.compile(rb'"effective_(qsl|sample_index|schedule)_rng_seed",\s*"value":\s*(\d{1,20})\b')
_RELEASE = re.compile(rb'"loadgen_version",\s*"value":\s*"([\w.+-]{1,40})')
_CONFIG_SEED = re.compile(rb"^[ \t]*(scheduler|dataloader)_random_seed:[ \t]*(\d{1,20})[ \t]*\r?$", re.MULTILINE)
# Endpoints' names for the seeds that LoadGen calls otherwise.
_ENDPOINTS_SEEDS = {"scheduler": "schedule", "dataloader": "sample_index"}
SEEDS, RELEASE, LAYOUT, BENCHMARK = "seeds", "LoadGen release", "layout", "benchmark"
_DECISIVE = (SEEDS, RELEASE, LAYOUT)


@dataclass(frozen=True, slots=True)
class Evidence:
    """One thing that tells of a round: what kind it is, what it says, where, and the rounds it fits (maybe none)."""

    kind: str
    says: str
    where: str
    rounds: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Detection:
    """What was found. `round_name` is None where nothing tells of a round known here.

    `basis` is what the choice rests on and `contradictions` what speaks against it, in words. `unknown` says what the
    logs hold where they are of a round without rules here; empty otherwise. `by_seeds` are the rounds whose seeds most
    logs have.
    """

    round_name: str | None
    basis: tuple[str, ...] = ()
    contradictions: tuple[str, ...] = ()
    unknown: str = ""
    by_seeds: tuple[str, ...] = ()


Knows = Callable[[str, str], bool]
"""Whether a round, by its name, has a benchmark of that name; asked only where more than one round is left."""


@dataclass(frozen=True, slots=True)
class _Place:
    """A results folder by its path and its benchmark's name."""

    path: str
    benchmark: str


def detect_round(root: Path, rounds: Sequence[RoundMarks], knows: Knows, submitter: str | None = None) -> Detection:
    """The round of a tree among those given. Raises UnreadableFile when `root` is no folder.

    Seeds decide before LoadGen's release, that before the layout and the benchmarks' names; of rounds that all of it
    fits alike the newest official one is taken. `submitter` limits the look to the folders of that name.
    """
    tree = Tree.at(root)
    return _decide(tuple(_gather(tree, rounds, submitter)), rounds, knows)


def _gather(tree: Tree, rounds: Sequence[RoundMarks], submitter: str | None) -> Iterator[Evidence]:
    holders = [
        (division.value, name)
        for division in Division
        for name in tree.dirs(division.value)
        if submitter in {None, name}
    ]
    benchmarks: dict[str, str] = {}
    for division, name in holders:
        yield from _layout(tree, rounds, {"division": division, "submitter": name})
        for place in _places(tree, f"{division}/{name}/results", max(1, _MOST_LOGS // len(holders))):
            benchmarks.setdefault(place.benchmark, place.path)
            yield from _of_result(tree, place.path, rounds)
    for benchmark, where in benchmarks.items():
        yield Evidence(BENCHMARK, benchmark, where, ())


def _places(tree: Tree, results: str, most: int) -> Iterator[_Place]:
    """Results folders of a submitter, spread over its systems."""
    systems = _spread(tree.dirs(results), most)
    for system in systems:
        yield from islice(_of_system(tree, f"{results}/{system}"), max(1, most // len(systems)))


def _spread(names: tuple[str, ...], most: int) -> tuple[str, ...]:
    """At most so many names, the first and the last among them."""
    if len(names) <= most:
        return names
    step = (len(names) - 1) / max(1, most - 1)
    return tuple(names[round(index * step)] for index in range(most))


def _of_system(tree: Tree, folder: str) -> Iterator[_Place]:
    for benchmark in tree.dirs(folder):
        for scenario in tree.dirs(f"{folder}/{benchmark}"):
            yield _Place(f"{folder}/{benchmark}/{scenario}", benchmark)


def _of_result(tree: Tree, path: str, rounds: Sequence[RoundMarks]) -> Iterator[Evidence]:
    """A results folder's measurements file, and the seeds and the release in its first log or endpoints config."""
    beside = tuple(one.name for one in rounds if one.layout.measurements.startswith(one.layout.scenario_dir))
    if beside and len(beside) < len(rounds) and tree.kind(f"{path}/{_MEASUREMENTS}") == "file":
        yield Evidence(LAYOUT, _MEASUREMENTS, f"{path}/{_MEASUREMENTS}", beside)
    for name in _LOGS:
        head = _head(tree, f"{path}/{name}")
        seeds = {match[1].decode(): int(match[2]) for match in _SEED.finditer(head)}
        release = _RELEASE.search(head)
        if seeds:
            yield _seeds(seeds, f"{path}/{name}", rounds)
        if release is not None:
            version = release[1].decode()
            fitting = tuple(one.name for one in rounds if one.admits_loadgen(version))
            yield Evidence(RELEASE, version, f"{path}/{name}", fitting)
        if seeds or release is not None:
            return
    for name in _CONFIGS:
        found = _CONFIG_SEED.finditer(_head(tree, f"{path}/{name}"))
        seeds = {_ENDPOINTS_SEEDS[match[1].decode()]: int(match[2]) for match in found}
        if seeds:
            yield _seeds(seeds, f"{path}/{name}", rounds)
            return


def _head(tree: Tree, path: str) -> bytes:
    """The beginning of a file inside the tree; nothing where there is none that can be read."""
    if tree.kind(path) != "file":
        return b""
    try:
        with (tree.root / path).open("rb") as stream:
            return stream.read(_HEAD_BYTES)
    except OSError:
        return b""


def _seeds(seeds: Mapping[str, int], where: str, rounds: Sequence[RoundMarks]) -> Evidence:
    """The rounds that have all the seeds; else those that have most of three."""
    hits = {one.name: sum(_seed_of(one)[name] == value for name, value in seeds.items()) for one in rounds}
    most = max(hits.values(), default=0)
    fitting = tuple(name for name, hit in hits.items() if hit == most and 2 * hit > len(seeds))
    says = " / ".join(str(seeds[name]) for name in ("qsl", "sample_index", "schedule") if name in seeds)
    return Evidence(SEEDS, says, where, fitting)


def _seed_of(round_: RoundMarks) -> Mapping[str, int]:
    seeds = round_.seeds
    return {"qsl": seeds.qsl, "sample_index": seeds.sample_index, "schedule": seeds.schedule}


def _layout(tree: Tree, rounds: Sequence[RoundMarks], names: Mapping[str, str]) -> Iterator[Evidence]:
    """The folders that a layout has and others lack, each as evidence for the rounds whose layout has it."""
    marks: dict[str, list[str]] = {}
    for round_ in rounds:
        layout = round_.layout
        templates = (folder_of(layout.measurements, "system"), folder_of(layout.audit_dir, "system"), layout.source_dir)
        for template in set(templates) - {folder_of(layout.scenario_dir, "system")}:
            marks.setdefault(fill(template, names), []).append(round_.name)
    for folder, fitting in sorted(marks.items()):
        if len(fitting) < len(rounds) and tree.kind(folder) == "dir":
            yield Evidence(LAYOUT, f"{folder.rpartition('/')[2]}/", folder, tuple(fitting))


def _decide(evidence: tuple[Evidence, ...], rounds: Sequence[RoundMarks], knows: Knows) -> Detection:
    by_kind = {kind: [one for one in evidence if one.kind == kind] for kind in (*_DECISIVE, BENCHMARK)}
    logged = [*by_kind[SEEDS], *by_kind[RELEASE]]
    if logged and not any(one.rounds for one in logged):
        return Detection(None, unknown=_unknown(by_kind))
    candidates = tuple(one.name for one in rounds)
    if not any(one.rounds for kind in _DECISIVE for one in by_kind[kind]):
        return Detection(None)
    for kind in _DECISIVE:
        candidates = _narrowed(candidates, by_kind[kind])
    if len(candidates) > 1:
        by_kind[BENCHMARK] = [
            replace(one, rounds=tuple(name for name in candidates if knows(name, one.says)))
            for one in by_kind[BENCHMARK]
        ]
        candidates = _narrowed(candidates, by_kind[BENCHMARK])
    chosen = _newest(candidates, rounds)
    basis = (_words(kind, found, chosen, rounds) for kind, found in by_kind.items())
    against = (one for kind in _DECISIVE for one in by_kind[kind] if chosen not in one.rounds)
    return Detection(
        chosen,
        tuple(text for text in basis if text),
        tuple(_against(against, chosen)),
        by_seeds=_favoured(by_kind[SEEDS]),
    )


def _narrowed(candidates: tuple[str, ...], found: Iterable[Evidence]) -> tuple[str, ...]:
    """Those of the rounds that most of the evidence fits; all of them where it fits none of them."""
    favoured = _favoured(found)
    return tuple(name for name in candidates if name in favoured) or candidates


def _favoured(found: Iterable[Evidence]) -> tuple[str, ...]:
    """The rounds that most of the evidence fits."""
    votes = Counter(name for one in found for name in one.rounds)
    most = max(votes.values(), default=0)
    return tuple(name for name, count in votes.items() if count == most)


def _newest(names: Sequence[str], rounds: Sequence[RoundMarks]) -> str:
    official = {one.name for one in rounds if one.official}
    return max(names, key=lambda name: (name in official, name))


def _words(kind: str, all_found: Sequence[Evidence], chosen: str, rounds: Sequence[RoundMarks]) -> str:
    """One kind of evidence for the choice in words, with the rounds it leaves open; nothing where it tells nothing."""
    found = [one for one in all_found if chosen in one.rounds]
    if not found or len(found[0].rounds) == len(rounds):
        return ""
    values = tuple(dict.fromkeys(one.says for one in found))
    shown = ", ".join(values[:3]) + (" and others" if len(values) > 3 else "")  # noqa: PLR2004 - a line's worth
    places = f"{len(found)} log{'' if len(found) == 1 else 's'}"
    text = {
        SEEDS: f"the seeds of {places}",
        RELEASE: f"LoadGen {shown} in {places}",
        LAYOUT: f"the layout ({shown})",
        BENCHMARK: f"the benchmarks ({shown})",
    }[kind]
    official = [one.name for one in rounds if one.official]
    of_mlperf = [name for name in found[0].rounds if name in official]
    return f"{text}: {_joined(of_mlperf if chosen in official else found[0].rounds)}"


def _against(found: Iterable[Evidence], chosen: str) -> Iterator[str]:
    """What speaks against the choice: one line per kind and value, with the first place."""
    texts: Mapping[str, Callable[[Evidence], str]] = {
        SEEDS: lambda one: f"the seeds {one.says} are {_owners(one)}",
        RELEASE: lambda one: f"LoadGen {one.says} is {_owners(one)}",
        LAYOUT: lambda one: f"the layout's {one.says} is {_owners(one)}",
    }
    first: dict[tuple[str, str], list[Evidence]] = {}
    for one in found:
        first.setdefault((one.kind, one.says), []).append(one)
    for (kind, _), same in first.items():
        more = f" and {len(same) - 1} more" if len(same) > 1 else ""
        yield f"{texts[kind](same[0])}, not {chosen}'s ({same[0].where}{more})"


def _owners(one: Evidence) -> str:
    return " and ".join(f"{name}'s" for name in one.rounds) if one.rounds else "of no round known here"


def _unknown(by_kind: Mapping[str, Sequence[Evidence]]) -> str:
    releases = tuple(dict.fromkeys(one.says for one in by_kind[RELEASE]))
    seeds = tuple(dict.fromkeys(one.says for one in by_kind[SEEDS]))
    parts = [f"LoadGen {', '.join(releases[:3])}"] if releases else []
    parts += [f"seeds {seeds[0]}"] if seeds else []
    first = (*by_kind[SEEDS], *by_kind[RELEASE])[0]
    return f"{', '.join(parts)} ({first.where})"


def _joined(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} or {names[-1]}"
