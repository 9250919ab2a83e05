"""STR-: what a submitter must write down: source, how it is run, the network (submission_rules.adoc:537-577)."""

import re
from collections.abc import Iterator, Mapping
from pathlib import PurePosixPath

from compliance.checks.facts import result_of, strictly
from compliance.checks.model import Finding, Scope, Skip, Subject
from compliance.checks.registry import check
from compliance.discovery.files import fill
from compliance.errors import UnreadableFile
from compliance.logs.lines import read_text, split_lines
from compliance.records import SubmitterEntry
from compliance.vocabulary import Division, Scenario, Severity

_SHOWN_BYTES = 1 << 20
"""Longer texts are no write-ups: they are not read."""
_MOST_TEXTS = 400
_PROSE = (".md", ".txt", ".adoc", ".rst", "")
_README = "readme"
_NAMES_VERSIONS = re.compile(r"readme|requirements|dockerfile|pyproject|environment|\.lock$|setup\.(?:py|sh)$")
_IDENTIFIED = re.compile(
    r"\bv?\d+\.\d+(?:\.\d+)*\w*\b|\b(?=[0-9a-f]*\d)(?=[0-9a-f]*[a-f])[0-9a-f]{7,64}\b|https?://\S+|#\d+\b",
    re.IGNORECASE,
)
"""A version or tag, a commit or checksum, an address, a pull request."""
_NO_VERSION = re.compile(
    r"(?:llama|qwen|wan|mlperf(?:\s+inference)?)[\s_-]*v?\d+[._]\d+|-99\.9|\bv[456]\.[01]\b", re.IGNORECASE
)
"""Names of models, benchmarks and rounds, which look like versions and identify nothing that was run."""
_UNDERLINE = re.compile(r"[=\-~]{3,}")
_TOPICS: Mapping[str, re.Pattern[str]] = {
    "the run command with its flags": re.compile(
        r"\b(?:run|command|usage|launch|start|benchmark|execut|reproduc)", re.IGNORECASE
    ),
    "the connection to LoadGen": re.compile(r"load\s?gen|harness|\bsut\b|\bqsl\b", re.IGNORECASE),
    "pre-processing": re.compile(r"pre-?process|tokeni[sz]|data\s?set|\bdata\b|\binput", re.IGNORECASE),
    "the model's architecture and operations": re.compile(r"\bmodel|architecture|operation", re.IGNORECASE),
    "weights and their transformations": re.compile(r"weight|checkpoint|quanti[sz]|\bmodel", re.IGNORECASE),
}
_BATCHING = ("how queries are batched", re.compile(r"batch|schedul", re.IGNORECASE))
_BANDWIDTH = re.compile(r"bandwidth|ingress|egress", re.IGNORECASE)
_WRITE = "Write it down (`weighbridge package` renders it from the campaign)."


def _submitter(subject: Subject) -> SubmitterEntry:
    if subject.submitter is None:
        raise LookupError("this check is for submitters; give it Scope.SUBMITTER")
    return subject.submitter


def _folder(subject: Subject, template: str) -> str:
    submitter = _submitter(subject)
    return fill(template, {"division": submitter.division.value, "submitter": submitter.name})


def _files(subject: Subject, folder: str) -> Iterator[str]:
    """The plain files beneath a folder that are short enough for a write-up, by path."""
    for entry in subject.submission.files:
        if entry.kind == "file" and entry.path.startswith(f"{folder}/") and 0 < entry.bytes <= _SHOWN_BYTES:
            yield entry.path


def _text(subject: Subject, path: str) -> str:
    """What a file says; nothing where it cannot be read."""
    try:
        return read_text(subject.submission.root / path)
    except UnreadableFile:
        return ""


def _name(path: str) -> str:
    return path.rpartition("/")[2].lower()


def is_readme(path: str) -> bool:
    """Whether a file is one of those that say what was run, by its name."""
    return _name(path).startswith(_README)


