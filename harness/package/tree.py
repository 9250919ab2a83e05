"""From a campaign's run folders to a submission tree: collect the runs, see that they belong together, render."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path

import msgspec

from compliance.errors import RenderError
from compliance.submission.manifest import Manifest
from compliance.submission.place import ResultFiles, StepFiles, TreeInput, place
from compliance.submission.render import Target, render
from compliance.vocabulary import AuditId, Division, Scenario
from harness.package import pages
from harness.package.input import ACCURACY, PERFORMANCE, Measurements, Notes, PackageInput, ScenarioRuns
from harness.run.record import RunRecord

__all__ = ["Measurements", "Notes", "PackageInput", "package"]


def package(view: PackageInput, out: Path) -> Manifest:
    """Render the submission tree of a campaign to `out`, with its manifest beside it. Returns the manifest.

    Raises RenderError with every reason why the tree cannot be complete; then nothing is written.
    """
    problems: list[str] = [*_input_problems(view), *_system_problems(view)]
    runs = [_collect(scenario, folders, problems) for scenario, folders in view.scenarios.items()]
    problems += [problem for run in runs for problem in _run_problems(run, view)]
    problems += _sameness_problems(runs)
    if problems:
        raise RenderError(tuple(problems))
    tree = TreeInput(
        division=view.division,
        submitter=view.submitter,
        system=view.system_id,
        system_description=pages.description(view),
        results=tuple(_result(run, view) for run in runs),
        source_pages={"README.md": ("src_README.md.j2", pages.source_page(runs, view))},
        documentation_pages=dict(pages.documentation(runs, view)),
        model_mapping={view.model_name: view.benchmark} if view.model_name != view.benchmark else {},
    )
    placements = place(tree, view.round.layout, view.benchmark_rules.audits)
    target = Target(out.absolute(), view.campaign_out / "originals", view.round.name, view.replace)
    return render(placements, target)


def _input_problems(view: PackageInput) -> Iterator[str]:
    if not view.scenarios:
        yield "the campaign has no scenario with runs; run `weighbridge run CAMPAIGN`"
    if view.model_name != view.benchmark and view.division is not Division.OPEN:
        yield f"model name {view.model_name!r}: in {view.division} it must be the benchmark's, {view.benchmark!r}"
    for name, value in asdict(view.measurements).items():
        if not str(value).strip():
            yield f"measurements.{name} is empty; say it in the campaign"


def _system_problems(view: PackageInput) -> Iterator[str]:
    description, fields = pages.description(view), view.round.system_fields
    for name in fields.required:
        if name not in description:
            yield f"system {view.system_id}: {name} is missing; add it to its description"
        elif name in fields.meaningful and not description[name]:
            yield f'system {view.system_id}: {name} says nothing; a CPU-only system writes N/A or "0"'
    for name, wanted in (("division", view.division.value), ("submitter", view.submitter)):
        if str(description.get(name)).lower() != wanted.lower():
            stated = description.get(name)
            yield f"system {view.system_id}: {name} is {stated!r}, the campaign says {wanted!r}; make them agree"


def _collect(scenario: Scenario, folders: Mapping[str, Path], problems: list[str]) -> ScenarioRuns:
    records: dict[str, RunRecord] = {}
    for step, folder in folders.items():
        path = folder / "run.json"
        try:
            records[step] = msgspec.json.decode(path.read_bytes(), type=RunRecord)
        except OSError:
            problems.append(f"{path}: missing; run `weighbridge run CAMPAIGN --only {scenario}/{step}`")
        except msgspec.MsgspecError as error:
            problems.append(f"{path}: not a run record ({error}); remove the folder and run the step again")
    problems += [
        f"{scenario}: there is no {step} run; run `weighbridge run CAMPAIGN --only {scenario}/{step}`"
        for step in (PERFORMANCE, ACCURACY)
        if step not in folders
    ]
    return ScenarioRuns(scenario, records, folders)


def _run_problems(runs: ScenarioRuns, view: PackageInput) -> Iterator[str]:
    if runs.scenario not in view.benchmark_rules.scenarios:
        yield f"{runs.scenario} is no scenario of {view.benchmark} in {view.round.name}; leave it out of the campaign"
    for step, record in runs.records.items():
        folder = runs.folders[step]
        if record.status != "ok":
            yield f"{folder}: the run {record.status}: {record.cause or 'no cause recorded'}; run the step again"
        if (record.benchmark, record.scenario, record.step) != (view.benchmark, runs.scenario.value, step):
            held = f"{record.benchmark} {record.scenario} {record.step}"
            yield f"{folder}: holds {held}, not {view.benchmark} {runs.scenario} {step}; remove it and run again"
        if step == PERFORMANCE and record.validity != "VALID" and not view.allow_invalid:
            reason = record.invalid_reason or "no reason logged"
            yield f"{folder}: LoadGen calls the run {record.validity}: {reason}; see `weighbridge explain {folder}`"
        if step in (PERFORMANCE, ACCURACY):
            for wrong in record.mismatches:
                yield f"{folder}: {wrong.key} is {wrong.found}, not {wrong.expected} as planned; run the step again"


def _sameness_problems(runs: Sequence[ScenarioRuns]) -> Iterator[str]:
    """Performance and accuracy must come from one model, engine and LoadGen (inference_rules.adoc:477)."""
    seen: dict[str, set[str]] = {}
    for record in (record for run in runs for record in run.records.values()):
        _note(seen, "LoadGen version", record.outcome.loadgen_version)
        for facts in record.workers:
            _note(seen, "model SHA-256", facts.model_sha256)
            _note(seen, "data type", facts.dtype)
            _note(seen, "engine", f"{facts.engine} {facts.engine_version}")
    for what, values in seen.items():
        if len(values) > 1:
            yield f"the runs differ in {what}: {', '.join(sorted(values))}; all runs of a submission use the same one"


def _note(seen: dict[str, set[str]], what: str, value: str) -> None:
    seen.setdefault(what, set()).add(value)


def _result(runs: ScenarioRuns, view: PackageInput) -> ResultFiles:
    steps = {step: StepFiles(folder, _files(folder, runs.records[step])) for step, folder in runs.folders.items()}
    audits = {audit: steps[audit.value] for audit in AuditId if audit.value in steps}
    user_conf, readme = pages.result_pages(runs, view)
    return ResultFiles(
        benchmark=view.model_name,
        scenario=runs.scenario,
        performance=steps[PERFORMANCE],
        accuracy=steps[ACCURACY],
        audits=audits,
        measurements=asdict(view.measurements),
        user_conf=user_conf,
        readme={**readme, "audits": tuple(audits)},
    )


def _files(folder: Path, record: RunRecord) -> dict[str, str]:
    """The files in a run folder with the hash the run recorded, "" where it recorded none."""
    return {path.name: record.files.get(path.name, "") for path in sorted(folder.iterdir()) if path.is_file()}
