"""The summary table of a text report: one line per result, within the terminal's width."""

from collections.abc import Iterator

from compliance.report.model import Report, ReportResult
from compliance.report.plain import columns, cut, plain

_HEADERS = ("system", "benchmark", "scenario", "result", "accuracy", "verdict", "official")
_RIGHT = {"result", "accuracy"}
_LEAST = {"system": 8, "benchmark": 11, "scenario": 11, "result": 8, "accuracy": 8}
_SHORT_UNITS = {"Latency (ms)": "ms", "Tokens/s": "tok/s", "Samples/s": "smp/s", "Queries/s": "qry/s"}
_SHOWN_VERDICTS = {"not_judged": "no rules"}


def summary_table(report: Report, width: int = 80) -> Iterator[str]:
    """Lines of the table; a heading per submitter. Accuracy is the tightest metric's distance to its bound."""
    rows = [(result, _cells(result)) for result in report.results]
    widths = _widths([cells for _, cells in rows], width)
    yield _line(_HEADERS, widths)
    yield _line(tuple("-" * size for size in widths), widths)
    submitter = None
    for result, cells in rows:
        heading = f"{result.division}/{result.submitter}"
        if heading != submitter:
            submitter = heading
            yield cut(plain(heading), width)
        yield _line(cells, widths)


def metric_text(result: ReportResult) -> str:
    """The metric with its unit, `?` when it cannot be read, a `*` when it is inferred from another scenario."""
    if result.metric is None:
        return "?"
    unit = _SHORT_UNITS.get(result.unit, result.unit)
    return f"{result.metric:.6g} {unit}{'*' if result.inferred else ''}"


def accuracy_text(result: ReportResult) -> str:
    """How far the tightest metric lies inside its bound, in percent; `?` when a metric with a bound cannot be read."""
    if not result.accuracy:
        return "-"
    if any(value.value is None and value.minimum is not None for value in result.accuracy.values()):
        return "?"
    margins = [value.margin for value in result.accuracy.values() if value.margin is not None]
    return f"{min(margins):+.2%}" if margins else "-"


def verdict_text(verdict: str) -> str:
    """A verdict as a table shows it."""
    return _SHOWN_VERDICTS.get(verdict, verdict)


def _cells(result: ReportResult) -> tuple[str, ...]:
    return (
        plain(result.system),
        plain(result.benchmark),
        plain(result.scenario),
        metric_text(result),
        accuracy_text(result),
        verdict_text(result.verdict),
        verdict_text(result.official_verdict),
    )


def _widths(rows: list[tuple[str, ...]], width: int) -> tuple[int, ...]:
    """Each column as wide as its cells, then the names' and the numbers' narrowed until the line fits."""
    sizes = {name: max(columns(row[at]) for row in (_HEADERS, *rows)) for at, name in enumerate(_HEADERS)}
    for name, least in _LEAST.items():
        over = sum(sizes.values()) + len(sizes) - 1 - width
        if over > 0:
            sizes[name] = max(least, sizes[name] - over)
    return tuple(sizes.values())


def _line(cells: tuple[str, ...], widths: tuple[int, ...]) -> str:
    shown = (_fit(cell, size, right=name in _RIGHT) for name, cell, size in zip(_HEADERS, cells, widths, strict=True))
    return " ".join(shown).rstrip()


def _fit(cell: str, size: int, *, right: bool) -> str:
    shown = cut(cell, size)
    blanks = " " * (size - columns(shown))
    return f"{blanks}{shown}" if right else f"{shown}{blanks}"
