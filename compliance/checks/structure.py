"""STR-: the tree itself: what lies where (submission_rules.adoc:364-432)."""

from collections.abc import Callable, Iterator
from pathlib import PurePosixPath

from compliance.checks.facts import graded, result_of, strictly
from compliance.checks.model import Finding, Scope, Skip, Subject
from compliance.checks.registry import check
from compliance.discovery.submission import CACHE_DIR
from compliance.records import RunLogs, SubmitterEntry, TreeFile
from compliance.rulebook.power import load_power_rules
from compliance.vocabulary import Division, Severity

_DIVISIONS = {division.value for division in Division}
_ROOT_DIRS = {*_DIVISIONS, ".git", ".github", "assets"}
_ROOT_SUFFIXES = (".md", ".pdf")
_SUBMITTER_DIRS = {"systems", "code", "src", "documentation", "results", "measurements", "compliance", "calibration"}
_JUNK, _JUNK_PREFIX = {".DS_Store", "Thumbs.db", "desktop.ini", ".directory"}, "._"
"""What file managers leave in every folder they show."""
_MODEL_MAPPING = "model_mapping.json"
_REMOVE = "Take it out of the submission, or move it into the submitter's documentation folder."
_RENAME = "Rename it."


def _parts(entry: TreeFile) -> tuple[str, ...]:
    return tuple(entry.path.split("/"))


def _in_division(entry: TreeFile, depth: int) -> bool:
    parts = _parts(entry)
    return len(parts) >= depth and parts[0] in _DIVISIONS


def _submitter_of(subject: Subject) -> SubmitterEntry:
    if subject.submitter is None:
        raise LookupError("this check is for submitters; give it Scope.SUBMITTER")
    return subject.submitter


def _beneath(subject: Subject) -> Iterator[TreeFile]:
    """The files and folders under the submitter's folder."""
    root = f"{_submitter_of(subject).path}/"
    return (entry for entry in subject.submission.files if entry.path.startswith(root))


@check("STR-001", "the root holds only divisions", "old:2678", Scope.TREE, fix=_REMOVE, lowers=False)
def root_folders(subject: Subject) -> Iterator[Finding | Skip]:
    """Folders at the root are closed, open, network (.git, .github, assets are let through)."""
    for entry in subject.submission.files:
        parts = _parts(entry)
        if len(parts) == 1 and entry.kind == "dir" and parts[0] not in _ROOT_DIRS:
            yield strictly(Finding(entry.path, "closed, open or network", f'a folder "{entry.path}"'))


@check("STR-002", "no file above the submitters", "old:2684-2704", Scope.TREE, fix=_REMOVE, lowers=False)
def stray_files(subject: Subject) -> Iterator[Finding | Skip]:
    """No file at the root but .md and .pdf, none directly in a division; a warning for what a desktop leaves behind."""
    for entry in subject.submission.files:
        parts = _parts(entry)
        at_root = len(parts) == 1 and not entry.path.endswith(_ROOT_SUFFIXES)
        in_division = len(parts) == len(("division", "file")) and parts[0] in _DIVISIONS
        if entry.kind != "dir" and (at_root or in_division):
            junk = parts[-1] in _JUNK or parts[-1].startswith(_JUNK_PREFIX)
            finding = Finding(entry.path, "files under a submitter's folder", "a file above it")
            yield strictly(finding, Severity.WARNING if junk else Severity.ERROR)
        elif entry.kind == "dir" and parts[0] in _DIVISIONS and parts[1:] == (CACHE_DIR,):
            yield strictly(Finding(entry.path, "submitters' folders", f'"{CACHE_DIR}"'), Severity.WARNING)


@check(
    "STR-003",
    "no broken link",
    "old:2725",
    Scope.FILES,
    fix="Put the file in the link's place, or take the link out.",
)
def broken_links(subject: Subject) -> Iterator[Finding | Skip]:
    """No symbolic link without its target."""
    for entry in _beneath(subject):
        if entry.kind == "broken_link":
            yield strictly(Finding(entry.path, "a link with a target", "a link to nothing"))


@check(
    "STR-004",
    "no file is too large",
    "old:2741",
    Scope.FILES,
    fix="Leave it out (trace logs, weights), or truncate it.",
)
def large_files(subject: Subject) -> Iterator[Finding | Skip]:
    """No file exceeds the round's limit of 50 MiB."""
    limit = subject.round.large_file_limit_bytes
    for entry in _beneath(subject):
        if entry.kind != "dir" and entry.bytes > limit:
            yield strictly(Finding(entry.path, f"at most {limit} bytes", f"{entry.bytes} bytes"))


