"""LOG-, MEAS-, SYS-: files that speak of one run, one system or one division and must not contradict each other."""

import re
from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import replace

from compliance.checks.audits import AUDIT_NEEDS
from compliance.checks.facts import SUMMARY, about, amount, as_json, benchmark_of, result_of, strictly, system_of
from compliance.checks.figures import logged_number
from compliance.checks.measurements import measurements_path, readme_path
from compliance.checks.model import Finding, Scope, Skip, Subject
from compliance.checks.registry import check
from compliance.errors import UnreadableFile
from compliance.logs.documents import Document, pointer_of
from compliance.logs.lines import read_text, split_lines
from compliance.records import RunLogs, SystemEntry
from compliance.vocabulary import Division, Severity

_ONE_SYSTEM = "Make every run of a result with the same SUT and LoadGen; put the logs of such runs there."
_RETRAINED = re.compile(r"\s*(?:yes|true|y|1)\b", re.IGNORECASE)
_WITHOUT_ECC = re.compile(r"\b(?:non|no|without|w/o)[\s-]*ecc\b|\becc\W*(?:off|disabled|no|none)\b", re.IGNORECASE)
_CONSUMER = re.compile(r"\bgeforce\b|\brtx\s*[2345]0[5-9]0\b|\bradeon\s+rx\b|\barc\s+[ab]\d{3}\b", re.IGNORECASE)
_SPECULATIVE = re.compile(
    r"speculative[\s_-]+(?:decod|config|model|token)\w*|draft[\s_-]+model|\beagle[\s-]?[123]?\b|\bmedusa\b"
    r"|multi[\s-]token[\s-]prediction",
    re.IGNORECASE,
)
_NAMES = ("speculative", "draft", "eagle", "medusa", "multi")
_DENIES = re.compile(r"\b(?:no|not|none|without|disabled?|off|never)\b", re.IGNORECASE)
_NO_DRAFTS = "no speculative decoding in this scenario of the closed division"
_README_BYTES = 1 << 20
_HARDWARE = (
    "number_of_nodes",
    "host_processor_model_name",
    "host_processors_per_node",
    "accelerator_model_name",
    "accelerators_per_node",
    "accelerator_memory_capacity",
)
_DATACENTER = "datacenter"
_HEADLINES = (
    ("Samples per second", "result_samples_per_second"),
    ("Tokens per second", "result_tokens_per_second"),
    ("Completed samples per second", "result_completed_samples_per_sec"),
    ("Completed tokens per second", "result_completed_tokens_per_second"),
    ("90.0th percentile latency (ns)", "result_90.00_percentile_latency_ns"),
    ("99.0th percentile latency (ns)", "result_99.00_percentile_per_query_latency_ns"),
)
_PRINTED, _DIGITS = 0.0051, 1e-5
"""How exactly the summary prints: rates to two decimals or six digits."""


def _value(run: RunLogs, key: str) -> str | None:
    value = run.detail.value(key) if run.detail else None
    return value if isinstance(value, str) else None


@check(
    "LOG-013",
    "accuracy and performance run are of one SUT and one data set",
    "inference_rules.adoc:477; weighbridge: the official checker does not compare the two runs' names",
    Scope.RESULT,
    ("loadgen", "performance", "accuracy"),
    fix=_ONE_SYSTEM,
)
def one_sut(subject: Subject) -> Iterator[Finding | Skip]:
    """sut_name and qsl_name of the accuracy run are those of the performance run. A warning: names say little.

    Where the two runs take different data sets, qsl_name may differ.
    """
    result, rules = result_of(subject), subject.benchmark
    two_sets = rules is not None and rules.accuracy_samples(result.scenario) != rules.dataset_size
    for key in ("sut_name", *(() if two_sets else ("qsl_name",))):
        own, other = _value(result.performance, key), _value(result.accuracy, key)
        if own is not None and other is not None and own != other:
            expected = f'{key} = "{own}", as in the performance run'
            yield strictly(about(result.accuracy, key, expected, found=f'{key} = "{other}"'), Severity.WARNING)


