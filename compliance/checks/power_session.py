"""PWR-: client.json and server.json: the same session, released sources, and files that are still what was recorded."""

import re
from collections.abc import Iterator, Mapping

from compliance.checks.facts import DETAIL, missing
from compliance.checks.model import Finding, Scope, Skip, Subject
from compliance.checks.power_facts import MEASURE_AGAIN, at, power_of, sessions_of, shown
from compliance.checks.registry import check
from compliance.logs.documents import JsonValue
from compliance.logs.power.run import CLIENT, SERVER, PowerRun
from compliance.logs.power.session import Session
from compliance.rulebook.power import load_power_rules

_NEEDS = ("power", "sessions")
_RELEASE = "Install the released power workflow (mlcommons/power) unchanged on both ends and measure again."
_CLIENT_VERSION = re.compile(r"mlcommons/power client v(\d{1,9})$")
_SERVER_VERSION = re.compile(r"mlcommons/power server v(\d{1,9})$")
_SHOWN_FILES = 3


def _sources(subject: Subject, name: str, session: Session) -> Iterator[Finding]:
    releases = load_power_rules().sources
    if session.sources in releases:
        return
    if not isinstance(session.sources, dict):
        yield at(subject, name, "sources", "the SHA-1 of each source file", shown(session.sources))
        return
    recorded = session.sources
    differing = min((_differing(release, recorded) for release in releases), key=len)
    files = ", ".join(differing[:_SHOWN_FILES]) + (", ..." if len(differing) > _SHOWN_FILES else "")
    yield at(subject, name, "sources", "the sources of a known release", f"{len(differing)} files differ: {files}")


def _differing(release: Mapping[str, str], recorded: Mapping[str, JsonValue]) -> list[str]:
    return sorted(name for name in {*release, *recorded} if release.get(name) != recorded.get(name))


@check("PWR-008", "the client is a known release", "power_checker.py:186-195", Scope.RESULT, _NEEDS, fix=_RELEASE)
def client_sources(subject: Subject) -> Iterator[Finding | Skip]:
    """The source files that client.json names, with their SHA-1, are those of a released power workflow."""
    yield from _sources(subject, CLIENT, sessions_of(subject)[0])


@check("PWR-009", "the server is a known release", "power_checker.py:186-195", Scope.RESULT, _NEEDS, fix=_RELEASE)
def server_sources(subject: Subject) -> Iterator[Finding | Skip]:
    """The source files that server.json names, with their SHA-1, are those of a released power workflow."""
    yield from _sources(subject, SERVER, sessions_of(subject)[1])


_SAME_SESSION = "Put client.json and server.json of one and the same session there."


@check("PWR-010", "both ends have the same UUIDs", "power_checker.py:286-297", Scope.RESULT, _NEEDS, fix=_SAME_SESSION)
def uuids(subject: Subject) -> Iterator[Finding | Skip]:
    """client.json and server.json hold the same UUID of the client and the same UUID of the server."""
    client, server = sessions_of(subject)
    pairs = (
        ("client", client.client_uuid, server.client_uuid),
        ("server", client.server_uuid, server.server_uuid),
    )
    for end, by_client, by_server in pairs:
        if by_client is None or by_server is None:
            name = CLIENT if by_client is None else SERVER
            yield at(subject, name, "uuid", f"a UUID of the {end}", "none that can be read")
        elif by_client != by_server:
            yield at(subject, CLIENT, "uuid", f"{end}: {by_server}, as in {SERVER}", str(by_client))


@check(
    "PWR-011",
    "both ends have the same session name",
    "power_checker.py:476-484",
    Scope.RESULT,
    _NEEDS,
    fix=_SAME_SESSION,
)
def session_names(subject: Subject) -> Iterator[Finding | Skip]:
    """session_name is the same in client.json and server.json."""
    client, server = sessions_of(subject)
    if client.name is None or client.name != server.name:
        found = shown(client.document.members.get("session_name"))
        yield at(subject, CLIENT, "session_name", f"{shown(server.name)}, as in {SERVER}", found)


