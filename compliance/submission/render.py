"""Carry out placements: the whole tree, or nothing.

The tree grows in a folder beside its target and takes the target's name by one rename at the end. Whatever is missing
or wrong is collected first; a failure on the way removes what was written.
"""

import errno
import json
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources
from pathlib import Path, PurePosixPath

import jinja2

from compliance.errors import ComplianceError, RenderError, TargetError
from compliance.submission.manifest import Manifest, list_files, manifest_path, manifest_text
from compliance.submission.originals import keep_originals
from compliance.submission.place import Action, Placement
from compliance.submission.private import private_content
from compliance.submission.storage import sha256_file, sync_file, write_atomic
from compliance.submission.truncate import truncate_accuracy_log

_HASH_PREFIX = "hash="


@dataclass(frozen=True, slots=True)
class Target:
    """Where a tree goes. `originals` takes the whole accuracy logs; with `replace` a tree rendered before gives way."""

    tree: Path
    originals: Path
    round_name: str
    replace: bool = False


@cache
def environment() -> jinja2.Environment:
    """The templates of a submission tree: plain text and JSON, where an undefined name is an error."""
    env = jinja2.Environment(
        loader=jinja2.FunctionLoader(_load_template),
        autoescape=False,  # noqa: S701 - Markdown, JSON and LoadGen's user.conf; report.html.j2 has its own environment
        undefined=jinja2.StrictUndefined,
        keep_trailing_newline=True,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    env.filters["json"] = _json
    env.filters["cell"] = markdown_cell
    return env


def _load_template(name: str) -> str | None:
    file = resources.files("submission_templates") / name
    return file.read_text(encoding="utf-8") if file.is_file() else None


def _json(value: object) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False)


def markdown_cell(value: object) -> str:
    """A value as one cell of a Markdown table: on one line, its markup made harmless."""
    text = " ".join(str(value).split())
    for character in "\\|`<>":
        text = text.replace(character, f"&#{ord(character)};")
    return text


def render(placements: Sequence[Placement], target: Target) -> Manifest:
    """Write the tree and the manifest beside it, and keep the whole accuracy logs. Returns the manifest.

    Raises RenderError with every problem; then neither tree nor manifest exists (or the tree of before is untouched).
    """
    if misplaced := tuple(_target_problems(target)):
        raise TargetError(misplaced)
    problems = [*_source_problems(placements)]
    texts: dict[str, str] = {}
    for placement in placements:
        if placement.action is Action.TEMPLATE:
            problems += _fill(placement, texts)
    if problems:
        raise RenderError(tuple(problems))
    try:
        return _write(placements, texts, target)
    except OSError as error:
        reason = "the disk is full" if error.errno == errno.ENOSPC else error.strerror or str(error)
        place = error.filename or target.tree
        raise RenderError((f"{place}: {reason}; nothing was written, make room or give another --out",)) from error


def _target_problems(target: Target) -> Iterator[str]:
    tree = target.tree
    if not tree.parent.is_dir():
        yield f"{tree.parent}: no such folder; create it or give another --out"
    if tree.exists() and (not tree.is_dir() or any(tree.iterdir())):
        if not target.replace:
            yield f"{tree}: exists and is not empty; remove it, give another --out or take its place with --replace"
        elif not manifest_path(tree).is_file():
            yield f"{tree}: has no manifest beside it, so it was not rendered here; remove it yourself"


def _source_problems(placements: Sequence[Placement]) -> Iterator[str]:
    seen: set[str] = set()
    for placement in placements:
        parts = PurePosixPath(placement.target)
        if parts.is_absolute() or ".." in parts.parts or "\0" in placement.target:
            yield f"{placement.target!r} would lie outside the tree; correct the names in the campaign"
        if placement.target in seen:
            yield f"{placement.target}: two files claim this place; correct the names in the campaign"
        seen.add(placement.target)
        for source in (placement.source, placement.log):
            if source is not None:
                yield from _unusable(source, placement.target)


