import json
from pathlib import Path

import pytest

from compliance.submission.manifest import Manifest, list_files, manifest_text
from harness.campaign.load import load_campaign
from harness.cli import main
from tests.support.campaigns import write_campaign
from tests.support.trees import clean_tree


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("run", "{tmp}/absent.yaml"), "weighbridge init"),
        (("plan", "{tmp}/bad.yaml"), "bad.yaml:1: unknown key 'x'"),
        (("rules", "v9"), "no rules for round 'v9'"),
        (("rules", "v6.1", "llama"), "has no benchmark 'llama'"),
        (("rules", "a", "b", "c"), "give ROUND"),
        (("rules", "diff", "v6.1"), "diff ROUND ROUND"),
        (("rules", "power", "v6.1"), "or power"),
        (("rules", "v6.1", "--format", "yaml"), "yaml is none of text, json"),
        (("explain", "NOPE-1"), "no check 'NOPE-1'"),
        (("check", "{tmp}/absent"), "does not exist"),
        (("check", "{tmp}", "--format", "xml"), "xml is none of text, json"),
        (("check", "{tmp}", "--profile", "loose"), "loose is none of"),
        (("check", "{tmp}", "--round", "v9"), "no rules for round"),
        (("init", "{tmp}/c.yaml", "--division", "ajar"), "ajar is none of"),
        (("init", "{tmp}/there.yaml"), "is there already"),
        (("sut-test", "nul"), "did you mean 'null'"),
        (("sut-test", "null", "--set", "novalue"), "is not KEY=VALUE"),
        (("systems", "show", "nope"), "no system 'nope' is shipped"),
        (("audit", "{tmp}", "--benchmark", "smollm2-135m", "--scenario", "server", "--round", "demo"), "is none of"),
        (("frobnicate",), "No such command"),
        (("demo", "--full", "--sut", "synthetic", "--out", "{tmp}/d"), "take it without --sut synthetic"),
        (("truncate", "{tmp}/there.yaml", "{tmp}/there.yaml"), "is there already"),
        (
            ("accuracy", "{tmp}", "--benchmark", "x", "--dataset", "d", "--tokenizer", "t", "--division", "z"),
            "z is none of",
        ),
    ],
)
def test_user_mistakes_are_two_with_a_message(weighbridge, tmp_path, arguments, words):
    (tmp_path / "bad.yaml").write_text("x: 1\n")
    (tmp_path / "there.yaml").write_text("")
    code, _, err = weighbridge(*(argument.format(tmp=tmp_path) for argument in arguments))
    assert code == 2, err
    assert words in " ".join(err.split())


def test_debug_shows_the_traceback(tmp_path):
    with pytest.raises(Exception, match="weighbridge init"):
        main(["--debug", "plan", str(tmp_path / "absent.yaml")])
    main(["--version"])


def test_explain_lists_and_tells_what_is_no_run_folder(weighbridge, tmp_path):
    code, out, _ = weighbridge("explain")
    assert code == 0
    assert any(line.startswith("PERF-007 ") for line in out.splitlines())
    code, _, err = weighbridge("explain", "XX-1")
    assert code == 2
    assert "`weighbridge explain` lists them all" in err
    code, _, err = weighbridge("explain", tmp_path)
    assert code == 2
    assert "not a run folder" in err


def test_an_unreadable_log_is_one(weighbridge, tmp_path):
    (tmp_path / "mlperf_log_detail.txt").write_text("")
    code, _, err = weighbridge("explain", tmp_path)
    assert code == 1
    assert "mlperf_log_detail.txt" in err


def test_an_internal_error_is_one_and_says_how_to_see_it(weighbridge, tmp_path):
    from harness.cli import _explain

    assert _explain(ZeroDivisionError("x")) == 1
    _, _, err = weighbridge("--version")
    assert err == "" or "internal error" in err


