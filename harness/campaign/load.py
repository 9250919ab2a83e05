"""Reads a campaign file: YAML with line numbers, `${VAR}` in values, every problem at once with file and line."""

import difflib
import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import yaml
from pydantic import BaseModel, ValidationError

from compliance.rulebook.rounds import round_names
from compliance.vocabulary import Scenario
from harness.campaign.model import (
    Campaign,
    GenerationChoice,
    LimitChoice,
    Measurements,
    NotesChoice,
    ScenarioChoice,
    WorkerChoice,
)
from harness.errors import CampaignError

MAX_BYTES = 1 << 20
MAX_NODES = 20_000  # aliases are expanded when read: a bound keeps a small file from becoming a large one
MAX_DEPTH = 20
_VARIABLE = re.compile(r"\$\$|\$\{([^}]*)(\}?)")
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_WORDS = re.compile(r"\s+")
_COLLECTIONS = ("tag:yaml.org,2002:map", "tag:yaml.org,2002:seq")
Pointer = tuple[str | int, ...]

# The keys known at each place, for did-you-mean; `None` stands for a list index or a scenario's name.
_KNOWN: Mapping[tuple[str | None, ...], type[BaseModel]] = {
    (): Campaign,
    ("worker", None): WorkerChoice,
    ("worker",): WorkerChoice,
    ("generation",): GenerationChoice,
    ("limits",): LimitChoice,
    ("measurements",): Measurements,
    ("notes",): NotesChoice,
    ("scenarios", None): ScenarioChoice,
}


@dataclass(slots=True)
class _Reading:
    """State of one reading: the file, the variables, where each value stands, and what was wrong."""

    name: str
    environment: Mapping[str, str]
    lines: dict[Pointer, int]
    problems: list[tuple[int, str]]
    nodes: int = 0

    def problem(self, line: int, text: str) -> None:
        self.problems.append((line, text))

    def raise_if_any(self) -> None:
        if self.problems:
            ordered = sorted(dict.fromkeys(self.problems))
            raise CampaignError(tuple(f"{self.name}:{line}: {text}" for line, text in ordered))


def load_campaign(path: Path, environment: Mapping[str, str] | None = None) -> Campaign:
    """The campaign of `path`, its relative paths made absolute against the file's folder.

    `environment` (default: the process's) fills `${VAR}`; `$$` is a dollar sign. Raises CampaignError.
    """
    try:
        raw = path.read_bytes()
    except OSError as error:
        hint = "write one with `weighbridge init`"
        raise CampaignError((f"{path}: cannot be read: {error.strerror or error}; {hint}",)) from None
    if len(raw) > MAX_BYTES:
        raise CampaignError((f"{path}: {len(raw)} bytes is no campaign file; the limit is {MAX_BYTES}",))
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise CampaignError((f"{path}: not UTF-8 at byte {error.start}; save it as UTF-8",)) from None
    return parse_campaign(text, str(path), path.parent, os.environ if environment is None else environment)


def parse_campaign(text: str, name: str, base: Path, environment: Mapping[str, str]) -> Campaign:
    """The campaign in `text`; `name` is the file in messages and `base` the folder of relative paths."""
    reading = _Reading(name, environment, {(): 1}, [])
    try:
        root = yaml.compose(text, Loader=yaml.SafeLoader)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line = mark.line + 1 if mark else 1
        raise CampaignError((f"{name}:{line}: not YAML: {error.problem}; check indentation and quotes",)) from None
    except (yaml.YAMLError, RecursionError) as error:
        raise CampaignError((f"{name}:1: not YAML: {_one_line(str(error))}",)) from None
    if not isinstance(root, yaml.MappingNode):
        raise CampaignError((f"{name}:1: a campaign is a mapping of keys; see `weighbridge init`",))
    data = _value(root, (), reading)
    reading.raise_if_any()
    try:
        campaign = Campaign.model_validate(data)
    except ValidationError as error:
        for detail in error.errors(include_url=False, include_context=False):
            _explain(dict(detail), reading)
        reading.raise_if_any()
        raise
    return _absolute(campaign, base)


def _value(node: yaml.Node, pointer: Pointer, reading: _Reading) -> Any:
    """A YAML node as plain Python, remembering the line of every pointer."""
    reading.nodes += 1
    if reading.nodes > MAX_NODES or len(pointer) > MAX_DEPTH:
        line = node.start_mark.line + 1
        raise CampaignError((f"{reading.name}:{line}: too many or too deeply nested values; write them out flat",))
    reading.lines.setdefault(pointer, node.start_mark.line + 1)
    if isinstance(node, yaml.CollectionNode) and node.tag not in _COLLECTIONS:
        reading.problem(node.start_mark.line + 1, f"the YAML tag {node.tag} has no meaning here; remove it")
    if isinstance(node, yaml.MappingNode):
        return _mapping(node, pointer, reading)
    if isinstance(node, yaml.SequenceNode):
        return [_value(item, (*pointer, place), reading) for place, item in enumerate(node.value)]
    return _scalar(cast("yaml.ScalarNode", node), reading)


def _mapping(node: yaml.MappingNode, pointer: Pointer, reading: _Reading) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key_node, value_node in node.value:
        line = key_node.start_mark.line + 1
        key = key_node.value if isinstance(key_node, yaml.ScalarNode) else ""
        if not key or "${" in key:
            reading.problem(line, "a key must be plain text; ${VAR} stands in values only")
            continue
        if key in found:
            reading.problem(line, f"key '{key}' stands here twice; keep one")
        reading.lines[(*pointer, key)] = line
        found[key] = _value(value_node, (*pointer, key), reading)
    return found


