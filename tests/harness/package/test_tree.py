"""A campaign's folder becomes a tree: whole, hashed, with nothing private in it; or it does not become one."""

import json
from dataclasses import replace
from pathlib import Path

import msgspec
import pytest

from compliance.errors import RenderError
from compliance.rulebook.rounds import load_round
from compliance.submission.manifest import verify_manifest
from compliance.submission.originals import read_sums
from compliance.submission.storage import sha256_file
from compliance.vocabulary import Division, Scenario
from harness.package.tree import Measurements, Notes, PackageInput, package
from harness.run.record import RunRecord, SettingMismatch
from systems.capture import Stated, capture
from tests.support.campaign_folder import write_campaign

BENCHMARK = "smollm2-135m"
ANSWERS = Measurements("int32", "bfloat16", "SmolLM2-135M-Instruct-Q8_0.gguf", "none")


@pytest.fixture
def view(tmp_path: Path) -> PackageInput:
    out = tmp_path / "out"
    write_campaign(out)
    stated = Stated(framework="vLLM 0.32.0", other_software_stack="Python 3.11", cooling="air")
    description = capture("laptop", "Example", "open", stated=stated, tool=lambda _command: "")
    round_ = load_round("demo")
    scenarios = {
        scenario: {step: out / "runs" / BENCHMARK / scenario / step for step in ("performance", "accuracy", "TEST06")}
        for scenario in (Scenario.OFFLINE, Scenario.SERVER)
    }
    return PackageInput(
        round=round_,
        division=Division.OPEN,
        submitter="Example",
        system_id="laptop",
        system_description=description,
        benchmark=BENCHMARK,
        benchmark_rules=round_.benchmarks[BENCHMARK],
        scenarios=scenarios,
        measurements=ANSWERS,
        model_name=BENCHMARK,
        campaign_out=out,
    )


def change(folder: Path, **fields: object) -> None:
    """Rewrite a run's record with other fields."""
    path = folder / "run.json"
    path.write_bytes(msgspec.json.encode(replace(msgspec.json.decode(path.read_bytes(), type=RunRecord), **fields)))


def test_tree_holds_every_file_of_the_layout(view: PackageInput, tmp_path: Path) -> None:
    manifest = package(view, tmp_path / "tree")
    scenario = "open/Example/results/laptop/smollm2-135m/Server"
    wanted = {
        "open/Example/systems/laptop.json",
        "open/Example/src/README.md",
        "open/Example/documentation/calibration.md",
        "open/Example/documentation/environment.md",
        "open/Example/documentation/bandwidth.md",
        *(f"{scenario}/{name}" for name in ("measurements.json", "user.conf", "README.md")),
        *(f"{scenario}/performance/run_1/mlperf_log_{name}" for name in ("detail.txt", "summary.txt", "accuracy.json")),
        *(f"{scenario}/accuracy/mlperf_log_{name}" for name in ("detail.txt", "summary.txt", "accuracy.json")),
        f"{scenario}/accuracy/accuracy.txt",
        f"{scenario}/TEST06/verify_accuracy.txt",
        f"{scenario}/TEST06/accuracy/mlperf_log_accuracy.json",
        *(f"{scenario}/TEST06/performance/run_1/mlperf_log_{name}" for name in ("detail.txt", "summary.txt")),
    }
    offline = {path.replace("/Server/", "/Offline/") for path in wanted}
    assert set(manifest.files) == wanted | offline
    assert verify_manifest(tmp_path / "tree") == ()


def test_accuracy_log_is_cut_and_its_original_kept(view: PackageInput, tmp_path: Path) -> None:
    manifest = package(view, tmp_path / "tree")
    target = f"open/Example/results/laptop/{BENCHMARK}/Offline/accuracy/mlperf_log_accuracy.json"
    source = view.scenarios[Scenario.OFFLINE]["accuracy"] / "mlperf_log_accuracy.json"
    assert (tmp_path / "tree" / target).stat().st_size == 8199
    assert manifest.originals[target] == sha256_file(source)
    assert read_sums(view.campaign_out / "originals" / "SHA256SUMS")[target] == sha256_file(source)
    assert (view.campaign_out / "originals" / target).read_bytes() == source.read_bytes()
    text = (tmp_path / "tree" / target).parent.joinpath("accuracy.txt").read_text()
    assert text.count("hash=") == 1
    assert f"hash={sha256_file(source)}" in text


