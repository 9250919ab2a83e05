"""A campaign's plan as text, 80 columns: what `weighbridge plan` prints."""

import textwrap
from collections.abc import Iterator

from harness.campaign.model import Campaign
from harness.plan.plan import CampaignPlan

WIDTH = 80
_SHOWN = (
    "effective_min_duration_ms",
    "effective_min_query_count",
    "effective_samples_per_query",
    "effective_target_qps",
    "effective_performance_sample_count",
    "effective_sample_concatenate_permutation",
)


def render_plan(campaign: Campaign, plan: CampaignPlan, *, settings: bool = False) -> str:
    """The runs with predicted samples, duration and what ends each; `settings` adds what LoadGen's log will show."""
    return "\n".join(_lines(campaign, plan, settings=settings)) + "\n"


def _lines(campaign: Campaign, plan: CampaignPlan, *, settings: bool) -> Iterator[str]:
    yield from _wrap(
        f"{campaign.benchmark}, round {campaign.round}, {campaign.division} division, SUT {campaign.sut.name}, "
        f"{campaign.worker_count} worker{'s' if campaign.worker_count > 1 else ''}"
    )
    yield ""
    yield f"{'run':<26}{'samples':>9}{'time':>9}  ends by"
    for run in plan.runs:
        head = f"{run.name:<26}{run.prediction.samples:>9}{duration(run.prediction.duration_s):>9}  "
        yield from _wrap(run.prediction.bound, head, " " * len(head))
        for note in run.prediction.notes:
            if run.audit is None:
                yield from _wrap(note, "  ! ", "    ")
        if settings:
            yield from (f"    {key} = {run.settings.expected_effective.get(key, '-')}" for key in _SHOWN)
    yield ""
    total = f"{len(plan.runs)} runs, {duration(plan.duration_s)} at the target rates, without engine start and drain."
    yield from _wrap(total)
    for note in plan.notes:
        yield from _wrap(note, "! ", "  ")


def _wrap(text: str, first: str = "", rest: str = "") -> list[str]:
    return textwrap.wrap(text, WIDTH, initial_indent=first, subsequent_indent=rest, drop_whitespace=True) or [first]


def duration(seconds: float) -> str:
    """A duration for people: 42 s, 10 min, 1 h 05."""
    if seconds < 100:  # noqa: PLR2004 - two digits of seconds say more than a minute
        return f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 100 else f"{minutes // 60} h {minutes % 60:02d}"  # noqa: PLR2004 - likewise
