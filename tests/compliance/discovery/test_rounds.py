"""A tree's round from its seeds, LoadGen's release, its layout and its benchmarks, each alone and against each other."""

import json
import os
from pathlib import Path

import pytest

from compliance.discovery.rounds import detect_round
from compliance.errors import UnreadableFile
from compliance.rulebook.rounds import benchmark_of, load_round, round_marks, round_names
from tests.support.trees import clean_tree

ROUNDS = tuple(round_marks(name) for name in round_names())
OFFICIAL = [name for name in round_names() if name.startswith("v")]
SEED_KEYS = tuple(f"effective_{name}_rng_seed" for name in ("qsl", "sample_index", "schedule"))
CORPUS = sorted((Path(__file__).parents[3].parent / "shared").glob("corpus/*/case.json"))


def knows(round_name, benchmark):
    return benchmark_of(load_round(round_name), benchmark) is not None


def detected(root, submitter=None):
    return detect_round(root, ROUNDS, knows, submitter)


def changed(tree, **changes):
    for scenario in tree.scenarios:
        tree.performance(scenario, **changes)
        tree.accuracy(scenario, **changes)
    return tree


def without_logs(tree):
    for path in list(tree.logs):
        tree.remove(path)
    return tree


@pytest.mark.parametrize("name", OFFICIAL)
def test_each_round_is_found_by_its_seeds(name, tmp_path):
    found = detected(clean_tree("llama2-70b-99.9", round_name=name).write(tmp_path))
    assert (found.round_name, found.contradictions, found.unknown) == (name, (), "")
    assert found.basis[0] == f"the seeds of 2 logs: {name}"
    assert name in found.by_seeds


def test_equal_seeds_are_told_apart_by_the_benchmarks(tmp_path):
    tree = clean_tree("smollm2-135m", round_name="demo")
    assert detected(tree.write(tmp_path)).round_name == "demo"


@pytest.mark.parametrize("name", ["v5.1", "v6.0", "v6.1"])
def test_without_seeds_the_release_decides(name, tmp_path):
    version = {"v5.1": "5.1.0", "v6.0": "6.0.9", "v6.1": "6.0.17"}[name]
    tree = changed(clean_tree("llama2-70b-99.9", round_name=name), loadgen_version=f"{version} @ NA")
    found = detected(changed(tree, **dict.fromkeys(SEED_KEYS)).write(tmp_path))
    assert found.round_name == name
    assert found.basis[0].startswith(f"LoadGen {version} in 2 logs: ")


@pytest.mark.parametrize(("name", "newest"), [("v5.0", "v5.1"), ("v6.0", "v6.1")])
def test_the_layout_alone_leaves_the_newest_of_its_rounds(name, newest, tmp_path):
    found = detected(without_logs(clean_tree("llama2-70b-99.9", round_name=name)).write(tmp_path))
    assert found.round_name == newest
    assert found.basis[0].startswith("the layout (")
    assert name in found.basis[0]


def test_seeds_that_contradict_the_release_and_the_layout_are_told(tmp_path):
    tree = changed(clean_tree("llama2-70b-99.9", round_name="v6.0"), loadgen_version="5.1.0 @ NA")
    tree.texts["closed/Acme/code/a.py"] = "x\n"
    found = detected(tree.write(tmp_path))
    assert found.round_name == "v6.0"
    release, layout = found.contradictions
    assert release.startswith("LoadGen 5.1.0 is v5.1's, not v6.0's (closed/Acme/results/")
    assert release.endswith(" and 1 more)")
    assert layout == "the layout's code/ is v5.0's and v5.1's, not v6.0's (closed/Acme/code)"


def test_the_majority_of_logs_decides_and_the_others_are_told(tmp_path):
    tree = clean_tree("llama2-70b-99.9", ("Interactive", "Offline", "Server"), round_name="v6.0")
    other = round_marks("v5.1").seeds
    tree.performance("Offline", **dict(zip(SEED_KEYS, (other.qsl, other.sample_index, other.schedule), strict=True)))
    found = detected(tree.write(tmp_path))
    assert found.round_name == "v6.0"
    (told,) = found.contradictions
    assert " are v5.1's, not v6.0's (" in told


def test_one_wrong_seed_of_three_is_still_the_rounds(tmp_path):
    found = detected(changed(clean_tree(round_name="v6.0"), effective_schedule_rng_seed=7).write(tmp_path))
    assert (found.round_name, found.by_seeds) == ("v6.0", ("v6.0",))


def test_seeds_and_release_of_no_round_here_are_unknown(tmp_path):
    tree = changed(clean_tree(round_name="v5.1"), loadgen_version="4.1 @ 379ee5345a", **dict.fromkeys(SEED_KEYS, 7))
    found = detected(tree.write(tmp_path))
    assert found.round_name is None
    assert found.unknown.startswith("LoadGen 4.1, seeds 7 / 7 / 7 (closed/Acme/results/")


