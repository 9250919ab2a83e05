"""Where a campaign stands: which runs are done, and why others are to be made again. Told from the disk alone."""

import textwrap

from harness.errors import StorageError
from harness.plan.plan import CampaignPlan, PlannedRun
from harness.run.record import RunRecord
from harness.run.step import RUN_NAME
from harness.run.summary import is_invalid
from harness.storage import read_record, sha256_file

WIDTH = 80


def done(run: PlannedRun) -> RunRecord | None:
    """The record of a run that needs not be made again: ok, not INVALID, of the same plan, its files as they were."""
    found = standing(run)
    return found if isinstance(found, RunRecord) else None


def standing(run: PlannedRun) -> RunRecord | str:
    """The record of a run that is done, or why it is to be made: empty when there is nothing of it yet."""
    if not (run.folder / RUN_NAME).exists():
        return "it was cut off" if any(run.folder.glob("*")) else ""
    try:
        record = read_record(run.folder / RUN_NAME, RunRecord)
        if record.status != "ok" or is_invalid(run, record):
            return f"it was {record.status if record.status != 'ok' else 'INVALID'}"
        if record.plan_sha256 != run.plan_sha256:
            return "the plan has changed: settings, SUT, sampling, dataset, workers or policy"
        for name, digest in record.files.items():
            if sha256_file(run.folder / name) != digest:
                return f"{name} is not as the run has left it"
    except StorageError as error:
        return f"its record or its files cannot be read: {error}"
    return record


def render_standing(plan: CampaignPlan) -> str:
    """A line for every run of which there is something already; empty for a campaign that has not begun."""
    lines: list[str] = []
    for run in plan.runs:
        found = standing(run)
        if isinstance(found, RunRecord):
            lines.append(f"{run.name:<26}done{f', {found.validity}' if found.validity else ''}")
        elif found:
            text = f"{run.name:<26}to be made again, since {found}"
            lines += textwrap.wrap(text, WIDTH, subsequent_indent=" " * 26)
    if not lines:
        return ""
    return "\n".join(("So far:", *lines)) + "\n"
