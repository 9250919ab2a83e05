"""Judging a submission tree by the rules of a round: discovery, checks and report in one call."""

from pathlib import Path

from compliance.discover import discover
from compliance.errors import UnreadableFile
from compliance.judge import judge
from compliance.report.model import Report, build_report
from compliance.rulebook import benchmark_of, load_round, round_names
from compliance.submission.manifest import manifest_path, read_manifest
from compliance.vocabulary import Profile
from compliance.waivers import load_waivers

DEFAULT_ROUND = "v6.1"


def packaged_round(tree: Path) -> str | None:
    """The round that the manifest beside a tree names; None without a manifest that can be read and has rules here."""
    try:
        name = read_manifest(tree).round_name if manifest_path(tree).is_file() else None
    except UnreadableFile:
        return None
    return name if name in round_names() else None


def likely_round(report: Report) -> str | None:
    """Another round that knows the benchmarks its own round does not; None when none does, or none is unknown."""
    judged = load_round(report.round)
    unknown = {result.benchmark for result in report.results if benchmark_of(judged, result.benchmark) is None}
    others = (load_round(name) for name in round_names() if name != report.round)
    fitting = (other.name for other in others if any(benchmark_of(other, name) for name in unknown))
    return next(fitting, None)


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