@check(
    "LOG-014",
    "the summary's figures are the detail log's",
    "loadgen/results.cc:382-480; weighbridge: both logs are written by one run",
    Scope.RESULT,
    ("loadgen", "performance"),
    fix="Put the summary and the detail log of one and the same run side by side.",
)
def headline(subject: Subject) -> Iterator[Finding | Skip]:
    """Rates and percentiles of the summary are those of the detail log, as far as their digits go. A warning."""
    run = result_of(subject).performance
    if run.summary is None or run.detail is None:
        yield Skip("no readable summary log")
        return
    for name, key in _HEADLINES:
        said, value = _number(run.summary.fields.get(name)), logged_number(run.detail, key)
        if said is None or value is None or abs(said - value) <= max(_PRINTED, abs(value) * _DIGITS):
            continue
        line = next(
            (at for at, text in enumerate(split_lines(run.summary.text), 1) if text.strip().startswith(name)), None
        )
        expected = f"{name} : {amount(value)}, as in the detail log ({key})"
        finding = Finding(f"{run.folder}/{SUMMARY}", expected, f"{name} : {amount(said)}", line=line)
        yield strictly(finding, Severity.WARNING)


def _number(text: str | None) -> float | None:
    try:
        return None if text is None else float(text)
    except ValueError:
        return None


@check(
    "AUD-021",
    "the audits ran on the result's own SUT and LoadGen",
    "inference_rules.adoc:462; weighbridge: nobody looks whether an audit ran on the same system",
    Scope.RESULT,
    (*AUDIT_NEEDS, "performance"),
    fix=_ONE_SYSTEM,
)
def audits_alike(subject: Subject) -> Iterator[Finding | Skip]:
    """loadgen_version and sut_name in an audit's detail log are those of the performance run. A warning."""
    result = result_of(subject)
    for audit in benchmark_of(subject).audits:
        run = result.audits.get(audit)
        for key in ("loadgen_version", "sut_name"):
            own, other = _value(result.performance, key), _value(run.run, key) if run else None
            if run is not None and own is not None and other is not None and own != other:
                expected = f'{key} = "{own}", as in the performance run'
                yield strictly(about(run.run, key, expected, found=f'{key} = "{other}"'), Severity.WARNING)


@check(
    "MEAS-009",
    "nothing was retrained for the closed division",
    "inference_rules.adoc:888; weighbridge: the official checker wants an answer, whichever it is",
    Scope.RESULT,
    ("measurements", "closed"),
    fix='Submit it in the open division; where nothing was retrained, write "No".',
)
def retraining(subject: Subject) -> Iterator[Finding | Skip]:
    """Retraining of a closed or network result does not say yes. A warning: what it says else is for people to read."""
    document = result_of(subject).measurements
    value = document.members.get("retraining") if document else None
    if document is not None and (value is True or (isinstance(value, str) and _RETRAINED.match(value))):
        finding = Finding(
            measurements_path(subject),
            '"retraining": "No"',
            f'"retraining": {as_json(value)}',
            line=document.line("retraining"),
            pointer=pointer_of("retraining"),
        )
        yield strictly(finding, Severity.WARNING)


@check(
    "MEAS-010",
    "speculative decoding is used where the rules let it be",
    "inference_rules.adoc:1213; weighbridge: the official checker does not read how answers were decoded",
    Scope.RESULT,
    ("benchmark", "closed"),
    fix="Decode without drafts in this scenario and repeat the run, or submit it in the open division.",
)
def speculative(subject: Subject) -> Iterator[Finding | Skip]:
    """Measurements and README.md of a closed or network result tell of no speculative decoding it may not use.

    A warning: texts are searched for its names (speculative decoding, draft model, EAGLE, Medusa, multi-token
    prediction), and one that denies it in the same sentence is let pass.
    """
    result, rules = result_of(subject), benchmark_of(subject)
    if not rules.generates_text or result.scenario in rules.generation.speculative:
        yield Skip("the rules allow it here, or the benchmark generates no text")
        return
    if result.measurements is not None:
        for field, value in result.measurements.members.items():
            word = _drafted(value) if isinstance(value, str) and _drafted_at_all(value) else None
            if word:
                line, pointer = result.measurements.line(field), pointer_of(field)
                finding = Finding(measurements_path(subject), _NO_DRAFTS, f'"{field}" tells of {word}', line=line)
                yield replace(strictly(finding, Severity.WARNING), pointer=pointer)
    readme = readme_path(subject)
    text = _text(subject, readme) if result.readme_bytes else ""
    for number, line_text in enumerate(split_lines(text) if _drafted_at_all(text) else (), start=1):
        word = _drafted(line_text)
        if word:
            yield strictly(Finding(readme, _NO_DRAFTS, f"a line about {word}", line=number), Severity.WARNING)
            return