def test_hash_line_is_added_where_it_is_missing(view: PackageInput, tmp_path: Path) -> None:
    folder = view.scenarios[Scenario.SERVER]["accuracy"]
    (folder / "accuracy.txt").write_text("{'rouge1': 27.0}\n")
    package(view, tmp_path / "tree")
    text = (tmp_path / f"tree/open/Example/results/laptop/{BENCHMARK}/Server/accuracy/accuracy.txt").read_text()
    assert text == "{'rouge1': 27.0}\n\nhash=" + sha256_file(folder / "mlperf_log_accuracy.json") + "\n"


def test_audit_log_and_performance_log_stay_whole(view: PackageInput, tmp_path: Path) -> None:
    package(view, tmp_path / "tree")
    base = tmp_path / f"tree/open/Example/results/laptop/{BENCHMARK}/Server"
    run = view.scenarios[Scenario.SERVER]
    name = "mlperf_log_accuracy.json"
    assert (base / "TEST06/accuracy" / name).read_bytes() == (run["TEST06"] / name).read_bytes()
    assert json.loads((base / "performance/run_1" / name).read_text()) == []


def test_pages_are_rendered_from_the_data(view: PackageInput, tmp_path: Path) -> None:
    package(view, tmp_path / "tree")
    base = tmp_path / "tree/open/Example"
    readme = (base / f"results/laptop/{BENCHMARK}/Server/README.md").read_text()
    conf = (base / f"results/laptop/{BENCHMARK}/Server/user.conf").read_text()
    source = (base / "src/README.md").read_text()
    assert json.loads((base / f"results/laptop/{BENCHMARK}/Server/measurements.json").read_text())["retraining"] == "No"
    assert json.loads((base / "systems/laptop.json").read_text())["accelerators_per_node"] == "0"
    assert "331.77 Tokens/s" in readme
    assert "*.Server.target_qps = 9.5\n" in conf
    for heading in ("Run command", "LoadGen connection", "Pre-processing", "Model operations", "Weights", "batched"):
        assert f"\n## {heading}" in source or heading in source
    assert "commit 0123abc" in source
    assert "torch" in (base / "documentation/environment.md").read_text()


def test_no_path_of_the_machine_is_published(view: PackageInput, tmp_path: Path) -> None:
    package(view, tmp_path / "tree")
    for path in (tmp_path / "tree").rglob("*"):
        if path.is_file() and path.suffix in {".md", ".conf", ".json"}:
            text = path.read_text()
            assert str(tmp_path) not in text
            assert "/data/models" not in text


def test_open_division_maps_its_own_model_name(view: PackageInput, tmp_path: Path) -> None:
    package(replace(view, model_name="my-model"), tmp_path / "tree")
    mapping = json.loads((tmp_path / "tree/open/Example/model_mapping.json").read_text())
    assert mapping == {"my-model": BENCHMARK}
    assert (tmp_path / "tree/open/Example/results/laptop/my-model/Server/README.md").is_file()


def test_an_older_tree_gives_way_only_when_asked(view: PackageInput, tmp_path: Path) -> None:
    package(view, tmp_path / "tree")
    with pytest.raises(RenderError, match="exists and is not empty"):
        package(view, tmp_path / "tree")
    package(replace(view, replace=True, model_name="other"), tmp_path / "tree")
    assert verify_manifest(tmp_path / "tree") == ()
    assert not (tmp_path / f"tree/open/Example/results/laptop/{BENCHMARK}").exists()


def refuse_missing_log(view: PackageInput) -> PackageInput:
    (view.scenarios[Scenario.SERVER]["performance"] / "mlperf_log_summary.txt").unlink()
    return view


def refuse_changed_log(view: PackageInput) -> PackageInput:
    with (view.scenarios[Scenario.SERVER]["accuracy"] / "mlperf_log_detail.txt").open("a") as stream:
        stream.write("tampered\n")
    return view


def refuse_other_hash(view: PackageInput) -> PackageInput:
    (view.scenarios[Scenario.SERVER]["accuracy"] / "accuracy.txt").write_text(f"{{'rouge1': 1.0}}\nhash={'0' * 64}\n")
    return view


