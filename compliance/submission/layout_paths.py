"""Paths of a submission tree and the layout's templates: what a path is, and where another layout puts it. Pure."""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache

from compliance.discovery.files import fill
from compliance.rulebook.model import Layout
from compliance.vocabulary import AuditId, Division

FILES = ("system", "model_mapping", "measurements", "user_conf", "readme")
FOLDERS = ("audit_dir", "performance_dir", "accuracy_dir", "source_dir", "documentation_dir")
_ALLOWED = {"division": frozenset(Division), "audit": frozenset(AuditId)}
BESIDE_MEASUREMENTS = ("mlperf.conf",)
"""Files that stand beside the measurements wherever a layout puts those (submission_checker/constants.py:2029-2101)."""
KEY = ("division", "submitter", "system", "benchmark", "scenario")
"""The names that make up a result's key, in order."""
_PLACEHOLDER = re.compile(r"\{(\w+)\}")
_TEMPLATES = 256
_OF_RESULT = ("performance", "accuracy", "audit", "config.yaml", "config.yml")


@dataclass(frozen=True, slots=True)
class Spot:
    """What a path is: the name of the layout's template, its placeholders' values, and the rest beneath a folder.

    `known` is false for a path that lies in a folder of the layout without being one of its files.
    """

    role: str
    names: Mapping[str, str]
    rest: str = ""
    known: bool = True


@dataclass(frozen=True, slots=True)
class ResultKey:
    """One benchmark of one system of a submitter, and one scenario of it unless `scenario` is empty."""

    division: str
    submitter: str
    system: str
    benchmark: str
    scenario: str = ""

    @property
    def names(self) -> Mapping[str, str]:
        """The placeholders of the layout's templates and their values."""
        own = {"division": self.division, "submitter": self.submitter, "system": self.system}
        own["benchmark"] = self.benchmark
        return {**own, "scenario": self.scenario} if self.scenario else own


def locate(path: str, layout: Layout) -> Spot | None:
    """What a path is in a layout; None where the layout has no place for it."""
    for role in FILES:
        names = match(getattr(layout, role), path)
        if names is not None and _fits(role, names):
            return Spot(role, names)
    for role in FOLDERS:
        found = _beneath(getattr(layout, role), path)
        if found is not None:
            return Spot(role, *found)
    return _in_result(path, layout)


def _in_result(path: str, layout: Layout) -> Spot | None:
    """A path in the folders of one result that is none of its files."""
    for role, template in (("scenario_dir", layout.scenario_dir), *extra_dirs(layout)):
        found = _beneath(template, path)
        if found is None or (role == "scenario_dir" and not found[1]):
            continue
        names, rest = found
        if role in {"scenario_dir", "measurements_dir"} and rest in BESIDE_MEASUREMENTS:
            return Spot("measurements_dir", names, rest)
        known = role == "scenario_dir" and rest.partition("/")[0] in _OF_RESULT
        return Spot(role, names, rest, known)
    return None


def extra_dirs(layout: Layout) -> tuple[tuple[str, str], ...]:
    """The folders of a result beside its results folder: that of its measurements and that of its audits."""
    dirs = (("measurements_dir", _parent(layout.measurements)), ("audits_dir", _parent(layout.audit_dir)))
    return tuple((role, template) for role, template in dirs if template != layout.scenario_dir)


def template_of(role: str, layout: Layout) -> str:
    """The template that a role has in a layout."""
    if role in {"measurements_dir", "audits_dir"}:
        return _parent(layout.measurements if role == "measurements_dir" else layout.audit_dir)
    template: str = getattr(layout, role)
    return template


def place_of(spot: Spot, layout: Layout) -> str:
    """Where a layout puts what a spot describes. {file} becomes <system>_<scenario>.json unless the spot names it."""
    default = f"{spot.names.get('system', '')}_{spot.names.get('scenario', '')}.json"
    path = fill(template_of(spot.role, layout), {"file": default, **spot.names})
    return f"{path}/{spot.rest}" if spot.rest else path


def folders_of(key: ResultKey, layout: Layout) -> tuple[str, ...]:
    """Every folder that a layout keeps files of a result in; of the whole benchmark when the key names no scenario."""
    templates = [layout.scenario_dir, *(template for _, template in extra_dirs(layout))]
    if not key.scenario:
        templates = [_parent(template) for template in templates]
    return tuple(fill(template, key.names) for template in templates)


def results_in(paths: Mapping[str, object], layout: Layout) -> tuple[ResultKey, ...]:
    """The results that a tree's files show: every scenario's folder with a file beneath it, in order."""
    found = dict.fromkeys(key for path in paths if (key := _result_of(path, layout.scenario_dir)) is not None)
    return tuple(sorted(found, key=lambda key: (key.division, key.submitter, key.system, key.benchmark, key.scenario)))


def _result_of(path: str, template: str) -> ResultKey | None:
    """The result that a file lies in."""
    beneath = _beneath(template, path)
    if beneath is None or not beneath[1]:
        return None
    return ResultKey(*(beneath[0][part] for part in KEY))


def match(template: str, path: str) -> dict[str, str] | None:
    """The values of a template's placeholders when a path is of its form, else None."""
    names, pattern, _ = _compiled(template)
    found = pattern.fullmatch(path)
    return None if found is None else dict(zip(names, found.groups(), strict=True))


def placeholders(template: str) -> tuple[str, ...]:
    """The names of a template's placeholders, in order."""
    return _compiled(template)[0]


def _beneath(template: str, path: str) -> tuple[dict[str, str], str] | None:
    """As `match` for a folder and what lies beneath it, or the folder itself (with an empty rest)."""
    names, _, pattern = _compiled(template)
    found = pattern.fullmatch(path)
    if found is None:
        return None
    *values, rest = found.groups()
    return dict(zip(names, values, strict=True)), rest or ""


@lru_cache(maxsize=_TEMPLATES)
def _compiled(template: str) -> tuple[tuple[str, ...], re.Pattern[str], re.Pattern[str]]:
    """A template's placeholders, the form of its path, and that of its folder with what lies beneath."""
    parts = _PLACEHOLDER.split(template)
    names = tuple(parts[1::2])
    body = re.escape(parts[0])
    for name, literal in zip(names, parts[2::2], strict=True):
        allowed = "|".join(re.escape(value) for value in sorted(_ALLOWED.get(name, ())))
        body += f"({allowed or '[^/]+'}){re.escape(literal)}"
    return names, re.compile(body), re.compile(f"{body}(?:/(.*))?", re.DOTALL)


def _fits(role: str, names: Mapping[str, str]) -> bool:
    """Whether a measurements file is one by its name, where the layout leaves the name open."""
    if role != "measurements" or "file" not in names:
        return True
    return names["file"].startswith(names["system"]) and names["file"].endswith(".json")


def _parent(template: str) -> str:
    return template.rpartition("/")[0]


def benchmarks_in(keys: Iterable[ResultKey]) -> Iterator[ResultKey]:
    """The benchmarks that results belong to, each once, in order."""
    seen = dict.fromkeys(ResultKey(k.division, k.submitter, k.system, k.benchmark) for k in keys)
    return iter(seen)
