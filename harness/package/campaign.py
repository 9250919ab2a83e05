"""A campaign's folders and answers as `harness.package.tree` wants them."""

from pathlib import Path

from compliance.rulebook.model import Round
from compliance.submission.manifest import Manifest
from harness.campaign.model import Campaign
from harness.campaign.system import describe_system
from harness.package.tree import Measurements, Notes, PackageInput, package
from harness.plan.plan import CampaignPlan


def package_campaign(
    campaign: Campaign,
    round_: Round,
    plan: CampaignPlan,
    tree: Path,
    *,
    replace: bool = False,
    allow_invalid: bool = False,
) -> Manifest:
    """Render the submission tree of a campaign to `tree`. Raises RenderError with every reason why not."""
    return package(package_input(campaign, round_, plan, replace=replace, allow_invalid=allow_invalid), tree)


def package_input(
    campaign: Campaign, round_: Round, plan: CampaignPlan, *, replace: bool = False, allow_invalid: bool = False
) -> PackageInput:
    """What the campaign's tree is made from."""
    system = describe_system(campaign)
    folders = {
        scenario: {run.step: run.folder for run in plan.runs if run.scenario is scenario}
        for scenario in campaign.scenarios
    }
    notes = {name: text for name, text in campaign.notes.model_dump().items() if text is not None}
    if campaign.scale != 1.0:
        command = notes.get("run_command", Notes().run_command)
        notes["run_command"] = f"{command} (a test round: minimum durations times {campaign.scale:g})"
    return PackageInput(
        round=round_,
        division=campaign.division,
        submitter=campaign.submitter,
        system_id=system.id,
        system_description=system.description,
        benchmark=plan.benchmark.name,
        benchmark_rules=plan.benchmark,
        scenarios=folders,
        measurements=Measurements(**campaign.measurements.model_dump()),
        model_name=campaign.folder_name,
        campaign_out=campaign.out,
        notes=Notes(**notes),
        allow_invalid=allow_invalid,
        replace=replace,
    )
