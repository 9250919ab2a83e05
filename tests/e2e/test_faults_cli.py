"""What goes wrong in a run, told at the command line: a killed worker, Ctrl-C, a full disk, a stray audit file.

Each time `weighbridge run` ends within a bound, with its exit code, and names the cause without a traceback.
"""

import resource
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psutil
import pytest

from tests.support.campaigns import QUICK, write_campaign

pytest.importorskip("mlperf_loadgen", reason="mlcommons-loadgen has no wheel for this platform")

ROOT = Path(__file__).parents[2]
END_S = 30
START_S = 60
TICK_S = 0.1


class Running:
    """`weighbridge run` in a process of its own, its output kept."""

    def __init__(self, campaign: Path, *options: str, **limits: object) -> None:
        command = (sys.executable, "-m", "harness", "run", str(campaign), *options)
        self.process = subprocess.Popen(
            command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, **limits
        )

    def worker(self) -> psutil.Process:
        """The worker process, a child of the run."""
        children = psutil.Process(self.process.pid).children()
        (found,) = [child for child in children if "sut.worker" in child.cmdline()]
        return found

    def wait_for(self, path: Path) -> None:
        """Until a file is there; the run must not end before."""
        for _ in range(int(START_S / TICK_S)):
            if path.exists():
                return
            assert self.process.poll() is None, self.process.communicate()[0]
            threading.Event().wait(TICK_S)
        pytest.fail(f"no {path} within {START_S} s")

    def end(self, code: int, within_s: float = END_S) -> str:
        """The output of a run that ends in time with that exit code, and leaves no process of its own."""
        children = psutil.Process(self.process.pid).children(recursive=True) if self.process.poll() is None else []
        output, _ = self.process.communicate(timeout=within_s)
        assert self.process.returncode == code, output
        assert "Traceback" not in output
        assert psutil.wait_procs(children, timeout=END_S)[1] == []
        return " ".join(output.split())


@contextmanager
def running(campaign: Path, *options: str, **limits: object) -> Iterator[Running]:
    made = Running(campaign, *options, **limits)
    try:
        yield made
    finally:
        made.process.kill()
        made.process.communicate()


def in_test(folder: Path, scenario: str) -> Path:
    """The file that LoadGen makes when its test begins."""
    return folder / "runs" / "smollm2-135m" / scenario / "performance" / "mlperf_log_detail.txt"


def campaign_in(folder: Path, **replaced: str) -> Path:
    """Two performance runs of the timing model in the demo round; Server's takes five seconds."""
    text = QUICK.replace("Server: {target_qps: 400", "Server: {target_qps: 100")
    return write_campaign(folder, text, **{"audits": "false", "accuracy": "false", **replaced})


def test_a_killed_worker_fails_the_run_and_is_named(tmp_path: Path) -> None:
    with running(campaign_in(tmp_path), "--only", "Server") as run:
        run.wait_for(in_test(tmp_path / "out", "Server"))
        run.worker().kill()
        said = run.end(1)
    assert "Server/performance failed" in said
    assert "worker 0: killed by signal 9" in said


def test_ctrl_c_ends_in_order_and_the_next_run_resumes(tmp_path: Path) -> None:
    campaign = campaign_in(tmp_path)
    with running(campaign) as run:
        run.wait_for(in_test(tmp_path / "out", "Server"))
        run.process.send_signal(signal.SIGINT)
        said = run.end(130)
    assert "Offline/performance ok, VALID" in said
    assert "Server/performance interrupted" in said
    with running(campaign) as run:
        said = run.end(0, START_S + END_S)
    assert "Offline/performance ok (kept), VALID" in said
    assert "Server/performance ok, VALID" in said


@contextmanager
def small_disk(folder: Path) -> Iterator[dict[str, object]]:
    """`folder` on a disk on which the preflight's demand fits and an accuracy log does not; what the run needs for it.

    Without the right to mount, the process may write no file larger than the log.
    """
    folder.mkdir()
    mount = ("mount", "-t", "tmpfs", "-o", "size=1280k", "tmpfs", str(folder))
    if subprocess.run(mount, capture_output=True, check=False).returncode:
        hard = resource.getrlimit(resource.RLIMIT_FSIZE)[1]
        yield {"preexec_fn": lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (512 << 10, hard))}
        return
    try:
        yield {}
    finally:
        subprocess.run(["umount", "--lazy", str(folder)], check=True)


def test_a_full_disk_fails_the_run_and_is_named(tmp_path: Path) -> None:
    campaign = campaign_in(tmp_path, accuracy="true", generation="{min_new_tokens: 1000, max_new_tokens: 1000}")
    with small_disk(tmp_path / "out") as limits, running(campaign, "--only", "Offline/accuracy", **limits) as run:
        said = run.end(1)
    assert "Offline/accuracy" in said
    assert "was cut; free space" in said


def test_a_stray_audit_file_is_refused_and_left_alone(tmp_path: Path) -> None:
    stray = in_test(tmp_path / "out", "Server").with_name("audit.config")
    stray.parent.mkdir(parents=True)
    stray.write_text("*.*.mode = 2\n")
    with running(campaign_in(tmp_path)) as run:
        said = run.end(2)
    assert f"error: {stray} is in the way" in said
    assert stray.read_text() == "*.*.mode = 2\n"
    assert not (tmp_path / "out" / "workers").exists()