def refuse_empty_accuracy(view: PackageInput) -> PackageInput:
    (view.scenarios[Scenario.SERVER]["accuracy"] / "accuracy.txt").write_text("")
    return view


def refuse_missing_run(view: PackageInput) -> PackageInput:
    (view.scenarios[Scenario.SERVER]["accuracy"] / "run.json").unlink()
    return view


def refuse_damaged_run(view: PackageInput) -> PackageInput:
    (view.scenarios[Scenario.SERVER]["accuracy"] / "run.json").write_text("{}")
    return view


def refuse_failed_run(view: PackageInput) -> PackageInput:
    change(view.scenarios[Scenario.SERVER]["accuracy"], status="failed", cause="worker 0: killed by signal 9")
    return view


def refuse_invalid_run(view: PackageInput) -> PackageInput:
    change(view.scenarios[Scenario.SERVER]["performance"], validity="INVALID", invalid_reason="TTFT over the limit")
    return view


def refuse_mismatch(view: PackageInput) -> PackageInput:
    wrong = SettingMismatch("effective_min_duration_ms", "600000", "10000")
    change(view.scenarios[Scenario.SERVER]["performance"], mismatches=(wrong,))
    return view


def refuse_other_model(view: PackageInput) -> PackageInput:
    folder = view.scenarios[Scenario.SERVER]["accuracy"]
    record = msgspec.json.decode((folder / "run.json").read_bytes(), type=RunRecord)
    change(folder, workers=(replace(record.workers[0], model_sha256="d" * 64),))
    return view


def refuse_wrong_place(view: PackageInput) -> PackageInput:
    change(view.scenarios[Scenario.SERVER]["accuracy"], scenario="Offline")
    return view


def refuse_closed_name(view: PackageInput) -> PackageInput:
    closed = {**view.system_description, "division": "closed"}
    return replace(view, division=Division.CLOSED, model_name="mine", system_description=closed)


def refuse_no_audit(view: PackageInput) -> PackageInput:
    closed = {**view.system_description, "division": "closed"}
    scenarios = {name: {k: v for k, v in steps.items() if k != "TEST06"} for name, steps in view.scenarios.items()}
    return replace(view, division=Division.CLOSED, scenarios=scenarios, system_description=closed)


def refuse_no_accuracy(view: PackageInput) -> PackageInput:
    scenarios = {name: {k: v for k, v in steps.items() if k != "accuracy"} for name, steps in view.scenarios.items()}
    return replace(view, scenarios=scenarios)


REFUSED = {
    "missing log": (refuse_missing_log, r"mlperf_log_summary.txt: missing, needed for open/Example"),
    "changed log": (refuse_changed_log, r"mlperf_log_detail.txt: changed since its run ended"),
    "other hash": (refuse_other_hash, r"states another hash"),
    "empty accuracy.txt": (refuse_empty_accuracy, r"accuracy.txt: empty, needed for"),
    "missing run": (refuse_missing_run, r"run.json: missing; run `weighbridge run CAMPAIGN --only Server/accuracy`"),
    "damaged run": (refuse_damaged_run, r"not a run record"),
    "failed run": (refuse_failed_run, r"killed by signal 9"),
    "invalid run": (refuse_invalid_run, r"INVALID: TTFT over the limit; see `weighbridge explain"),
    "mismatch": (refuse_mismatch, r"effective_min_duration_ms is 10000, not 600000"),
    "other model": (refuse_other_model, r"differ in model SHA-256"),
    "wrong place": (refuse_wrong_place, r"holds smollm2-135m Offline accuracy, not smollm2-135m Server accuracy"),
    "closed under another name": (refuse_closed_name, r"model name 'mine'"),
    "closed without its audit": (refuse_no_audit, r"Offline: TEST06 was not run; run `weighbridge run"),
    "no accuracy run": (refuse_no_accuracy, r"there is no accuracy run"),
    "no scenario": (lambda view: replace(view, scenarios={}), r"no scenario with runs"),
    "unknown scenario": (
        lambda view: replace(view, scenarios={Scenario.MULTI_STREAM: view.scenarios[Scenario.SERVER]}),
        r"MultiStream is no scenario of",
    ),
    "no answer": (lambda view: replace(view, measurements=replace(ANSWERS, retraining=" ")), r"retraining is empty"),
    "path in submitter": (lambda view: named(view, "../../etc"), r"submitter '../../etc' cannot name a folder"),
    "dots in system": (lambda view: replace(view, system_id=".."), r"system '..' cannot name a folder"),
    "blank in system": (lambda view: replace(view, system_id="my system"), r"cannot name a folder"),
    "empty system field": (lambda view: described(view, cooling=""), r"cooling says nothing"),
    "missing system field": (lambda view: without(view, "framework"), r"framework is missing"),
    "other division": (
        lambda view: described(view, division="closed"),
        r"division is 'closed', the campaign says 'open'",
    ),
    "secret": (lambda view: noted(view, "export HF_TOKEN=hf_" + "a" * 34), r"would publish a Hugging Face token"),
    "home": (lambda view: noted(view, "python /home/kim/run.py"), r"would publish the private path /home/kim"),
}


