"""Real users' problems, made small: each ends in a verdict with file, line, found, wanted and fix, in every form.

Recreated in clean trees of v6.0 and v6.1, our own and, where it lies beside the checkout, the given one.
"""

import json
import shutil
from dataclasses import dataclass
from functools import cache
from xml.etree import ElementTree as ET

import pytest

from compliance.discovery.submission import discover
from compliance.judge import judge
from compliance.report.json_ import render_json
from compliance.report.junit import render_junit
from compliance.report.model import Report, build_report, weighs
from compliance.report.sarif import render_sarif
from compliance.report.text import render_text
from compliance.rulebook.rounds import load_round
from compliance.vocabulary import Profile, Severity
from tests.support.bug_trees import GIVEN, MAKERS, BugTree
from tests.support.log_lines import mllog

WITHOUT = pytest.mark.skipif(not GIVEN.is_file(), reason="the given clean tree is not beside the checkout")
TREES = [("own", "v6.1", ()), ("own", "v6.0", ()), ("given", "v6.0", WITHOUT), ("given", "v6.1", WITHOUT)]
"""Kind, round and marks; every report is recreated in each, its variants in the first."""


def across(names, *rows):
    """Parameters of a test: the first row in every tree, the others in the first tree."""
    every = [
        pytest.param((kind, round_name), *row, marks=marks, id=f"{kind}-{round_name}-{number}")
        for number, row in enumerate(rows)
        for kind, round_name, marks in (TREES if number == 0 else TREES[:1])
    ]
    return pytest.mark.parametrize(("tree", *names), every, indirect=["tree"])


SCORES = {"rouge1": 44.4718, "rouge2": 22.0358, "rougeL": 28.668, "rougeLsum": 42.0482, "gen_len": 28560284}
LENGTHS = {"gen_num": 24576, "gen_tok_len": 7252858, "tokens_per_sample": 295.1}


@pytest.fixture
def tree(request, tmp_path, made):
    kind, round_name = request.param
    return BugTree(shutil.copytree(made(kind, round_name), tmp_path / "tree"), round_name)


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """Makes each clean tree once."""

    @cache
    def make(kind, round_name):
        return MAKERS[kind](tmp_path_factory.mktemp(kind) / "tree", round_name).root

    return make


@dataclass(frozen=True)
class Judged:
    """A report with its text."""

    report: Report
    text: str

    @property
    def errors(self):
        return [one for one in self.report.every_finding() if weighs(one, self.report.profile)]

    def of(self, check):
        return [one for one in self.report.every_finding() if one.id == check]

    @property
    def ids(self):
        return {one.id for one in self.errors}

    def verdicts(self):
        return {one.scenario: one.verdict for one in self.report.results}


def check(tree, profile=Profile.STRICT):
    """Judge a tree and hold what is true of every report against it."""
    round_ = load_round(tree.round_name)
    report = build_report(judge(discover(tree.root, round_), round_), profile)
    judged = Judged(report, render_text(report))
    assert judged.text.splitlines()[-1].startswith("FAIL" if report.exit_code else "PASS")
    document = json.loads(render_json(report))
    in_json = {one["id"] for holder in (document, *document["results"]) for one in holder["findings"]}
    in_sarif = {one["ruleId"] for one in json.loads(render_sarif(report))["runs"][0]["results"]}
    in_junit = ET.canonicalize(render_junit(report))
    for finding in report.every_finding():
        assert finding.expected
        assert finding.found
        assert finding.fix
        assert finding.id in in_json
        assert finding.severity is Severity.INFO or finding.id in in_sarif
        assert finding.id in in_junit or not weighs(finding, profile)
    return judged


def only(found):
    (one,) = found
    return one


@across((), ())
def test_the_clean_tree_passes_both(tree):
    for profile in Profile:
        judged = check(tree, profile)
        assert (judged.report.exit_code, judged.report.every_finding()) == (0, ())


# G1: logging#393
PATH_RECORD = mllog("error_invalid_config", "PATH", error=True).replace(
    "PATH", r"can't open file D:\inference\mlperf.conf"
)
RAW_RECORDS = {
    "path": (PATH_RECORD, "can't open file D:", PATH_RECORD.index("\\") + 1),
    "quotes": (PATH_RECORD.replace("D:\\inference\\mlperf.conf", '"x"'), 'can\'t open file "x"', None),
    "tab": (
        PATH_RECORD.replace("D:\\inference\\mlperf.conf", "a\tb"),
        "can't open file a",
        PATH_RECORD.index("D:") + 2,
    ),
}


