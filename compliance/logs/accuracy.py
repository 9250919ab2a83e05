"""The accuracy log: responses as hex, one object per line; whole or truncated (rules.md 4.6)."""

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class AccuracyEntry:
    """One logged response. `data` and `token_data` are the raw bytes; `token_count` is LoadGen's n_tokens."""

    seq_id: int
    qsl_idx: int
    data: bytes
    token_data: bytes | None
    token_count: int | None
    line: int


@dataclass(frozen=True, slots=True)
class AccuracyLog:
    """What is known of an accuracy log without holding its responses. `entries` is None when truncated or unreadable."""

    path: Path
    bytes: int
    truncated: bool
    entries: int | None
    sha256: str
