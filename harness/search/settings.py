"""What LoadGen is asked for a probe: the campaign's own settings at another rate, in full or cut short."""

import hashlib
import math
from dataclasses import dataclass, replace

from compliance.rulebook.model import Round
from compliance.vocabulary import Scenario
from harness.campaign.model import Campaign
from harness.core.spec import LoadgenSettings, StopLoss
from harness.plan.plan import PERFORMANCE, CampaignPlan, PlannedRun, make_plan
from sut.dataset import DatasetInfo

# A 99th percentile lets one query in a hundred pass; half as many again leave no doubt.
_HOPELESS_SHARE = 0.015
_LEAST_HOPELESS = 5
# The plan is hashed at one rate, whichever: the search is over the rate.
_ANY_QPS = 1.0


@dataclass(frozen=True, slots=True)
class ShortProbe:
    """How long a short probe is: at least so many queries and at least so many seconds."""

    queries: int
    seconds: float

    def duration_s(self, qps: float) -> float:
        """How long it takes to issue it, in seconds."""
        return max(self.queries / qps, self.seconds)


def plan_at(campaign: Campaign, round_: Round, info: DatasetInfo, scenario: Scenario, qps: float) -> CampaignPlan:
    """The campaign's plan with this scenario alone, at this rate. Raises PlanError."""
    choice = campaign.scenarios[scenario].model_copy(update={"target_qps": qps})
    asked = campaign.model_copy(update={"scenarios": {scenario: choice}})
    return make_plan(asked, round_, info.size, info.sha256)


def performance_run(plan: CampaignPlan) -> PlannedRun:
    """The performance run of a plan of one scenario."""
    return next(run for run in plan.runs if run.step == PERFORMANCE)


def shortened(settings: LoadgenSettings, probe: ShortProbe) -> LoadgenSettings:
    """The same test with fewer queries and less time, and without whole passes over the dataset."""
    wanted = {
        "min_duration": round(probe.seconds * 1000),
        "min_query_count": probe.queries,
        "sample_concatenate_permutation": 0,
    }
    lines = []
    for line in settings.user_conf.splitlines():
        name, _, _ = line.partition(" = ")
        key = name.rpartition(".")[2]
        lines.append(f"{name} = {wanted[key]}" if key in wanted else line)
    expected = dict(settings.expected_effective)
    expected["effective_min_duration_ms"] = wanted["min_duration"]
    expected["effective_min_query_count"] = probe.queries
    expected["effective_sample_concatenate_permutation"] = False
    return replace(settings, user_conf="\n".join(lines) + "\n", expected_effective=expected)


def stop_loss(ttft_limit_ms: float, queries: int) -> StopLoss:
    """When a test of so many queries can no longer be VALID."""
    return StopLoss(ttft_limit_ms, max(_LEAST_HOPELESS, math.ceil(_HOPELESS_SHARE * queries)))


def identity(campaign: Campaign, round_: Round, info: DatasetInfo, scenario: Scenario, probe: ShortProbe) -> str:
    """A hash over all that decides what a probe shows but its rate. Raises PlanError."""
    run = performance_run(plan_at(campaign, round_, info, scenario, _ANY_QPS))
    return hashlib.sha256(f"{run.plan_sha256} {probe.queries} {probe.seconds}".encode()).hexdigest()
