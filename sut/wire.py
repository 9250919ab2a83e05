"""The wire format between the LoadGen process and its workers: one frame is one message, little-endian.

Every frame starts with 16 bytes: protocol version u8, kind u8, worker u16, count u32, epoch u64. The arrays that follow
lie widest first, so that they are aligned and the receiver reads them in place. Tasks are begin, submit and end; events
are hello, events, heartbeat and goodbye. The epoch is the number of the LoadGen test: a frame of another epoch is stale
and its ids are dangling pointers (F4 in harness/README.md).
"""

import struct
import sys
from collections.abc import Sequence
from functools import lru_cache
from itertools import accumulate, pairwise
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from sut.errors import WireError
from sut.messages import NO_HEAD, Begin, End, Events, Goodbye, Heartbeat, Hello, Message, Submit
from sut.protocol import TokenIds

VERSION = 1
BEGIN, SUBMIT, END, HELLO, EVENTS, HEARTBEAT, GOODBYE = range(1, 8)
MAX_REASON_BYTES = 4096

_HEADER = struct.Struct("<BBHIQ")
_EVENT_COUNTS = struct.Struct("<IIII")
_LAG = struct.Struct("<q")
_TOKEN = struct.Struct("<i")

_LITTLE = sys.byteorder == "little"

# Below this many numbers, struct is faster than building a numpy array (which costs about a microsecond).
_SMALL = 8

Buffer: TypeAlias = bytes | bytearray | memoryview


def encode_begin(epoch: int, first_tokens: bool, scenario: str) -> bytes:  # noqa: FBT001 the wire's field
    """The frame of a `Begin`. Raises WireError for numbers out of range, as all encoders do."""
    return _header(BEGIN, epoch, count=int(first_tokens)) + scenario.encode()


def encode_submit(epoch: int, ids: Sequence[int] | npt.NDArray[np.uint64], indices: Sequence[int]) -> bytes:
    """The frame of a `Submit`; ids and indices must be of one length."""
    if len(ids) != len(indices):
        raise WireError(f"{len(ids)} sample ids and {len(indices)} indices; a submit pairs them one to one")
    return b"".join((_header(SUBMIT, epoch, count=len(ids)), _pack("Q", ids), _pack("I", indices)))


def encode_end(epoch: int) -> bytes:
    """The frame of an `End`."""
    return _header(END, epoch)


def encode_hello(epoch: int, worker: int, window: int) -> bytes:
    """The frame of a `Hello`."""
    return _header(HELLO, epoch, worker, window)


def encode_events(
    epoch: int,
    worker: int,
    firsts: Sequence[tuple[int, int]] = (),
    finals: Sequence[tuple[int, TokenIds]] = (),
    failures: Sequence[tuple[int, str]] = (),
) -> bytes:
    """The frame of an `Events`. Token arrays must be one-dimensional int32; a reason is cut at 4096 bytes."""
    arrays = [_flat(tokens) for _, tokens in finals]
    reasons = [reason.encode("utf-8", "replace")[:MAX_REASON_BYTES] for _, reason in failures]
    counts = [len(tokens) for _, tokens in finals]
    parts: list[Buffer] = [
        _header(EVENTS, epoch, worker),
        _pack_counts(len(firsts), len(finals), len(failures), sum(counts)),
        _pack("Q", [sample_id for sample_id, _ in firsts]),
        _pack("Q", [sample_id for sample_id, _ in finals]),
        _pack("Q", [sample_id for sample_id, _ in failures]),
        _pack("i", [token for _, token in firsts]),
        _pack("I", counts),
        *arrays,
        _pack("I", [len(reason) for reason in reasons]),
        *reasons,
    ]
    return b"".join(parts)


def _flat(tokens: TokenIds) -> Buffer:
    """The array as its bytes go out: itself, where it lies in one piece. Raises WireError."""
    if tokens.dtype != np.int32 or tokens.ndim != 1:
        raise WireError(f"token ids of dtype {tokens.dtype} and {tokens.ndim} dimensions; send a flat int32 array")
    return tokens.data if _LITTLE and tokens.flags.c_contiguous else tokens.astype("<i4").tobytes()


def encode_heartbeat(epoch: int, worker: int, in_flight: int, lag_ns: int) -> bytes:
    """The frame of a `Heartbeat`."""
    return _header(HEARTBEAT, epoch, worker, in_flight) + _LAG.pack(lag_ns)


def encode_goodbye(epoch: int, worker: int) -> bytes:
    """The frame of a `Goodbye`."""
    return _header(GOODBYE, epoch, worker)


def decode(frame: Buffer) -> Message:
    """The message a frame holds. Arrays are read-only views into `frame`: keep it alive. Raises WireError."""
    view = memoryview(frame)
    if len(view) < _HEADER.size:
        raise WireError(f"a frame of {len(view)} bytes; every frame has at least {_HEADER.size}")
    version, kind, worker, count, epoch = _HEADER.unpack_from(view)
    if version != VERSION:
        raise WireError(f"a frame of protocol version {version}, this is version {VERSION}; update the older side")
    body = view[_HEADER.size :]
    if kind == EVENTS:
        return _decode_events(epoch, worker, body)
    if kind == SUBMIT:
        _expect(body, 12 * count, "submit")
        return Submit(epoch, _numbers(body, "Q", count, 0), _numbers(body, "I", count, 8 * count))
    return _decode_small(kind, epoch, worker, count, body)


