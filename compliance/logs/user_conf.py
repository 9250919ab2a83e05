"""user.conf and audit.config: the assignments that LoadGen takes, and the lines that it drops.

The grammar is that of loadgen/test_settings_internal.cc:545-814. LoadGen skips a line without blanks around "=" in
silence, discards the whole file for an inline comment, and takes an unknown key or scenario without a word. Each of
these is a problem here.
"""

import difflib
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path

from compliance.logs.lines import read_text, split_lines

SCENARIOS = ("Offline", "Server", "SingleStream", "MultiStream")
# The keys of a submission and of an audit, and those that LoadGen reads from mlperf.conf only.
SUBMITTER_KEYS = (
    "target_qps",
    "target_latency",
    "target_latency_percentile",
    "samples_per_query",
    "min_duration",
    "max_duration",
    "min_query_count",
    "max_query_count",
    "performance_sample_count_override",
    "accuracy_sample_count_override",
    "sample_concatenate_permutation",
    "use_token_latencies",
    "ttft_latency",
    "tpot_latency",
    "infer_token_latencies",
    "token_latency_scaling_factor",
    "coalesce_queries",
    "max_async_queries",
    "print_timestamps",
)
AUDIT_KEYS = (
    "mode",
    "performance_issue_unique",
    "performance_issue_same",
    "performance_issue_same_index",
    "accuracy_log_rng_seed",
    "accuracy_log_sampling_target",
)
MLPERF_CONF_KEYS = (
    "qsl_rng_seed",
    "sample_index_rng_seed",
    "schedule_rng_seed",
    "accuracy_log_probability",
    "test05",
    "test05_qsl_rng_seed",
    "test05_sample_index_rng_seed",
    "test05_schedule_rng_seed",
)
_KNOWN_KEYS = frozenset(SUBMITTER_KEYS + AUDIT_KEYS)
_AUDIT_THRESHOLD = re.compile(r"test\d\d(?:_\w+)?")
_CLOSE = 0.6


@dataclass(frozen=True, slots=True)
class Assignment:
    """One line `model.scenario.key = value`; model and scenario may be "*". LoadGen takes no text as a value."""

    model: str
    scenario: str
    key: str
    value: int | float
    line: int


@dataclass(frozen=True, slots=True)
class ConfProblem:
    """A line that does not do what its writer meant: what is wrong, what LoadGen makes of it, and what to write.

    `ignored` tells whether LoadGen leaves the line, or the whole file, out of account, `loses` whether what the line
    means to set is then not set: `meant` is that assignment where it can be told.
    """

    line: int
    found: str
    reason: str
    fix: str
    ignored: bool
    loses: bool = True
    meant: Assignment | None = None


@dataclass(frozen=True, slots=True)
class Conf:
    """A configuration file of LoadGen: what it sets, in order, and what is wrong with it."""

    path: Path
    assignments: tuple[Assignment, ...]
    problems: tuple[ConfProblem, ...]

    def value(self, key: str, scenario: str, model: str) -> int | float | None:
        """The value in force: the exact line, else `*.scenario`, `model.*`, `*.*`; of equal names the later."""
        for wanted in ((model, scenario), ("*", scenario), (model, "*"), ("*", "*")):
            for item in reversed(self.assignments):
                if item.key == key and (item.model, item.scenario) == wanted:
                    return item.value
        return None

    def says_elsewhere(self, problem: ConfProblem) -> bool:
        """Whether another line sets what a dropped one means to set, to the same value."""
        meant = problem.meant
        return meant is not None and any(
            item.line != meant.line
            and (item.model, item.scenario, item.key, item.value)
            == (meant.model, meant.scenario, meant.key, meant.value)
            for item in self.assignments
        )


def load_conf(path: Path) -> Conf:
    """Reads a user.conf or audit.config file. Raises UnreadableFile when it is missing or empty."""
    return read_conf(read_text(path), path)


def read_conf(text: str, path: Path) -> Conf:
    """Parses a user.conf or audit.config as LoadGen does, and says where that is not what its writer meant."""
    assignments: list[Assignment] = []
    problems: list[ConfProblem] = []
    for number, line in enumerate(split_lines(text), start=1):
        tokens = line.split()
        if not tokens or tokens[0].startswith("#"):
            continue
        item = _assignment(line.strip(), tokens, number)
        if isinstance(item, ConfProblem):
            problems.append(item)
        else:
            assignments.append(item)
            problems.extend(_doubts(item))
    problems.extend(_shadowed(assignments))
    return Conf(path, tuple(assignments), tuple(sorted(problems, key=lambda problem: problem.line)))


