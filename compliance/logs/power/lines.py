"""Lines and times of the power logs: streamed, a line never longer than a limit."""

import re
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

from compliance.errors import UnreadableFile
from compliance.logs.lines import unreadable

LINE_LIMIT_BYTES = 1 << 16
"""A line of spl.txt, ptd_logs.txt, client.log or server.log is a few hundred bytes."""

TIME_FORMAT = "%m-%d-%Y %H:%M:%S.%f"
_TIME = re.compile(r"(\d\d)-(\d\d)-(\d{4}) (\d\d):(\d\d):(\d\d)\.(\d{3})", re.ASCII)


def text_lines(path: Path) -> Iterator[tuple[int, str]]:
    """The lines of a text file with their 1-based numbers, without LF or CRLF.

    Raises UnreadableFile, with the line, for one that is too long or no UTF-8, and when the file cannot be read.
    """
    for number, line in raw_lines(path, LINE_LIMIT_BYTES):
        if len(line) > LINE_LIMIT_BYTES:
            raise UnreadableFile(path, f"the line is longer than {LINE_LIMIT_BYTES} bytes; copy the file anew", number)
        try:
            yield number, line.decode()
        except UnicodeDecodeError:
            raise UnreadableFile(path, "not UTF-8; copy the file anew", number) from None


def raw_lines(path: Path, limit_bytes: int) -> Iterator[tuple[int, bytes]]:
    """The lines of a file; of one that is longer than the limit no more than its first `limit_bytes` + 1 bytes.

    Raises UnreadableFile when the file cannot be read.
    """
    number = 0
    try:
        with path.open("rb") as stream:
            while line := stream.readline(limit_bytes + 1):
                number += 1
                yield number, line.rstrip(b"\r\n")
                while not line.endswith(b"\n") and (line := stream.readline(limit_bytes)):
                    pass
    except OSError as error:
        raise unreadable(path, error) from error


def parse_time(text: str) -> datetime | None:
    """A time as LoadGen and PTDaemon write it (mm-dd-yyyy HH:MM:SS.mmm, taken as UTC); None for anything else."""
    match = _TIME.fullmatch(text)
    try:
        if match is None:
            return datetime.strptime(text, TIME_FORMAT).replace(tzinfo=UTC)
        month, day, year, hour, minute, second, millisecond = map(int, match.groups())
        return datetime(year, month, day, hour, minute, second, millisecond * 1000, UTC)
    except ValueError:
        return None
