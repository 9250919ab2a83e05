"""JUnit XML: of the form that CI systems read (junit-10.xsd), and failing where the report does."""

from datetime import date
from xml.etree import ElementTree as ET

import pytest

from compliance.discovery.submission import discover
from compliance.judge import judge
from compliance.report.junit import render_junit
from compliance.report.model import build_report
from compliance.report.plain import plain
from compliance.vocabulary import Profile
from compliance.waivers import Waiver
from tests.support.broken_trees import CASES
from tests.support.faults import invalid_run
from tests.support.hostile_trees import hostile_tree
from tests.support.trees import clean_tree

# Element: its attributes (needed, allowed), the order of its children.
FORM = {
    "testsuites": ({"name", "tests", "failures", "errors", "time"}, set(), ["testsuite"]),
    "testsuite": ({"name", "tests", "failures", "errors", "skipped", "time"}, set(), ["testcase"]),
    "testcase": ({"name", "classname", "time"}, set(), ["skipped", "failure", "system-out"]),
    "skipped": ({"message"}, set(), []),
    "failure": ({"message", "type"}, set(), []),
    "system-out": (set(), set(), []),
}


def report(made, root, profile=Profile.STRICT, waivers=()):
    return build_report(judge(discover(made.write(root), made.round), made.round), profile, waivers)


def read(found):
    root = ET.fromstring(render_junit(found).encode())  # noqa: S314 - our own
    check_form(root)
    return root


def check_form(element):
    needed, allowed, children = FORM[element.tag]
    assert needed <= set(element.attrib) <= needed | allowed
    order = [children.index(child.tag) for child in element]
    assert order == sorted(order)
    assert len(element.findall("skipped")) + len(element.findall("failure")) <= 1
    for child in element:
        check_form(child)
    if element.tag in {"testsuites", "testsuite"}:
        cases = list(element.iter("testcase"))
        assert int(element.get("tests")) == len(cases)
        assert int(element.get("failures")) == sum(case.find("failure") is not None for case in cases)
        assert len({(case.get("classname"), case.get("name")) for case in cases}) == len(cases)


@pytest.mark.parametrize("case", CASES[::4], ids=lambda case: case.id)
def test_it_fails_where_the_report_does(case, tmp_path):
    made = case.make()
    judgement = judge(discover(made.write(tmp_path), made.round), made.round)
    for profile in Profile:
        found = build_report(judgement, profile)
        root = read(found)
        assert (int(root.get("failures")) > 0) is (found.exit_code == 1)
        _, *suites = root
        assert [suite.get("name") for suite in suites] == [plain(result.path) for result in found.results]
        for suite, result in zip(suites, found.results, strict=True):
            assert (int(suite.get("failures")) > 0) is (result.verdict == "invalid")


def test_a_failure_says_what_was_compared_and_where(tmp_path):
    root = read(report(clean_tree().performance("Server", effective_min_duration_ms=300_000), tmp_path))
    (failure,) = root.iter("failure")
    assert failure.get("type") == "PERF-007"
    first, *rest = failure.text.splitlines()
    assert first.startswith("error: closed/Acme/results/node8/llama3.1-8b/Server/performance/run_1/mlperf_log_detail")
    assert "  wanted: effective_min_duration_ms >= 600000 ms" in rest
    assert "  found: effective_min_duration_ms = 300000 ms" in rest


def test_a_check_that_does_not_apply_is_skipped_with_its_reason(tmp_path):
    root = read(report(clean_tree(), tmp_path))
    skipped = list(root.iter("skipped"))
    assert skipped
    assert all(one.get("message") for one in skipped)


def test_a_waived_error_is_skipped_in_strict_alone(tmp_path):
    made, waiver = invalid_run(), Waiver("PERF-008", "agreed", date(2999, 1, 1))
    root = read(report(made, tmp_path, waivers=(waiver,)))
    assert root.get("failures") == "0"
    (case,) = [case for case in root.iter("testcase") if case.get("name").startswith("PERF-008") and len(case) == 2]
    assert case.find("skipped").get("message") == "waived until 2999-01-01: agreed"
    assert "waived: agreed" in case.find("system-out").text


def test_hostile_names_are_text(tmp_path):
    text = render_junit(report(hostile_tree(), tmp_path))
    assert all(plain(line) == line for line in text.split("\n"))
    root = ET.fromstring(text.encode())  # noqa: S314 - our own
    check_form(root)
    assert int(root.get("failures")) > 0
