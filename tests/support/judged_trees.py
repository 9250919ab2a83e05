"""Judgements as text to compare, and a tree of many systems to judge."""

from functools import partial

from compliance.report.csv_ import render_csv
from compliance.report.json_ import render_json
from compliance.report.junit import render_junit
from compliance.report.model import build_report
from compliance.report.text import render_text
from compliance.vocabulary import Profile
from tests.support.broken_trees import CASES
from tests.support.trees import clean_tree


def printed(judgement):
    """Every report of a judgement, in both profiles."""
    reports = [build_report(judgement, profile) for profile in Profile]
    renders = (render_json, partial(render_text, verbose=True), render_junit, render_csv)
    return "\n".join(render(report) for report in reports for render in renders)


def many_systems(root):
    """A tree of several submitters and systems, some of them broken."""
    tree = clean_tree()
    files = tree.write(root / "one")
    for at, case in enumerate(CASES[::9]):
        other = case.make()
        if other.round == tree.round:
            other.write(root / f"more{at}")
    for folder in sorted(root.glob("more*")):
        for division in folder.iterdir():
            for submitter in division.iterdir() if division.is_dir() else ():
                to = files / division.name / f"{submitter.name}-{folder.name}"
                to.parent.mkdir(exist_ok=True)
                submitter.rename(to)
    return files, tree.round
