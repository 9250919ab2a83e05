"""Markdown: a comment that shows the verdict, the results and the findings, and lets no name make markup."""

import re
from dataclasses import replace
from datetime import date

import pytest

from compliance.discovery.submission import discover
from compliance.judge import judge
from compliance.report.grouping import last_line
from compliance.report.markdown import MOST_CHARACTERS, _code, _prose, render_markdown
from compliance.report.model import build_report
from compliance.report.plain import plain
from compliance.vocabulary import Profile
from compliance.waivers import Waiver
from tests.support.broken_trees import CASES
from tests.support.faults import invalid_run
from tests.support.hostile_trees import hostile_tree
from tests.support.trees import clean_tree

HEAD = "| system | benchmark | scenario | result | accuracy | verdict | official |"
CELL = re.compile(r"(?<!\\)\|")


def report(made, root, profile=Profile.STRICT, waivers=()):
    return build_report(judge(discover(made.write(root), made.round), made.round), profile, waivers)


def table(text):
    lines = text.split("\n")
    start = lines.index(HEAD)
    return [line for line in lines[start + 2 : lines.index("", start)] if line.startswith("| ")]


@pytest.mark.parametrize("case", CASES[::4], ids=lambda case: case.id)
def test_a_comment_begins_with_the_verdict_and_names_every_finding(case, tmp_path):
    made = case.make()
    judgement = judge(discover(made.write(tmp_path), made.round), made.round)
    for profile in Profile:
        found = build_report(judgement, profile)
        text = render_markdown(found)
        assert text.startswith(f"### {_prose(last_line(found))}\n")
        assert len(table(text)) == len(found.results)
        assert all(len(CELL.findall(row)) == 8 for row in table(text))
        for finding in found.every_finding():
            if finding.severity != "info":
                assert f"- **{finding.id}** " in text


def test_a_clean_tree_has_no_findings(tmp_path):
    text = render_markdown(report(clean_tree(), tmp_path))
    assert text.startswith("### PASS: all 2 results valid (strict)\n")
    assert "####" not in text
    assert "| `node8` | `llama3.1-8b` | `Server` | 27600.5 tok/s | +1.01% | valid | valid |" in text


def test_findings_are_grouped_under_their_severity(tmp_path):
    made = clean_tree().performance("Server", effective_min_duration_ms=300_000)
    for scenario in made.scenarios:
        made.performance(scenario, effective_qsl_rng_seed=1)
    text = render_markdown(report(made, tmp_path))
    assert text.count("#### Errors") == 1
    assert text.count("- **PERF-002**") == 1
    assert "  - wanted: `effective_min_duration_ms >= 600000 ms`" in text
    assert re.search(r"  - at `closed/Acme/[^`]*Offline[^`]*:\d+`, `closed/Acme/[^`]*Server[^`]*:\d+`", text)


def test_waivers_and_official_rejections_are_told(tmp_path):
    waiver = Waiver("PERF-008", "a `reason`", date(2999, 1, 1))
    text = render_markdown(report(invalid_run(), tmp_path / "a", waivers=(waiver,)))
    assert r"waived until 2999-01-01: a \`reason\`" in text
    made = clean_tree().performance("Server", result_completed_samples_per_sec=None)
    text = render_markdown(report(made, tmp_path / "b"))
    assert "the official checker rejects this; strict does not" in text


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("a", "`a`"),
        ("a`b", "`` a`b ``"),
        ("``", "``` `` ```"),
        ("", "`  `"),
        ("a|b", "`a|b`"),
        ("a\nb", r"`a\nb`"),
    ],
)
def test_a_code_span_holds_any_text(text, code):
    assert _code(text) == code


def test_a_pipe_ends_no_cell():
    assert _code("a|b", in_table=True) == r"`a\|b`"


@pytest.mark.parametrize(
    ("text", "prose"),
    [
        ("a|b`c`", r"a\|b\`c\`"),
        ("<b>*x*_y_", r"\<b\>\*x\*\_y\_"),
        ("[x](y)", r"\[x\](y)"),
        ("ask @you", "ask @<!-- -->you"),
        ("see https://example.org and www.example.org", "see https:<!-- -->//example.org and www<!-- -->.example.org"),
        ("two\nlines", "two lines"),
    ],
)
def test_prose_makes_no_markup_no_mention_no_link(text, prose):
    assert _prose(text) == prose


def test_hostile_names_are_text(tmp_path):
    text = render_markdown(report(hostile_tree(), tmp_path))
    assert all(plain(line) == line for line in text.split("\n"))
    assert len(table(text)) == 2
    assert all(len(CELL.findall(row)) == 8 for row in table(text))
    outside = re.sub(r"(`+).+?\1(?!`)", "", text)
    assert "<&" not in outside
    assert "@you" not in outside


def test_one_kind_that_wants_many_things_is_one_entry(tmp_path):
    found = report(invalid_run(), tmp_path)
    invalid = found.results[1]
    (finding,) = [one for one in invalid.findings if one.id == "PERF-008"]
    many = tuple(replace(finding, expected=f"thing {number}") for number in range(12))
    text = render_markdown(replace(found, results=(replace(invalid, findings=many),)))
    assert (text.count("**PERF-008**"), text.count("wanted: `thing ")) == (1, 10)
    assert "and 2 more of that kind" in text


def test_a_comment_is_never_too_long(tmp_path):
    found = report(invalid_run(), tmp_path)
    invalid = found.results[1]
    (finding,) = [one for one in invalid.findings if one.id == "PERF-008"]
    many = tuple(replace(finding, fix=f"{number} {'long ' * 100}") for number in range(500))
    results = (*[found.results[0]] * 300, replace(invalid, findings=many))
    text = render_markdown(replace(found, results=results))
    assert len(text) <= MOST_CHARACTERS + 200
    assert re.search(r"and \d+ more kinds of finding\n$", text)
    assert "and 201 more results" in text
    assert "**invalid**" in table(text)[0]