def named(view: PackageInput, name: str) -> PackageInput:
    return replace(view, submitter=name, system_description={**view.system_description, "submitter": name})


def described(view: PackageInput, **fields: object) -> PackageInput:
    return replace(view, system_description={**view.system_description, **fields})


def without(view: PackageInput, name: str) -> PackageInput:
    return replace(view, system_description={k: v for k, v in view.system_description.items() if k != name})


def noted(view: PackageInput, command: str) -> PackageInput:
    return replace(view, notes=Notes(run_command=command))


@pytest.mark.parametrize("case", REFUSED)
def test_nothing_is_written_when_something_is_wrong(view: PackageInput, tmp_path: Path, case: str) -> None:
    make_wrong, message = REFUSED[case]
    wrong = make_wrong(view)
    before = {path.name for path in tmp_path.iterdir()}
    with pytest.raises(RenderError, match=message):
        package(wrong, tmp_path / "tree")
    assert {path.name for path in tmp_path.iterdir()} == before


def test_every_problem_is_told_at_once(view: PackageInput, tmp_path: Path) -> None:
    refuse_failed_run(view)
    refuse_invalid_run(view)
    with pytest.raises(RenderError) as caught:
        package(without(view, "cooling"), tmp_path / "tree")
    assert len(caught.value.problems) == 3


def test_invalid_run_is_packaged_when_asked(view: PackageInput, tmp_path: Path) -> None:
    refuse_invalid_run(view)
    package(replace(view, allow_invalid=True), tmp_path / "tree")
    assert "INVALID" in (tmp_path / f"tree/open/Example/results/laptop/{BENCHMARK}/Server/README.md").read_text()


def test_hostile_words_stay_in_their_cells(view: PackageInput, tmp_path: Path) -> None:
    hostile = replace(ANSWERS, weight_transformations="a | b\n# heading <script>alert(1)</script>")
    package(replace(view, measurements=hostile), tmp_path / "tree")
    text = (tmp_path / "tree/open/Example/documentation/calibration.md").read_text()
    assert "<script>" not in text
    assert "\n# heading" not in text


def test_closed_datacenter_proves_its_bandwidth(tmp_path: Path) -> None:
    out = tmp_path / "out"
    write_campaign(out, "llama3.1-8b")
    round_ = load_round("v6.1")
    stated = Stated(framework="vLLM", other_software_stack="ROCm", cooling="air")
    steps = ("performance", "accuracy", "TEST06")
    view = PackageInput(
        round=round_,
        division=Division.CLOSED,
        submitter="Example",
        system_id="node",
        system_description=capture("node", "Example", "closed", stated=stated, tool=lambda _command: ""),
        benchmark="llama3.1-8b",
        benchmark_rules=round_.benchmarks["llama3.1-8b"],
        scenarios={
            name: {step: out / "runs/llama3.1-8b" / name / step for step in steps}
            for name in (Scenario.OFFLINE, Scenario.SERVER)
        },
        measurements=ANSWERS,
        model_name="llama3.1-8b",
        campaign_out=out,
    )
    manifest = package(view, tmp_path / "tree")
    text = (tmp_path / "tree/closed/Example/documentation/bandwidth.md").read_text()
    assert "| Offline | 9.87 | 0.0809 | 0.0051 |" in text  # 9.87 samples/s x 2048 (128) tokens x 4 bytes
    assert "| Server | 9.31 |" in text
    assert "closed/Example/model_mapping.json" not in manifest.files
