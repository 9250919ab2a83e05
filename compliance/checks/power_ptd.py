"""PWR-: PTDaemon: its version, its meter, what it was told and what it answered (power_checker.py:198-283, 732-764)."""

from collections.abc import Iterator
from itertools import islice

from compliance.checks.facts import strictly
from compliance.checks.model import Finding, Scope, Skip, Subject
from compliance.checks.power_facts import MEASURE_AGAIN, MOST_FINDINGS, at, sessions_of, shown
from compliance.checks.registry import check
from compliance.logs.documents import JsonValue
from compliance.logs.power.run import SERVER
from compliance.logs.power.session import Exchange
from compliance.rulebook.power import PtdRules, load_power_rules

_NEEDS = ("power", "sessions")
_IDENTIFY, _STOP, _AUTO = "Identify", "Stop", "Auto"
_MEMBER = "ptd_messages"
_UNREAD = "PTDaemon's messages or its identity cannot be read (PWR-020)"
_INITIAL = 2
"""The third message is the answer with the meter's ranges before the measurement."""
_LAST_STOP = 2
_CHANNELS = 2


def _messages(subject: Subject) -> tuple[Exchange, ...] | None:
    return sessions_of(subject)[1].ptd_messages


def _identity(messages: tuple[Exchange, ...]) -> str:
    """PTDaemon's first answer to Identify, "" for none."""
    reply = next((message.reply for message in messages if message.cmd == _IDENTIFY), "")
    return reply if isinstance(reply, str) else ""


@check(
    "PWR-020",
    "PTDaemon's version is admitted",
    "power_checker.py:213-223",
    Scope.RESULT,
    _NEEDS,
    fix="Measure with an admitted version of PTDaemon.",
)
def ptd_version(subject: Subject) -> Iterator[Finding | Skip]:
    """PTDaemon answered Identify, and the version in its answer is one that the rules admit."""
    messages = _messages(subject)
    if messages is None:
        yield at(subject, SERVER, _MEMBER, "a list of commands with their replies", "none, or another form")
        return
    identity = _identity(messages)
    _, _, rest = identity.partition("version=")
    end = rest.find("-", 1)
    version = rest[:end] if end > 0 else ""
    admitted = load_power_rules().ptd.versions
    if version not in admitted:
        found = shown(version) if version else f"Identify answered {shown(identity)}"
        yield at(subject, SERVER, _MEMBER, f"version={' or '.join(admitted)}", found)


@check(
    "PWR-021",
    "the power meter is admitted",
    "power_checker.py:217-226",
    Scope.RESULT,
    _NEEDS,
    fix="Measure with a power meter that the rules admit.",
)
def meter_model(subject: Subject) -> Iterator[Finding | Skip]:
    """The meter's name, first in PTDaemon's answer to Identify, is one that the rules admit."""
    messages = _messages(subject)
    identity = _identity(messages) if messages is not None else ""
    if not identity:
        yield Skip(_UNREAD)
        return
    model, meters = identity.split(",")[0], load_power_rules().ptd.meters
    if model not in meters:
        yield at(subject, SERVER, _MEMBER, f"one of {', '.join(meters)}", shown(model))


@check("PWR-022", "PTDaemon did as it was told", "power_checker.py:228-248", Scope.RESULT, _NEEDS, fix=MEASURE_AGAIN)
def replies(subject: Subject) -> Iterator[Finding | Skip]:
    """PTDaemon changed its ranges, went and stopped; the third Stop finds nothing left to stop."""
    messages = _messages(subject)
    if messages is None:
        yield Skip(_UNREAD)
        return
    wrong = _wrong_replies(messages, load_power_rules().ptd)
    for number, message, wanted in islice(wrong, MOST_FINDINGS):
        expected = f"message {number} ({shown(message.cmd)}) answered {shown(wanted)}"
        yield at(subject, SERVER, _MEMBER, expected, shown(message.reply))


