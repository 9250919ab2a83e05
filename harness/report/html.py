"""The report as one HTML page that loads nothing: styles and figures are inside it, every value is escaped."""

from collections.abc import Iterator
from importlib import resources

import jinja2
from markupsafe import Markup

from harness.report import words
from harness.report.model import ReportData, ScenarioView
from harness.report.plots import draw_distribution, draw_series


def render_html(data: ReportData) -> str:
    """The page. Needs matplotlib (the `report` extra)."""
    environment = jinja2.Environment(
        autoescape=True, undefined=jinja2.StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    environment.filters |= {
        "number": words.number,
        "percent": words.percent,
        "bound": words.bound,
        "tone": words.tone,
        "says": words.says,
    }
    template = (resources.files("submission_templates") / "report.html.j2").read_text(encoding="utf-8")
    figures = {id(view): tuple(_figures(view, number)) for number, view in enumerate(data.scenarios)}
    views = [(view, figures[id(view)]) for view in data.scenarios]
    return environment.from_string(template).render(report=data, views=views)


def _figures(view: ScenarioView, number: int) -> Iterator[tuple[str, str, Markup]]:
    """Title, note and drawing of every figure of a scenario."""
    for index, data in enumerate(view.distributions):
        svg = draw_distribution(data, f"s{number}d{index}")
        mean, p90, most = (words.number(value) for value in (data.mean, data.p90, data.maximum))
        note = f"mean {mean}, p90 {p90}, most {most} {data.unit}"
        if data.reported_p99 is not None:
            note += f"; LoadGen's p99 {words.number(data.reported_p99)}"
        yield data.name, note, Markup(svg)  # noqa: S704 - drawn by matplotlib, which escapes the text it is given
    for index, series in enumerate(view.series):
        svg = draw_series(series, f"s{number}t{index}")
        yield series.name, f"per step of {_step(series.times_s):.3g} s", Markup(svg)  # noqa: S704 - as above


def _step(times_s: tuple[float, ...]) -> float:
    return times_s[1] - times_s[0]
