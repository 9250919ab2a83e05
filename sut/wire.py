"""The wire format between the LoadGen process and its workers: one frame is one message, little-endian.

Every frame starts with 16 bytes: protocol version u8, kind u8, worker u16, count u32, epoch u64. The arrays that follow
lie widest first, so that they are aligned and the receiver reads them in place. Tasks are begin, submit and end; events
are hello, events, heartbeat and goodbye. The epoch is the number of the LoadGen test: a frame of another epoch is stale
and its ids are dangling pointers (F4 in harness/README.md).
"""

import struct
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from sut.errors import WireError
from sut.protocol import TokenIds

VERSION = 1
BEGIN, SUBMIT, END, HELLO, EVENTS, HEARTBEAT, GOODBYE = range(1, 8)
MAX_REASON_BYTES = 4096

_HEADER = struct.Struct("<BBHIQ")
_EVENT_COUNTS = struct.Struct("<IIII")
_LAG = struct.Struct("<q")

# Below this many numbers, struct is faster than building a numpy array (which costs about a microsecond).
_SMALL = 8

Buffer: TypeAlias = bytes | bytearray | memoryview


@dataclass(frozen=True, slots=True)
class Begin:
    """A LoadGen test begins. The worker answers with `Hello` once its engine is ready for it."""

    epoch: int
    first_tokens: bool
    scenario: str


@dataclass(frozen=True, slots=True, eq=False)
class Submit:
    """Samples to answer: `ids` (LoadGen's, uint64) and `indices` (of the dataset, uint32), views into the frame."""

    epoch: int
    ids: npt.NDArray[np.uint64]
    indices: npt.NDArray[np.uint32]


@dataclass(frozen=True, slots=True)
class End:
    """The test is over. The worker answers with `Goodbye`."""

    epoch: int


@dataclass(frozen=True, slots=True)
class Hello:
    """A worker is ready for the test of this epoch and wants `window` samples in flight."""

    epoch: int
    worker: int
    window: int


@dataclass(frozen=True, slots=True, eq=False)
class Events:
    """Answers of one worker, as views into the frame.

    `tokens` holds the ids of all final answers one after another; `counts[i]` of them belong to `final_ids[i]`.
    First tokens of a frame come before its finals; `failures` pairs a sample id with the reason.
    """

    epoch: int
    worker: int
    first_ids: npt.NDArray[np.uint64]
    first_tokens: TokenIds
    final_ids: npt.NDArray[np.uint64]
    counts: npt.NDArray[np.uint32]
    tokens: TokenIds
    failures: tuple[tuple[int, str], ...]

    def finals(self) -> Iterator[tuple[int, TokenIds]]:
        """Each final answer as (sample id, its token ids); the ids are views into the frame."""
        bounds = accumulate(self.counts.tolist(), initial=0)
        for sample_id, (begin, end) in zip(self.final_ids.tolist(), pairwise(bounds), strict=True):
            yield sample_id, self.tokens[begin:end]


@dataclass(frozen=True, slots=True)
class Heartbeat:
    """A sign of life: samples in flight in the worker, and how late its I/O loop woke at worst since the last one."""

    epoch: int
    worker: int
    in_flight: int
    lag_ns: int


@dataclass(frozen=True, slots=True)
class Goodbye:
    """The worker has ended the test of this epoch and holds nothing of it."""

    epoch: int
    worker: int


Message: TypeAlias = Begin | Submit | End | Hello | Events | Heartbeat | Goodbye


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
    arrays = [tokens for _, tokens in finals]
    for tokens in arrays:
        if tokens.dtype != np.int32 or tokens.ndim != 1:
            raise WireError(f"token ids of dtype {tokens.dtype} and {tokens.ndim} dimensions; send a flat int32 array")
    reasons = [reason.encode("utf-8", "replace")[:MAX_REASON_BYTES] for _, reason in failures]
    counts = [len(tokens) for tokens in arrays]
    parts = [
        _header(EVENTS, epoch, worker),
        _pack_counts(len(firsts), len(finals), len(failures), sum(counts)),
        _pack("Q", [sample_id for sample_id, _ in firsts]),
        _pack("Q", [sample_id for sample_id, _ in finals]),
        _pack("Q", [sample_id for sample_id, _ in failures]),
        _pack("i", [token for _, token in firsts]),
        _pack("I", counts),
        *(tokens.astype("<i4", copy=False).tobytes() for tokens in arrays),
        _pack("I", [len(reason) for reason in reasons]),
        *reasons,
    ]
    return b"".join(parts)


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
        ids = np.frombuffer(body, "<u8", count)
        return Submit(epoch, ids, np.frombuffer(body, "<u4", count, 8 * count))
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
    first_at = _EVENT_COUNTS.size
    final_at = first_at + 8 * firsts
    failed_at = final_at + 8 * finals
    first_tokens_at = failed_at + 8 * failed
    counts_at = first_tokens_at + 4 * firsts
    tokens_at = counts_at + 4 * finals
    reasons_at = tokens_at + 4 * tokens
    if len(body) < reasons_at + 4 * failed:
        raise WireError(f"an events frame of {len(body)} bytes, shorter than its counts say")
    counts = np.frombuffer(body, "<u4", finals, counts_at)
    if int(counts.sum(dtype=np.uint64)) != tokens:
        raise WireError(f"an events frame whose answers hold {counts.sum()} token ids but that carries {tokens}")
    failed_ids = np.frombuffer(body, "<u8", failed, failed_at).tolist()
    reasons = _decode_reasons(body[reasons_at:], failed)
    return Events(
        epoch,
        worker,
        np.frombuffer(body, "<u8", firsts, first_at),
        np.frombuffer(body, "<i4", firsts, first_tokens_at),
        np.frombuffer(body, "<u8", finals, final_at),
        counts,
        np.frombuffer(body, "<i4", tokens, tokens_at),
        tuple(zip(failed_ids, reasons, strict=True)),
    )


def _decode_reasons(body: memoryview, failed: int) -> list[str]:
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
            return struct.pack(f"<{len(values)}{code}", *values)
        return np.asarray(values, dtype=f"<{_NUMPY_CODES[code]}").tobytes()
    except (struct.error, OverflowError, TypeError, ValueError) as error:
        raise WireError(f"a number of the frame does not fit {code!r}: {error}") from None


_NUMPY_CODES = {"Q": "u8", "I": "u4", "i": "i4"}


def _expect(body: memoryview, size: int, what: str) -> None:
    if len(body) != size:
        raise WireError(f"{what} frame with {len(body)} bytes where its header promises {size}")


def _text(body: memoryview, what: str) -> str:
    try:
        return bytes(body).decode("utf-8")
    except UnicodeDecodeError as error:
        raise WireError(f"the {what} is not UTF-8: {error}") from None