@across(("kind",), *((kind,) for kind in RAW_RECORDS))
def test_g1_a_record_that_is_no_json_is_read_and_its_error_counts(tree, kind):
    record, shown, column = RAW_RECORDS[kind]
    line = tree.append("Offline", record.replace("1.5", "18446744073708.008016"))
    judged = check(tree)
    broken, error = only(judged.of("LOG-003")), only(judged.of("LOG-004"))
    assert (broken.severity, broken.line, error.line) == (Severity.WARNING, line, line)
    assert column is None or f"column {column} " in broken.found
    assert error.found.startswith(f"error_invalid_config: {shown}")
    assert "not meaningful" in error.message
    assert judged.verdicts() == {"Offline": "invalid", "Server": "valid"}
    assert check(tree, Profile.OFFICIAL).verdicts() == {"Offline": "invalid", "Server": "valid"}


# G2: inference#1546
@across((), ())
def test_g2_zero_tokens_per_second_and_late_first_tokens(tree):
    tree.logged("Offline", result_tokens_per_second=0)
    late = mllog("error_runtime", "Attempted to record a sample latency before it's first token latency", error=True)
    line = tree.append("Offline", late, late, late)
    judged = check(tree)
    assert judged.ids == {"PERF-009", "LOG-004"}
    error = only(judged.of("LOG-004"))
    assert (error.line, error.message) == (line, f"3 times, lines {line}, {line + 1}, {line + 2}")
    for words in ("FirstTokenComplete before QuerySamplesComplete", "same thread", "n_tokens", "Offline"):
        assert words in error.fix
    assert check(tree, Profile.OFFICIAL).ids == {"PERF-009"}


# G3: inference#1788
TPOT_TEXT = " * Need to process at least {} more queries for early stopping."


@across(
    ("measured", "needed", "said"),
    ("tpot", 805, "805 more queries"),
    ("tpot", 1, "1 more query"),
    ("ttft", 12, "12 more queries"),
)
def test_g3_an_invalid_run_says_what_early_stopping_lacks(tree, measured, needed, said):
    other = {"ttft": "tpot", "tpot": "ttft"}[measured]
    early = {
        f"early_stopping_{measured}_result": TPOT_TEXT.format(needed),
        f"early_stopping_{other}_result": " * Run successful.",
    }
    ttft = {"result_first_token_99.00_percentile_latency_ns": 0}
    tree.logged("Server", result_validity="INVALID", early_stopping_met=False, **early, **ttft)
    tree.file("Server", "performance/run_1/mlperf_log_summary.txt").write_text(SUMMARY.format(TPOT_TEXT.format(needed)))
    judged = check(tree)
    assert judged.ids == {"PERF-008", "LAT-001", "LAT-007"}
    wanted = f"{measured.upper()} early stopping needs {said}: run longer or raise min_query_count"
    assert only(judged.of("LAT-001")).message == wanted
    zero = only(judged.of("LAT-007"))
    assert zero.message == "p99 first-token latency is 0 ns: first tokens were never reported"
    assert "FirstTokenComplete" in zero.fix
    assert check(tree, Profile.OFFICIAL).ids == {"LAT-001"}


SUMMARY = """Result is : INVALID
  Performance constraints satisfied : Yes
  Min duration satisfied : Yes
  Min queries satisfied : Yes
  Early stopping satisfied: NO
TPOT Early Stopping Result:
{}
"""


# G4: inference#1670
@across((), ())
def test_g4_a_too_short_a_duration_asked_for(tree):
    tree.logged("Offline", effective_min_duration_ms=60000)
    for profile in Profile:
        judged = check(tree, profile)
        short = only(judged.of("PERF-007"))
        assert "60000 ms" in short.found
        assert short.expected == "effective_min_duration_ms >= 600000 ms"
        assert judged.report.exit_code == 1


@across((), ())
def test_g4_b_a_duration_that_was_not_reached(tree):
    tree.logged("Offline", result_min_duration_met=False, result_validity="INVALID")
    judged = check(tree)
    assert judged.ids == {"PERF-008", "PERF-012", "LOG-010"}
    assert judged.report.exit_code == 1
    official = check(tree, Profile.OFFICIAL)
    assert official.verdicts() == {"Offline": "valid", "Server": "valid"}


