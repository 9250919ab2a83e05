import io
import threading

from harness.cli.progress import counted


class Terminal(io.StringIO):
    def isatty(self):
        return True


def shown(stream, silent_s):
    with counted("systems", stream, silent_s) as done:
        for each in range(3):
            done(each)
    return stream.getvalue()


def test_a_terminal_sees_how_many_are_done_and_nothing_is_left_behind():
    text = shown(Terminal(), 0)
    assert "judged" in text
    assert "systems" in text
    assert not text.rpartition("\r")[2].strip()


def test_no_thread_is_started_that_would_keep_a_process_from_being_forked():
    before = threading.active_count()
    with counted("systems", Terminal(), 0) as done:
        done(None)
        assert threading.active_count() == before


def test_a_short_command_and_a_pipe_see_nothing():
    assert shown(Terminal(), 60) == ""
    assert shown(io.StringIO(), 0) == ""