def _unusable(source: Path, target: str) -> Iterator[str]:
    if not source.is_file():
        yield f"{source}: missing, needed for {target}; run the step again with `weighbridge run`"
    elif source.stat().st_size == 0:
        yield f"{source}: empty, needed for {target}; run the step again with `weighbridge run`"


def _fill(placement: Placement, texts: dict[str, str]) -> Iterator[str]:
    try:
        text = environment().get_template(placement.template).render(placement.context)
    except (jinja2.TemplateError, TypeError, ValueError) as error:
        yield f"{placement.target}: template {placement.template} cannot be filled: {error}; report this as a fault"
        return
    for what in private_content(text):
        yield f"{placement.target}: would publish {what}; take it out of the campaign or the system description"
    texts[placement.target] = text


def _write(placements: Sequence[Placement], texts: dict[str, str], target: Target) -> Manifest:
    partial = Path(tempfile.mkdtemp(dir=target.tree.parent, prefix=f".{target.tree.name}.", suffix=".partial"))
    staged = partial.with_name(f"{partial.name}.json")
    try:
        _carry_out_all(placements, partial, texts)
        partial.chmod(0o755)
        truncated = {p.target: p.source for p in placements if p.action is Action.TRUNCATE and p.source is not None}
        originals = keep_originals(truncated, target.originals)
        manifest = Manifest(target.round_name, target.tree, list_files(partial), originals)
        write_atomic(staged, manifest_text(manifest))
        _take_name(partial, target.tree)
    except BaseException:
        shutil.rmtree(partial, ignore_errors=True)
        staged.unlink(missing_ok=True)
        raise
    staged.replace(manifest.path)
    return manifest


def _take_name(partial: Path, tree: Path) -> None:
    """Give the finished folder the tree's name; a tree of before steps aside and is removed only then."""
    if not tree.exists() or not any(tree.iterdir()):
        partial.replace(tree)
        return
    aside = partial.with_name(f"{partial.name}.old")
    tree.replace(aside)
    try:
        partial.replace(tree)
    except OSError:
        aside.replace(tree)
        raise
    shutil.rmtree(aside, ignore_errors=True)


def _carry_out_all(placements: Sequence[Placement], folder: Path, texts: dict[str, str]) -> None:
    problems: list[str] = []
    for placement in placements:
        path = folder / placement.target
        path.parent.mkdir(parents=True, exist_ok=True)
        problems += _carry_out(placement, path, texts)
    if problems:
        raise RenderError(tuple(problems))


def _carry_out(placement: Placement, path: Path, texts: dict[str, str]) -> Iterator[str]:
    if placement.action is Action.TEMPLATE:
        write_atomic(path, texts[placement.target])
        return
    if placement.action is Action.HASH:
        yield from _write_hashed(placement, path)
        return
    source = placement.source
    if source is None:
        yield f"{placement.target}: has no source; report this as a fault"
        return
    if placement.action is Action.COPY:
        shutil.copyfile(source, path)
        sync_file(path)
        found = sha256_file(path)
    else:
        try:
            found = truncate_accuracy_log(source, path)
        except ComplianceError as error:
            yield str(error)
            return
    if placement.sha256 is not None and found != placement.sha256:
        yield f"{source}: changed since its run ended; run the step again with `weighbridge run`"


def _write_hashed(placement: Placement, path: Path) -> Iterator[str]:
    """accuracy.txt with exactly one `hash=` line, which is the SHA-256 of the whole accuracy log."""
    if placement.log is None:
        yield f"{placement.target}: has no accuracy log to take the hash of; report this as a fault"
        return
    digest = sha256_file(placement.log)
    text = placement.source.read_text(encoding="utf-8", errors="replace") if placement.source else ""
    stated = [line for line in text.splitlines() if line.startswith(_HASH_PREFIX)]
    if any(line.strip() != _HASH_PREFIX + digest for line in stated):
        yield (
            f"{placement.source}: states another hash than its accuracy log {placement.log.name} has; "
            "score it again with `weighbridge accuracy`"
        )
        return
    if not stated:
        text = f"{text.rstrip()}\n\n{_HASH_PREFIX}{digest}\n" if text.strip() else f"{_HASH_PREFIX}{digest}\n"
    write_atomic(path, text)
