"""Reads the tables of the reference of the rules (sections 1 to 3) as rows of cells, and the names in them."""

import re
from collections.abc import Iterable, Iterator
from fnmatch import fnmatchcase
from pathlib import Path

REFERENCE = Path(__file__).parents[2].parent / "shared" / "reference" / "rules.md"
NO_REFERENCE = "the reference tables of the rules are not part of this repository"

_CELL = re.compile(r"(?<!\\)\|")
_ASIDE = re.compile(r"\([^()]*\)")
_NUMBER = re.compile(r"\d[\d ]*(?:\.\d+)?|\.\d+")


def section(number: str) -> str:
    """The text of one section, without its heading, up to the next one of any level."""
    text = REFERENCE.read_text(encoding="utf-8")
    found = re.search(rf"^#+ {re.escape(number)} .*?\n(.*?)(?=^#+ \d|\Z)", text, re.MULTILINE | re.DOTALL)
    assert found, number
    return found[1]


def rows(number: str) -> list[list[str]]:
    """The body rows of a section's first table, without bold marks."""
    lines = [line for line in section(number).splitlines() if line.startswith("|")]
    cells = [[cell.strip() for cell in _CELL.split(line.replace("**", ""))[1:-1]] for line in lines]
    return [row for row in cells[1:] if set("".join(row)) - set("-: ")]


def plain(cell: str) -> str:
    """A cell without asides in brackets and escapes."""
    return _ASIDE.sub("", cell).replace("\\|", "|").strip()


def names(cell: str, known: Iterable[str]) -> list[str]:
    """The benchmarks a cell names: "bert-99 / -99.9", "llama2-70b-*", a short form that fits one name alone."""
    known, found = tuple(dict.fromkeys(known)), list[str]()
    for part in re.split(r"\s*[/,]\s*", plain(cell)):
        name = part.strip()
        if name.startswith("-"):
            stems = (found[-1][:cut] for cut in range(len(found[-1]), 0, -1))
            name = next(stem + name for stem in stems if stem + name in known)
        if name == "llama2-70b-*":
            found += [one for one in known if fnmatchcase(one, name)]
            continue
        fits = [one for one in known if one == name] or [one for one in known if fnmatchcase(one, name)]
        fits = fits or [one for one in known if one.startswith(name)]
        assert fits, (cell, name)
        found += fits
    return found


def numbers(cell: str) -> list[float]:
    """Every number of a cell, thousands with blanks read as one."""
    return [float(text.replace(" ", "")) for text in _NUMBER.findall(cell)]


def products(cell: str) -> Iterator[tuple[str, float, float]]:
    """(metric, product as written, reference x factor) of each "METRIC 44.4312x.99=43.986888"."""
    pattern = r"([A-Za-z]\w*)? ?(\(100-[\d.]+\)|\d[\d.]*)x(\d?\.\d+)(?:=([\d.]+\d))?"
    for metric, reference, factor, product in re.findall(pattern, cell):
        value = 100 - float(reference[5:-1]) if reference.startswith("(") else float(reference)
        computed = value * float(factor)
        yield metric, float(product) if product else computed, computed


def in_rounds(cell: str, rounds: tuple[str, ...]) -> tuple[str, ...]:
    """The rounds an aside names: "(v5.1, v6.0)", "(v5.1+)"; "all", "v6.x", "v5.0-v6.0" without brackets too."""
    found = re.findall(r"v\d\.[\dx]", cell)
    if not found:
        return rounds if cell == "all" or not cell else ()
    if re.search(r"v\d\.\d\+", cell):
        return rounds[rounds.index(found[0]) :]
    span = re.search(r"(v\d\.\d)-(v\d\.\d)", cell)
    if span:
        return rounds[rounds.index(span[1]) : rounds.index(span[2]) + 1]
    return tuple(one for one in rounds if any(fnmatchcase(one, text.replace("x", "*")) for text in found))


def tree_paths(number: str) -> set[str]:
    """The paths of a section's drawing of a tree, indented lines under their folder, {a, b} spelled out."""
    block = section(number).split("```")[1]
    paths, folders = set[str](), list[tuple[int, str]]()
    for line in block.splitlines():
        if not line.strip():
            continue
        indent = len(line) - len(line.lstrip())
        entry, *beside = re.split(r"\s{2,}|(?<=/) (?=\()", line.strip())
        folders = [folder for folder in folders if folder[0] < indent]
        base = folders[-1][1] if folders else ""
        files = [part.strip("[]") for part in beside if re.fullmatch(r"\[?\w+\.\w+\]?", part)]
        for part in [*([entry] if "{" in entry else entry.split()), *files]:
            for path in spelled(part):
                paths.add((base + path).rstrip("/"))
        if entry.endswith("/"):
            folders.append((indent, base + entry))
    return paths


def spelled(text: str) -> Iterator[str]:
    """ "a/{b, c[, d]}" as its paths."""
    group = re.search(r"\{([^{}]*)\}", text)
    if group is None:
        yield text
        return
    inner = re.sub(r"[\[\]]", "", group[1])
    for part in re.split(r",| or ", inner):
        yield from spelled(text[: group.start()] + part.strip() + text[group.end() :])
