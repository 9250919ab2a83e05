"""A table of the scores of results whose accuracy is out of bounds: found, wanted, and by how much."""

from collections.abc import Iterator

from compliance.report.accuracy import AccuracyValue
from compliance.report.model import Report, ReportResult
from compliance.report.wrap import wrapped

_TABLES = 3
_HEADER = ("metric", "found", "wanted", "margin")


def score_tables(report: Report, *, verbose: bool, width: int) -> Iterator[str]:
    """One table per result with a score out of bounds, of the first three results unless `verbose`."""
    outside = [result for result in report.results if any(_outside(value) for value in result.accuracy.values())]
    shown = outside if verbose else outside[:_TABLES]
    for result in shown:
        yield from wrapped(f"scores of {result.path}", width)
        yield from _table(result)
        yield ""
    if len(outside) > len(shown):
        yield f"and {len(outside) - len(shown)} more results with scores out of bounds (-v shows them)"
        yield ""


def margin_text(value: AccuracyValue) -> str:
    """How far a score lies from the bound it breaks, else from its lower one: -24.7 %, +214.8 % over the limit."""
    if value.value is None:
        return "?"
    if value.maximum is not None and (value.minimum is None or value.value > value.maximum):
        share = value.value / value.maximum - 1
        return f"{share:+.1%} over the upper limit" if share > 0 else f"{share:+.1%}"
    return "-" if value.minimum is None else f"{value.value / value.minimum - 1:+.1%}"


def _outside(value: AccuracyValue) -> bool:
    return value.margin is not None and value.margin < 0


def _table(result: ReportResult) -> Iterator[str]:
    rows = [_HEADER, *(_row(metric, value) for metric, value in result.accuracy.items())]
    sizes = [max(len(row[column]) for row in rows) for column in range(len(_HEADER))]
    for metric, found, wanted, margin in rows:
        line = f"  {metric:<{sizes[0]}}  {found:>{sizes[1]}}  {wanted:>{sizes[2]}}  {margin}"
        yield line.rstrip()


def _row(metric: str, value: AccuracyValue) -> tuple[str, str, str, str]:
    found = "?" if value.value is None else f"{value.value:.10g}"
    least = None if value.minimum is None else f"{value.minimum:.10g}"
    most = None if value.maximum is None else f"{value.maximum:.10g}"
    if least and most:
        return metric, found, f"{least} to {most}", margin_text(value)
    wanted = f">= {least}" if least else f"<= {most}" if most else "-"
    return metric, found, wanted, margin_text(value)