# G5: inference#1885
def numpy(value, form="np.{type}({value})"):
    return form.format(type=f"{type(value).__name__}64", value=value)


FORMS = ["np.{type}({value})", "numpy.{type}({value})", "tensor({value})", '"{value}"']


@across(("form",), *((form,) for form in FORMS))
def test_g5_numbers_as_numpy_2_prints_them(tree, form):
    before = check(tree).report.results[0].accuracy
    printed = {key: numpy(value, form) for key, value in SCORES.items()}
    printed |= {"gen_num": 24576, "tokens_per_sample": numpy(295.1, form)}
    tree.scores("Offline", "{" + ", ".join(f"'{key}': {value}" for key, value in printed.items()) + "}")
    judged = check(tree)
    assert judged.verdicts() == {"Offline": "valid", "Server": "valid"}
    warning = only(judged.report.every_finding())
    assert (warning.id, warning.severity, warning.line) == ("ACC-002", Severity.WARNING, 4)
    assert "NumPy 2" in warning.found
    after = judged.report.results[0].accuracy
    assert after.keys() == before.keys()
    assert after["ROUGE1"].value == SCORES["rouge1"]
    assert check(tree, Profile.OFFICIAL).verdicts() == {"Offline": "invalid", "Server": "valid"}


# G6: inference#1647
LOW = {"rouge1": 33.41, "rouge2": 14.62, "rougeL": 20.95, "rougeLsum": 31.0, "gen_len": 30000000, "gen_num": 24576}
TABLE = """  metric              found              wanted  margin
  ROUGE1              33.41       >= 44.3867688  -24.7%
  ROUGE2              14.62       >= 22.0131648  -33.6%
  ROUGEL              20.95       >= 28.5875838  -26.7%
  TOKENS_PER_SAMPLE  1019.7  265.005 to 323.895  +214.8% over the upper limit
"""


@across((), ())
def test_g6_low_scores_and_endless_answers_get_a_table_and_a_hint(tree):
    tree.scores("Offline", str({**LOW, "gen_tok_len": 25060000, "tokens_per_sample": 1019.7}))
    for profile in Profile:
        judged = check(tree, profile)
        assert judged.ids == {"ACC-002", "ACC-003"}
        assert len(judged.errors) == 4
        assert TABLE in judged.text
        for finding in judged.errors:
            assert "average 1019.7 of at most 1024 tokens: nearly each one hits the cap" in finding.fix
            assert "EOS, the stop tokens and the chat template first" in finding.fix


@across(
    ("mean", "words"),
    (400.0, "too long (400 tokens)"),
    (100.0, "too short (100 tokens)"),
    (295.1, "differ from the reference"),
)
def test_g6_the_hint_goes_by_the_length_of_the_answers(tree, mean, words):
    tree.scores("Offline", str({**LOW, "gen_tok_len": 1, "tokens_per_sample": mean}))
    assert all(words in finding.fix for finding in check(tree).of("ACC-002"))


# G7: inference#738
@across((), ())
def test_g7_the_words_are_those_of_the_comparison(tree):
    tree.logged("Offline", effective_performance_sample_count=24576)
    assert check(tree).report.exit_code == 0
    tree.logged("Offline", effective_performance_sample_count=24575)
    for profile in Profile:
        short = only(check(tree, profile).errors)
        assert short.found == "effective_performance_sample_count = 24575 samples"
        assert short.expected == "effective_performance_sample_count >= 24576 samples"
        assert short.message == "1 sample short (less than 0.01% of the limit)"


