"""Truncating every accuracy log of a tree, planned: what truncate_accuracy_log.py does, in any round's layout.

TEST06's log stays whole, since its verdict is tested anew from it. A second run finds nothing to do.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from compliance.discovery.files import fill
from compliance.rulebook.model import Layout
from compliance.submission.draft import Draft, DraftFile, Step, TreePlan
from compliance.submission.layout_paths import results_in
from compliance.submission.place import ACCURACY_LOG, ACCURACY_TEXT, TRUNCATED_AUDITS
from compliance.submission.storage import sha256_file
from compliance.submission.truncate import LIMIT_BYTES, TRUNCATED_BYTES, is_truncated

_HASH_LINE = re.compile(rb"^hash=([0-9A-Za-z_]+)\s*$", re.MULTILINE)
_ENDPOINTS = ("config.yaml", "config.yml")


@dataclass(frozen=True, slots=True)
class _Cut:
    """What becomes of one log: a step, or why nothing is done, or a problem."""

    files: tuple[tuple[str, DraftFile], ...] = ()
    steps: tuple[Step, ...] = ()
    original: tuple[tuple[str, Path], ...] = ()
    problem: str = ""


def truncate_tree(draft: Draft, layout: Layout, skip: frozenset[str] = frozenset()) -> TreePlan:
    """The plan: each log over 10 KiB cut, its hash in accuracy.txt. `skip` names scenarios to leave out.

    Problems: a result without accuracy.txt, a truncated log whose hash stands nowhere, a stated hash that is another
    one than the whole log's. Reads the logs. Raises OSError when one cannot be read.
    """
    files = dict(draft.files)
    steps: list[Step] = []
    removed: dict[str, Path] = {}
    problems: list[str] = []
    for folder, audit in _folders(draft, layout, skip):
        cut = _cut(draft, folder, audit=audit)
        files.update(cut.files)
        steps += cut.steps
        removed.update(cut.original)
        problems += [cut.problem] if cut.problem else []
    after = Draft(dict(sorted(files.items())), draft.folders, draft.roots)
    return TreePlan(after, tuple(steps), removed, problems=tuple(problems))


def _folders(draft: Draft, layout: Layout, skip: frozenset[str]) -> Iterator[tuple[str, bool]]:
    """Every folder whose accuracy log is to be short, and whether it is an audit's."""
    for key in results_in(draft.files, layout):
        if key.scenario in skip:
            continue
        scenario_dir = fill(layout.scenario_dir, key.names)
        if not any(f"{scenario_dir}/{name}" in draft.files for name in _ENDPOINTS):
            yield fill(layout.accuracy_dir, key.names), False
        for audit in sorted(TRUNCATED_AUDITS):
            yield f"{fill(layout.audit_dir, {**key.names, 'audit': audit.value})}/accuracy", True


def _cut(draft: Draft, folder: str, *, audit: bool) -> _Cut:
    log_path, text_path = f"{folder}/{ACCURACY_LOG}", f"{folder}/{ACCURACY_TEXT}"
    log, text = draft.files.get(log_path), draft.files.get(text_path)
    if log is None:
        missing = f"{log_path}: missing, so it cannot be truncated; put the whole log there"
        return _Cut() if audit else _Cut(problem=missing)
    if text is None and not audit:
        return _Cut(problem=f"{text_path}: missing; score the log first with `weighbridge accuracy`")
    size = log.source.stat().st_size
    written = text.source.read_bytes() if text is not None else b""
    stated = [line.decode().lower() for line in _HASH_LINE.findall(written)]
    if _truncated(log.source, size):
        reason = "truncated already, and its hash stands nowhere; give the whole log"
        return _Cut() if stated else _Cut(problem=f"{log_path}: {reason}")
    return _changed(draft, (log_path, text_path), (size, written, stated))


def _changed(draft: Draft, paths: tuple[str, str], at_hand: tuple[int, bytes, list[str]]) -> _Cut:
    """What becomes of a whole log: its hash written where it does not stand, the log cut where it is over the limit."""
    (log_path, text_path), (size, written, stated) = paths, at_hand
    log, text = draft.files[log_path], draft.files.get(text_path)
    if stated and size <= LIMIT_BYTES:
        return _Cut()
    digest = sha256_file(log.source)
    if any(one != digest for one in stated):
        other = next(one for one in stated if one != digest)
        reason = f"states hash={other}, but the whole log beside it has {digest}"
        return _Cut(problem=f"{text_path}: {reason}; score the log again with `weighbridge accuracy`")
    files: list[tuple[str, DraftFile]] = []
    steps: list[Step] = []
    original: list[tuple[str, Path]] = []
    if not stated:
        line = f"hash={digest}\n".encode()
        files.append((text_path, DraftFile(text.source if text else log.source, _appended(written, line))))
        steps.append(Step("hash", text_path, reason=digest))
        original += [(text_path, text.source)] if text else []
    if size > LIMIT_BYTES:
        files.append((log_path, replace(log, cut=True, original_sha256=digest)))
        steps.append(Step("truncate", log_path, reason=f"{size:,} bytes become {TRUNCATED_BYTES:,}"))
        original.append((log_path, log.source))
    return _Cut(tuple(files), tuple(steps), tuple(original))


def _appended(written: bytes, line: bytes) -> bytes:
    """A text with one more line, after an empty one where there is text, as the official tool writes it."""
    return written + b"\n" + line if written else line


def _truncated(log: Path, size: int) -> bool:
    with log.open("rb") as stream:
        return is_truncated(stream.read(TRUNCATED_BYTES), size)
