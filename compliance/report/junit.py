"""The report as JUnit XML, for the test view of a CI system: a suite per result, a case per check."""

from collections.abc import Iterable
from dataclasses import dataclass
from xml.etree import ElementTree as ET

from compliance.checks.model import State
from compliance.judge import NOT_JUDGED
from compliance.report.model import Report, ReportCheck, ReportFinding, weighs
from compliance.report.plain import plain
from compliance.vocabulary import Profile

_DECLARATION = '<?xml version="1.0" encoding="UTF-8"?>\n'


@dataclass(frozen=True, slots=True)
class _Suite:
    """What becomes one testsuite: its name, the class its cases go by, its checks and its findings."""

    name: str
    classname: str
    checks: tuple[ReportCheck, ...]
    findings: tuple[ReportFinding, ...]
    unjudged: bool = False


def render_junit(report: Report) -> str:
    """The report as JUnit XML (the form of junit-10.xsd): a case fails where an unwaived error counts in the profile.

    The first suite holds the checks of the tree, its submitters and its systems. Where one of those turns a result
    down, it fails in the result's suite too. A result without rules has one more case, skipped.
    """
    suites = [_Suite("tree", "tree", report.checks, report.findings)]
    for result in report.results:
        classname = f"{result.division}.{result.submitter}.{result.system}.{result.benchmark}.{result.scenario}"
        unjudged = result.verdict == NOT_JUDGED
        suites.append(_Suite(result.path, classname, result.checks, result.findings, unjudged))
    root = ET.Element("testsuites", name=f"weighbridge check, round {report.round}, profile {report.profile.value}")
    for suite in suites:
        root.append(_suite(suite, report.profile))
    for count in ("tests", "failures", "errors"):
        root.set(count, str(sum(int(suite.get(count, "0")) for suite in root)))
    root.set("time", "0")
    ET.indent(root)
    return f"{_DECLARATION}{ET.tostring(root, encoding='unicode')}\n"


def _suite(suite: _Suite, profile: Profile) -> ET.Element:
    found: dict[str, list[ReportFinding]] = {}
    for finding in suite.findings:
        found.setdefault(finding.id, []).append(finding)
    cases = [
        _case(suite.classname, checks, found.get(check_id, []), profile) for check_id, checks in _by_id(suite).items()
    ]
    if suite.unjudged:
        case = _element("testcase", name="rules for this result", classname=suite.classname, time="0")
        case.append(_element("skipped", message="this installation has no rules for it"))
        cases.append(case)
    made = _element(
        "testsuite",
        name=suite.name,
        tests=str(len(cases)),
        failures=str(sum(case.find("failure") is not None for case in cases)),
        errors="0",
        skipped=str(sum(case.find("skipped") is not None for case in cases)),
        time="0",
    )
    made.extend(cases)
    return made


def _by_id(suite: _Suite) -> dict[str, list[ReportCheck]]:
    """The suite's checks by id: in the tree's suite one check has been run on every submitter and system."""
    by_id: dict[str, list[ReportCheck]] = {}
    for check in suite.checks:
        by_id.setdefault(check.id, []).append(check)
    return by_id


def _case(classname: str, checks: list[ReportCheck], findings: list[ReportFinding], profile: Profile) -> ET.Element:
    """One check: failed by its errors; skipped where it never applied or all its errors are waived; else passed.

    Warnings and notes go to system-out, which no CI system counts.
    """
    check = checks[0]
    case = _element("testcase", name=f"{check.id} {check.title}", classname=classname, time="0")
    failing = [finding for finding in findings if weighs(finding, profile)]
    waived = [finding.waiver for finding in findings if finding.waiver is not None]
    if failing:
        failure = _element("failure", message=_summary(failing), type=check.id)
        failure.text = _told(failing)
        case.append(failure)
    elif waived:
        case.append(_element("skipped", message=f"waived until {waived[0].until}: {waived[0].reason}"))
    elif all(one.state is State.SKIP for one in checks):
        case.append(_element("skipped", message=check.reason))
    others = [finding for finding in findings if not weighs(finding, profile)]
    if others:
        out = _element("system-out")
        out.text = _told(others)
        case.append(out)
    return case


def _summary(findings: list[ReportFinding]) -> str:
    first = findings[0]
    more = f" (and {len(findings) - 1} more)" if len(findings) > 1 else ""
    return f"{first.title}: {first.found}{more}"


def _told(findings: Iterable[ReportFinding]) -> str:
    return "\n".join(line for finding in findings for line in _lines(finding))


def _lines(finding: ReportFinding) -> list[str]:
    named = (
        ("wanted", finding.expected),
        ("found", finding.found),
        ("note", finding.message),
        ("waived", finding.waiver.reason if finding.waiver else ""),
        ("fix", finding.fix),
        ("source", finding.source),
    )
    head = f"{finding.severity.value}: {plain(finding.place)}"
    return [head, *(f"  {name}: {plain(text)}" for name, text in named if text)]


def _element(tag: str, **attributes: str) -> ET.Element:
    """An element whose attributes hold only what XML admits and a terminal prints harmlessly."""
    return ET.Element(tag, {name: plain(value) for name, value in attributes.items()})
