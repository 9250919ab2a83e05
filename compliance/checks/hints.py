"""What to do about what a log says, where the text alone leaves a reader helpless."""

import re
from collections.abc import Iterable
from difflib import get_close_matches

_REPORT_FIRST = (
    "Token latencies are on and a first token was reported after its completion, or not at all: the SUT must call"
    " FirstTokenComplete before QuerySamplesComplete, from the same thread, and complete with n_tokens. In Offline"
    " first tokens are optional and best left out."
)
_BY_TEXT = (
    (re.compile(r"first token latency|FirstTokenComplete|first token", re.IGNORECASE), _REPORT_FIRST),
    (
        re.compile(r"multiple conf(?:ig)? files", re.IGNORECASE),
        "An audit.config or a second user.conf lay in the run's folder: take it away and repeat the run.",
    ),
    (
        re.compile(r"can't open file|cannot open|could not open", re.IGNORECASE),
        "LoadGen did not find that file and went on with its defaults: give an existing one, and repeat the run.",
    ),
    (
        re.compile(r"max query count reached|max_query_count", re.IGNORECASE),
        "The run ended at max_query_count before min_duration: leave max_query_count out (or raise it) and repeat it.",
    ),
    (
        re.compile(r"max duration|max_duration", re.IGNORECASE),
        "The run ended at max_duration before it was complete: leave max_duration out (or raise it) and repeat it.",
    ),
    (
        re.compile(r"n_tokens|token.{0,20}(?:zero|0)\b", re.IGNORECASE),
        "Complete every sample with the number of tokens it holds (n_tokens), end token included, and repeat the run.",
    ),
)
_CLOSE = 0.75


def fix_of_error(text: str) -> str:
    """What to do about an error that LoadGen logged; empty where its text is none that is known."""
    return next((fix for pattern, fix in _BY_TEXT if pattern.search(text)), "")


def near(name: str, present: Iterable[str]) -> str | None:
    """Of the names that are there the one that `name` was most likely meant by, None when none is near.

    Case, dashes and blanks do not count, so that `Host-Network Card_Count` is `host_network_card_count`.
    """
    names = {_plain(one): one for one in present}
    close = get_close_matches(_plain(name), names, n=1, cutoff=_CLOSE)
    return names[close[0]] if close else None


def _plain(name: str) -> str:
    return re.sub(r"[\s\-]+", "_", name.strip().lower())