@check(
    "PWR-012",
    "both ends recorded the same messages",
    "power_checker.py:487-511",
    Scope.RESULT,
    _NEEDS,
    fix=_SAME_SESSION,
)
def messages(subject: Subject) -> Iterator[Finding | Skip]:
    """The messages of client.json and server.json are as many, with the same commands and replies, but for the time."""
    client, server = sessions_of(subject)
    if client.messages is None or server.messages is None:
        name = CLIENT if client.messages is None else SERVER
        yield at(subject, name, "messages", "a list of commands with their replies", "another form")
        return
    if len(client.messages) != len(server.messages):
        expected = f"{len(server.messages)} messages, as in {SERVER}"
        yield at(subject, CLIENT, "messages", expected, str(len(client.messages)))
    for number, (mine, theirs) in enumerate(zip(client.messages, server.messages, strict=False), start=1):
        if mine.cmd != theirs.cmd:
            yield at(subject, CLIENT, "messages", f"message {number}: {shown(theirs.cmd)}", shown(mine.cmd))
            return
        unanswered = not (mine.answered and theirs.answered)
        if mine.cmd != "time" and (unanswered or mine.reply != theirs.reply):
            expected = f"message {number} ({shown(mine.cmd)}) answered {shown(theirs.reply)}, as in {SERVER}"
            yield at(subject, CLIENT, "messages", expected, shown(mine.reply))
            return


@check("PWR-013", "both ends are of one version", "power_checker.py:513-528", Scope.RESULT, _NEEDS, fix=_RELEASE)
def versions(subject: Subject) -> Iterator[Finding | Skip]:
    """The first message is the client's name and version, its reply the server's, and the versions are equal."""
    recorded = sessions_of(subject)[1].messages
    if recorded is None:
        yield Skip("the server's messages cannot be read (PWR-012)")
        return
    first = recorded[0] if recorded else None
    client = _CLIENT_VERSION.search(first.cmd) if first else None
    server = _SERVER_VERSION.search(first.reply) if first and isinstance(first.reply, str) else None
    if client is None or server is None or client[1] != server[1]:
        expected = '"mlcommons/power client vN" answered "mlcommons/power server vN"'
        found = f"{shown(first.cmd)} answered {shown(first.reply)}" if first else "no message"
        yield at(subject, SERVER, "messages", expected, found)


@check(
    "PWR-014",
    "the server did not run in debug mode",
    "power_checker.py:767-771",
    Scope.RESULT,
    _NEEDS,
    fix="Switch debug off in the power server's configuration and measure again.",
)
def debug(subject: Subject) -> Iterator[Finding | Skip]:
    """Debug is false in server.json, or not there."""
    value = sessions_of(subject)[1].debug
    if value is not False:
        yield at(subject, SERVER, "debug", "debug false or left out", shown(value))


@check(
    "PWR-015", "the files are the ones recorded", "power_checker.py:531-604", Scope.RESULT, _NEEDS, fix=MEASURE_AGAIN
)
def digests(subject: Subject) -> Iterator[Finding | Skip]:
    """Each file of the measurement has the SHA-1 that client.json and server.json recorded for it.

    Files that are missing are the matter of PWR-001 and PWR-002.
    """
    power = power_of(subject)
    client, server = sessions_of(subject)
    for name, session in ((CLIENT, client), (SERVER, server)):
        if session.results is None:
            yield at(subject, name, "results", "the SHA-1 of each file", "another form")
            return
    for name in load_power_rules().hashed_files:
        yield from _digest(subject, power, name, (client.results or {}, server.results or {}))


def _digest(
    subject: Subject, power: PowerRun, name: str, recorded: tuple[Mapping[str, JsonValue], Mapping[str, JsonValue]]
) -> Iterator[Finding]:
    by_client, by_server = recorded
    if not _listed(power, name):
        return
    if name in by_client and name in by_server and by_client[name] != by_server[name]:
        expected = f"{name}: {shown(by_server[name])}, as in {SERVER}"
        yield at(subject, CLIENT, "results", expected, shown(by_client[name]))
    elif name not in by_client and name not in by_server:
        yield at(subject, SERVER, "results", f"the SHA-1 of {name} in one of the two sessions", "in neither")
    elif name in power.digests:
        known = by_server.get(name, by_client.get(name))
        if power.digests[name] != known:
            path = f"{power.performance_folder}/{name}"
            yield Finding(path, f"SHA-1 {shown(known)}, as recorded", power.digests[name], message=_unlike(name))
    else:
        yield missing(subject, f"{power.performance_folder}/{name}", "a readable file")


def _unlike(name: str) -> str:
    edited = "LoadGen's log" if name.endswith(DETAIL) else "the file"
    return f"{edited} was changed after the measurement, or is another run's"


def _listed(power: PowerRun, name: str) -> bool:
    folder, _, file = name.partition("/")
    names = {"power": power.files, "ranging": power.ranging.files}.get(folder, power.testing.files)
    return file in names