def _wrong_replies(messages: tuple[Exchange, ...], rules: PtdRules) -> Iterator[tuple[int, Exchange, str]]:
    """The messages that were answered otherwise than wanted, with their 1-based numbers and what is wanted."""
    for beginning, answer in rules.replies.items():
        stops = 0
        for number, message in enumerate(messages, start=1):
            if not message.cmd.startswith(beginning):
                continue
            wanted = answer if stops < _LAST_STOP else rules.last_stop_reply
            stops += message.cmd == _STOP
            if message.reply != wanted:
                yield number, message, wanted


@check(
    "PWR-023",
    "the meter got its ranges back",
    "power_checker.py:250-283",
    Scope.RESULT,
    _NEEDS,
    fix="Let the power server end the session itself: it sets the ranges back after the testing run.",
)
def initial_ranges(subject: Subject) -> Iterator[Finding | Skip]:
    """After the measurement amps and volts are set to what the third message's answer says they were at first."""
    messages = _messages(subject)
    if messages is None:
        yield Skip(_UNREAD)
        return
    reply = messages[_INITIAL].reply if len(messages) > _INITIAL else None
    for unit, position, numbers in (("A", 1, (3, 4)), ("V", 3, (3,))):
        first = _first_range(reply, position)
        if first is None:
            yield at(subject, SERVER, _MEMBER, "the meter's ranges in the answer to message 3", shown(reply))
            return
        commands = [message.cmd for message in messages if message.cmd.startswith(f"SR,{unit}")]
        if len(commands) < max(numbers):
            expected = f"at least {max(numbers)} commands SR,{unit}"
            yield at(subject, SERVER, _MEMBER, expected, str(len(commands)))
        elif f"SR,{unit},{first}" not in [commands[number - 1] for number in numbers]:
            which = " or ".join(str(number) for number in numbers)
            expected = f"command SR,{unit} number {which} to be SR,{unit},{first}"
            yield at(subject, SERVER, _MEMBER, expected, ", ".join(commands[number - 1] for number in numbers))


def _first_range(reply: JsonValue, position: int) -> str | None:
    """The fixed range at a position of the answer, Auto where the meter chose it, None where that cannot be told."""
    fields = reply.split(",") if isinstance(reply, str) else []
    try:
        fixed = fields[position] == "0" and float(fields[position + 1]) > 0
    except (ValueError, IndexError):
        return None
    return fields[position + 1] if fixed else _AUTO


@check(
    "PWR-024",
    "PTDaemon's devices are admitted",
    "power_checker.py:732-764",
    Scope.RESULT,
    _NEEDS,
    fix="Correct the analyser in the power server's configuration and measure again.",
)
def devices(subject: Subject) -> Iterator[Finding | Skip]:
    """Each analyser of ptd_config has a device number of an admitted meter; a two-channel one names both channels."""
    analyzers, rules = sessions_of(subject)[1].analyzers, load_power_rules().ptd
    if analyzers is None:
        yield at(subject, SERVER, "ptd_config", "a list of analysers with their device_type", "none, or another form")
        return
    if not analyzers:
        yield strictly(at(subject, SERVER, "ptd_config", "at least one analyser", "an empty list"))
    numbers = sorted(set(rules.meters.values()))
    for analyzer in analyzers:
        if analyzer.device_type not in numbers:
            expected = f"device_type one of {', '.join(map(str, numbers))}"
            yield at(subject, SERVER, "ptd_config", expected, shown(analyzer.device_type))
        elif analyzer.device_type == rules.multichannel_device:
            channel = analyzer.channel
            named = isinstance(channel, list | str) and len(channel) == _CHANNELS
            if not named or len(analyzer.channels.split(",")) != _CHANNELS:
                expected = "two channels, in channel and after -c"
                found = f"channel {shown(channel)}, -c {shown(analyzer.channels)}"
                yield at(subject, SERVER, "ptd_config", expected, found)
