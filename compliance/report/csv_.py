"""The results table with the official checker's 31 columns: right and escaped, or byte for byte as that one has it."""

import csv
import io
import posixpath
from collections.abc import Iterator

from compliance.judge import VALID
from compliance.report.listing import Listing
from compliance.report.model import Report, ReportResult
from compliance.report.plain import plain

COLUMNS = (
    "Organization",
    "Availability",
    "Division",
    "SystemType",
    "SystemName",
    "Platform",
    "Model",
    "MlperfModel",
    "Scenario",
    "Result",
    "Accuracy",
    "number_of_nodes",
    "host_processor_model_name",
    "host_processors_per_node",
    "host_processor_core_count",
    "accelerator_model_name",
    "accelerators_per_node",
    "total_accelerators",
    "Location",
    "framework",
    "operating_system",
    "notes",
    "compliance",
    "errors",
    "version",
    "inferred",
    "has_power",
    "Units",
    "weight_data_types",
    "design_power_watts",
    "PrivateID",
)
_EXEMPT = {"server": "interactive"}
"""The pair (log, folder) that the official checker exempts; LoadGen never spells it so (results.py:118)."""


def render_csv(report: Report) -> str:
    """One row per result that is valid in the report's profile, in the order of the report; quoted where needed.

    `inferred` says whether the number stems from another scenario, `total_accelerators` is the product of the counts as
    people write them ("8x"), `Location` is relative to the tree. Characters that do not print are escaped.
    """
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(COLUMNS)
    for result in report.results:
        if result.verdict == VALID and result.listing is not None:
            row = _row(report, result, result.listing)
            for one in _with_power(row, result.listing):
                writer.writerow([plain(one[name]) for name in COLUMNS])
    return text.getvalue()


def render_csv_official(report: Report, root: str) -> str:
    """The file that the official checker writes with `--input root`, its quoting and its `inferred` column included.

    A row per result that it accepts, sorted as it walks the tree. Where it would stop with a traceback and write
    nothing, the results that it could have judged are listed.
    """
    listed = [
        (result, result.listing)
        for result in report.results
        if result.official_verdict == VALID and result.listing is not None
    ]
    lines = [",".join(COLUMNS)]
    for result, listing in sorted(listed, key=lambda one: _walked(*one)):
        rows = _with_power(_official_row(report, result, listing, root), listing)
        lines.extend(",".join(f'"{row[name]}"' for name in COLUMNS) for row in rows)
    return "\n".join(lines) + "\n"


def _walked(result: ReportResult, listing: Listing) -> tuple[str, ...]:
    return (result.division, result.submitter, result.system, result.benchmark, listing.scenario_dir)


def _with_power(row: dict[str, str], listing: Listing) -> Iterator[dict[str, str]]:
    """The row, and where power was measured a second one with the power metric."""
    yield row
    if listing.has_power:
        yield {**row, "Result": "" if listing.power is None else f"{listing.power}", "Units": listing.power_unit}


def _row(report: Report, result: ReportResult, listing: Listing) -> dict[str, str]:
    """The columns with the values that are right."""
    metric = "" if result.metric is None else f"{result.metric}"
    total = "" if listing.accelerators is None else f"{listing.accelerators}"
    power = listing.official_design_power
    return {
        **_common(report, result, listing),
        "Result": metric,
        "Accuracy": "  ".join(f"{name}: {value}" for name, value in _scores(result, listing)),
        "total_accelerators": total,
        "Location": listing.location,
        "notes": listing.notes,
        "inferred": f"{int(result.inferred)}",
        "Units": result.unit,
        "design_power_watts": "" if power == "None" else power,
    }


def _official_row(report: Report, result: ReportResult, listing: Listing, root: str) -> dict[str, str]:
    """The columns with the values of results.py:76-150."""
    metric = listing.official_metric if result.metric is None else result.metric
    folder, logged = listing.scenario_dir, listing.logged_scenario
    inferred = folder != logged and _EXEMPT.get(logged) != folder
    return {
        **_common(report, result, listing),
        "Result": f"{metric}",
        "Accuracy": listing.official_accuracy,
        "total_accelerators": f"{listing.official_accelerators}",
        "Location": posixpath.join(root, listing.location),
        "notes": listing.official_notes,
        "inferred": f"{int(inferred)}",
        "Units": listing.official_unit,
        "design_power_watts": listing.official_design_power,
    }


def _common(report: Report, result: ReportResult, listing: Listing) -> dict[str, str]:
    """The columns that both tables agree on."""
    renamed = {"Availability": "status", "SystemType": "system_type", "SystemName": "system_name"}
    return {
        **{name: value for name, value in listing.system.items() if name in COLUMNS},
        **{column: listing.system[name] for column, name in renamed.items()},
        "Organization": result.submitter,
        "Division": result.division,
        "Platform": result.system,
        "Model": result.benchmark,
        "MlperfModel": listing.mlperf_model,
        "Scenario": listing.scenario_dir,
        "compliance": result.division,
        "errors": "0",
        "version": report.round,
        "has_power": f"{listing.has_power}",
        "weight_data_types": listing.weight_data_types,
        "PrivateID": "",
    }


def _scores(result: ReportResult, listing: Listing) -> Iterator[tuple[str, str]]:
    """The scores as they are written where the official checker reads them all, else as they were read here."""
    wanted = {name for name, value in result.accuracy.items() if value.minimum is not None}
    if wanted <= set(listing.accuracy):
        yield from listing.accuracy.items()
        return
    for name, value in result.accuracy.items():
        if value.value is not None:
            yield name, f"{value.value}"