def _text(subject: Subject, path: str) -> str:
    """What a short file of the tree says; nothing where it cannot be read, or is a link."""
    files = subject.submission.files
    at = bisect_left(files, path, key=lambda entry: entry.path)
    entry = files[at] if at < len(files) else None
    if entry is None or entry.path != path or entry.kind != "file" or entry.bytes > _README_BYTES:
        return ""
    try:
        return read_text(subject.submission.root / path)
    except UnreadableFile:
        return ""


def _drafted_at_all(text: str) -> bool:
    """Whether a text holds a word that names of speculative decoding begin with; plain search is many times faster."""
    lowered = text.lower()
    return any(word in lowered for word in _NAMES)


def _drafted(text: str) -> str | None:
    """How a text names speculative decoding; None where it does not, or denies it."""
    sentences = (sentence for sentence in re.split(r"[.;!?]\s", text) if not _DENIES.search(sentence))
    return next((match[0] for sentence in sentences if (match := _SPECULATIVE.search(sentence))), None)


@check(
    "SYS-014",
    "a closed datacenter system has memory with ECC",
    "inference_rules.adoc:248-260; weighbridge: the official checker does not read what a description says",
    Scope.SYSTEM,
    ("description",),
    fix="Submit the system as edge or in the open division, or say in the description that its memory has ECC.",
)
def ecc(subject: Subject) -> Iterator[Finding | Skip]:
    """No field of a closed datacenter system's description says "no ECC" or names a consumer card. A warning."""
    description = system_of(subject).description
    kind = description.text("system_type") if description else None
    closed = subject.submitter is not None and subject.submitter.division is not Division.OPEN
    if description is None or kind is None or _DATACENTER not in kind or not closed:
        yield Skip("asked of datacenter systems in closed and network")
        return
    for field, value in description.members.items():
        text = value if isinstance(value, str) else ""
        card = _CONSUMER.search(text) if field == "accelerator_model_name" else None
        word = _WITHOUT_ECC.search(text) or card
        if word is not None:
            expected = "a datacenter accelerator, whose memory has ECC" if card else "memory with ECC"
            found = f'"{field}": {as_json(text)}'
            line, pointer = description.line(field), pointer_of(field)
            finding = Finding(system_of(subject).path, expected, found, line=line, pointer=pointer)
            yield strictly(finding, Severity.WARNING)


@check(
    "SYS-015",
    "one name stands for one system",
    "submission_rules.adoc:717-800; weighbridge: the official checker reads each description by itself",
    Scope.TREE,
    fix="Give different systems different names, and one system one name and one availability.",
    lowers=False,
)
def one_name(subject: Subject) -> Iterator[Finding | Skip]:
    """Descriptions of a submitter with one system_name have the same hardware and availability. A warning.

    A system may stand in several divisions, and in several folders that differ in software.
    """
    seen: dict[tuple[str, str], SystemEntry] = {}
    for submitter in subject.submission.submitters:
        for system in submitter.systems:
            name = system.description.text("system_name") if system.description else None
            if name is None or system.description is None:
                continue
            first = seen.setdefault((submitter.name, name), system)
            if first is not system and first.description is not None:
                yield from _differences(system, system.description, first, first.description)


def _differences(system: SystemEntry, own: Document, first: SystemEntry, other: Document) -> Iterator[Finding]:
    fields = [field for field in (*_HARDWARE, "status") if _plain(own, field) != _plain(other, field)]
    if fields:
        name = own.text("system_name")
        found = ", ".join(f'"{field}": {as_json(own.members.get(field))}' for field in fields)
        finding = Finding(
            system.path,
            f'"{name}" as {first.path} describes it',
            found,
            line=own.line(fields[0]),
            pointer=pointer_of(fields[0]) if fields[0] in own.members else "",
        )
        there = ", ".join(as_json(other.members.get(field)) for field in fields)
        yield replace(strictly(finding, Severity.WARNING), message=f"there: {there}")


def _plain(document: Document, field: str) -> str:
    return str(document.members.get(field)).strip().lower()
