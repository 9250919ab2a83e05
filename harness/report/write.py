"""Write a report: the page, and the same data as JSON and text beside it."""

from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from harness.errors import PreflightError
from harness.report.collect import collect
from harness.report.json_ import render_json
from harness.report.text import render_text
from harness.storage import write_atomic

if TYPE_CHECKING:
    from compliance.report.model import Report


def write_report(campaign_out: Path, tree: Path | None, report: "Report | None", out_html: Path) -> None:
    """Write `out_html` and, beside it with the endings .json and .txt, the same data.

    `tree` is the rendered submission, `report` the checks' report on it; without them the page says "not checked".
    Raises PreflightError without matplotlib, StorageError when a file cannot be written.
    """
    if find_spec("matplotlib") is None:
        raise PreflightError(("the report draws with matplotlib, which is missing; install weighbridge[report]",))
    from harness.report.html import render_html  # noqa: PLC0415 - matplotlib takes half a second to load

    data = collect(campaign_out, tree, report)
    page = render_html(data)
    write_atomic(out_html.with_suffix(".json"), render_json(data))
    write_atomic(out_html.with_suffix(".txt"), render_text(data))
    write_atomic(out_html, page)
