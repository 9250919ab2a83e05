"""Rules printed, as members and compared."""

import dataclasses
import json

import pytest

from compliance.rulebook.rounds import load_round, round_names
from compliance.rulebook.text import benchmark_json, benchmark_text, diff_rounds, diff_text, round_json, round_text
from compliance.vocabulary import Scenario


@pytest.mark.parametrize("name", round_names())
def test_text_fits_80_columns(name: str) -> None:
    round_ = load_round(name)
    texts = [round_text(round_), *(benchmark_text(name, rules) for rules in round_.benchmarks.values())]
    assert max(len(line) for text in texts for line in text.splitlines()) <= 80
    assert all(text.endswith("\n") for text in texts)


def test_round_text_tells_seeds_and_scenarios() -> None:
    text = round_text(load_round("v6.1"))
    assert "16159082839903944936" in text
    assert "llama3.1-8b-edge        edge: SingleStream + Offline" in text
    assert "{division}/{submitter}/results/{system}/{benchmark}/{scenario}\n" in text


def test_benchmark_text_tells_limits_targets_and_sources() -> None:
    rules = load_round("v6.1").benchmarks["llama2-70b-99.9"]
    text = benchmark_text("v6.1", rules)
    assert "p99 TTFT < 450 ms; p99 TPOT < 40 ms" in " ".join(text.split())
    assert ">= 265.005 (294.45 x 0.9), <= 323.895 (294.45 x 1.1)" in " ".join(text.split())
    assert "greedy" in text
    assert "submission_checker/constants.py" in text
    assert "temperature 1, top_p 1, top_k -1" in " ".join(
        benchmark_text("v6.1", load_round("v6.1").benchmarks["gpt-oss-120b"]).split()
    )


def test_json_keeps_seeds_exact_and_adds_bounds() -> None:
    members = json.loads(json.dumps(round_json(load_round("v6.1"))))
    assert members["seeds"]["schedule"] == 16159082839903944936
    targets = {row["metric"]: row for row in members["benchmarks"]["gpt-oss-120b"]["accuracy"]}
    assert targets["exact_match"]["minimum"] == pytest.approx(82.2987)
    assert targets["TOKENS_PER_SAMPLE"]["minimum"] is None
    assert members["benchmarks"]["llama3.1-8b"]["suites"]["datacenter"]["one_of"] == [["Server", "Interactive"]]
    demo = json.loads(json.dumps(benchmark_json(load_round("demo").benchmarks["smollm2-135m"])))
    assert demo["scenarios"]["Offline"]["unit"] == "Tokens/s"


def test_a_round_does_not_differ_from_itself() -> None:
    round_ = load_round("v6.1")
    assert diff_rounds(round_, round_) == ()
    assert diff_text(round_, round_) == "v6.1 and v6.1 have the same rules\n"


def test_differences_name_their_place() -> None:
    old = load_round("v6.1")
    rules = old.benchmarks["llama2-70b-99.9"]
    server = dataclasses.replace(rules.scenarios[Scenario.SERVER], max_tpot_p99_ms=150.0)
    targets = (dataclasses.replace(rules.accuracy[0], min_factor=0.99), *rules.accuracy[1:])
    offline = rules.scenarios[Scenario.OFFLINE]
    changed = dataclasses.replace(
        rules, scenarios={Scenario.OFFLINE: offline, Scenario.SERVER: server}, accuracy=targets, aliases=("llama",)
    )
    benchmarks = {**old.benchmarks, "llama2-70b-99.9": changed}
    del benchmarks["deepseek-r1"]
    new = dataclasses.replace(old, name="v7", title="next", official=False, benchmarks=benchmarks)
    found = {difference.key: (difference.left, difference.right) for difference in diff_rounds(old, new)}
    place = "benchmarks.llama2-70b-99.9"
    assert found.pop("benchmarks.deepseek-r1")[1] is None
    assert found.pop(f"{place}.scenarios.Interactive")[1] is None
    assert found.pop(f"{place}.accuracy.ROUGE1.minimum") == (44.4312 * 0.999, 44.4312 * 0.99)
    assert found == {
        "official": (True, False),
        f"{place}.scenarios.Server.max_tpot_p99_ms": (200.0, 150.0),
        f"{place}.accuracy.ROUGE1.min_factor": (0.999, 0.99),
        f"{place}.aliases": ([], ["llama"]),
    }
    text = diff_text(old, new)
    assert text.startswith("v6.1 -> v7\n")
    assert "benchmarks.deepseek-r1\n    - present\n    + -\n" in text
    assert "max_tpot_p99_ms\n    - 200\n    + 150\n" in text
    assert "aliases\n    - none\n    + llama\n" in text
    assert "official\n    - yes\n    + no\n" in text