def _named(subject: Subject, fault: str, wrong: Callable[[str], bool]) -> Iterator[Finding]:
    for entry in _beneath(subject):
        name = entry.path.rpartition("/")[2]
        if wrong(name):
            yield strictly(Finding(entry.path, f"a name without {fault}", f'"{name}"'), Severity.WARNING)


@check("STR-005", "no name begins with a dot", "old:2757", Scope.FILES, fix=_REMOVE)
def dot_names(subject: Subject) -> Iterator[Finding | Skip]:
    """No file or folder of a submitter has a name that begins with a dot, .gitkeep included."""
    yield from _named(subject, "a leading dot", lambda name: name.startswith("."))


@check("STR-006", "no name holds a space", "old:2773", Scope.FILES, fix=_RENAME)
def spaces(subject: Subject) -> Iterator[Finding | Skip]:
    """No file or folder of a submitter has a space in its name."""
    yield from _named(subject, "spaces", lambda name: " " in name)


@check("STR-007", "no cache and no empty folder", "old:2787, 2799", Scope.FILES, fix=_REMOVE)
def caches(subject: Subject) -> Iterator[Finding | Skip]:
    """No __pycache__ and no empty folder beneath a submitter."""
    empty = frozenset(subject.submission.empty_folders)
    for entry in _beneath(subject):
        name = entry.path.rpartition("/")[2]
        if entry.kind == "dir" and "__pycache__" in name:
            yield strictly(Finding(entry.path, "a name without __pycache__", f'"{name}"'), Severity.WARNING)
        if entry.path in empty:
            yield strictly(Finding(entry.path, "files in every folder", "an empty folder"), Severity.WARNING)


@check(
    "STR-008",
    "every system description has results",
    "old:2820-2838",
    Scope.SUBMITTER,
    fix="Add the system's results or take its description out; a description is named exactly as its results folder.",
    lowers=False,
)
def descriptions_used(subject: Subject) -> Iterator[Finding | Skip]:
    """Each systems/<system>.json has a folder results/<system>."""
    for path in _submitter_of(subject).orphan_descriptions:
        yield strictly(Finding(path, "a results folder of the same name", "none"))


@check(
    "STR-009",
    "the calibration is written up",
    "old:2841-2855; submission_rules.adoc:374",
    Scope.SUBMITTER,
    fix="Write documentation/calibration.md: how weights and activations were quantised, or that they were not.",
)
def calibration(subject: Subject) -> Iterator[Finding | Skip]:
    """calibration.md stands at the submitter's root or under documentation/ in closed and network."""
    submitter = _submitter_of(subject)
    if submitter.division is Division.OPEN:
        yield Skip("not asked in the open division")
    elif submitter.calibration is None:
        path = f"{submitter.path}/documentation/calibration.md"
        yield strictly(Finding(path, "a calibration write-up", "no such file"), Severity.WARNING)


@check(
    "STR-010",
    "the source folder is there",
    "measurements_checks.py:82; old:3497",
    Scope.SUBMITTER,
    fix="Add the folder with the code, or with a README.md that names the exact public version that was run.",
)
def source_folder(subject: Subject) -> Iterator[Finding | Skip]:
    """src/ (code/ up to v5.1) of the submitter exists. The official checker is content with a file of that name."""
    submitter = _submitter_of(subject)
    if submitter.source_dir is None:
        layout = subject.round.layout.source_dir
        path = layout.format(division=submitter.division.value, submitter=submitter.name)
        there = any(entry.path == path for entry in subject.submission.files)
        finding = Finding(path, "a folder with the source code", "a file" if there else "no such folder")
        yield from graded(finding, official=None if there else Severity.ERROR, strict=Severity.ERROR)


def _names(run: RunLogs, required: tuple[str, ...], optional: tuple[str, ...]) -> Iterator[Finding]:
    if not run.files:
        return
    for name in required:
        if name not in run.files:
            yield strictly(Finding(f"{run.folder}/{name}", f"the file {name}", "no such file"), Severity.WARNING)
    for name in run.files:
        if name not in {*required, *optional}:
            found = f'a file "{name}"'
            yield strictly(Finding(f"{run.folder}/{name}", "the files of the run alone", found), Severity.WARNING)


_FILES = "Hold exactly LoadGen's files (and accuracy.txt) there; notes belong into README.md or documentation/."


@check("STR-011", "the accuracy folder holds its files", "old:3051", Scope.RESULT, ("loadgen",), fix=_FILES)
def accuracy_files(subject: Subject) -> Iterator[Finding | Skip]:
    """accuracy/ holds accuracy.txt and LoadGen's three files, and nothing else but what is optional."""
    layout = subject.round.layout
    run = result_of(subject).accuracy
    required = tuple(name for name in layout.required_accuracy_files if name not in _ASKED_ELSEWHERE)
    yield from _names(run, required, (*layout.required_accuracy_files, *layout.optional_run_files))


