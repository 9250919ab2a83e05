"""Many lines of a detail log in one step: only as LoadGen writes them, and for anything else not at all.

A block is taken when each of its lines is one record of the strict form; otherwise its lines are read one by one. The
list of loaded_qsl_set, over half of a log's bytes, is looked at as bytes and never built. It follows from the round's
seed and the numbers of samples, so the logs of a benchmark repeat it byte for byte, those of other submitters too.
"""

from typing import Literal

import msgspec

from compliance.logs.detail_decode import DROPPED_KEY, LogMetadata, LogValue

MAX_BODY_BYTES = 4 << 20
"""Beyond this a text is not decoded: the objects of a hostile one take many times its size."""

_PART_BYTES = 1 << 18
_MOST_BRACKETS = 10_000
_OF_A_LIST = b"0123456789,"
_MOST_KNOWN_BYTES = 8 << 20
_LONGEST_KNOWN_BYTES = 2 << 20
_KNOWN_BY_BYTES = 64


class BlockRecord(msgspec.Struct, forbid_unknown_fields=True, gc=False):
    """A record of the strict form. The value of loaded_qsl_set is an empty list."""

    key: str
    value: LogValue
    time_ms: float
    namespace: Literal["mlperf::logging"]
    event_type: Literal["POINT_IN_TIME"]
    metadata: LogMetadata


class KnownLists:
    """The lists found sound last, so that the next log's is only compared with them."""

    def __init__(self) -> None:
        self._lists: dict[tuple[int, bytes], bytes] = {}
        self.held_bytes = 0

    def forget(self) -> None:
        """Holds no list any more."""
        self._lists.clear()
        self.held_bytes = 0

    def sound(self, text: bytes, start: int, end: int) -> bool:
        """Whether the bytes from `start` to `end` are a list of integers, as `is_integer_list` has it."""
        name = (end - start, text[start : min(end, start + _KNOWN_BY_BYTES)])
        known = self._lists.get(name)
        if known is not None and text.startswith(known, start):
            return True
        if not is_integer_list(text, start, end):
            return False
        if end - start > _LONGEST_KNOWN_BYTES:
            return True
        self.held_bytes += end - start - len(self._lists.pop(name, b""))
        self._lists[name] = text[start:end]
        while self.held_bytes > _MOST_KNOWN_BYTES:
            self.held_bytes -= len(self._lists.pop(next(iter(self._lists))))
        return True


KNOWN_LISTS = KnownLists()
_RECORDS = msgspec.json.Decoder(list[BlockRecord])


def decode_block(text: bytes, marker: bytes) -> list[BlockRecord] | None:
    """The record of each line, in order; None when a single line is anything but a strict record."""
    head = marker + b" {"
    short = _without_lists(text, head)
    if short is None or len(short) > MAX_BODY_BYTES or not short.startswith(head):
        return None
    # As one JSON array: a comma between any two lines, so that no record can go on over two of them.
    lines = short[len(head) - 1 : len(short) - short.endswith(b"\n")].split(b"\n" + head)
    body = b"[%b]" % b",{".join(lines)
    if b"\n" in body:
        return None
    try:
        records = _RECORDS.decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None
    left = [one for one in records if one.key == DROPPED_KEY and one.value != []]
    return records if len(records) == len(lines) and not left else None


def _without_lists(text: bytes, head: bytes) -> bytes | None:
    """The text with the lists of loaded_qsl_set emptied; None when one of them is not digits and commas.

    A list that is spaced otherwise stays. Brackets are looked for, not names: they are rare, and found at once.
    """
    before = head + b'"key": "%b", "value": [' % DROPPED_KEY.encode()
    parts: list[bytes] = []
    position = odd = 0
    at = text.find(b"[")
    while at >= 0:
        if text.endswith(before, 0, at + 1):
            end = text.find(b"]", at)
            if end < 0 or not KNOWN_LISTS.sound(text, at + 1, end):
                return None
            parts.append(text[position : at + 1])
            position = end
        elif (odd := odd + 1) > _MOST_BRACKETS:
            return None
        at = text.find(b"[", max(position, at + 1))
    return b"".join((*parts, text[position:])) if parts else text


def is_integer_list(text: bytes, start: int, end: int) -> bool:
    """Whether the bytes from `start` to `end` are non-negative integers with a comma between each two, or nothing.

    A space after each comma is let pass, and so are leading zeros.
    """
    if start == end:
        return True
    if text.find(b" ", start, min(end, start + _PART_BYTES)) >= 0:
        packed = text[start:end].replace(b", ", b",")
        return b" " not in packed and is_integer_list(packed, 0, len(packed))
    if text[start] == ord(",") or text[end - 1] == ord(","):
        return False
    for begin in range(start, end, _PART_BYTES):
        # One byte more than the part, so that two commas on either side of its end are seen.
        part = text[begin : min(begin + _PART_BYTES + 1, end)]
        if part.translate(None, _OF_A_LIST) or b",," in part:
            return False
    return True
