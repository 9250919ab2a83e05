"""Scores and audit verdicts after a run, with a tokenizer made here."""

import json
from dataclasses import replace

import numpy as np
import pytest

from compliance.rulebook.rounds import load_round
from harness.cli import main
from harness.core.spec import LedgerTotals, RunOutcome
from harness.run.after import follow_up
from harness.run.orchestrate import plan_campaign
from harness.run.record import Provenance, RunRecord
from harness.storage import sha256_file
from tests.support.campaigns import campaign_in, make_dataset

tokenizers = pytest.importorskip("tokenizers", reason="needs the extra `accuracy` (tokenizers)")
WORDS = ["<eos>", "<unk>", "A", "B", "cats", "sleep", "all", "day"]
SIZE = 200


def make_tokenizer(path):
    made = tokenizers.Tokenizer(tokenizers.models.WordLevel({w: n for n, w in enumerate(WORDS)}, unk_token=WORDS[1]))
    made.pre_tokenizer = tokenizers.pre_tokenizers.WhitespaceSplit()
    made.add_special_tokens([tokenizers.AddedToken("<eos>", special=True)])
    made.save(str(path))


def write_log(path, tokens, *, size=SIZE, first=None):
    data = np.asarray(tokens, dtype="<i4").tobytes().hex().upper()
    extra = "" if first is None else f', "token_data" : "{np.asarray([first], dtype="<i4").tobytes().hex().upper()}"'
    rows = [
        f'{{ "seq_id" : {n}, "qsl_idx" : {n}, "data" : "{data}", "token_count" : {len(tokens)}{extra} }}'
        for n in range(size)
    ]
    path.write_text("[\n" + ",\n".join(rows) + "\n]\n")


@pytest.fixture
def campaign(tmp_path):
    make_dataset(tmp_path / "dataset", SIZE)
    make_tokenizer(tmp_path / "tokenizer.json")
    info = tmp_path / "dataset" / "dataset.json"
    described = json.loads(info.read_text()) | {"tokenizer_sha256": sha256_file(tmp_path / "tokenizer.json")}
    info.write_text(json.dumps(described))
    rows = [{"index": n, "reference": "cats sleep all day"} for n in range(SIZE)]
    (tmp_path / "dataset" / "references.jsonl").write_text("\n".join(map(json.dumps, rows)) + "\n")
    return campaign_in(tmp_path, evaluator="rouge", tokenizer="tokenizer.json")


def record_of(run, **files):
    ledger = LedgerTotals(0, 0, 0, 0, 0, 0, 0, 0, 0)
    outcome = RunOutcome("x", "ok", "", ledger, (), 0.0, 0.0, 0.0, "6.0.17")
    provenance = Provenance("0", "", False, "3", {}, {}, "", "")
    scenario, step = run.scenario.value, run.step
    return RunRecord(1, "x", "b", scenario, step, "ok", "", None, "", "p", outcome, {}, {}, (), (), provenance, files)


def make_run(campaign, name, tokens, **options):
    plan = plan_campaign(campaign, load_round("demo"))
    run = next(run for run in plan.runs if run.name == name)
    run.folder.mkdir(parents=True, exist_ok=True)
    log = run.folder / "mlperf_log_accuracy.json"
    write_log(log, tokens, **options)
    return plan.benchmark, run, record_of(run, **{log.name: sha256_file(log)})


def test_a_score_is_written_beside_the_log_and_compared_with_the_targets(campaign):
    rules, run, record = make_run(campaign, "Offline/accuracy", [4, 5, 6, 7])
    verdict = follow_up(campaign, rules, run, record)
    assert verdict.passed is False, "four tokens a sample are too few"
    assert "ROUGE1 100 (>= 27.574)" in verdict.text
    assert "TOKENS_PER_SAMPLE 4 is BELOW 16.029" in verdict.text
    assert sha256_file(run.folder / "mlperf_log_accuracy.json") in (run.folder / "accuracy.txt").read_text()
    assert json.loads((run.folder / "accuracy.json").read_text())["scores"]["ROUGE1"] == 100.0


def test_a_good_score_is_kept_until_its_inputs_change(campaign):
    targets = {target.metric: target for target in load_round("demo").benchmarks["smollm2-135m"].accuracy}
    length = round(targets["TOKENS_PER_SAMPLE"].reference)
    rules, run, record = make_run(campaign, "Offline/accuracy", ([4, 5, 6, 7] * length)[:length])
    rules = replace(rules, accuracy=tuple(t for t in rules.accuracy if t.metric == "TOKENS_PER_SAMPLE"))
    rules = replace(
        rules, accuracy=(*rules.accuracy, replace(rules.accuracy[0], metric="ROUGE1", max_factor=None, reference=1.0))
    )
    first = follow_up(campaign, rules, run, record)
    assert first.passed is True, first.text
    (run.folder / "accuracy.json").unlink()
    assert follow_up(campaign, rules, run, record) == first
    assert not (run.folder / "accuracy.json").exists(), "nothing was scored again"
    again = follow_up(campaign, rules, run, replace(record, files={"mlperf_log_accuracy.json": "0" * 64}))
    assert again == first
    assert (run.folder / "accuracy.json").exists()


def test_a_log_that_cannot_be_scored_is_a_failed_verdict(campaign):
    rules, run, record = make_run(campaign, "Offline/accuracy", [4], size=SIZE - 1)
    verdict = follow_up(campaign, rules, run, record)
    assert verdict.passed is False
    assert "199" in verdict.text or "missing" in verdict.text


@pytest.mark.parametrize(
    ("tokens", "first", "passed"), [([4, 5, 0], 4, True), ([4, 5, 0], 5, False), ([4, 0, 0], 4, False)]
)
def test_an_audit_run_is_verified(campaign, tokens, first, passed):
    rules, run, record = make_run(campaign, "Server/TEST06", tokens, first=first)
    verdict = follow_up(campaign, rules, run, record)
    assert verdict.passed is passed
    assert (run.folder / "verify_accuracy.txt").read_text().count("\n") == 4


def test_the_accuracy_command_scores_again(campaign, tmp_path, capsys):
    _, run, _ = make_run(campaign, "Offline/accuracy", [4, 5, 6, 7])
    arguments = ["accuracy", str(run.folder), "--benchmark", "smollm2-135m", "--round", "demo", "--dataset"]
    arguments += [str(tmp_path / "dataset"), "--tokenizer", str(tmp_path / "tokenizer.json")]
    assert main(arguments) == 1
    out = capsys.readouterr().out
    assert "ROUGE1                    100.0000  >= " in out
    assert "FAIL" in out
    assert not (run.folder / "accuracy.txt").exists()
    assert main([*arguments, "--write"]) == 1
    assert (run.folder / "accuracy.txt").exists()


def test_a_benchmark_with_graders_of_its_own_is_refused(campaign, tmp_path, capsys):
    write_log(tmp_path / "log.json", [4, 5])
    arguments = ["accuracy", str(tmp_path / "log.json"), "--benchmark", "deepseek-r1"]
    arguments += ["--dataset", str(tmp_path / "dataset"), "--tokenizer", str(tmp_path / "tokenizer.json")]
    assert main(arguments) == 1
    assert "graders of its own" in capsys.readouterr().err
