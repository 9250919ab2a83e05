"""A campaign that is killed at any moment, and resumed, ends as one that nobody disturbed."""

import importlib.util
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest

from harness.cli import main
from harness.run.record import RunRecord
from harness.storage import read_record
from tests.support.campaigns import QUICK, make_dataset

pytestmark = pytest.mark.skipif(
    importlib.util.find_spec("mlperf_loadgen") is None, reason="mlcommons-loadgen has no wheel for this platform"
)
ROOT = Path(__file__).parents[3]
DURATION_S = 14.0
TRIES = 200
SEEDS = random.SystemRandom()


def campaign_in(folder):
    make_dataset(folder / "dataset")
    path = folder / "campaign.yaml"
    path.write_text(QUICK)
    return path


def start(path):
    command = [sys.executable, "-m", "harness", "run", str(path), "--resume"]
    log = (path.parent / "log.txt").open("a")
    with log:
        return subprocess.Popen(command, cwd=ROOT, stdout=log, stderr=log, start_new_session=True)


def kill(process, whole):
    """SIGKILL to the runner alone, or also to everything it started; returns what may be left of the latter."""
    children = psutil.Process(process.pid).children(recursive=True)
    os.kill(process.pid, signal.SIGKILL)
    for child in children if whole else ():
        child.kill()
    process.wait()
    return children


def campaign_with_kills(path, rng, kills):
    """Runs the campaign to its end, killing it `kills` times at random moments on the way; returns its children."""
    left, children = kills, []
    for _ in range(TRIES):
        process = start(path)
        if left:
            deadline = time.monotonic() + rng.uniform(0.0, DURATION_S / 2)
            while time.monotonic() < deadline and process.poll() is None:
                time.sleep(0.01)
            if process.poll() is None:
                children += kill(process, whole=rng.random() < 0.3)
                left -= 1
                continue
            # It came to its end before its time: the next one begins anew.
            for record in (path.parent / "out").rglob("run.json"):
                record.unlink()
            continue
        if process.wait(timeout=200) == 0:
            return children
    pytest.fail(f"no campaign came to its end: {(path.parent / 'log.txt').read_text()[-2000:]}")


def shape(out):
    """What two good campaigns have in common: their files, and of each run what does not hang on the clock."""
    files = sorted(str(path.relative_to(out)) for path in out.rglob("*") if path.is_file())
    runs = {}
    for path in sorted(out.rglob("run.json")):
        record = read_record(path, RunRecord)
        totals = record.outcome.ledger
        runs[str(path.relative_to(out))] = (
            record.run_id,
            record.status,
            record.validity,
            record.plan_sha256,
            record.effective,
            totals.issued == totals.completed > 0,
            sorted(record.files),
        )
    return files, runs


def judged(folder, capsys):
    """The packaged tree's files and verdicts."""
    tree = folder / "tree"
    assert main(["package", str(folder / "campaign.yaml"), "--out", str(tree)]) == 0
    capsys.readouterr()
    code = main(["check", str(tree), "--format", "json"])
    report = json.loads(capsys.readouterr().out)
    files = sorted(str(path.relative_to(tree)) for path in tree.rglob("*") if path.is_file())
    verdicts = [(r["path"], r["verdict"], r["official_verdict"]) for r in report["results"]]
    return files, verdicts, code


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory):
    folder = tmp_path_factory.mktemp("undisturbed")
    assert start(campaign_in(folder)).wait(timeout=200) == 0
    # Packaging leaves its own files in `out`: what is compared is told before it.
    return folder, shape(folder / "out")


def killed_as_undisturbed(undisturbed, folder, seed, kills, capsys):
    print(f"seed {seed}")
    path = campaign_in(folder)
    children = campaign_with_kills(path, random.Random(seed), kills)  # noqa: S311 moments, no secrets
    undisturbed, expected = undisturbed
    assert shape(folder / "out") == expected
    # Nothing that a killed campaign had started is left.
    assert not psutil.wait_procs(children, timeout=60)[1]
    if not (undisturbed / "tree").exists():
        judged(undisturbed, capsys)
        capsys.readouterr()
    expected = sorted(
        str(p.relative_to(undisturbed / "tree")) for p in (undisturbed / "tree").rglob("*") if p.is_file()
    )
    files, verdicts, _ = judged(folder, capsys)
    assert files == expected
    assert verdicts


def test_killed_at_three_moments(undisturbed, tmp_path, capsys):
    killed_as_undisturbed(undisturbed, tmp_path, SEEDS.randrange(2**32), 3, capsys)


@pytest.mark.slow
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("seed", range(10))
def test_killed_at_fifty_moments(undisturbed, tmp_path, seed, capsys):
    killed_as_undisturbed(undisturbed, tmp_path, seed, 5, capsys)


def test_package_killed_leaves_no_half_a_tree(undisturbed, tmp_path):
    undisturbed, _ = undisturbed
    rng = random.Random(5)  # noqa: S311 as above
    for number in range(6):
        tree = tmp_path / f"tree{number}"
        command = [sys.executable, "-m", "harness", "package", str(undisturbed / "campaign.yaml"), "--out", str(tree)]
        process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        time.sleep(rng.uniform(0.2, 2.0))
        process.kill()
        process.wait()
        if tree.exists():
            assert main(["check", str(tree), "--profile", "official"]) in (0, 1)
            assert (tree / "open" / "Example" / "systems").is_dir()
        assert main(["package", str(undisturbed / "campaign.yaml"), "--out", str(tree)]) == (2 if tree.exists() else 0)


def damage(folder, how):
    log = folder / "mlperf_log_detail.txt"
    match how:
        case "record cut":
            data = (folder / "run.json").read_bytes()
            (folder / "run.json").write_bytes(data[: len(data) // 2])
        case "record gone":
            (folder / "run.json").unlink()
        case "log changed by a byte":
            data = bytearray(log.read_bytes())
            data[len(data) // 2] ^= 1
            log.write_bytes(data)
        case "log cut":
            log.write_bytes(log.read_bytes()[:-1])
        case "outcome gone":
            (folder / "outcome.json").unlink()


@pytest.mark.parametrize(
    ("how", "why"),
    [
        ("record cut", "its record or its files cannot be read"),
        ("record gone", "it was cut off"),
        ("log changed by a byte", "mlperf_log_detail.txt is not as the run has left it"),
        ("log cut", "mlperf_log_detail.txt is not as the run has left it"),
        ("outcome gone", "outcome.json"),
    ],
)
def test_a_run_that_is_not_whole_is_made_again(undisturbed, tmp_path, how, why, capsys):
    undisturbed, expected = undisturbed
    shutil.copytree(undisturbed, tmp_path / "c", ignore=shutil.ignore_patterns("tree", ".lock"))
    path = tmp_path / "c" / "campaign.yaml"
    folder = next((tmp_path / "c" / "out" / "runs").rglob("Offline/performance"))
    damage(folder, how)
    assert main(["plan", str(path)]) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert "Offline/performance to be made again, since" in said
    assert "Offline/accuracy done" in said
    assert main(["run", str(path), "--only", "Offline"]) == 0
    out, err = capsys.readouterr()
    assert "Offline/performance: made again, since" in err
    assert why in err
    shown = " ".join(out.split())
    assert "Offline/performance ok, VALID" in shown
    assert "Offline/accuracy ok (kept)" in shown
    assert shape(tmp_path / "c" / "out")[1] == expected[1]
