import io

from harness.core.progress import Progress
from harness.run.progress import BarProgress, PlainProgress, terminal_progress


class Terminal(io.StringIO):
    def isatty(self):
        return True


def test_a_pipe_gets_plain_lines():
    stream = io.StringIO()
    with terminal_progress(stream) as progress:
        assert isinstance(progress, PlainProgress)
        progress.begin("Offline/performance", 100)
        progress.update(Progress(1.0, 100, 50, 500))
    assert stream.getvalue() == "Offline/performance: 100 samples\n", "no line is due yet"


def test_a_plain_line_has_samples_rate_and_time_left():
    stream = io.StringIO()
    progress = PlainProgress(stream, every_s=0.0)
    progress.begin("Server/performance", 100)
    progress.update(Progress(10.0, 120, 60, 900))
    progress.update(Progress(0.0, 0, 0, 0))
    progress.say("done")
    progress.end()
    lines = stream.getvalue().splitlines()
    assert lines[1] == "Server/performance: 60/120 samples, 90 tok/s, 10 s left"
    assert lines[2] == "Server/performance: 0/100 samples, 0 tok/s"
    assert lines[3] == "done"


def test_a_terminal_gets_a_bar_that_goes_away():
    stream = Terminal()
    with terminal_progress(stream) as progress:
        assert isinstance(progress, BarProgress)
        progress.update(Progress(1.0, 1, 1, 1))
        progress.begin("Offline/accuracy", 10)
        progress.update(Progress(2.0, 20, 10, 100))
        progress.update(Progress(2.0, 20, 20, 100))
        progress.say("a line")
    text = stream.getvalue()
    assert "Offline/accuracy" in text
    assert "a line" in text
