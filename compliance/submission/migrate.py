"""A tree of one layout in another one: rounds up to v5.1 keep measurements and audits apart, later ones do not."""

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from compliance.errors import UnreadableFile
from compliance.rulebook.model import Layout
from compliance.submission.draft import Draft, DraftFile, Step, TreePlan, settled
from compliance.submission.layout_paths import KEY, ResultKey, Spot, locate, place_of, results_in

SCHEMA_VERSION = 1
_SIDE_ROLES = frozenset({"measurements", "user_conf", "readme", "measurements_dir", "audits_dir", "audit_dir"})
SameBytes = Callable[[DraftFile, DraftFile], bool]


@dataclass(frozen=True, slots=True)
class Migration:
    """What a migration did, kept beside the tree so that the way back restores every name.

    `moves` are (path before, path after) of the files that have another path now or share one; `folders` the empty
    folders of the tree before.
    """

    from_round: str
    to_round: str
    moves: tuple[tuple[str, str], ...]
    folders: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Side:
    """One side of a migration: a round and its layout."""

    round_name: str
    layout: Layout


def migrate(
    draft: Draft, source: Side, target: Side, same: SameBytes, back: Migration | None = None
) -> tuple[TreePlan, Migration]:
    """The tree in the target's layout, byte for byte in the files, and the record for the way back.

    What the source's layout does not know stays where it is, and so do measurements and audits of a scenario that has
    no results: moved, they would look like a result without logs. `back` is the record of the migration that made the
    tree; it holds only when it came from the target's layout. Two files for one path are a problem unless byte-equal.
    """
    ways = _Ways(draft, source.layout, target.layout, _inverse(back))
    files: dict[str, DraftFile] = {}
    moves: list[tuple[str, str]] = []
    problems: list[str] = []
    for path, file in draft.files.items():
        for place in ways.of(path):
            if place in files and not same(files[place], file):
                first = next(before for before, after in moves if after == place)
                problems.append(f"{path}: would take the place of {first} ({place}); rename one of them")
                continue
            files.setdefault(place, file)
            moves.append((path, place))
    folders = {place for path in draft.folders for place in ways.of(path)}
    restored = back.folders if back else ()
    plan = TreePlan(
        settled(files, (*folders, *restored), draft.roots),
        (*_grouped(moves), *(Step("carry", path, reason=why) for path, why in ways.unknown())),
        problems=tuple(problems),
    )
    return plan, Migration(source.round_name, target.round_name, _worth_keeping(moves), tuple(sorted(draft.folders)))


class _Ways:
    """Where each path of a draft goes."""

    def __init__(self, draft: Draft, source: Layout, target: Layout, inverse: Mapping[str, tuple[str, ...]]) -> None:
        self.source, self.target, self.inverse = source, target, inverse
        self.results = frozenset(results_in(draft.files, source))
        self.spots = {path: locate(path, source) for path in (*draft.files, *draft.folders)}
        self.first = _first_measurements(self.spots)

    def of(self, path: str) -> tuple[str, ...]:
        """The places of a path in the target's layout: one, unless the record names several."""
        if path in self.inverse:
            return self.inverse[path]
        spot = self.spots[path]
        if spot is None or self._stays(spot):
            return (path,)
        return (place_of(self._plain(spot), self.target),)

    def unknown(self) -> Iterable[tuple[str, str]]:
        """The files that no layout knows, with how they are carried."""
        for path, spot in sorted(self.spots.items()):
            if spot is None or (spot.role in {"measurements_dir", "audits_dir"} and not spot.rest):
                yield path, "the layout does not know it; it stays in its place"
            elif self._stays(spot):
                yield path, "its scenario has no results; it stays in its place"
            elif not self._plain(spot).known:
                yield path, "the layout does not know it; it goes with its folder"

    def _stays(self, spot: Spot) -> bool:
        return spot.role in _SIDE_ROLES and ResultKey(*(spot.names[part] for part in KEY)) not in self.results

    def _plain(self, spot: Spot) -> Spot:
        """A second JSON file beside the measurements is no measurements file: it keeps its name."""
        name = spot.names.get("file")
        if spot.role != "measurements" or name is None or self.first[_folder(spot)] == name:
            return spot
        return Spot("measurements_dir", spot.names, name, known=False)