@pytest.mark.parametrize("division", ["closed", "open"])
@pytest.mark.parametrize(
    ("round_name", "benchmark"),
    [("v6.1", "llama2-70b-99.9"), ("v6.1", "llama3.1-8b-edge"), ("v6.1", "gpt-oss-120b"), ("demo", "smollm2-135m")],
)
def test_init_writes_a_campaign_that_can_be_planned(weighbridge, tmp_path, round_name, benchmark, division):
    path = tmp_path / "c.yaml"
    options = ("--round", round_name, "--benchmark", benchmark, "--division", division, "--submitter", "no: 'x'")
    code, out, err = weighbridge("init", path, *options[:-1], "Yes & Co")
    assert code == 0, err
    assert "weighbridge doctor" in out
    campaign = load_campaign(path)
    assert (campaign.benchmark, campaign.submitter) == (benchmark, "Yes & Co")
    code, out, err = weighbridge("plan", path, "--settings")
    assert code == 0, err
    assert "weighbridge doctor" in out.splitlines()[-1]
    assert max(map(len, out.splitlines())) <= 80


def test_init_without_a_file_writes_to_standard_output(weighbridge, tmp_path):
    code, out, err = weighbridge("init", "--system", "my-box", "--benchmark", "llama3.1-8b", "--sut", "vllm-rocm")
    assert (code, err) == (0, "")
    (tmp_path / "campaign.yaml").write_text(out)
    assert load_campaign(tmp_path / "campaign.yaml").sut.name == "vllm-rocm"


@pytest.mark.parametrize(
    "arguments", [(), ("demo",), ("demo", "smollm2-135m"), ("diff", "demo", "v6.1"), ("power",)], ids=" ".join
)
def test_rules_as_text_and_as_json(weighbridge, arguments):
    code, text, _ = weighbridge("rules", *arguments)
    assert code == 0
    assert text
    assert max(map(len, text.splitlines())) <= 80
    assert weighbridge("rules", *arguments, "--format", "text") == (0, text, "")
    code, out, _ = weighbridge("rules", *arguments, "--json")
    assert code == 0
    json.loads(out)
    assert weighbridge("rules", *arguments, "--format", "json") == (0, out, "")


def test_explain_a_check(weighbridge):
    code, out, _ = weighbridge("explain", "perf-007")
    assert code == 0
    assert out.startswith("PERF-007:")


def test_systems(weighbridge, tmp_path):
    _, out, _ = weighbridge("systems", "list")
    first = out.split()[0]
    code, out, _ = weighbridge("systems", "show", first)
    assert code == 0
    assert '"system_name"' in out
    code, out, _ = weighbridge("systems", "capture", "--out", tmp_path / "me.json", "--submitter", "Example")
    assert code == 0
    assert json.loads((tmp_path / "me.json").read_text())["submitter"] == "Example"
    code, out, _ = weighbridge("systems", "capture", "--name", "box")
    assert json.loads(out)["system_name"] == "box"


def test_sut_test_lists_describes_and_proves(weighbridge):
    _, out, _ = weighbridge("sut-test")
    assert "synthetic" in out.split()
    _, out, _ = weighbridge("sut-test", "synthetic", "--describe")
    assert "time_scale" in out
    code, out, _ = weighbridge("sut-test", "null")
    assert code == 0
    assert all(line.startswith("pass") for line in out.splitlines())
    code, out, _ = weighbridge(
        "sut-test", "tests.support.faulty_engines:FaultyEngine", "--set", "fault=int64", "--set", "window=8"
    )
    assert code == 1
    assert "FAIL" in out


def test_doctor_without_and_with_a_campaign(weighbridge, tmp_path):
    code, out, _ = weighbridge("doctor")
    assert code == 0
    assert "LoadGen" in out
    code, out, _ = weighbridge("doctor", write_campaign(tmp_path))
    assert code == 0, out
    assert "dataset: made_up, 200 samples" in out
    code, out, _ = weighbridge("doctor", write_campaign(tmp_path, dataset="nowhere"))
    assert code == 1
    assert "fail dataset" in out


def test_an_empty_tree_fails_strictly(weighbridge, tmp_path):
    (tmp_path / "tree").mkdir()
    assert weighbridge("check", tmp_path / "tree", "--round", "demo")[0] == 1
    code, out, _ = weighbridge(
        "check", tmp_path / "tree", "--round", "demo", "--format", "json", "--profile", "official"
    )
    assert code == 0
    assert json.loads(out)["profile"] == "official"


