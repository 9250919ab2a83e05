"""Ways to break a clean tree with a power measurement: each makes the tree anew and breaks it in one place."""

import json
from collections.abc import Callable
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from tests.support.faults import system
from tests.support.power_trees import (
    RANGING_BEGIN,
    RANGING_S,
    TESTING_BEGIN,
    TESTING_S,
    Change,
    power_tree,
    ptd_line,
    ptd_log,
    session,
    spl,
    stamp,
)
from tests.support.trees import DETAIL, SYSTEM, Tree

Make = Callable[[], Tree]
SHORT_S = 900
UNSURE = "WARNING: Uncertainty 1.52%, which is above 1.00% limit for the last sample!"


def performance(rest: str, tree: Tree, scenario: str = "Server") -> str:
    return tree.path(scenario, f"performance/{rest}")


def ends(change: Change, *names: str) -> Make:
    """Change the session of one end, or of both."""

    def make() -> Tree:
        made = power_tree()
        for name in names or ("client", "server"):
            session(made, name, change)
        return made

    return make


def member(end: str, **members: Any) -> Make:
    return ends(lambda document: document.update(members), end)


def without(end: str, name: str) -> Make:
    return ends(lambda document: document.pop(name), end)


def text(rest: str, content: str, base: Make = power_tree) -> Make:
    """Put a file into performance/."""

    def make() -> Tree:
        made = base()
        made.texts[performance(rest, made)] = content
        return made

    return make


def removed(rest: str) -> Make:
    def make() -> Tree:
        made = power_tree()
        return made.remove(performance(rest, made))

    return make


def written(rest: str, change: Callable[[Path], object]) -> Make:
    """Change a file once it is written and its digest recorded."""

    def make() -> Tree:
        made = power_tree()
        made.afterwards.append(lambda root: change(root / performance(rest, made)))
        return made

    return make


def edited(path: Path, old: str, new: str) -> None:
    content = path.read_text("utf-8")
    assert old in content, old
    path.write_text(content.replace(old, new), "utf-8")


def marks(folder: str, base: Make = power_tree, **values: object) -> Make:
    """Other values in a run's detail log; None takes a key out."""

    def make() -> Tree:
        made = base()
        records = made.logs[performance(f"{folder}/{DETAIL}", made)]
        for record in list(records):
            if record.key in values and values[record.key] is None:
                records.remove(record)
            record.value = values.get(record.key, record.value)
        return made

    return make


def watts(ranging: float, testing: float, base: Make = power_tree) -> Make:
    """Other mean powers of the two runs."""

    def make() -> Tree:
        made = base()
        made.texts[performance("ranging/spl.txt", made)] = spl(RANGING_BEGIN, RANGING_S, ranging)
        made.texts[performance("run_1/spl.txt", made)] = spl(TESTING_BEGIN, TESTING_S, testing)
        return made

    return make


def short(base: Make = power_tree) -> Make:
    """A testing run that lasts less than half as long as the ranging run."""
    return marks("run_1", base, power_end=stamp(TESTING_BEGIN + timedelta(seconds=SHORT_S)))


def spl_line(folder: str, line: str, base: Make = power_tree) -> Make:
    """One more line at the end of a run's spl.txt."""

    def make() -> Tree:
        made = base()
        made.texts[performance(f"{folder}/spl.txt", made)] += f"{line}\n"
        return made

    return make


def at(begin: datetime, second: float) -> str:
    return stamp(begin + timedelta(seconds=second))


def said(*lines: tuple[datetime, float, str]) -> Make:
    """Further lines of PTDaemon: (begin of a run, seconds after it, text)."""
    extra = [ptd_line(begin + timedelta(seconds=second), words) for begin, second, words in lines]
    return text("power/ptd_logs.txt", ptd_log(*extra))


def ptd_text(change: Callable[[str], str]) -> Make:
    return text("power/ptd_logs.txt", change(ptd_log()))


def ptd(change: Callable[[list[dict[str, Any]]], object]) -> Make:
    """Change the server's exchange with PTDaemon."""
    return ends(lambda document: change(document["ptd_messages"]), "server")


def message(number: int, **members: Any) -> Make:
    return ptd(lambda messages: messages[number].update(members))


def phases(change: Callable[[dict[str, list[list[float]]]], object], *names: str) -> Make:
    return ends(lambda document: change(document["phases"]), *names)


def nameplate(content: str | None, base: Make = power_tree) -> Make:
    def make() -> Tree:
        made = base()
        path = f"{made.submitter}/systems/{SYSTEM}_power.yaml"
        if content is None:
            return made.remove(path)
        made.texts[path] = content
        return made

    return make


def described(base: Make = power_tree, **fields: object) -> Make:
    """A power tree whose description has other fields; None takes one out."""
    return system(base, **fields)


def settings(name: str, content: str | None) -> Make:
    def make() -> Tree:
        made = power_tree()
        (path,) = [path for path in made.texts if path.endswith(f"/{name}")]
        if content is None:
            return made.remove(path)
        made.texts[path] = content
        return made

    return make


def edge(scenario: str = "SingleStream", benchmark: str = "llama3.1-8b-edge") -> Tree:
    """Power measured where the metric is energy per query."""
    scenarios = ("Offline", "SingleStream") if scenario == "SingleStream" else ("Offline", "SingleStream", scenario)
    return power_tree(scenario, benchmark=benchmark, scenarios=scenarios, system_type="edge")


def queries(count: object, scenario: str = "SingleStream") -> Make:
    def make() -> Tree:
        return edge(scenario).performance(scenario, result_query_count=count)

    return make


def forgotten(rest: str) -> Make:
    """Take a file's digest out of both sessions."""

    def forget(folder: Path) -> None:
        for name in ("client", "server"):
            path = folder / f"{name}.json"
            document = json.loads(path.read_text("utf-8"))
            document["results"].pop(rest, None)
            path.write_text(json.dumps(document), "utf-8")

    return written("power", forget)
