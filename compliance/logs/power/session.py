"""client.json and server.json: a power session as each of its two ends recorded it."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from uuid import UUID

from compliance.errors import UnreadableFile
from compliance.logs.documents import Document, JsonValue, read_document
from compliance.logs.lines import unreadable

SESSION_LIMIT_BYTES = 16 << 20
REQUIRED = ("version", "timezone", "modules", "sources", "messages", "uuid", "session_name", "results", "phases")
"""Members that both files have (power_checker.py:137-159); server.json has ptd_messages and ptd_config besides."""


@dataclass(frozen=True, slots=True)
class Exchange:
    """One command and its reply. `answered` says whether there is a reply at all."""

    cmd: str
    reply: JsonValue
    answered: bool


@dataclass(frozen=True, slots=True)
class Analyzer:
    """One power analyser of PTDaemon's configuration. `channels` is the argument after -c on its command line."""

    device_type: JsonValue
    channel: JsonValue
    channels: str


@dataclass(frozen=True, slots=True)
class Session:
    """One end's record of a session. A member of another form than wanted is None.

    `ranging_begins_s` and `testing_begins_s` are when the phases of each mode began, in seconds since 1970.
    """

    path: Path
    document: Document
    missing: tuple[str, ...]
    name: str | None
    timezone_s: int | None
    sources: JsonValue
    messages: tuple[Exchange, ...] | None
    ptd_messages: tuple[Exchange, ...] | None
    client_uuid: UUID | None
    server_uuid: UUID | None
    results: Mapping[str, JsonValue] | None
    ranging_begins_s: tuple[float, ...] | None
    testing_begins_s: tuple[float, ...] | None
    analyzers: tuple[Analyzer, ...] | None
    debug: JsonValue


def read_session(path: Path) -> Session:
    """Reads client.json or server.json. Raises UnreadableFile when it is missing, too large or no JSON object."""
    try:
        size = path.stat().st_size
    except OSError as error:
        raise unreadable(path, error) from error
    if size > SESSION_LIMIT_BYTES:
        raise UnreadableFile(path, f"{size} bytes; at most {SESSION_LIMIT_BYTES} are read")
    document = read_document(path)
    members = document.members
    uuids, phases, results = (_object(members.get(name)) for name in ("uuid", "phases", "results"))
    return Session(
        path=path,
        document=document,
        missing=tuple(name for name in REQUIRED if name not in members),
        name=document.text("session_name"),
        timezone_s=_whole(members.get("timezone")),
        sources=members.get("sources"),
        messages=_exchanges(members.get("messages")),
        ptd_messages=_exchanges(members.get("ptd_messages")),
        client_uuid=_uuid(uuids.get("client")) if uuids else None,
        server_uuid=_uuid(uuids.get("server")) if uuids else None,
        results=results,
        ranging_begins_s=_begins(phases.get("ranging")) if phases else None,
        testing_begins_s=_begins(phases.get("testing")) if phases else None,
        analyzers=_analyzers(members.get("ptd_config")),
        debug=members.get("debug", False),
    )


def _object(value: JsonValue) -> Mapping[str, JsonValue] | None:
    return value if isinstance(value, dict) else None


def _whole(value: JsonValue) -> int | None:
    if not isinstance(value, str | int | float):
        return None
    try:
        return int(value)
    except (ValueError, OverflowError):
        return None


def _uuid(value: JsonValue) -> UUID | None:
    try:
        return UUID(value) if isinstance(value, str) else None
    except ValueError:
        return None


def _exchanges(value: JsonValue) -> tuple[Exchange, ...] | None:
    if not isinstance(value, list):
        return None
    exchanges: list[Exchange] = []
    for entry in value:
        cmd = entry.get("cmd") if isinstance(entry, dict) else None
        if not isinstance(entry, dict) or not isinstance(cmd, str):
            return None
        exchanges.append(Exchange(cmd, entry.get("reply"), "reply" in entry))
    return tuple(exchanges)


def _begins(value: JsonValue) -> tuple[float, ...] | None:
    if not isinstance(value, list):
        return None
    begins: list[float] = []
    for phase in value:
        first = phase[0] if isinstance(phase, list) and phase else None
        if isinstance(first, bool) or not isinstance(first, int | float):
            return None
        begins.append(_seconds(first))
    return tuple(begins)


def _seconds(value: float) -> float:
    try:
        return float(value)
    except OverflowError:
        return float("inf")


def _analyzers(value: JsonValue) -> tuple[Analyzer, ...] | None:
    if not isinstance(value, list):
        return None
    found: list[Analyzer] = []
    for entry in value:
        if not isinstance(entry, dict) or "device_type" not in entry:
            return None
        found.append(Analyzer(entry["device_type"], entry.get("channel"), _channels(entry.get("command"))))
    return tuple(found)


def _channels(command: JsonValue) -> str:
    """The word after the first -c of a command line."""
    words = command if isinstance(command, list) else []
    for position, word in enumerate(words[:-1]):
        if word == "-c":
            following = words[position + 1]
            return following if isinstance(following, str) else ""
    return ""