def _readmes(subject: Subject, folder: str) -> tuple[str, ...]:
    found = (path for path in _files(subject, folder) if is_readme(path))
    return tuple(path for path, _ in zip(found, range(_MOST_TEXTS), strict=False))


def headings(text: str) -> tuple[str, ...]:
    """The headings of a text in Markdown, AsciiDoc or reStructuredText, a line in bold included."""
    found, before = list[str](), ""
    for line in split_lines(text):
        shown = line.strip()
        if shown.startswith(("#", "= ", "== ", "=== ", "==== ")) or (shown.startswith("**") and shown.endswith("**")):
            found.append(shown.strip("#=* :"))
        elif before and _UNDERLINE.fullmatch(shown):
            found.append(before)
        before = shown
    return tuple(heading for heading in found if heading)


def _any_results(subject: Subject) -> bool:
    return any(system.results for system in _submitter(subject).systems)


def _datacenter(subject: Subject) -> bool:
    kinds = (one.description.text("system_type") for one in _submitter(subject).systems if one.description is not None)
    return any(kind is not None and "datacenter" in kind for kind in kinds)


@check(
    "STR-020",
    "the bandwidth of the network is shown",
    "inference_rules.adoc:1163; weighbridge: neither checker looks for the write-up",
    Scope.SUBMITTER,
    fix="Write documentation/bandwidth.md: rate x tokens per sample x bytes per token, in and out, and what the network"
    " of the system carries (`weighbridge package` renders it).",
)
def bandwidth(subject: Subject) -> Iterator[Finding | Skip]:
    """A submitter of datacenter systems in closed or network says what bandwidth they need and have. A warning.

    A file of documentation/ or the submitter's folder that is called so, or a text there that speaks of it.
    """
    submitter = _submitter(subject)
    if submitter.division is Division.OPEN or not _datacenter(subject):
        yield Skip("asked of datacenter systems in closed and network")
        return
    documentation = _folder(subject, subject.round.layout.documentation_dir)
    paths = [
        path
        for path in _files(subject, submitter.path)
        if path.startswith(f"{documentation}/") or path.rpartition("/")[0] == submitter.path
    ]
    named = any(_BANDWIDTH.search(_name(path)) for path in paths)
    prose = (path for path in paths[:_MOST_TEXTS] if PurePosixPath(path).suffix.lower() in _PROSE)
    if not named and not any(_BANDWIDTH.search(_text(subject, path)) for path in prose):
        where = f"{documentation}/bandwidth.md"
        yield strictly(Finding(where, "a write-up of the network's bandwidth", "no such file"), Severity.WARNING)


@check(
    "STR-021",
    "the source names the exact versions",
    "submission_rules.adoc:537-556; weighbridge: neither checker reads the source folder",
    Scope.SUBMITTER,
    fix="Write a README.md there that names each component: repository with commit or tag, binary with version or URL.",
)
def identified(subject: Subject) -> Iterator[Finding | Skip]:
    """The source folder holds a README, and what was run is identified: version, tag, commit, checksum or address.

    In every division; a warning. Pinned requirements, a Dockerfile or documentation/environment.md may say it in place
    of the README.
    """
    source = _submitter(subject).source_dir
    if source is None or not _any_results(subject):
        yield Skip("no source folder (STR-010), or no results (STR-014)")
        return
    if not _readmes(subject, source):
        yield strictly(Finding(f"{source}/README.md", "a README with content", "no such file"), Severity.WARNING)
        return
    documentation = f"{_folder(subject, subject.round.layout.documentation_dir)}/"
    speaking = (
        path
        for path in _files(subject, _submitter(subject).path)
        if path.startswith((documentation, f"{source}/")) and _NAMES_VERSIONS.search(_name(path))
    )
    limited = (path for path, _ in zip(speaking, range(_MOST_TEXTS), strict=False))
    if not any(_IDENTIFIED.search(_NO_VERSION.sub(" ", _text(subject, path))) for path in limited):
        expected = "versions, tags, commits, checksums or addresses of what was run"
        yield strictly(Finding(_readmes(subject, source)[0], expected, "none in any text there"), Severity.WARNING)