def _decode_small(kind: int, epoch: int, worker: int, count: int, body: memoryview) -> Message:
    if kind == BEGIN:
        if count > 1:
            raise WireError(f"a begin frame whose first-token flag is {count}, not 0 or 1")
        return Begin(epoch, bool(count), _text(body, "scenario"))
    if kind == HEARTBEAT:
        _expect(body, _LAG.size, "heartbeat")
        return Heartbeat(epoch, worker, count, _LAG.unpack(body)[0])
    _expect(body, 0, "control")
    if kind == HELLO:
        return Hello(epoch, worker, count)
    if kind == END:
        return End(epoch)
    if kind == GOODBYE:
        return Goodbye(epoch, worker)
    raise WireError(f"a frame of unknown kind {kind}; update the older side")


def _decode_events(epoch: int, worker: int, body: memoryview) -> Events:
    if len(body) < _EVENT_COUNTS.size:
        raise WireError(f"an events frame of {len(body)} bytes after its header, too short for its counts")
    firsts, finals, failed, tokens = _EVENT_COUNTS.unpack_from(body)
    first_tokens_at = _EVENT_COUNTS.size + 8 * (firsts + finals + failed)
    counts_at = first_tokens_at + 4 * firsts
    tokens_at = counts_at + 4 * finals
    reasons_at = tokens_at + 4 * tokens
    if len(body) < reasons_at + 4 * failed:
        raise WireError(f"an events frame of {len(body)} bytes, shorter than its counts say")
    ids = _numbers(body, "Q", firsts + finals + failed, _EVENT_COUNTS.size)
    # First tokens and counts lie side by side and are read as one: a token id is no larger than a count may be.
    numbers = _numbers(body, "i", firsts + finals, first_tokens_at)
    counts = numbers[firsts:]
    if sum(counts) != tokens or (finals and min(counts) < 0):
        raise WireError(f"an events frame whose answers hold {sum(counts)} token ids but that carries {tokens}")
    reasons = _decode_reasons(body[reasons_at:], failed)
    return Events(
        epoch,
        worker,
        ids[:firsts],
        numbers[:firsts],
        ids[firsts : firsts + finals],
        counts,
        _heads(body, counts, tokens_at),
        tuple(zip(ids[firsts + finals :], reasons, strict=True)) if failed else (),
        body,
        first_tokens_at,
        tokens_at,
    )


def _heads(body: memoryview, counts: Sequence[int], tokens_at: int) -> Sequence[int]:
    """The first token id of every answer."""
    heads, at = [], tokens_at
    for count in counts:
        heads.append(_TOKEN.unpack_from(body, at)[0] if count else NO_HEAD)
        at += _TOKEN.size * count
    return heads


def _decode_reasons(body: memoryview, failed: int) -> list[str]:
    if not failed:
        _expect(body, 0, "events")
        return []
    lengths = np.frombuffer(body, "<u4", failed).tolist()
    text = body[4 * failed :]
    _expect(text, sum(lengths), "events")
    bounds = accumulate(lengths, initial=0)
    # A reason cut at its limit may end inside a character: replaced, so that the sample's failure still arrives.
    return [bytes(text[begin:end]).decode("utf-8", "replace") for begin, end in pairwise(bounds)]


def _header(kind: int, epoch: int, worker: int = 0, count: int = 0) -> bytes:
    try:
        return _HEADER.pack(VERSION, kind, worker, count, epoch)
    except struct.error as error:
        raise WireError(f"epoch {epoch}, worker {worker} or count {count} does not fit its field: {error}") from None


def _pack_counts(*counts: int) -> bytes:
    try:
        return _EVENT_COUNTS.pack(*counts)
    except struct.error as error:
        raise WireError(f"too many events for one frame {counts}: {error}; send them in several") from None


def _pack(code: str, values: Sequence[int] | npt.NDArray[np.uint64]) -> bytes:
    try:
        if len(values) < _SMALL:
            return _row(code, len(values)).pack(*values)
        return np.asarray(values, dtype=f"<{_NUMPY_CODES[code]}").tobytes()
    except (struct.error, OverflowError, TypeError, ValueError) as error:
        raise WireError(f"a number of the frame does not fit {code!r}: {error}") from None


_NUMPY_CODES = {"Q": "u8", "I": "u4", "i": "i4"}


@lru_cache(maxsize=64)
def _row(code: str, count: int) -> struct.Struct:
    return struct.Struct(f"<{count}{code}")


def _numbers(body: memoryview, code: str, count: int, at: int) -> Sequence[int]:
    """`count` numbers from byte `at`: by struct when they are few, by numpy when they are many."""
    if count < _SMALL:
        return _row(code, count).unpack_from(body, at) if count else ()
    numbers: list[int] = np.frombuffer(body, f"<{_NUMPY_CODES[code]}", count, at).tolist()
    return numbers


def _expect(body: memoryview, size: int, what: str) -> None:
    if len(body) != size:
        raise WireError(f"{what} frame with {len(body)} bytes where its header promises {size}")


def _text(body: memoryview, what: str) -> str:
    try:
        return bytes(body).decode("utf-8")
    except UnicodeDecodeError as error:
        raise WireError(f"the {what} is not UTF-8: {error}") from None