def _folder(spot: Spot) -> tuple[str, ...]:
    return tuple(spot.names[part] for part in KEY)


def _first_measurements(spots: Mapping[str, Spot | None]) -> dict[tuple[str, ...], str]:
    """The measurements file of each result: the first by name, as `compliance.discovery.submission` reads it."""
    found: dict[tuple[str, ...], str] = {}
    for spot in spots.values():
        if spot is not None and spot.role == "measurements" and "file" in spot.names:
            name = spot.names["file"]
            found[_folder(spot)] = min(name, found.get(_folder(spot), name))
    return found


def _inverse(back: Migration | None) -> dict[str, tuple[str, ...]]:
    inverse: dict[str, tuple[str, ...]] = {}
    for before, after in back.moves if back else ():
        inverse[after] = (*inverse.get(after, ()), before)
    return inverse


def _worth_keeping(moves: list[tuple[str, str]]) -> tuple[tuple[str, str], ...]:
    sharing: dict[str, int] = {}
    for _, after in moves:
        sharing[after] = sharing.get(after, 0) + 1
    return tuple(sorted((b, a) for b, a in moves if b != a or sharing[a] > 1))


def _grouped(moves: list[tuple[str, str]]) -> tuple[Step, ...]:
    """Moves as steps: a folder's files that keep their names are one step."""
    groups: dict[tuple[str, str], int] = {}
    steps: list[Step] = []
    for before, after in sorted(moves):
        (old, _, name), (new, _, kept) = before.rpartition("/"), after.rpartition("/")
        if name != kept:
            steps.append(Step("move", before, after))
        elif old != new:
            groups[old, new] = groups.get((old, new), 0) + 1
    steps += [
        Step("move", f"{old}/", f"{new}/", f"{count} file{'s' if count > 1 else ''}")
        for (old, new), count in groups.items()
    ]
    return tuple(sorted(steps, key=lambda step: step.path))


def side_of(paths: Iterable[str], sides: Iterable[Side]) -> Side:
    """The side whose layout knows most of a tree's files; of equals the last. `sides` must hold one at least."""
    listed = tuple(paths)
    last: list[Side] = []
    for side in sides:
        last = [*(one for one in last if one.layout != side.layout), side]
    scored = [(_known(listed, side.layout), order, side) for order, side in enumerate(last)]
    return max(scored, key=lambda one: one[:2])[2]


def _known(paths: tuple[str, ...], layout: Layout) -> int:
    spots = (locate(path, layout) for path in paths)
    return sum(1 for spot in spots if spot is not None and spot.known)


def migration_path(tree: Path) -> Path:
    """The place of a tree's migration record: beside it, as the manifest's."""
    named = tree if tree.name not in {"", ".."} else tree.resolve()
    return named.parent / f"{named.name}.migration.json"


def migration_text(migration: Migration) -> str:
    """The record as JSON."""
    moves = [{"from": before, "to": after} for before, after in migration.moves]
    document = {"schema_version": SCHEMA_VERSION, "from": migration.from_round, "to": migration.to_round}
    return json.dumps({**document, "moves": moves, "folders": list(migration.folders)}, indent=2) + "\n"


def read_migration(tree: Path) -> Migration | None:
    """The record beside a tree, None where there is none. Raises UnreadableFile when it is of another form."""
    path = migration_path(tree)
    if not path.is_file():
        return None
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
        moves = tuple((str(move["from"]), str(move["to"])) for move in document["moves"])
        folders = tuple(str(folder) for folder in document["folders"])
        return Migration(str(document["from"]), str(document["to"]), moves, folders)
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise UnreadableFile(path, "no migration record; remove it, the tree is then migrated by its layout") from error
