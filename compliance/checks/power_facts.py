"""What the checks of power submissions share."""

from collections.abc import Iterator

from compliance.checks.facts import result_of
from compliance.checks.model import Finding, Subject
from compliance.logs.power.run import CLIENT, SERVER, PowerPhase, PowerRun
from compliance.logs.power.session import Session

MEASURE_AGAIN = (
    "Repeat the power measurement from ranging to testing with the power workflow, and copy its files unchanged."
)

MOST_FINDINGS = 20
"""Of one fault that a file repeats so many are shown."""
_SHOWN_CHARACTERS = 120


def power_of(subject: Subject) -> PowerRun:
    """The power measurement of a result; a check that calls this needs "power". Raises LookupError without."""
    power = result_of(subject).power
    if power is None:
        raise LookupError("no power was measured; the check must need 'power'")
    return power


def sessions_of(subject: Subject) -> tuple[Session, Session]:
    """Client's and server's session; a check that calls this needs "sessions". Raises LookupError without."""
    power = power_of(subject)
    if power.client is None or power.server is None:
        raise LookupError("a session cannot be read; the check must need 'sessions'")
    return power.client, power.server


def phases_of(power: PowerRun) -> Iterator[tuple[str, PowerPhase]]:
    """Both runs with the names that the sessions give them."""
    yield "ranging", power.ranging
    yield "testing", power.testing


def at(subject: Subject, name: str, member: str, expected: str, found: str, *, message: str = "") -> Finding:
    """A finding about a member of client.json or server.json, with its line."""
    power = power_of(subject)
    session = {CLIENT: power.client, SERVER: power.server}[name]
    line = session.document.line(member) if session else None
    pointer = f"/{member}" if line else ""
    return Finding(f"{power.folder}/{name}", expected, found, message=message, line=line, pointer=pointer)


def testing_duration_drop(power: PowerRun) -> float | None:
    """By which share of the ranging run's duration the testing run is shorter; None where that cannot be told."""
    windows = (power.ranging.window, power.testing.window)
    ranging_s, testing_s = (window.duration_s if window else None for window in windows)
    if ranging_s is None or testing_s is None or ranging_s == 0:
        return None
    return (ranging_s - testing_s) / ranging_s


def shown(value: object) -> str:
    """A value as a finding shows it, cut short."""
    try:
        text = repr(value)
    except RecursionError:
        return "a value nested too deeply to show"
    return text if len(text) <= _SHOWN_CHARACTERS else f"{text[:_SHOWN_CHARACTERS]}..."
