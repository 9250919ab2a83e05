"""The doctor's look at the places a run writes to: the campaign's `out`, and the folder of the workers' sockets."""

import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

from harness.campaign.model import Campaign
from harness.doctor.finding import Finding, fail, ok
from harness.workers.pool import MAX_FOLDER_BYTES

_PRIVATE_NAME = "wb-12345678"  # as long as the private folder that the pool makes in the temporary one


def place_findings(campaign: Campaign) -> Iterator[Finding]:
    """Whether `out` and the temporary folder can be used as a run will use them."""
    yield _out(campaign.out)
    yield _sockets()


def _out(out: Path) -> Finding:
    there = next(parent for parent in (out, *out.parents) if parent.exists() or parent.is_symlink())
    if not there.is_dir():
        return fail("out", f"{out} cannot be written: {there} is no folder", "choose another `out`")
    if not os.access(there, os.W_OK | os.X_OK):
        return fail("out", f"{out} cannot be written: no permission in {there}", "choose another `out`")
    return ok("out", str(out))


def _sockets() -> Finding:
    """Linux takes socket paths of at most 107 bytes (unix(7))."""
    try:
        folder = Path(tempfile.gettempdir())
    except FileNotFoundError as error:
        return fail("sockets", f"no temporary folder: {error.strerror}", "set TMPDIR to a folder that can be written")
    if len(os.fsencode(folder / _PRIVATE_NAME)) > MAX_FOLDER_BYTES:
        return fail("sockets", f"{folder} is too long a path for sockets", "set TMPDIR to a short one")
    return ok("sockets", f"in {folder}")
