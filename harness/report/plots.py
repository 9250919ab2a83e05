"""Distributions and series as inline SVG: text stays text, colours are the page's, so that dark and light both read."""

import io
import re
from collections.abc import Iterator

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.backends.backend_svg import FigureCanvasSVG
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, LogLocator, MaxNLocator, NullFormatter

from harness.report.model import Distribution, Series

# Colours that stand for the page's own; replaced by CSS variables in the SVG.
_INK, _SOFT, _GRID, _BAR, _LINE, _LIMIT = "#0a0b0c", "#1a1b1c", "#2a2b2c", "#3a3b3c", "#4a4b4c", "#5a5b5c"
_VARIABLES = {
    _INK: "var(--ink)",
    _SOFT: "var(--soft)",
    _GRID: "var(--rule)",
    _BAR: "var(--bar)",
    _LINE: "var(--accent)",
    _LIMIT: "var(--bad)",
}
_SIZE_IN = (4.3, 2.35)
_STYLE = {
    "svg.fonttype": "none",
    "svg.hashsalt": "weighbridge",
    "font.family": "sans-serif",
    "font.size": 9,
    "text.color": _INK,
    "axes.labelcolor": _SOFT,
    "axes.edgecolor": _GRID,
    "xtick.color": _SOFT,
    "ytick.color": _SOFT,
    "axes.linewidth": 0.8,
    "path.simplify": True,
}
# Room for labels and for the names of the marks, as parts of the figure; a layout engine would take seconds a page.
_MARGINS = {"left": 0.135, "right": 0.985, "top": 0.8, "bottom": 0.19}
# The width of a letter of a mark's name, as a part of the plot's.
_LETTER = 0.026
# From this ratio on only powers of ten have room on an axis.
_WIDE = 300.0
_K, _M = 1e3, 1e6


def draw_distribution(data: Distribution, figure_id: str) -> str:
    """A histogram with its median, 99th percentile and limit, as SVG text. `figure_id` makes its element ids unique."""
    with mpl.rc_context(_STYLE):
        figure, axes = _figure()
        widths = [right - left for left, right in zip(data.edges, data.edges[1:], strict=False)]
        axes.bar(data.edges[:-1], data.counts, widths, align="edge", color=_BAR, edgecolor="none")
        if data.log_scale:
            axes.set_xscale("log")
            wide = max(data.edges[-1], data.limit or 0.0) / data.edges[0] > _WIDE
            axes.xaxis.set_major_locator(LogLocator(base=10, subs=(1.0,) if wide else (1.0, 2.0, 5.0), numticks=8))
            axes.xaxis.set_minor_formatter(NullFormatter())
        else:
            axes.xaxis.set_major_locator(MaxNLocator(5))
        axes.xaxis.set_major_formatter(FuncFormatter(_tick))
        axes.set_xlabel(data.unit)
        axes.set_ylabel("samples")
        _marks(axes, data)
        return _svg(figure, figure_id, f"{data.name}: histogram of {data.samples} samples in {data.unit}")


def _marks(axes: Axes, data: Distribution) -> None:
    """Vertical lines with their names above the plot; names that would overlap go to different rows."""
    marks = [(data.p50, "p50", _LINE, ":"), (data.p99, "p99", _LINE, "-")]
    if data.limit is not None:
        marks.append((data.limit, data.limit_name, _LIMIT, "-"))
    left, right = axes.get_xlim()
    right = max(right, (data.limit or 0.0) * (1.15 if data.log_scale else 1.02))
    axes.set_xlim(left, right)
    transform = axes.get_xaxis_transform()
    taken: list[tuple[float, float, int]] = []
    for value, name, color, style in sorted(marks):
        axes.axvline(value, color=color, linewidth=1.3, linestyle=style)
        place = float(axes.transAxes.inverted().transform(axes.transData.transform((value, 0.0)))[0])
        label = f"{name} {_tick(value)}"
        side, start, end = _extent(place, len(label) * _LETTER)
        rows = {row for left, right, row in taken if start < right and left < end}
        row = next(number for number in range(len(marks)) if number not in rows)
        taken.append((start, end, row))
        axes.text(value, 1.03 + 0.1 * row, label, color=color, ha=side, transform=transform, fontsize=8.5)


