"""One line of a detail log into one record: a strict typed pass, and a lenient one for what LoadGen gets wrong.

LoadGen does not escape strings and prints non-finite numbers raw (loadgen/logging.h:706-743): a path or a quote in a
SUT's name or a `nan` makes a line that is no JSON.
"""

import json
import re
from dataclasses import dataclass
from typing import Literal

import msgspec

LogValue = str | int | float | bool | list[int] | dict[str, str] | None

DROPPED_KEY = "loaded_qsl_set"
_DIGITS = b"0123456789-, \t"


class LogMetadata(msgspec.Struct, forbid_unknown_fields=True, gc=False):
    """Where a record was logged; lines of :::ENDPTS carry the first two members only."""

    is_error: bool
    is_warning: bool
    file: str = ""
    line_no: int = 0
    pid: int = 0
    tid: int = 0


class _Record(msgspec.Struct, forbid_unknown_fields=True, gc=False):
    key: str
    value: msgspec.Raw
    time_ms: float
    namespace: Literal["mlperf::logging"]
    event_type: Literal["POINT_IN_TIME"]
    metadata: LogMetadata


@dataclass(frozen=True, slots=True)
class Decoded:
    """A record without its line. `notes` say what was read over; `official` whether the official checker reads it."""

    key: str
    value: LogValue
    time_ms: float
    is_error: bool
    is_warning: bool
    notes: tuple[str, ...] = ()
    official: bool = True


_RECORD = msgspec.json.Decoder(_Record)
_VALUE: msgspec.json.Decoder[LogValue] = msgspec.json.Decoder(LogValue)


def decode_strict(body: bytes) -> Decoded | None:
    """A record exactly as LoadGen's schema has it, None for anything else. The list of loaded_qsl_set is not built."""
    try:
        record = _RECORD.decode(body)
        raw = bytes(record.value)
        if record.key == DROPPED_KEY:
            value = None
            if raw[:1] != b"[" or raw[1:-1].translate(None, _DIGITS):
                return None
        else:
            value = _VALUE.decode(raw)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None
    return Decoded(record.key, value, record.time_ms, record.metadata.is_error, record.metadata.is_warning)


def decode_lenient(body: bytes, offset: int = 0) -> Decoded | str:
    """A record read over its faults, or in words why it cannot be read.

    `offset` characters stand before it in its line, so that columns count from the line's start.
    """
    try:
        text, encoding_note = body.decode(), ""
    except UnicodeDecodeError as error:
        text = body.decode("latin-1")
        encoding_note = f"byte {error.start + 1} of the record is not UTF-8; read as Latin-1"
    try:
        parsed = json.loads(text)
    except (ValueError, RecursionError) as error:
        fault = _json_fault(error, offset)
        decoded: Decoded | str = _by_form(text, fault) or f"{fault}; {_why_unread(text)}"
    else:
        decoded = _by_members(parsed)
    if isinstance(decoded, str) or not encoding_note:
        return decoded
    return _noted(decoded, encoding_note, official=False)


def _json_fault(error: Exception, offset: int) -> str:
    if isinstance(error, json.JSONDecodeError):
        return f"not JSON at column {offset + error.colno} ({error.msg})"
    return "not JSON (a number or a nesting too long)"


def _why_unread(text: str) -> str:
    if not text.rstrip().endswith("}"):
        return "the record is cut before its end; copy the log anew"
    return "the record cannot be read"


def _noted(decoded: Decoded, note: str, *, official: bool) -> Decoded:
    return Decoded(
        decoded.key,
        decoded.value,
        decoded.time_ms,
        decoded.is_error,
        decoded.is_warning,
        (*decoded.notes, note),
        decoded.official and official,
    )


def _by_members(parsed: object) -> Decoded | str:
    """A JSON object that is not of LoadGen's form: take the members that are there."""
    if not isinstance(parsed, dict):
        return "the record is not a JSON object; the record cannot be read"
    key = parsed.get("key")
    if not isinstance(key, str):
        return 'the record has no "key"; the record cannot be read'
    notes = [f'no "{name}"' for name in ("value", "time_ms", "metadata") if name not in parsed]
    value = _as_value(parsed.get("value"))
    if key == DROPPED_KEY:
        value = None
    elif value is None and parsed.get("value") is not None:
        return f'the value of "{key}" is of no type that LoadGen writes; the record cannot be read'
    metadata = parsed.get("metadata")
    if not isinstance(metadata, dict):
        metadata = {}
    time_ms = parsed.get("time_ms")
    timed = isinstance(time_ms, int | float) and not isinstance(time_ms, bool)
    return Decoded(
        key,
        value,
        _as_float(time_ms) if timed else float("nan"),
        metadata.get("is_error") is True,
        metadata.get("is_warning") is True,
        (f"a record of another form than LoadGen's{': ' if notes else ''}{', '.join(notes)}",),
        official="value" in parsed and isinstance(metadata.get("is_error"), bool),
    )


def _as_float(number: object) -> float:
    try:
        return float(number)  # type: ignore[arg-type]  # the caller has seen a number
    except OverflowError:
        return float("inf")


def _as_value(value: object) -> LogValue:
    """The value when it is of a type that LoadGen writes, None otherwise."""
    if isinstance(value, str | int | float):
        return value
    if isinstance(value, list) and all(isinstance(item, int) and not isinstance(item, bool) for item in value):
        return value
    if isinstance(value, dict) and all(isinstance(item, str) for item in value.values()):
        return value
    return None


# The members stand in a fixed order, so the last `"time_ms"` ends the value whatever the value holds.
_FORM = re.compile(
    r'\s*\{\s*"key"\s*:\s*"(?P<key>[^"]*)"\s*,\s*"value"\s*:(?P<value>.*),\s*"time_ms"\s*:\s*(?P<time>[^,]*),(?P<rest>.*)\Z',
    re.DOTALL,
)
_FLAG = {name: re.compile(rf'"{name}"\s*:\s*(true|false)\b') for name in ("is_error", "is_warning")}
_NON_FINITE = re.compile(r"[+-]?(?:inf(?:inity)?|nan)", re.IGNORECASE)


def _by_form(text: str, fault: str) -> Decoded | None:
    """A record whose value or time is no JSON, read by the order of its members; None when that is not there either."""
    match = _FORM.match(text)
    if match is None or not text.rstrip().endswith("}"):
        return None
    rest = match["rest"]
    is_error, is_warning = _FLAG["is_error"].search(rest), _FLAG["is_warning"].search(rest)
    if is_error is None:
        return None
    read = _raw_value(match["value"].strip())
    if read is None:
        return None
    value, note = read
    return Decoded(
        match["key"],
        None if match["key"] == DROPPED_KEY else value,
        _raw_time(match["time"]),
        is_error[1] == "true",
        is_warning is not None and is_warning[1] == "true",
        (f"{fault}; {note}",),
        official=False,
    )


def _raw_time(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return float("nan")


def _raw_value(text: str) -> tuple[LogValue, str] | None:
    """The value as LoadGen printed it, and how it was taken."""
    if _NON_FINITE.fullmatch(text):
        return float(text), f"the value is {text.lower()}"
    if text in {"[", "]"}:
        return [], "read as an empty list"
    try:
        value = _as_value(json.loads(text))
    except (ValueError, RecursionError):
        value = None
    if value is not None:
        return value, "the value itself could be read"
    if len(text) > 1 and text[0] == text[-1] == '"':
        return text[1:-1], "the string is read as it stands, without escapes"
    return None