def test_strange_seeds_under_a_known_release_are_of_that_round(tmp_path):
    tree = changed(clean_tree(round_name="v6.0", division="open"), **dict.fromkeys(SEED_KEYS, 0))
    found = detected(tree.write(tmp_path))
    assert (found.round_name, found.unknown) == ("v6.0", "")
    assert found.contradictions[0].startswith("the seeds 0 / 0 / 0 are of no round known here, not v6.0's")


def test_nothing_to_go_on_is_no_round(tmp_path):
    (tmp_path / "closed/Acme/results/s/b/Offline").mkdir(parents=True)
    found = detected(tmp_path)
    assert (found.round_name, found.unknown, found.basis) == (None, "", ())


def test_a_folder_is_wanted(tmp_path):
    with pytest.raises(UnreadableFile):
        detected(tmp_path / "absent")


@pytest.mark.parametrize("name", ["config.yaml", "config.yml"])
def test_endpoints_seeds_stand_in_the_config(name, tmp_path):
    seeds = round_marks("v6.0").seeds
    folder = tmp_path / "closed/Acme/results/s/b/Offline"
    folder.mkdir(parents=True)
    text = f"a: &a [x]\nruntime:\n  scheduler_random_seed: {seeds.schedule}\r\n"
    (folder / name).write_text(text + f"  dataloader_random_seed: {seeds.sample_index}\n  - {{{{broken")
    found = detected(tmp_path)
    assert (found.round_name, found.basis) == ("v6.0", ("the seeds of 1 log: v6.0",))


def test_the_accuracy_log_stands_in_for_a_missing_performance_log(tmp_path):
    tree = clean_tree(round_name="v6.0")
    for scenario in tree.scenarios:
        tree.remove(tree.path(scenario, "performance"))
    assert detected(tree.write(tmp_path)).basis[0] == "the seeds of 2 logs: v6.0"


def test_a_submitters_tree_is_looked_at_alone(tmp_path):
    clean_tree(round_name="v6.0").write(tmp_path)
    other = clean_tree(round_name="v6.1", division="open").write(tmp_path / "other")
    (other / "open/Acme").rename(tmp_path / "open")
    (tmp_path / "open").rename(tmp_path / "Else")
    (tmp_path / "open").mkdir()
    (tmp_path / "Else").rename(tmp_path / "open/Else")
    assert detected(tmp_path, "Acme").round_name == "v6.0"
    assert detected(tmp_path, "Else").round_name == "v6.1"


def test_only_a_few_logs_are_read_and_only_their_beginning(tmp_path, monkeypatch):
    read = []
    original = Path.open

    def counted(self, *arguments, **options):
        read.append(self)
        return original(self, *arguments, **options)

    log = clean_tree(round_name="v6.0").logs.popitem()[1]
    text = "".join(record.line() for record in log)
    for system in range(40):
        for scenario in ("Offline", "Server"):
            folder = tmp_path / f"closed/Acme/results/s{system}/b/{scenario}/performance/run_1"
            folder.mkdir(parents=True)
            (folder / "mlperf_log_detail.txt").write_text(text)
    last = tmp_path / "closed/Acme/results/s0/b/Offline/performance/run_1/mlperf_log_detail.txt"
    with last.open("r+b") as stream:
        stream.truncate(1 << 40)
    monkeypatch.setattr(Path, "open", counted)
    found = detected(tmp_path)
    assert found.round_name == "v6.0"
    assert len([path for path in read if path.name == "mlperf_log_detail.txt"]) == 32
    assert last in read


def test_the_tree_is_never_left(tmp_path):
    outside = clean_tree("llama2-70b-99", round_name="v5.0").write(tmp_path / "outside")
    tree = tmp_path / "tree"
    (tree / "closed").mkdir(parents=True)
    (tree / "closed/Acme").symlink_to(outside / "closed/Acme")
    (tree / "open/Loop").mkdir(parents=True)
    (tree / "open/Loop/results").symlink_to("..")
    assert detected(tree).round_name is None


def test_what_cannot_be_read_tells_nothing(tmp_path):
    folder = tmp_path / "closed/Acme/results/s/b/Offline/performance/run_1"
    folder.mkdir(parents=True)
    os.mkfifo(folder / "mlperf_log_detail.txt")
    assert detected(tmp_path).round_name is None


@pytest.mark.skipif(not CORPUS, reason="no collection of judged submissions beside the checkout")
@pytest.mark.parametrize("path", CORPUS, ids=lambda path: path.parent.name)
def test_real_submissions_are_of_the_round_they_are_of(path):
    wanted = json.loads(path.read_text())["round"]
    found = detected(path.parent / "submission")
    assert found.round_name == (wanted if wanted in round_names() else None)
    assert bool(found.unknown) is (wanted not in round_names())
