"""The endpoints files of one results folder into one record."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TypeVar

from compliance.discovery.files import Reading
from compliance.logs.documents import JsonValue
from compliance.logs.endpoints import (
    ACCURACY_NAME,
    CONFIG_NAMES,
    SUMMARY_NAME,
    read_accuracy_json,
    read_audit_json,
    read_config,
    read_summary_json,
)
from compliance.logs.endpoints_files import Loaded
from compliance.logs.endpoints_official import official_values
from compliance.logs.endpoints_records import EndpointsAudit, EndpointsConfig, EndpointsRun

T = TypeVar("T")
_AUDITS = "audit"
_MOST_AUDITS = 20
_UNREAD: Mapping[str, JsonValue] = {}


def find_endpoints(reading: Reading, folder: str) -> EndpointsRun | None:
    """The endpoints run of a results folder, None where it holds no file of one."""
    tree = reading.tree
    names = (*CONFIG_NAMES, SUMMARY_NAME, ACCURACY_NAME)
    if not any(tree.kind(f"{folder}/{name}") == "file" for name in names):
        return None
    config_path, config, config_members = _config(reading, folder)
    summary, summary_members = _taken(reading, f"{folder}/{SUMMARY_NAME}", read_summary_json)
    accuracy, accuracy_members = _taken(reading, f"{folder}/{ACCURACY_NAME}", read_accuracy_json)
    audit_files = tree.files(f"{folder}/{_AUDITS}")
    return EndpointsRun(
        folder=folder,
        config_path=config_path,
        config=config,
        summary=summary,
        accuracy=accuracy,
        official=official_values(config_members, summary_members, accuracy_members),
        audit_files=audit_files,
        audits=_audits(reading, folder, audit_files),
    )


def _config(reading: Reading, folder: str) -> tuple[str, EndpointsConfig | None, Mapping[str, JsonValue]]:
    """The first of config.yaml and config.yml that can be read (endpoints_parser.py:245-256)."""
    there = [name for name in CONFIG_NAMES if reading.tree.kind(f"{folder}/{name}") == "file"]
    for name in there:
        config, members = _taken(reading, f"{folder}/{name}", read_config)
        if config is not None:
            return f"{folder}/{name}", config, members
    path = f"{folder}/{(there or CONFIG_NAMES)[0]}"
    if not there:
        reading.note(path, "the file is missing; add it")
    return path, None, _UNREAD


def _taken(
    reading: Reading, path: str, reader: Callable[[Path], tuple[T, Loaded]]
) -> tuple[T | None, Mapping[str, JsonValue]]:
    taken = reading.take(path, reader)
    return (None, _UNREAD) if taken is None else (taken[0], taken[1].members)


def _audits(reading: Reading, folder: str, names: tuple[str, ...]) -> Mapping[str, EndpointsAudit]:
    """The readable audit_<name>.json by file name."""
    found: dict[str, EndpointsAudit] = {}
    for name in [name for name in names if name.startswith("audit_") and name.endswith(".json")][:_MOST_AUDITS]:
        audit = reading.take(f"{folder}/{_AUDITS}/{name}", read_audit_json)
        if audit is not None:
            found[name] = audit
    return found
