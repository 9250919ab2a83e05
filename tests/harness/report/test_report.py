"""The report of a campaign: one page that loads nothing, the same data as JSON and text, whatever the runs hold."""

import json
import re
import shutil
from collections import Counter
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import msgspec
import numpy as np
import pytest

from compliance.discovery.submission import discover
from compliance.judge import judge
from compliance.report.model import build_report
from compliance.rulebook.rounds import load_round
from compliance.vocabulary import Profile
from harness.errors import StorageError
from harness.report import write_report
from harness.report.collect import collect
from harness.run.record import RunRecord, SettingMismatch
from tests.support.campaign_folder import METRICS, record, write_campaign, write_run

LOADING = {"src", "href", "data", "poster", "srcset", "action", "xlink:href", "formaction", "background"}
BASE = Path("runs/smollm2-135m")


class Page(HTMLParser):
    """What a page asks a browser to fetch, its ids and its tags."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.loads: list[str] = []
        self.ids: list[str] = []
        self.tags: Counter[str] = Counter()
        self.anchors: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags[tag] += 1
        for name, value in attrs:
            if name == "id":
                self.ids.append(value or "")
            if name in LOADING and value is not None:
                (self.anchors.add(value) if value.startswith("#") else self.loads.append(value))

    handle_startendtag = handle_starttag


def change(folder: Path, **fields: object) -> None:
    path = folder / "run.json"
    path.write_bytes(msgspec.json.encode(replace(msgspec.json.decode(path.read_bytes(), type=RunRecord), **fields)))


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("campaign") / "out"
    write_campaign(out)
    write_report(out, None, None, out / "report.html")
    return out


@pytest.fixture
def out(finished: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(finished, tmp_path / "out"))


def written(out: Path, tree: Path | None = None, report: object = None) -> tuple[str, dict, str]:
    page = out / "report.html"
    write_report(out, tree, report, page)
    text = page.with_suffix(".txt").read_text(encoding="utf-8")
    return page.read_text(encoding="utf-8"), json.loads(page.with_suffix(".json").read_text(encoding="utf-8")), text


def test_page_loads_nothing(finished: Path) -> None:
    text = (finished / "report.html").read_text(encoding="utf-8")
    page = Page(text)
    assert page.loads == ["data:,"]
    assert not page.tags.keys() & {"script", "iframe", "object", "embed", "img", "form"}
    assert not re.search(r"@import|url\(\s*['\"]?(?!#)", text)
    assert set(re.findall(r"https?://[^\s\"'<]+", text)) <= {
        "http://www.w3.org/2000/svg",
        "http://www.w3.org/1999/xlink",
    }


def test_ids_are_unique_and_every_anchor_has_its_place(finished: Path) -> None:
    page = Page((finished / "report.html").read_text(encoding="utf-8"))
    assert [name for name, times in Counter(page.ids).items() if times > 1] == []
    assert {anchor[1:] for anchor in page.anchors} <= set(page.ids)


def test_every_figure_is_drawn_as_text_and_paths(finished: Path) -> None:
    text = (finished / "report.html").read_text(encoding="utf-8")
    page = Page(text)
    assert page.tags["svg"] == page.tags["figure"] == 3 + 6
    for title in ("Time to first token", "Time per output token", "End-to-end latency", "Answer length"):
        assert f"<strong>{title}</strong>" in text
    assert "limit 15k" in text
    assert "limit 3,000" in text
    assert not re.search(r"#(?:0a0b0c|1a1b1c|2a2b2c|3a3b3c|4a4b4c|5a5b5c)", text)


def test_json_text_and_page_tell_the_same(finished: Path) -> None:
    data = json.loads((finished / "report.json").read_text(encoding="utf-8"))
    text = (finished / "report.txt").read_text(encoding="utf-8")
    page = (finished / "report.html").read_text(encoding="utf-8")
    assert data["schema_version"] == 1
    server = next(view for view in data["scenarios"] if view["scenario"] == "Server")
    assert (server["metric"], server["unit"], server["validity"]) == (331.77, "Tokens/s", "VALID")
    scores = {score["metric"]: score for score in server["scores"]}
    for target in load_round("demo").benchmarks["smollm2-135m"].accuracy:
        score = scores[target.metric]
        above = target.minimum is None or score["value"] >= target.minimum
        assert score["passed"] is (above and (target.maximum is None or score["value"] <= target.maximum))
    assert scores["GEN_LEN"]["passed"] is None
    for where in (text, page):
        assert "331.8" in where
        assert "27.3412" in where
        assert "TEST06" in where
        assert "0123abc" in where
        assert "/data/models" not in where


def test_margin_is_the_distance_to_the_nearest_bound(finished: Path) -> None:
    data = json.loads((finished / "report.json").read_text(encoding="utf-8"))
    targets = {target.metric: target for target in load_round("demo").benchmarks["smollm2-135m"].accuracy}
    for score in data["scenarios"][0]["scores"]:
        target = targets.get(score["metric"])
        if target is not None and target.minimum and target.maximum is None:
            assert score["margin_percent"] == pytest.approx((score["value"] / target.minimum - 1) * 100)


def test_verdicts_and_findings_of_the_checks(out: Path, tmp_path: Path) -> None:
    tree = tmp_path / "tree"
    (tree / "open/Example/results/laptop/smollm2-135m/Server").mkdir(parents=True)
    (tree / "open/Example/systems").mkdir()
    (tree / "open/Example/systems/laptop.json").write_text('{"system_name": "My <b>laptop</b>", "framework": "vLLM"}')
    round_ = load_round("demo")
    report = build_report(judge(discover(tree, round_), round_), Profile.STRICT)
    page, data, text = written(out, tree, report)
    assert data["strict"] == "fail"
    server = next(view for view in data["scenarios"] if view["scenario"] == "Server")
    assert server["strict"] == "invalid"
    assert server["findings"]
    finding = next(finding for finding in server["findings"] if finding["severity"] == "error")
    assert finding["id"] in page
    assert f"fix: {finding['fix']}" in text
    assert data["system"] == "My <b>laptop</b>"
    assert "My &lt;b&gt;laptop&lt;/b&gt;" in page
    assert "<b>laptop</b>" not in page


def test_hostile_words_are_escaped_everywhere(out: Path) -> None:
    evil = "</style><script>alert('x')</script>"
    folder = out / BASE / "Server" / "performance"
    run = msgspec.json.decode((folder / "run.json").read_bytes(), type=RunRecord)
    change(
        folder,
        validity="INVALID",
        invalid_reason=evil,
        mismatches=(SettingMismatch(evil, evil, evil),),
        workers=(replace(run.workers[0], engine=evil, model=evil, device=evil),),
        effective={evil: evil},
        provenance=replace(run.provenance, host={evil: evil}, git_commit=evil, packages={evil: evil}),
    )
    (out / "campaign.yaml").write_text(
        f'round: demo\ndivision: open\nsubmitter: "{evil}"\nsystem: laptop\nbenchmark: "{evil}"\n', encoding="utf-8"
    )
    page, data, _text = written(out)
    assert "<script" not in page
    assert page.count("</style>") == 1
    assert data["submitter"] == evil
    assert Page(page).tags["script"] == 0


def test_a_changed_setting_stands_out(out: Path) -> None:
    wrong = SettingMismatch("effective_min_duration_ms", "600000", "10000")
    change(out / BASE / "Server" / "performance", mismatches=(wrong,))
    page, data, text = written(out)
    setting = next(s for s in data["scenarios"][1]["settings"] if s["key"] == wrong.key)
    assert (setting["asked"], setting["effective"], setting["agrees"]) == ("10000", "10000", False)
    assert "1 differ" in page
    assert "! effective_min_duration_ms: asked" in text


def spoil_samples(out: Path) -> None:
    (out / BASE / "Server/performance/samples.npy").write_bytes(b"\x93NUMPY but not really")


def foreign_samples(out: Path) -> None:
    np.save(out / BASE / "Server/performance/samples.npy", np.zeros(5))


def no_samples(out: Path) -> None:
    (out / BASE / "Server/performance/samples.npy").unlink()


def no_logs(out: Path) -> None:
    for name in ("mlperf_log_detail.txt", "spec.json"):
        (out / BASE / "Server/performance" / name).unlink()


def no_performance(out: Path) -> None:
    shutil.rmtree(out / BASE / "Server/performance")


def no_accuracy(out: Path) -> None:
    shutil.rmtree(out / BASE / "Server/accuracy")


def only_accuracy_text(out: Path) -> None:
    (out / BASE / "Server/accuracy/accuracy.json").write_text("[]")


def bad_record(out: Path) -> None:
    (out / BASE / "Server/performance/run.json").write_text('{"schema_version": 1}')


def nothing(out: Path) -> None:
    shutil.rmtree(out / "runs")


def unknown_round(out: Path) -> None:
    (out / "campaign.yaml").write_text("round: v9.9\nbenchmark: smollm2-135m\n")


def bad_campaign(out: Path) -> None:
    (out / "campaign.yaml").write_text("{")


DAMAGED = {
    spoil_samples: "samples.npy cannot be read",
    foreign_samples: "samples.npy is of another form",
    no_samples: None,
    no_logs: None,
    no_performance: None,
    no_accuracy: None,
    only_accuracy_text: None,
    bad_record: "run.json cannot be read",
    nothing: "there are no runs in this campaign yet",
    unknown_round: "no targets or limits are shown",
    bad_campaign: "no targets or limits are shown",
}


@pytest.mark.parametrize("damage", DAMAGED, ids=lambda damage: damage.__name__)
def test_a_damaged_campaign_still_gets_its_report(out: Path, damage) -> None:
    shutil.rmtree(out / BASE / "Offline")
    damage(out)
    page, data, text = written(out)
    problem = DAMAGED[damage]
    assert Page(page).tags["h1"] == 1
    if problem is None:
        assert data["problems"] == []
    else:
        assert any(problem in line for line in data["problems"])
        assert problem in page
        assert problem in text


def test_stream_of_a_single_sample(tmp_path: Path) -> None:
    out = tmp_path / "out"
    run = record("smollm2-135m", "SingleStream", "performance", {"early_stopping_latency_ss": 5e8})
    write_run(out / BASE / "SingleStream/performance", run, count=1)
    page, _data, _text = written(out)
    assert "SingleStream" in page


def test_official_round_shows_its_limits(tmp_path: Path) -> None:
    out = tmp_path / "out"
    run = record("llama2-70b-99.9", "Interactive", "performance", METRICS["Server"])
    write_run(out / "runs/llama2-70b-99.9/Interactive/performance", run)
    (out / "campaign.yaml").write_text("round: v6.1\ndivision: closed\nbenchmark: llama2-70b-99.9\n")
    page, data, _text = written(out)
    limits = {d["name"]: d["limit"] for d in data["scenarios"][0]["distributions"]}
    assert limits["Time to first token"] == 450
    assert limits["Time per output token"] == 40
    assert "limit 450" in page


def test_a_folder_that_is_not_there_is_an_error_with_its_reason(finished: Path, tmp_path: Path) -> None:
    with pytest.raises(StorageError, match="cannot be written"):
        write_report(finished, None, None, tmp_path / "missing" / "report.html")


def test_a_score_that_is_missing_fails(out: Path) -> None:
    (out / BASE / "Server/accuracy/accuracy.json").write_text('{"scores": {"ROUGE1": 99.0}}')
    page, data, _text = written(out)
    server = next(view for view in data["scenarios"] if view["scenario"] == "Server")
    scores = {score["metric"]: (score["value"], score["passed"]) for score in server["scores"]}
    assert scores["ROUGE1"] == (99.0, True)
    assert scores["ROUGE2"] == (None, False)
    assert "accuracy fail" in page


@pytest.mark.parametrize(
    ("text", "passed"),
    [
        ("First token check pass: Skipped\nEOS check pass: True\nSample length check pass: True\n", True),
        ("First token check pass: True\nEOS check pass: False\nSample length check pass: True\n", False),
        ("TEST PASS\n", True),
        ("TEST FAIL\n", False),
    ],
)
def test_verdict_of_an_audit(out: Path, text: str, *, passed: bool) -> None:
    (out / BASE / "Server/TEST06/verify_accuracy.txt").write_text(text)
    data = collect(out, None, None)
    server = next(view for view in data.scenarios if view.scenario == "Server")
    assert [(audit.name, audit.passed) for audit in server.audits] == [("TEST06", passed)]