def _scalar(node: yaml.ScalarNode, reading: _Reading) -> Any:
    """One scalar with its variables filled in. A plain one is typed after that: `count: ${N}` is a number."""
    line, text = node.start_mark.line + 1, str(node.value)
    if "$" in text:
        text = _VARIABLE.sub(lambda match: _variable(match, line, reading), text)
    tag = node.tag
    if node.style is None and text != node.value:
        tag = yaml.SafeLoader("").resolve(yaml.ScalarNode, text, (True, False))  # type: ignore[no-untyped-call]  # PyYAML's stubs leave it bare
    loader = yaml.SafeLoader("")
    try:
        value = loader.construct_object(yaml.ScalarNode(tag, text, node.start_mark, node.end_mark))
    except (yaml.YAMLError, ValueError) as error:
        problem = getattr(error, "problem", None) or error
        reading.problem(line, f"cannot be read as a value: {_one_line(str(problem))}; put it in quotes")
        return None
    if value is None or isinstance(value, bool | int | float | str):
        return value
    return text  # a YAML date or the like: the words as written


def _variable(match: "re.Match[str]", line: int, reading: _Reading) -> str:
    if match.group() == "$$":
        return "$"
    name = match.group(1)
    if not match.group(2):
        reading.problem(line, f"'{match.group()}' has no closing brace; write ${{NAME}}, or $$ for a dollar sign")
        return ""
    if not _NAME.fullmatch(name):
        reading.problem(line, f"'{match.group()}' is no variable; write ${{NAME}}, or $$ for a dollar sign")
        return ""
    if name not in reading.environment:
        reading.problem(line, f"the environment variable {name} is not set; export {name}=... and run again")
        return ""
    return reading.environment[name]


def _explain(detail: dict[str, Any], reading: _Reading) -> None:
    """One of pydantic's errors in the user's words, at the line it concerns."""
    pointer = _as_written(tuple(part for part in detail["loc"] if part != "[key]"), reading)
    kind, where = detail["type"], ".".join(str(part) for part in pointer)
    line = next(reading.lines[place] for place in _outwards(pointer) if place in reading.lines)
    if kind == "extra_forbidden":
        key, known = str(pointer[-1]), _known_keys(pointer[:-1])
        reading.problem(line, f"unknown key '{where}'{_did_you_mean(key, known)}")
    elif kind == "missing":
        reading.problem(line, f"'{where}' is missing; add `{pointer[-1]}: ...` (`weighbridge init` shows an example)")
    elif kind == "enum" and pointer[:1] == ("scenarios",):
        key = str(pointer[-1])
        reading.problem(line, f"unknown scenario '{key}'{_did_you_mean(key, [str(s) for s in Scenario])}")
    elif kind == "string_type" and isinstance(detail.get("input"), bool | int | float):
        reading.problem(line, f"{where}: {_unquoted(where, detail['input'])}")
    elif kind == "string_pattern_mismatch":
        plain = "is the name of a folder; write it without slashes, backslashes, quotes and leading spaces"
        reading.problem(line, f"{where}: {plain}{_given(detail.get('input'))}")
    else:
        message = _one_line(str(detail["msg"]).removeprefix("Value error, ").replace("Input should be ", "should be "))
        reading.problem(line, f"{where}: {message}{_given(detail.get('input'))}")


def _unquoted(where: str, value: float) -> str:
    """What to write instead of a number or truth value that YAML made of a plain word."""
    if isinstance(value, bool):
        word = "yes" if value else "no"
        return f'YAML reads a plain {word} as {str(value).lower()}, not as a word; put "{word}" in quotes'
    if where != "round":
        return f'YAML reads a plain {value} as a number, not as a word; put "{value}" in quotes'
    names = ", ".join(f'"{name}"' for name in round_names())
    return f"{value} is a number, not the name of a round; write one of {names}, in quotes"


def _as_written(pointer: Pointer, reading: _Reading) -> Pointer:
    """The place as it stands in the file: one worker may be written without the list that holds it."""
    if pointer[:2] == ("worker", 0) and ("worker", 0) not in reading.lines:
        return ("worker", *pointer[2:])
    return pointer


def _given(value: object) -> str:
    return f" (it is {value!r})" if isinstance(value, bool | int | float | str) else ""


def _outwards(pointer: Pointer) -> Iterator[Pointer]:
    for length in range(len(pointer), -1, -1):
        yield pointer[:length]


def _known_keys(place: Pointer) -> list[str]:
    if place == ("sut",):
        return ["name", "settings"]
    for pattern, model in _KNOWN.items():
        if len(pattern) == len(place) and all(want in (None, got) for want, got in zip(pattern, place, strict=True)):
            return list(model.model_fields)
    return []


def _did_you_mean(key: str, known: list[str]) -> str:
    close = difflib.get_close_matches(key, known, n=1, cutoff=0.6) or [k for k in known if k.lower() == key.lower()]
    if close:
        return f"; did you mean '{close[0]}'?"
    return f"; known here: {', '.join(known)}" if known else ""


def _one_line(text: str) -> str:
    return _WORDS.sub(" ", text).strip()


def _absolute(campaign: Campaign, base: Path) -> Campaign:
    """The same campaign with absolute paths. A system is a path only when it looks like one."""
    folder = base.resolve()

    def place(path: Path) -> Path:
        return folder / path.expanduser()

    paths = {
        name: place(value)
        for name in ("dataset", "out", "tokenizer", "nltk_data")
        if (value := getattr(campaign, name)) is not None
    }
    system = campaign.system
    if system.endswith(".json"):
        system = str(place(Path(system)))
    return campaign.model_copy(update={**paths, "system": system})
