"""spl.txt, its times, and the window of the detail log that says which samples count."""

from contextlib import suppress
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compliance.errors import UnreadableFile
from compliance.logs.power.lines import LINE_LIMIT_BYTES, TIME_FORMAT, parse_time, raw_lines, text_lines
from compliance.logs.power.spl import read_spl
from compliance.logs.power.window import read_window

WINDOW = (datetime(2026, 11, 28, 20, 0, tzinfo=UTC), datetime(2026, 11, 28, 20, 10, tzinfo=UTC))


def written(tmp_path, content):
    path = tmp_path / "file.txt"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def line(time="11-28-2026 20:05:00.000", watts="500.0", power_factor="0.9"):
    return f"Time,{time},Watts,{watts},Volts,230,Amps,2,PF,{power_factor},Mark,x\n"


@pytest.mark.parametrize(
    ("text", "milliseconds"),
    [
        ("11-28-2026 20:05:00.250", 250),
        ("11-28-2026 20:05:00.25", 250),
        ("11-28-2026 20:05:00.250000", 250),
        ("11-28-2026 20:05:00", None),
        ("2026-11-28 20:05:00.250", None),
        ("13-28-2026 20:05:00.250", None),
        ("02-30-2026 20:05:00.250", None),
        ("11-28-2026 20:05:00.250 ", None),
        ("", None),
    ],
)
def test_a_time(text, milliseconds):
    found = parse_time(text)
    assert found == (None if milliseconds is None else datetime(2026, 11, 28, 20, 5, 0, milliseconds * 1000, UTC))


@given(
    st.datetimes(datetime(1970, 1, 1), datetime(9999, 12, 31))  # noqa: DTZ001 - made UTC below
)
def test_every_time_of_the_calendar_is_read(time):
    text = time.strftime(TIME_FORMAT)[:-3]
    assert parse_time(text) == datetime.strptime(text, TIME_FORMAT).replace(tzinfo=UTC)


@given(st.text(max_size=30))
def test_a_time_is_read_or_none(text):
    parse_time(text)


def test_means_are_over_positive_samples_strictly_inside(tmp_path):
    lines = (
        "PTDaemon\n",
        line("11-28-2026 20:00:00.000", "1"),
        line("11-28-2026 20:00:00.001", "400", "0.8"),
        line(watts="600"),
        line(watts="0", power_factor="0"),
        line(watts="-3"),
        line("11-28-2026 20:10:00.000", "1"),
    )
    log = read_spl(written(tmp_path, "".join(lines)), WINDOW)
    assert (log.samples, log.within, log.mean_watts, log.line, log.fault) == (6, 2, 500.0, 2, None)
    assert log.mean_power_factor == pytest.approx((0.8 + 0.9 + 0.9) / 3)


@pytest.mark.parametrize(
    ("content", "number", "power_factor"),
    [
        (line() + line("noon"), 2, False),
        ("Time\n", 1, False),
        (line(watts="high"), 1, False),
        (line(power_factor="-"), 1, True),
        (line("11-28-2026 23:00:00.000", "high"), None, False),
        (line("11-28-2026 23:00:00.000").replace(",0.9,", ",-,"), None, False),
    ],
)
def test_the_first_sample_that_cannot_be_read_is_kept(content, number, power_factor, tmp_path):
    fault = read_spl(written(tmp_path, content), WINDOW).fault
    assert (fault.line, fault.power_factor) == (number, power_factor) if number else fault is None


def test_without_a_window_only_times_are_read(tmp_path):
    log = read_spl(written(tmp_path, line(watts="high")), None)
    assert (log.samples, log.within, log.fault) == (1, 0, None)


@given(st.binary(max_size=200))
def test_any_bytes_are_read_or_refused(tmp_path_factory, content):
    path = written(tmp_path_factory.mktemp("spl"), b"Time,11-28-2026 20:05:00.000,W,5,V,1,A,1,PF," + content)
    with suppress(UnreadableFile):
        read_spl(path, WINDOW)


@pytest.mark.parametrize(
    ("content", "number"), [(b"a\n" + b"x" * (LINE_LIMIT_BYTES + 1) + b"\n", 2), (b"a\nb\n\xff\n", 3)]
)
def test_a_line_that_is_too_long_or_no_utf_8_is_refused_with_its_number(content, number, tmp_path):
    with pytest.raises(UnreadableFile) as error:
        list(text_lines(written(tmp_path, content)))
    assert error.value.line == number


def test_a_line_of_the_limit_is_read_and_a_longer_one_is_cut(tmp_path):
    path = written(tmp_path, b"x" * LINE_LIMIT_BYTES + b"\r\n" + b"y" * 25 + b"\nz")
    assert [len(text) for _, text in text_lines(path)] == [LINE_LIMIT_BYTES, 25, 1]
    assert list(raw_lines(path, 10)) == [(1, b"x" * 11), (2, b"y" * 11), (3, b"z")]


@pytest.mark.parametrize(
    ("text", "begin", "end"),
    [
        ('"power_begin", "11-28-2026 20:00:00.500"\n"power_end", "11-28-2026 20:10:00.500"\n', 1, 2),
        ('x\n"POWER_END", "11-28-2026 20:10:00.500"\n', None, 2),
        ("power_begin 11-28-2026 20:00:00.500\npower_begin 11-28-2026 20:01:00.500\npower_end 11-28-2026 20:10:00.5\n", 2, 3),
        ("power_begin 11-28-2026\npower_end 11-28-2026 20:10:00.5\n", 1, None),
        ("nothing\n", None, None),
    ],
)  # fmt: skip
def test_the_window_of_a_detail_log(text, begin, end, tmp_path):
    window = read_window(written(tmp_path, text))
    assert (window.begin and window.begin.line, window.end and window.end.line) == (begin, end)
    assert (window.times is None) == (window.duration_s is None)


def test_a_line_of_digits_costs_its_length(tmp_path):
    assert read_window(written(tmp_path, "power_begin " + "1" * 60_000 + "-" + "2" * 60_000)).begin.time is None


def test_a_file_that_is_not_there_is_refused(tmp_path):
    for read in (read_window, lambda path: read_spl(path, None)):
        with pytest.raises(UnreadableFile, match="missing"):
            read(tmp_path / "none")
    with pytest.raises(UnreadableFile, match="empty"):
        read_spl(written(tmp_path, ""), None)