def test_package_without_runs_says_every_reason(weighbridge, tmp_path):
    code, _, err = weighbridge("package", write_campaign(tmp_path), "--out", tmp_path / "tree")
    assert code == 1
    assert len(err.splitlines()) >= 6
    assert not (tmp_path / "tree").exists()


def test_a_closed_pipe_is_no_crash(tmp_path):
    import subprocess
    import sys

    root = Path(__file__).parents[3]
    command = f"{sys.executable} -m harness rules v6.1 --json | head -c 10"
    done = subprocess.run(("bash", "-c", command), capture_output=True, text=True, cwd=root, check=True)
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("command", ["plan", "run"])
def test_a_system_that_nobody_describes_ends_before_any_run(weighbridge, tmp_path, command):
    code, _, err = weighbridge(command, write_campaign(tmp_path, system="my-box"))
    assert code == 2
    assert "systems capture --name my-box --out my-box.json" in err
    assert not (tmp_path / "out").exists()


def test_capture_replaces_a_file_only_when_told_to(weighbridge, tmp_path):
    (tmp_path / "me.json").write_text("mine")
    code, _, err = weighbridge("systems", "capture", "--out", tmp_path / "me.json")
    assert (code, (tmp_path / "me.json").read_text()) == (2, "mine")
    assert "give another name or --force" in err
    assert weighbridge("systems", "capture", "--out", tmp_path)[0] == 2
    assert weighbridge("systems", "capture", "--out", tmp_path / "me.json", "--force")[0] == 0
    assert json.loads((tmp_path / "me.json").read_text())["submitter"] == "YourCompany"


@pytest.mark.parametrize("content", [None, "benchmark: x\n", "", "[1, 2]", '{"seq_id": 1}'])
def test_truncate_takes_only_an_accuracy_log(weighbridge, tmp_path, content):
    if content is not None:
        (tmp_path / "log").write_text(content)
    code, _, err = weighbridge("truncate", tmp_path / "log", tmp_path / "short")
    assert code == 2
    assert "give mlperf_log_accuracy.json or its folder" in err
    assert not (tmp_path / "short").exists()


@pytest.mark.parametrize("content", ["[\n]\n", '[\n{ "seq_id" : 0, "qsl_idx" : 1, "data" : "00" }\n]\n'])
def test_truncate_a_folders_log(weighbridge, tmp_path, content):
    (tmp_path / "mlperf_log_accuracy.json").write_text(content)
    assert weighbridge("truncate", tmp_path, tmp_path / "no" / "short")[0] == 2
    code, out, _ = weighbridge("truncate", tmp_path, tmp_path / "short")
    assert code == 0
    assert out.startswith("hash=")
    assert (tmp_path / "short").read_text() == content


ACCURACY = ("accuracy", "{tmp}", "--round", "demo", "--benchmark", "smollm2-135m", "--dataset", "{tmp}/d")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("init", "{tmp}/nodir/c.yaml"), "nodir: no such folder"),
        ((*ACCURACY, "--tokenizer", "{tmp}/missing"), "missing: no such file"),
        ((*ACCURACY, "--tokenizer", "t", "--evaluator", "none"), "no evaluator 'none'"),
        (("report", "{tmp}/campaign.yaml", "--tree", "{tmp}/nope"), "does not exist"),
    ],
)
def test_a_missing_file_is_the_callers_mistake(weighbridge, tmp_path, arguments, words):
    write_campaign(tmp_path)
    code, _, err = weighbridge(*(argument.format(tmp=tmp_path) for argument in arguments))
    assert code == 2, err
    assert words in " ".join(err.split())


def test_an_out_that_is_no_folder_is_the_callers_mistake(weighbridge, tmp_path):
    (tmp_path / "file").write_text("")
    code, _, err = weighbridge("run", write_campaign(tmp_path, out=str(tmp_path / "file")))
    assert code == 2
    assert "choose another `out`" in err


def test_a_worker_without_interpreter_is_the_callers_mistake(weighbridge, tmp_path):
    code, _, err = weighbridge("run", write_campaign(tmp_path, worker="[{python: /nonexistent/python}]"))
    assert code == 2
    assert "cannot be started" in err


def demo_tree(folder):
    return clean_tree("smollm2-135m", ("Offline", "Server"), round_name="demo").write(folder)


