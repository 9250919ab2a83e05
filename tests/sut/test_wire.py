"""The wire format: what is encoded comes back, and any other bytes are refused with WireError and nothing else."""

import contextlib
import ctypes
import struct

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sut import messages, wire
from sut.errors import WireError
from sut.messages import NO_HEAD

U64 = st.integers(0, 2**64 - 1)
U32 = st.integers(0, 2**32 - 1)
U16 = st.integers(0, 2**16 - 1)
I32 = st.integers(-(2**31), 2**31 - 1)
TOKENS = st.lists(I32, max_size=20).map(lambda ids: np.array(ids, dtype=np.int32))


@given(U64, st.booleans(), st.text())
def test_begin_comes_back(epoch, first_tokens, scenario):
    frame = wire.encode_begin(epoch, first_tokens, scenario.encode("utf-8", "replace").decode())
    assert wire.decode(frame) == messages.Begin(epoch, first_tokens, scenario.encode("utf-8", "replace").decode())


@given(U64, U16, U32, st.integers(-(2**63), 2**63 - 1))
def test_small_frames_come_back(epoch, worker, number, lag_ns):
    assert wire.decode(wire.encode_end(epoch)) == messages.End(epoch)
    assert wire.decode(wire.encode_hello(epoch, worker, number)) == messages.Hello(epoch, worker, number)
    assert wire.decode(wire.encode_goodbye(epoch, worker)) == messages.Goodbye(epoch, worker)
    beat = messages.Heartbeat(epoch, worker, number, lag_ns)
    assert wire.decode(wire.encode_heartbeat(epoch, worker, number, lag_ns)) == beat


@given(U64, st.lists(st.tuples(U64, U32), max_size=30))
def test_submit_comes_back(epoch, samples):
    ids = [sample_id for sample_id, _ in samples]
    indices = [index for _, index in samples]
    message = wire.decode(wire.encode_submit(epoch, ids, indices))
    assert isinstance(message, messages.Submit)
    assert message.epoch == epoch
    assert list(message.ids) == ids
    assert list(message.indices) == indices
    assert wire.encode_submit(epoch, np.array(ids, np.uint64), np.array(indices, np.uint32)) == wire.encode_submit(
        epoch, ids, indices
    )


@given(
    U64,
    U16,
    st.lists(st.tuples(U64, I32), max_size=20),
    st.lists(st.tuples(U64, TOKENS), max_size=20),
    st.lists(st.tuples(U64, st.text(alphabet=st.characters(exclude_categories=["Cs"]))), max_size=20),
)
def test_events_come_back(epoch, worker, firsts, finals, failures):
    message = wire.decode(wire.encode_events(epoch, worker, firsts, finals, failures))
    assert isinstance(message, messages.Events)
    assert (message.epoch, message.worker) == (epoch, worker)
    assert list(zip(message.first_ids, message.first_tokens, strict=True)) == firsts
    assert [(i, t.tolist()) for i, t in message.finals()] == [(i, t.tolist()) for i, t in finals]
    assert list(message.counts) == [len(tokens) for _, tokens in finals]
    assert list(message.heads) == [int(t[0]) if len(t) else NO_HEAD for _, t in finals]
    assert message.failures == tuple(failures)
    assert message.tokens.dtype == np.int32


@pytest.mark.parametrize("answers", [1, 7, 8, 20])
def test_token_ids_stay_in_the_frame(answers):
    firsts = [(sample_id, 11 + sample_id) for sample_id in range(answers)]
    finals = [(sample_id, np.arange(sample_id, sample_id + 300, dtype=np.int32)) for sample_id in range(answers)]
    frame = wire.encode_events(3, 1, firsts, finals)
    message = wire.decode(frame)
    assert isinstance(message, messages.Events)
    tokens = message.tokens
    assert np.shares_memory(tokens, np.frombuffer(frame, np.uint8))
    assert not tokens.flags.writeable
    assert tokens.flags.aligned
    assert message.address + message.tokens_at == tokens.__array_interface__["data"][0]
    at = ctypes.cast(message.address + message.first_tokens_at, ctypes.POINTER(ctypes.c_int32))
    assert [at[i] for i in range(answers)] == [token for _, token in firsts]