# G8: inference#493
@across(
    ("lines", "hints", "in_force"),
    (
        ("llama2-70b.Server.target_qsp = 88", "llama2-70b.server.target_qps = 88"),
        ("did you mean target_qps?", "did you mean Server?"),
        False,
    ),
    (("*.SERVER.target_qps = 88",), ("did you mean Server?",), False),
    (("*.Server.Target_QPS = 88",), ("did you mean target_qps?",), False),
    (("*.Server.target_qps = 8", "*.Server.min_duratoin = 88"), ("did you mean min_duration?",), True),
    (("*.Server.target_qps = 8", "*.Server.min_duration=600000"), ("write: *.Server.min_duration = 600000",), True),
)
def test_g8_misspelt_settings_get_a_did_you_mean(tree, lines, hints, in_force):
    path = tree.file("Server", "user.conf")
    path.write_text("".join(f"{line}\n" for line in lines))
    judged = check(tree)
    found = judged.of("MEAS-007")
    assert tuple(one.fix for one in found) == hints
    assert all(one.severity is Severity.ERROR and one.where.endswith("/Server/user.conf") for one in found)
    assert [one.found for one in judged.of("MEAS-008")] == (
        [] if in_force else ["no target_qps is in force for Server"]
    )
    assert judged.verdicts() == {"Offline": "valid", "Server": "invalid"}
    assert check(tree, Profile.OFFICIAL).report.exit_code == 0


# G9: inference#2541
@across((), ())
def test_g9_a_second_configuration_is_an_error_of_the_performance_run(tree):
    text = "Multiple conf files are used. This is not valid for official submission."
    line = tree.append("Offline", mllog("error_invalid_config", text, error=True))
    judged = check(tree)
    error = only(judged.errors)
    assert (error.id, error.line, error.found) == ("LOG-004", line, f"error_invalid_config: {text}")
    assert "audit.config" in error.fix
    assert judged.verdicts() == {"Offline": "invalid", "Server": "valid"}


# G11: inference#1115
@across((), ())
def test_g11_folders_of_a_repository_are_let_through(tree):
    for name, data in (("assets/logo.png", b"\x89PNG\r\n\x1a\n"), (".github/workflows/ci.yml", b"on: push\n")):
        (tree.root / name).parent.mkdir(parents=True)
        (tree.root / name).write_bytes(data)
    for profile in Profile:
        judged = check(tree, profile)
        assert (judged.report.exit_code, judged.report.every_finding()) == (0, ())


@across(
    ("junk",),
    ("closed/.DS_Store",),
    ("closed/__pycache__/a.pyc",),
    ("closed/{sub}/.DS_Store",),
    ("closed/{sub}/src/__pycache__/a.pyc",),
)
def test_g11_junk_inside_a_division_is_a_warning(tree, junk):
    submitter = tree.system.parents[1].name
    path = tree.root / junk.format(sub=submitter)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"\0")
    judged = check(tree)
    assert judged.report.exit_code == 0
    warnings = [one for one in judged.report.every_finding() if one.severity is Severity.WARNING]
    assert any(one.where in path.relative_to(tree.root).as_posix() for one in warnings)


# G12: ck#830
@across((), ())
def test_g12_missing_fields_are_named_and_a_near_miss_is_hinted_at(tree):
    tree.describe(system_type_detail=None, host_network_card_count=None, host_networking_card_count="8")
    for profile in Profile:
        judged = check(tree, profile)
        detail, count = sorted(judged.of("SYS-006"), key=lambda one: one.found, reverse=True)
        assert (detail.found, detail.message) == ('no "system_type_detail"', "")
        assert count.found == 'no "host_network_card_count"'
        assert count.message == '"host_networking_card_count" is there: did you mean "host_network_card_count"?'
        assert count.fix == 'Rename "host_networking_card_count" to "host_network_card_count".'
        assert count.pointer == "/host_networking_card_count"
        assert judged.report.exit_code == 1


@across(
    ("present", "meant"),
    ("Host_Memory_Capacity", "host_memory_capacity"),
    ("host-memory-capacity", "host_memory_capacity"),
    ("host_memory_capcity", "host_memory_capacity"),
    ("framwork", "framework"),
    ("operating system", "operating_system"),
)
def test_g12_of_any_field(tree, present, meant):
    tree.describe(**{meant: None, present: "as sold"})
    assert only(check(tree).of("SYS-006")).fix == f'Rename "{present}" to "{meant}".'


@across((), ())
def test_g12_in_the_measurements_too(tree):
    path = tree.file("Server", "measurements.json")
    members = json.loads(path.read_text())
    members["weights_data_types"] = members.pop("weight_data_types")
    path.write_text(json.dumps(members, indent=2))
    found = only(check(tree).of("MEAS-004"))
    assert found.fix == 'Rename "weights_data_types" to "weight_data_types".'
    assert found.pointer == "/weights_data_types"
    assert found.line
