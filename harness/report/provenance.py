"""From what the runs came: the system, the workers, the code and the packages, without paths of the machine."""

import itertools
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from compliance.errors import ComplianceError
from compliance.logs.documents import read_document
from compliance.submission.private import public_name
from harness.report.model import Fact, WorkerView
from harness.report.runs import RunFolder
from harness.run.record import RunRecord

_SYSTEM_FIELDS = {
    "system_name": "System",
    "number_of_nodes": "Nodes",
    "accelerators_per_node": "Accelerators per node",
    "accelerator_model_name": "Accelerator",
    "accelerator_memory_capacity": "Accelerator memory",
    "host_processor_model_name": "Host processor",
    "host_processors_per_node": "Processors per node",
    "host_memory_capacity": "Host memory",
    "framework": "Framework",
    "operating_system": "Operating system",
    "other_software_stack": "Other software",
}


def system_facts(tree: Path, campaign: Mapping[str, str]) -> Iterator[Fact]:
    """The system as its description in the tree states it; nothing where the tree has none that can be read."""
    division, submitter = campaign.get("division", "*"), campaign.get("submitter", "*")
    paths = sorted(path for path in tree.glob("*/*/systems/*.json") if path.parts[-4] == division or division == "*")
    paths = [path for path in paths if submitter in ("*", path.parts[-3])]
    for path in paths[:1]:
        try:
            members = read_document(path).members
        except ComplianceError:
            return
        for name, title in _SYSTEM_FIELDS.items():
            value = members.get(name)
            if value not in (None, ""):
                yield Fact(title, str(value))


def workers(runs: Sequence[Mapping[str, RunFolder]]) -> Iterator[WorkerView]:
    """The workers as the first run saw them, with what they answered in all performance runs."""
    records = [folder.record for steps in runs for folder in steps.values()]
    measured = [steps["performance"].record for steps in runs if "performance" in steps]
    for index, facts in enumerate(records[0].workers if records else ()):
        totals = [total for record in measured for total in record.outcome.workers if total.index == index]
        yield WorkerView(
            engine=facts.engine,
            version=facts.engine_version,
            device=f"{facts.device_count} x {public_name(facts.device)}",
            dtype=facts.dtype,
            model=public_name(facts.model),
            model_sha256=facts.model_sha256,
            dataset_sha256=facts.dataset_sha256,
            samples=sum(total.samples for total in totals),
            output_tokens=sum(total.output_tokens for total in totals),
        )


def provenance(records: Sequence[RunRecord]) -> Iterator[Fact]:
    """Code, tools and times of the campaign's runs."""
    if not records:
        return
    first = records[0].provenance
    commits = sorted({record.provenance.git_commit[:12] for record in records} - {""})
    dirty = any(record.provenance.git_dirty for record in records)
    yield Fact("Weighbridge", first.weighbridge_version)
    if commits:
        yield Fact(
            "Commit", ", ".join(commits) + (" with local changes" if dirty else ""), None if not dirty else False
        )
    yield Fact("LoadGen", ", ".join(sorted({record.outcome.loadgen_version for record in records})))
    yield Fact("Python", first.python)
    yield Fact("First run started", min(record.provenance.started_at for record in records))
    yield Fact("Last run ended", max(record.provenance.ended_at for record in records))
    for name, value in sorted(first.host.items()):
        if name != "hostname":
            yield Fact(f"Host: {name}", public_name(value))


def packages(records: Sequence[RunRecord]) -> dict[str, str]:
    """Every package that took part, in the harness or in a worker, with its version."""
    found: dict[str, str] = {}
    for record in records:
        for mapping in itertools.chain((record.provenance.packages,), (facts.packages for facts in record.workers)):
            found |= {name: public_name(version) for name, version in mapping.items()}
    return dict(sorted(found.items(), key=lambda item: item[0].casefold()))