def _assignment(line: str, tokens: list[str], number: int) -> Assignment | ConfProblem:
    """The assignment of one line, or why LoadGen does not take it."""
    fault = _form_fault(line, tokens)
    value = None if fault else _number(tokens[2])
    model, scenario, key = _name_parts(tokens[0])
    if fault is None and value is None:
        fault = f'"{tokens[2]}" is no number', "give a number without a unit"
    elif fault is None and not (model and scenario and key):
        fix = f"write: *.*.{tokens[0].rpartition('.')[2] or 'key'} = {tokens[2]}"
        fault = "the key is not model.scenario.key", fix
    if fault is not None or value is None:
        reason, fix = fault or ("", "")
        return ConfProblem(number, line, reason, fix, ignored=True)
    return Assignment(model, scenario, key, value, number)


def _form_fault(line: str, tokens: list[str]) -> tuple[str, str] | None:
    """What is wrong with a line that is not `name = value`, and what to write."""
    key, equals, value = (part.strip() for part in line.partition("#")[0].partition("="))
    wanted = f"{key.replace(' ', '')} = {value.split()[0] if value else 'number'}"
    if "#" in line:
        reason = "a comment behind a value: LoadGen then discards the whole file"
        return reason, f"put the comment on a line of its own: {wanted}"
    if not equals:
        return "no assignment", "write: model.scenario.key = number"
    if "=" not in tokens:
        return "no blanks around =: LoadGen drops the line without a word", f"write: {wanted}"
    if len(tokens) != 3 or tokens[1] != "=":  # noqa: PLR2004  # name, =, value
        return "not one key, one = and one value", f"write: {wanted}"
    return None


def _name_parts(name: str) -> tuple[str, str, str]:
    """Model, scenario and key. A model's name may hold dots (`llama3.1-8b`), so the last two dots count."""
    rest, _, key = name.rpartition(".")
    model, _, scenario = rest.rpartition(".")
    return model, scenario, key


def _number(text: str) -> int | float | None:
    try:
        return int(text)
    except ValueError:
        pass
    try:
        value = float(text)
    except ValueError:
        return None
    return value if value - value == 0 else None


def _doubts(item: Assignment) -> Iterator[ConfProblem]:
    """What LoadGen takes in silence and never uses."""
    if item.key in _KNOWN_KEYS and (item.scenario == "*" or item.scenario in SCENARIOS):
        return
    found = f"{item.model}.{item.scenario}.{item.key}"
    if item.scenario != "*" and item.scenario not in SCENARIOS:
        fix, scenario = _scenario_fix(item)
        meant = None if scenario is None else replace(item, scenario=scenario)
        yield ConfProblem(item.line, found, f'unknown scenario "{item.scenario}"', fix, ignored=True, meant=meant)
    if item.key in MLPERF_CONF_KEYS:
        reason = f"LoadGen reads {item.key} from its own mlperf.conf only"
        yield ConfProblem(item.line, found, reason, "take the line out", ignored=True, loses=False)
    elif item.key not in _KNOWN_KEYS and not _AUDIT_THRESHOLD.fullmatch(item.key):
        close = _closest_key(item.key)
        fix = f"did you mean {close}?" if close else f"known keys: {', '.join(SUBMITTER_KEYS)}"
        meant = replace(item, key=close) if close else None
        yield ConfProblem(item.line, found, f'unknown key "{item.key}"', fix, ignored=True, meant=meant)


@lru_cache(maxsize=256)
def _closest_key(key: str) -> str | None:
    """The key that a misspelt one is meant to be; a submitter's files repeat the same ones."""
    return next(iter(difflib.get_close_matches(key.lower(), SUBMITTER_KEYS + AUDIT_KEYS, n=1, cutoff=_CLOSE)), None)


def _scenario_fix(item: Assignment) -> tuple[str, str | None]:
    """What to write, and the scenario that was meant where it can be told."""
    if item.scenario.lower() == "interactive":
        model = item.model.removesuffix("-interactive")
        return f"write Server: LoadGen runs Interactive as Server of the model {model}-interactive", None
    names = {name.lower(): name for name in SCENARIOS}
    close = difflib.get_close_matches(item.scenario.lower(), names, n=1, cutoff=_CLOSE)
    if not close:
        return f"known scenarios: {', '.join(SCENARIOS)}", None
    return f"did you mean {names[close[0]]}?", names[close[0]]


def _shadowed(assignments: list[Assignment]) -> Iterator[ConfProblem]:
    """A key set twice with different values: the later line counts."""
    seen: dict[tuple[str, str, str], Assignment] = {}
    for item in assignments:
        name = (item.model, item.scenario, item.key)
        before = seen.get(name)
        if before is not None and before.value != item.value:
            reason = f"set again in line {item.line} to {item.value:g}, which counts"
            yield ConfProblem(
                before.line, ".".join(name), reason, "keep one of the two lines", ignored=True, loses=False
            )
        seen[name] = item
