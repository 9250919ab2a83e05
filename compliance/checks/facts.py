"""What checks share: what must be at hand for one, where a key stands, and findings about numbers in a log."""

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from pathlib import PurePosixPath

from compliance.checks.model import Finding, Subject
from compliance.logs.detail import LogValue
from compliance.records import Result, RunLogs, SystemEntry, Unreadable
from compliance.rulebook.model import BenchmarkRules, ScenarioRules
from compliance.vocabulary import Division, Profile, Scenario, Severity

OFFICIAL = (Profile.OFFICIAL,)
STRICT = (Profile.STRICT,)
_SCENARIOS = frozenset(scenario.value for scenario in Scenario)
_SINGULAR = {"samples": "sample", "queries": "query", "tokens": "token", "bytes": "byte", "entries": "entry"}
_SHOWN_LEAST, _SHOWN_MOST = 1e-9, 1e15
"""Within these a number is written without an exponent."""
DETAIL = "mlperf_log_detail.txt"
SUMMARY = "mlperf_log_summary.txt"
ACCURACY_LOG = "mlperf_log_accuracy.json"
INFERABLE = (
    (Scenario.SINGLE_STREAM, Scenario.MULTI_STREAM),
    (Scenario.SINGLE_STREAM, Scenario.OFFLINE),
    (Scenario.MULTI_STREAM, Scenario.OFFLINE),
)
"""(measured, reported) pairs an edge system may infer (performance_check.py:506, inference_rules.adoc:326-343)."""


def result_of(subject: Subject) -> Result:
    """The result of a RESULT-scope subject. Raises LookupError for a subject of another scope."""
    if subject.result is None:
        raise LookupError("this check is for results; give it Scope.RESULT")
    return subject.result


def system_of(subject: Subject) -> SystemEntry:
    """The system of a SYSTEM- or RESULT-scope subject. Raises LookupError for a subject of another scope."""
    if subject.system is None:
        raise LookupError("this check is for systems; give it Scope.SYSTEM")
    return subject.system


def benchmark_of(subject: Subject) -> BenchmarkRules:
    """The benchmark's rules; a check that calls this needs "benchmark". Raises LookupError without."""
    if subject.benchmark is None:
        raise LookupError("no rules for this benchmark; the check must need 'benchmark'")
    return subject.benchmark


def is_open(subject: Subject) -> bool:
    """Whether the subject's result stands in the open division."""
    return result_of(subject).division is Division.OPEN


def number_in(value: LogValue) -> float | int | None:
    """A value as the official checker's float() takes it: numbers and numeric strings; None otherwise."""
    if isinstance(value, str):
        try:
            return float(value)
        except ValueError:
            return None
    return value if isinstance(value, int | float) else None


def scenario_of_log(run: RunLogs) -> Scenario | None:
    """The scenario LoadGen ran, by `effective_scenario` of the detail log."""
    value = run.detail.value("effective_scenario") if run.detail else None
    return Scenario(value) if isinstance(value, str) and value in _SCENARIOS else None


def rules_by_log(subject: Subject) -> ScenarioRules | None:
    """The limits the official checker takes: those of the log's scenario, so Server's for Interactive."""
    scenario = scenario_of_log(result_of(subject).performance)
    return None if subject.benchmark is None or scenario is None else subject.benchmark.scenarios.get(scenario)


def fits_folder(measured: Scenario | None, folder: Scenario | None) -> bool:
    """Whether a log's scenario is the one LoadGen runs for a folder's: Server for Interactive, else the same."""
    return measured is not None and folder is not None and measured.value in {folder.value, folder.loadgen_name}


def place(run: RunLogs, key: str) -> tuple[str, int | None]:
    """Path of the detail log and the 1-based line of a key, None where the log lacks it."""
    record = run.detail.record(key) if run.detail else None
    return f"{run.folder}/{DETAIL}", None if record is None else record.line


def about(run: RunLogs, key: str, expected: str, *, found: str | None = None, message: str = "") -> Finding:
    """A finding about one key of a detail log; without `found` it shows the logged value, or that there is none."""
    where, line = place(run, key)
    value = None if run.detail is None else run.detail.value(key)
    shown = found if found is not None else f"{key} = {spelled(value)}" if line else f"no {key} in the log"
    return Finding(where, expected, shown, message=message, line=line)


def as_json(value: object) -> str:
    """A value of a document as the document spells it."""
    return json.dumps(value, ensure_ascii=False, default=str)


def spelled(value: LogValue) -> str:
    """A log value as LoadGen spells it."""
    return str(value).lower() if isinstance(value, bool) else str(value)


def amount(value: float, unit: str = "") -> str:
    """A number without needless digits, with its unit; the unit of exactly one is in the singular."""
    text = str(value) if isinstance(value, int) else f"{value:.12g}"
    if "e" in text and _SHOWN_LEAST <= abs(value) < _SHOWN_MOST:
        text = f"{value:.12f}".rstrip("0").rstrip(".")
    return f"{text} {_SINGULAR.get(unit, unit) if text == '1' else unit}".strip()


def share(part: float, whole: float) -> str:
    """A part of a whole in percent; the least one shown is 0.01 %."""
    fraction = part / whole if whole else 1.0
    return f"{fraction:.2%}" if fraction >= 0.0001 else "less than 0.01%"  # noqa: PLR2004 - what two digits can show


def off_by(gap: float, bound: float, unit: str = "", *, how: str = "over", of: str = "limit") -> str:
    """How far a number misses its bound, in its unit and in percent of the bound: `how` is over or short."""
    if gap == 0:
        return f"exactly the {of}"
    shown = gap if isinstance(gap, int) else float(f"{gap:.6g}")
    return f"{amount(shown, unit)} {how} ({share(gap, bound)} of the {of})"