def _extent(place: float, width: float) -> tuple[str, float, float]:
    """How a name at a place of the axis is aligned so that it stays inside, and from where to where it reaches."""
    if place + width / 2 > 1.0:
        return "right", place - width, place
    if place - width / 2 < 0.0:
        return "left", place, place + width
    return "center", place - width / 2, place + width / 2


def draw_series(data: Series, figure_id: str) -> str:
    """A quantity over the run with its mean, as SVG text."""
    with mpl.rc_context(_STYLE):
        figure, axes = _figure()
        axes.stairs(data.values, data.times_s, fill=True, color=_BAR, alpha=0.55, linewidth=0)
        axes.stairs(data.values, data.times_s, color=_LINE, linewidth=1.2, baseline=None)
        axes.axhline(data.mean, color=_INK, linewidth=0.9, linestyle=":")
        axes.set_xlim(0, data.times_s[-1])
        axes.set_ylim(bottom=0)
        axes.text(1.0, 1.03, f"mean {_tick(data.mean)}", ha="right", transform=axes.transAxes, fontsize=8.5)
        axes.xaxis.set_major_locator(MaxNLocator(6))
        axes.yaxis.set_major_formatter(FuncFormatter(_tick))
        axes.set_xlabel("s since the first query")
        axes.set_ylabel(data.unit)
        return _svg(figure, figure_id, f"{data.name} over the run, in {data.unit}")


def _figure() -> tuple[Figure, Axes]:
    figure = Figure(figsize=_SIZE_IN)
    figure.subplots_adjust(**_MARGINS)
    FigureCanvasSVG(figure)
    figure.patch.set_alpha(0.0)
    axes = figure.add_subplot()
    axes.patch.set_alpha(0.0)
    axes.spines[["top", "right", "left"]].set_visible(False)
    axes.grid(axis="y", color=_GRID, linewidth=0.7)
    axes.set_axisbelow(True)
    axes.tick_params(length=0)
    axes.yaxis.set_major_locator(MaxNLocator(4))
    axes.yaxis.set_major_formatter(FuncFormatter(_tick))
    return figure, axes


def _tick(value: float, _position: int | None = None) -> str:
    """A number short enough for an axis: 12.5k, 1.2M, 0.035."""
    for size, letter in ((_M, "M"), (_K * 10, "k")):
        if abs(value) >= size:
            return f"{value / (_K if letter == 'k' else _M):.3g}{letter}"
    return f"{value:,.0f}" if abs(value) >= _K else f"{value:.3g}"


def _svg(figure: Figure, figure_id: str, label: str) -> str:
    buffer = io.StringIO()
    figure.savefig(buffer, format="svg", transparent=True, metadata={"Date": None, "Creator": None})
    text = buffer.getvalue()
    text = text[text.index("<svg") :]
    text = re.sub(r"<metadata>.*?</metadata>", "", text, flags=re.DOTALL)
    text = re.sub(r"<defs>\s*<style.*?</style>\s*</defs>\s*", "", text, flags=re.DOTALL)
    text = re.sub(r"<!--.*?-->\s*", "", text, flags=re.DOTALL)
    text = re.sub(r"font: ([\d.]+)px [^;\"]+", r"font-size: \1px", text)
    text = "".join(_with_own_ids(text, figure_id))
    for color, variable in _VARIABLES.items():
        text = text.replace(color, variable)
    opening = re.sub(r' (?:width|height)="[^"]*"', "", text[: text.index(">")])
    return f'{opening} role="img" aria-label="{label}"{text[text.index(">") :]}'


def _with_own_ids(text: str, figure_id: str) -> Iterator[str]:
    """The SVG with every id kept unique in the page: those referred to get a prefix, the others go."""
    used = set(re.findall(r'(?:url\(#|href="#)([^)"]+)', text))
    at = 0
    for match in re.finditer(r'( id="|url\(#|href="#)([^)"]+)(["\)])', text):
        yield text[at : match.start()]
        at = match.end()
        before, name, after = match.groups()
        if name in used:
            yield f"{before}{figure_id}-{name}{after}"
    yield text[at:]