def test_the_round_is_found_by_what_stands_in_the_tree(weighbridge, tmp_path):
    tree = demo_tree(tmp_path / "tree")
    code, out, _ = weighbridge("check", tree)
    assert code == 0
    assert "round demo" in out
    assert "the benchmarks (smollm2-135m): demo" in " ".join(out.split())
    code, out, err = weighbridge("check", tree, "--format", "json")
    assert (code, json.loads(out)["round"], json.loads(out)["round_hint"]) == (0, "demo", None)
    assert err.startswith("judged by round demo: the seeds of 2 logs: v6.1 or demo; ")


def test_a_packaged_tree_is_judged_by_the_round_of_its_manifest(weighbridge, tmp_path):
    tree = demo_tree(tmp_path / "tree")
    manifest = Manifest("demo", tree, list_files(tree), {})
    manifest.path.write_text(manifest_text(manifest))
    code, out, err = weighbridge("check", tree, "--format", "json")
    assert (code, json.loads(out)["round"]) == (0, "demo")
    assert err == "judged by round demo: the manifest beside the tree names it\n"


@pytest.mark.parametrize("text", ["{", '{"round": "v0", "files": {}, "originals": {}}'])
def test_a_manifest_without_a_known_round_leaves_it_to_the_tree(weighbridge, tmp_path, text):
    clean_tree(round_name="v6.0").write(tmp_path / "tree")
    (tmp_path / "tree.manifest.json").write_text(text)
    _, out, _ = weighbridge("check", tmp_path / "tree", "--format", "json")
    assert json.loads(out)["round"] == "v6.0"


def test_a_tree_that_tells_nothing_of_its_round_wants_one_named(weighbridge, tmp_path):
    (tmp_path / "tree").mkdir()
    code, out, err = weighbridge("check", tmp_path / "tree")
    assert (code, out) == (2, "")
    assert "name it: --round v5.0|" in err


def test_a_wrong_round_gets_one_hint_in_place_of_seed_errors(weighbridge, tmp_path):
    tree = clean_tree(round_name="v6.0").write(tmp_path / "tree")
    code, out, _ = weighbridge("check", tree, "--round", "v6.1")
    assert code == 1
    assert out.count("these seeds are v6.0's, not v6.1's: check with --round v6.0") == 1
    assert "rng_seed" not in out
    assert out.splitlines()[-1] == "FAIL: 2 of 2 results invalid, 1 kind of error (strict)"
    assert "PERF-002" in weighbridge("check", tree, "--round", "v6.1", "-v")[1]
    _, out, err = weighbridge("check", tree, "--round", "v6.1", "--format", "json")
    document = json.loads(out)
    assert document["round_hint"] == err.strip() == "these seeds are v6.0's, not v6.1's: check with --round v6.0"
    ids = {one["id"] for result in document["results"] for one in result["findings"]}
    assert {"PERF-002", "PERF-003", "PERF-004"} <= ids


@pytest.mark.parametrize("options", [(), ("--round", "v4.1")])
def test_a_round_without_rules_is_not_judged(weighbridge, tmp_path, options):
    tree = clean_tree("llama2-70b-99", round_name="v5.0")
    for scenario in ("Offline", "Server"):
        seeds = {f"effective_{name}_rng_seed": 7 for name in ("qsl", "sample_index", "schedule")}
        tree.performance(scenario, loadgen_version="4.1 @ 379ee5345a", **seeds)
    code, out, err = weighbridge("check", tree.write(tmp_path / "tree"), *options)
    assert (code, out) == (3, "")
    assert err.startswith("error: round not known: ")


def test_a_report_without_runs_or_results_is_written_and_says_so(weighbridge, tmp_path):
    path = write_campaign(tmp_path)
    (tmp_path / "empty").mkdir()
    code, out, err = weighbridge("report", path, "--tree", tmp_path / "empty", "--out", tmp_path / "page.html")
    assert code == 0, err
    assert (tmp_path / "page.html").is_file()
    assert out == f"wrote {tmp_path / 'page.html'}\n"
    runs, results = err.splitlines()
    assert runs.startswith("no runs in ")
    assert " yet; " in runs
    assert results.startswith(f"no results in {tmp_path / 'empty'} yet; ")