def at_least(run: RunLogs, key: str, least: float, unit: str = "") -> Iterator[Finding]:
    """One finding unless the logged number is `least` or more; a missing key counts as a fault, as officially."""
    value = run.detail.number(key) if run.detail else None
    if value is not None and value >= least:
        return
    message = "" if value is None else off_by(least - value, least, unit, how="short")
    found = None if value is None else f"{key} = {amount(value, unit)}"
    yield about(run, key, f"{key} >= {amount(least, unit)}", found=found, message=message)


def graded(finding: Finding, *, official: Severity | None, strict: Severity | None) -> Iterator[Finding]:
    """The finding once if both profiles weigh it alike, else once per profile; None leaves a profile out."""
    if official is strict and official is not None:
        yield replace(finding, severity=official, profiles=tuple(Profile))
        return
    for profile, severity in ((Profile.OFFICIAL, official), (Profile.STRICT, strict)):
        if severity is not None:
            yield replace(finding, severity=severity, profiles=(profile,))


def strictly(finding: Finding, severity: Severity = Severity.ERROR) -> Finding:
    """The finding as one of the strict profile alone."""
    return replace(finding, severity=severity, profiles=STRICT)


def why_unreadable(subject: Subject, path: str) -> Unreadable | None:
    """What discovery noted about a file it could not read."""
    holders = (subject.result, subject.system, subject.submitter, subject.submission)
    noted = (entry for holder in holders if holder is not None for entry in holder.unreadable)
    return next((entry for entry in noted if PurePosixPath(entry.path) == PurePosixPath(path)), None)


def missing(subject: Subject, path: str, expected: str) -> Finding:
    """A finding about a file that is not there or cannot be read, with the reader's line and reason."""
    noted = why_unreadable(subject, path)
    return Finding(
        path, expected, "no such file" if noted is None else noted.reason, line=noted.line if noted else None
    )


def _no_benchmark(subject: Subject) -> str | None:
    return None if subject.benchmark else f"round {subject.round.name} has no rules here for this benchmark (SCN-002)"


def _no_performance(subject: Subject) -> str | None:
    return None if result_of(subject).performance.detail else "no readable performance detail log (LOG-001)"


def _no_accuracy(subject: Subject) -> str | None:
    return None if result_of(subject).accuracy.detail else "no readable accuracy detail log (LOG-002)"


def _no_accuracy_text(subject: Subject) -> str | None:
    return None if result_of(subject).accuracy_text else "no readable accuracy.txt (ACC-001)"


def _no_measurements(subject: Subject) -> str | None:
    return None if result_of(subject).measurements else "no readable measurements file (MEAS-001)"


def _no_description(subject: Subject) -> str | None:
    return None if system_of(subject).description else "no readable system description (SYS-001)"


def _not_loadgen(subject: Subject) -> str | None:
    return "endpoints logs in place of LoadGen's" if subject.endpoints else None


def _not_endpoints(subject: Subject) -> str | None:
    return None if subject.endpoints else "LoadGen's logs, not those of endpoints"


def _no_endpoints_config(subject: Subject) -> str | None:
    run = result_of(subject).endpoints
    return None if run and run.config else "no readable config.yaml of endpoints (LOG-101)"


def _no_endpoints_summary(subject: Subject) -> str | None:
    run = result_of(subject).endpoints
    return None if run and run.summary else "no readable result_summary.json (LOG-102)"


def _no_endpoints_accuracy(subject: Subject) -> str | None:
    run = result_of(subject).endpoints
    return None if run and run.accuracy else "no readable accuracy_results.json (LOG-103)"


def _open_division(subject: Subject) -> str | None:
    return "not asked in the open division" if is_open(subject) else None


def _no_power(subject: Subject) -> str | None:
    return None if result_of(subject).power else "no power was measured (no performance/power)"


def _no_sessions(subject: Subject) -> str | None:
    power = result_of(subject).power
    both = power is not None and power.client is not None and power.server is not None
    return None if both else "client.json and server.json cannot both be read (PWR-002, PWR-003)"


def _no_ptd_log(subject: Subject) -> str | None:
    power = result_of(subject).power
    return None if power and power.ptd_log else "no readable ptd_logs.txt (PWR-002, PWR-025)"


NEEDS: Mapping[str, Callable[[Subject], str | None]] = {
    "benchmark": _no_benchmark,
    "performance": _no_performance,
    "accuracy": _no_accuracy,
    "accuracy_text": _no_accuracy_text,
    "measurements": _no_measurements,
    "description": _no_description,
    "loadgen": _not_loadgen,
    "endpoints": _not_endpoints,
    "endpoints_config": _no_endpoints_config,
    "endpoints_summary": _no_endpoints_summary,
    "endpoints_accuracy": _no_endpoints_accuracy,
    "closed": _open_division,
    "power": _no_power,
    "sessions": _no_sessions,
    "ptd_log": _no_ptd_log,
}
"""What a check may need: each answers None when it is at hand, else the reason for skipping."""


def unmet(subject: Subject, needs: tuple[str, ...], known: dict[str, str | None] | None = None) -> str | None:
    """The first unmet need's reason, None when everything is at hand. `known` keeps the answers about this subject."""
    answers = {} if known is None else known
    for need in needs:
        if need not in answers:
            answers[need] = NEEDS[need](subject)
        reason = answers[need]
        if reason is not None:
            return reason
    return None