@check(
    "STR-022",
    "the READMEs say what an inspection needs",
    "submission_rules.adoc:558-577; weighbridge: neither checker reads the READMEs",
    Scope.SUBMITTER,
    fix=_WRITE,
)
def inspection(subject: Subject) -> Iterator[Finding | Skip]:
    """The READMEs of a closed or network submitter have a heading for each thing that an inspection asks. A warning.

    The run command, the connection to LoadGen, pre-processing, the model's operations, weights and transformations; for
    Server and Interactive how queries are batched. The headings of all READMEs of the submitter count together.
    """
    submitter = _submitter(subject)
    if submitter.division is Division.OPEN or not _any_results(subject):
        yield Skip("only encouraged in the open division, or no results (STR-014)")
        return
    results = (result for system in submitter.systems for result in system.results)
    online = any(result.scenario in {Scenario.SERVER, Scenario.INTERACTIVE} for result in results)
    topics = {**_TOPICS, **(dict([_BATCHING]) if online else {})}
    source = submitter.source_dir
    of_source = _readmes(subject, source) if source else ()
    lacking = dict(topics)
    for path in (*of_source, *(path for path in _readmes(subject, submitter.path) if path not in of_source)):
        said = headings(_text(subject, path)) if lacking else ()
        lacking = {topic: pattern for topic, pattern in lacking.items() if not any(map(pattern.search, said))}
    if lacking and source is not None:
        where = of_source[0] if of_source else source
        expected = "headings for what an inspection asks"
        yield strictly(Finding(where, expected, f"no heading about {'; '.join(lacking)}"), Severity.WARNING)


@check(
    "STR-023",
    "the source covers every benchmark",
    "old:3497; weighbridge: the official checker is content with an empty folder",
    Scope.SUBMITTER,
    fix="Put the code of each benchmark under src/<benchmark>, or name the benchmarks in src/README.md.",
)
def covered(subject: Subject) -> Iterator[Finding | Skip]:
    """The source folder has a folder for each benchmark with results, or a README that names it. A warning."""
    submitter = _submitter(subject)
    source = submitter.source_dir
    if source is None:
        yield Skip("no source folder (STR-010)")
        return
    names = {result.benchmark: result.rules_benchmark for system in submitter.systems for result in system.results}
    folders = {entry.path for entry in subject.submission.files if entry.kind == "dir"}
    texts = [_text(subject, path).lower() for path in _readmes(subject, source)]
    lacking = [
        name
        for name, known in names.items()
        if f"{source}/{name}" not in folders
        and not any(one.lower() in text for text in texts for one in (name, known) if one)
    ]
    if lacking:
        found = f"nothing about {', '.join(sorted(lacking))}"
        yield strictly(Finding(source, "a folder or a README that names each benchmark", found), Severity.WARNING)


@check(
    "STR-024",
    "there is one performance run",
    "inference_rules.adoc:132-170; weighbridge: the official checker reads run_1 and no other",
    Scope.RESULT,
    ("loadgen",),
    fix="Keep the run that counts as run_1 and take the others out.",
)
def one_run(subject: Subject) -> Iterator[Finding | Skip]:
    """performance/ holds run_1 and no further run: one run per scenario is submitted. A warning."""
    own, _, name = result_of(subject).performance.folder.rpartition("/")
    for entry in subject.submission.files:
        folder, _, last = entry.path.rpartition("/")
        if folder == own and entry.kind == "dir" and last.startswith("run_") and last != name:
            yield strictly(Finding(entry.path, f"{name} alone", f'a folder "{last}"'), Severity.WARNING)
