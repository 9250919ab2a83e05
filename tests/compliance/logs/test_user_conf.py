from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compliance.errors import UnreadableFile
from compliance.logs.user_conf import load_conf, read_conf

PATH = Path("user.conf")


def test_a_clean_file():
    conf = read_conf("# a comment\n\n*.Offline.min_duration = 600000\nllama3.1-8b.Server.target_qps = 3.65\n", PATH)
    assert [(a.model, a.scenario, a.key, a.value, a.line) for a in conf.assignments] == [
        ("*", "Offline", "min_duration", 600000, 3),
        ("llama3.1-8b", "Server", "target_qps", 3.65, 4),
    ]
    assert conf.problems == ()
    assert isinstance(conf.assignments[0].value, int)


# One line, whether it is an assignment, what the reason says and what the fix says.
LINES = [
    ("llama2-70b.Server.target_qsp = 88", True, 'unknown key "target_qsp"', "did you mean target_qps?"),
    ("llama2-70b.server.target_qps = 88", True, 'unknown scenario "server"', "did you mean Server?"),
    ("*.Interactive.target_qps = 8", True, "unknown scenario", "*-interactive"),
    ("a.Interactive.target_qps = 8", True, "unknown scenario", "model a-interactive"),
    ("*.Bogus.target_qps = 8", True, "unknown scenario", "known scenarios: Offline"),
    ("*.Server.performance_sample_count = 8", True, "unknown key", "performance_sample_count_override"),
    ("*.Server.zzzz = 8", True, "unknown key", "known keys"),
    ("*.*.qsl_rng_seed = 5", True, "mlperf.conf only", "take the line out"),
    ("*.Server.target_qps = 88 # as measured", False, "discards the whole file", "*.Server.target_qps = 88"),
    ("*.Server.target_qps=88", False, "no blanks", "write: *.Server.target_qps = 88"),
    ("*.Server.target_qps= 88", False, "no blanks", "write: *.Server.target_qps = 88"),
    ("*.Server.target_qps =88", False, "no blanks", "write: *.Server.target_qps = 88"),
    ("*.Server.target_qps = 88 qps", False, "not one key", "write: *.Server.target_qps = 88"),
    ("*.Server.target qps = 88", False, "not one key", "write: *.Server.targetqps = 88"),
    ("*.Server.target_qps =", False, "not one key", "number"),
    ("= 88", False, "not one key", "88"),
    ("*.Server.target_qps 88", False, "no assignment", "model.scenario.key"),
    ("*.Server.target_qps = fast", False, "no number", "number"),
    ("*.Server.target_qps = inf", False, "no number", "number"),
    ("*.Server.target_qps = nan", False, "no number", "number"),
    ("target_qps = 88", False, "not model.scenario.key", "*.*.target_qps = 88"),
    ("Server.target_qps = 88", False, "not model.scenario.key", "*.*.target_qps = 88"),
    ("..target_qps = 88", False, "not model.scenario.key", "*.*.target_qps"),
]


@pytest.mark.parametrize(("line", "taken", "reason", "fix"), LINES)
def test_a_line_that_does_something_else_than_meant(line, taken, reason, fix):
    conf = read_conf(f"# head\n{line}\n", PATH)
    (problem,) = conf.problems
    assert problem.line == 2
    assert reason in problem.reason
    assert fix in problem.fix
    assert problem.ignored
    assert bool(conf.assignments) == taken


@pytest.mark.parametrize(
    "line",
    [
        "*.*.mode = 2",
        "*.*.accuracy_log_sampling_target = 4096",
        "*.*.performance_issue_unique = 1",
        "*.*.test06 = 1",
        "gpt-oss-120b.*.test07_accuracy_threshold = 60.698",
        "\t*.MultiStream.samples_per_query  =  8  ",
        "*.Server.target_qps = 1e2",
        "*.Server.min_duration = -1",
    ],
)
def test_lines_without_a_problem(line):
    conf = read_conf(line, PATH)
    assert conf.problems == ()
    assert len(conf.assignments) == 1


def test_the_same_name_with_two_values_is_said_of_the_first():
    conf = read_conf("*.Server.target_qps = 1\n*.Server.target_qps = 2\n*.Server.target_qps = 2\n", PATH)
    (problem,) = conf.problems
    assert problem.line == 1
    assert "line 2" in problem.reason
    assert conf.value("target_qps", "Server", "x") == 2


@pytest.mark.parametrize(
    ("lines", "value"),
    [
        (("*.*.k", "m.*.k", "*.Server.k", "m.Server.k"), 3),
        (("m.Server.k", "*.Server.k", "m.*.k", "*.*.k"), 0),
        (("*.*.k", "m.*.k", "*.Server.k"), 2),
        (("*.*.k", "m.*.k"), 1),
        (("*.*.k",), 0),
        (("n.*.k", "*.Offline.k"), None),
    ],
)
def test_the_order_of_the_lookup(lines, value):
    conf = read_conf("\n".join(f"{name} = {i}" for i, name in enumerate(lines)), PATH)
    assert conf.value("k", "Server", "m") == value


@pytest.mark.parametrize("newline", ["\n", "\r\n", "\r"])
def test_a_file_with_any_line_ends(tmp_path, newline):
    path = tmp_path / "user.conf"
    path.write_bytes(newline.join(("\ufeff*.Server.target_qps = 1", "*.Offline.target_qps = 2")).encode())
    conf = load_conf(path)
    assert [a.line for a in conf.assignments] == [1, 2]
    assert conf.problems == ()


def test_an_empty_file_is_unreadable(tmp_path):
    (tmp_path / "user.conf").touch()
    with pytest.raises(UnreadableFile, match="empty"):
        load_conf(tmp_path / "user.conf")


LINE_PARTS = st.lists(st.sampled_from(["*", ".", "=", " ", "#", "Server", "target_qps", "1", "x"]), max_size=9)


@given(text=st.text(max_size=80) | LINE_PARTS.map("".join))
def test_any_text_is_read(text):
    conf = read_conf(text, PATH)
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    for problem in conf.problems:
        assert 1 <= problem.line <= len(lines)
        assert problem.fix