@pytest.mark.parametrize("answer", [np.arange(20, dtype=np.int32)[::2], np.arange(10, dtype=np.int32)])
def test_an_answer_that_does_not_lie_in_one_piece_arrives_as_well(answer):
    message = wire.decode(wire.encode_events(3, 1, [], [(7, answer)]))
    assert isinstance(message, messages.Events)
    assert [(i, t.tolist()) for i, t in message.finals()] == [(7, answer.tolist())]


@given(st.binary(max_size=200))
def test_any_bytes_decode_or_raise_wire_error(data):
    with contextlib.suppress(WireError):
        wire.decode(data)


@given(st.integers(0, 9), U32, st.binary(max_size=120))
def test_any_body_decodes_or_raises_wire_error(kind, count, body):
    for plausible in (count, count % 8):
        frame = struct.pack("<BBHIQ", wire.VERSION, kind, 0, plausible, 1) + body
        with contextlib.suppress(WireError):
            wire.decode(frame)


@given(st.data())
def test_a_damaged_events_frame_never_raises_anything_else(data):
    frame = bytearray(wire.encode_events(1, 0, [(1, 2)], [(1, np.arange(3, dtype=np.int32))], [(9, "no memory")]))
    for _ in range(data.draw(st.integers(1, 4))):
        frame[data.draw(st.integers(0, len(frame) - 1))] = data.draw(st.integers(0, 255))
    with contextlib.suppress(WireError):
        wire.decode(frame[: data.draw(st.integers(0, len(frame)))])


@pytest.mark.parametrize(
    ("frame", "says"),
    [
        (b"", "0 bytes"),
        (b"\x02" + bytes(15), "version 2"),
        (b"\x01\x63" + bytes(14), "kind 99"),
        (wire.encode_end(1) + b"x", "promises 0"),
        (wire.encode_submit(1, [5], [6])[:-1], "promises 12"),
        (struct.pack("<BBHIQ", 1, wire.BEGIN, 0, 2, 1), "not 0 or 1"),
        (wire.encode_begin(1, True, "Server") + b"\xff", "not UTF-8"),
        (wire.encode_events(1, 0)[:20], "too short for its counts"),
        (wire.encode_events(1, 0, [(1, 2)])[:-1], "shorter than its counts"),
        (wire.encode_events(1, 0, failures=[(1, "out of memory")])[:-1], "promises 13"),
        (wire.encode_heartbeat(1, 0, 2, 3)[:-1], "promises 8"),
    ],
)
def test_a_wrong_frame_says_what_is_wrong(frame, says):
    with pytest.raises(WireError, match=says):
        wire.decode(frame)


def test_token_total_must_match_the_counts():
    frame = bytearray(wire.encode_events(1, 0, finals=[(1, np.arange(4, dtype=np.int32))]))
    struct.pack_into("<I", frame, 32 + 8, 3)
    with pytest.raises(WireError, match="hold 3 token ids but that carries 4"):
        wire.decode(frame)


@pytest.mark.parametrize(
    "encode",
    [
        lambda: wire.encode_end(2**64),
        lambda: wire.encode_end(-1),
        lambda: wire.encode_hello(1, 2**16, 1),
        lambda: wire.encode_submit(1, [1], []),
        lambda: wire.encode_submit(1, [-1], [0]),
        lambda: wire.encode_submit(1, [2**64] * 9, [0] * 9),
        lambda: wire.encode_events(1, 0, [(1, 2**31)]),
        lambda: wire.encode_events(1, 0, finals=[(1, np.arange(3, dtype=np.int64))]),
        lambda: wire.encode_events(1, 0, finals=[(1, np.zeros((2, 2), np.int32))]),
    ],
)
def test_numbers_out_of_range_are_refused(encode):
    with pytest.raises(WireError):
        encode()


def test_a_long_reason_is_cut_and_still_arrives():
    message = wire.decode(wire.encode_events(1, 0, failures=[(4, "ü" * 5000)]))
    assert isinstance(message, messages.Events)
    ((sample_id, reason),) = message.failures
    assert sample_id == 4
    assert reason == "ü" * (wire.MAX_REASON_BYTES // 2)
