"""The whole accuracy logs behind the truncated ones: an audit may ask for them (inference_rules.adoc:101-130)."""

import re
import shutil
import tempfile
from collections.abc import Mapping
from pathlib import Path

from compliance.submission.storage import sha256_file, sync_file, write_atomic

SUMS = "SHA256SUMS"
_SUM_LINE = re.compile(r"(?P<sha256>[0-9a-f]{64})  (?P<path>.+)")


def keep_originals(sources: Mapping[str, Path], folder: Path) -> dict[str, str]:
    """Copy each source to `folder` under its path in the tree, and list them in SHA256SUMS. Returns the hashes by path.

    What the folder held before stays unless it is the same path; `sha256sum -c SHA256SUMS` verifies it. Raises OSError.
    """
    hashes: dict[str, str] = {}
    for target, source in sources.items():
        path = folder / target
        path.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(dir=path.parent, prefix=f".{path.name}.", delete=False) as stream:
            partial = Path(stream.name)
        try:
            shutil.copyfile(source, partial)
            partial.chmod(0o644)
            sync_file(partial)
            hashes[target] = sha256_file(partial)
            partial.replace(path)
        except BaseException:
            partial.unlink(missing_ok=True)
            raise
    if hashes:
        _write_sums(folder / SUMS, hashes)
    return hashes


def read_sums(path: Path) -> dict[str, str]:
    """The hashes of a SHA256SUMS file by path; empty when there is no such file."""
    if not path.is_file():
        return {}
    matches = (_SUM_LINE.fullmatch(line) for line in path.read_text(encoding="utf-8").splitlines())
    return {match["path"]: match["sha256"] for match in matches if match}


def _write_sums(path: Path, hashes: Mapping[str, str]) -> None:
    kept = {name: digest for name, digest in read_sums(path).items() if (path.parent / name).is_file()}
    lines = (f"{digest}  {name}\n" for name, digest in sorted({**kept, **hashes}.items()))
    write_atomic(path, "".join(lines))
