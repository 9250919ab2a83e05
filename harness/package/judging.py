"""Judging a submission tree by the rules of a round: discovery, checks and report in one call."""

from pathlib import Path

from compliance.discover import discover
from compliance.judge import judge
from compliance.report.model import Report, build_report
from compliance.rulebook import load_round
from compliance.vocabulary import Profile
from compliance.waivers import load_waivers


def judge_tree(
    tree: Path,
    round_name: str,
    profile: Profile = Profile.STRICT,
    submitter: str | None = None,
    waivers: Path | None = None,
) -> Report:
    """The report on a tree. Raises RuleError for an unknown round, UnreadableFile for a wrong waiver file."""
    round_ = load_round(round_name)
    known = load_waivers(waivers) if waivers else ()
    return build_report(judge(discover(tree, round_, submitter), round_), profile, known)