@check("STR-012", "the performance folder holds its files", "old:3118", Scope.RESULT, ("loadgen",), fix=_FILES)
def performance_files(subject: Subject) -> Iterator[Finding | Skip]:
    """performance/run_1 holds the detail and the summary log, and nothing else but what is optional."""
    layout = subject.round.layout
    run = result_of(subject).performance
    required = tuple(name for name in layout.required_performance_files if name not in _ASKED_ELSEWHERE)
    power = load_power_rules().run_files if result_of(subject).power else ()
    yield from _names(run, required, (*layout.required_performance_files, *layout.optional_run_files, *power))


_ASKED_ELSEWHERE = ("mlperf_log_detail.txt", "accuracy.txt", "mlperf_log_accuracy.json")


@check(
    "STR-013",
    "the tree holds results",
    "weighbridge: an empty tree passes the official checker",
    Scope.TREE,
    fix="Check the path, and the spelling of --submitter; a tree is <division>/<submitter>/results/...",
)
def not_empty(subject: Subject) -> Iterator[Finding | Skip]:
    """At least one results folder was found. The official checker calls an empty tree good."""
    systems = (system for submitter in subject.submission.submitters for system in submitter.systems)
    if not any(system.results for system in systems):
        there = ", ".join(subject.submission.left_out)
        message = f"submitters there are: {there}" if there else ""
        yield strictly(Finding(".", "at least one results folder", "none", message=message))


@check(
    "STR-014",
    "every submitter has a results folder",
    "loader.py:295",
    Scope.SUBMITTER,
    fix="Add results/<system>/<benchmark>/<scenario>/, or take the submitter's folder out.",
)
def results_folder(subject: Subject) -> Iterator[Finding | Skip]:
    """results/ exists under each submitter; the official checker crashes without it."""
    path = f"{_submitter_of(subject).path}/results"
    if not any(entry.path == path for entry in subject.submission.files):
        yield Finding(path, "a folder with results", "no such folder")


@check(
    "STR-015",
    "the model mapping can be read",
    "loader.py:290-294",
    Scope.SUBMITTER,
    fix="Write model_mapping.json as one JSON object: your folder's name to the benchmark's.",
)
def model_mapping(subject: Subject) -> Iterator[Finding | Skip]:
    """model_mapping.json of an open submitter, where there is one, is plain JSON, and an object.

    The official checker dies on what is no JSON. Of another form it lets pass what it never has to look into.
    """
    submitter = _submitter_of(subject)
    for noted in submitter.unreadable:
        if PurePosixPath(noted.path).name == _MODEL_MAPPING:
            finding = Finding(noted.path, "a JSON object", noted.reason, line=noted.line)
            yield from graded(finding, official=None if noted.parsed else Severity.ERROR, strict=Severity.ERROR)
    for problem in submitter.model_mapping.problems if submitter.model_mapping else ():
        finding = Finding(f"{submitter.path}/{_MODEL_MAPPING}", "plain JSON", problem.reason, line=problem.line)
        yield from graded(finding, official=None if problem.official else Severity.ERROR, strict=Severity.WARNING)


@check(
    "STR-016", "a submitter's folders are the known ones", "submission_rules.adoc:364-420", Scope.SUBMITTER, fix=_REMOVE
)
def submitter_folders(subject: Subject) -> Iterator[Finding | Skip]:
    """Under a submitter stand systems, src (code), documentation, results, and nothing else."""
    depth = len(PurePosixPath(_submitter_of(subject).path).parts) + 1
    for entry in _beneath(subject):
        parts = _parts(entry)
        if (
            len(parts) == depth
            and entry.kind == "dir"
            and parts[-1] not in _SUBMITTER_DIRS
            and not parts[-1].startswith(".")
        ):
            expected = "systems, src, documentation, results"
            yield strictly(Finding(entry.path, expected, f'a folder "{parts[-1]}"'), Severity.WARNING)


@check(
    "STR-017",
    "every file of the tree can be read",
    "weighbridge: what cannot be read cannot be judged",
    Scope.TREE,
    fix="Mend the file's permissions, or copy it anew.",
)
def readable(subject: Subject) -> Iterator[Finding | Skip]:
    """Nothing of the tree's own level was found unreadable."""
    for noted in subject.submission.unreadable:
        yield Finding(noted.path, "a readable file or folder", noted.reason, fix=noted.fix, line=noted.line)
