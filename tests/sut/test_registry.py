"""SUTs by name: built in, by entry point, by module:Class; and the preflight each may offer."""

import re
import subprocess
import sys

import pytest

from sut.errors import BadSettings, StartFailed, UnknownSut
from sut.null import NullEngine
from sut.preflight import PreflightProblem
from sut.protocol import EngineConfig, Sampling
from sut.registry import create, describe, preflight, sut_names
from tests.support.worker_process import FAULTY, REPO, engine_config, small_dataset


@pytest.fixture
def dataset(tmp_path):
    return small_dataset(tmp_path / "dataset")


@pytest.fixture
def plugin(tmp_path, monkeypatch):
    """Writes a module into a folder on the path; with an entry point when asked."""
    monkeypatch.syspath_prepend(str(tmp_path))

    def write(module: str, text: str, entry_point: str = "") -> None:
        (tmp_path / f"{module}.py").write_text(text)
        if entry_point:
            info = tmp_path / f"{module}-1.0.dist-info"
            info.mkdir()
            (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {module}\nVersion: 1.0\n")
            (info / "entry_points.txt").write_text(f"[weighbridge.suts]\n{entry_point}\n")

    yield write
    for name in ("plug_a", "plug_b", "plug_c", "plug_d", "plug_e"):
        sys.modules.pop(name, None)


def test_the_built_in_names():
    assert sut_names()[:6] == ("null", "echo", "synthetic", "vllm-cpu", "vllm-cuda", "vllm-rocm")


@pytest.mark.parametrize("name", ["null", "echo", "synthetic", FAULTY])
def test_engines_are_made_by_name(dataset, name):
    assert hasattr(create(name, engine_config(dataset)), "submit")
    assert "Settings:" in describe(name)


def test_an_entry_point_is_a_name(dataset, plugin):
    plugin("plug_a", "from sut.null import NullEngine\n", "acme = plug_a:NullEngine\nnull = plug_a:NullEngine")
    assert sut_names()[-1] == "acme"
    assert isinstance(create("acme", engine_config(dataset)), NullEngine)
    assert describe("acme") == "acme: plug_a has no docstring"


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("nul", "did you mean 'null'"),
        ("qqqqqq", "there are null, echo"),
        ("no_such_module_here:Engine", "no module 'no_such_module_here'"),
        ("sut.null:Engin", "has no class 'Engin'"),
        ("sut.null:__doc__", "has no class '__doc__'"),
        ("sut.null:a.b", "module:Class"),
        ("../x:Engine", "module:Class"),
    ],
)
def test_an_unknown_name_says_what_there_is(dataset, name, says):
    with pytest.raises(UnknownSut, match=says):
        create(name, engine_config(dataset))


@pytest.mark.parametrize(
    ("module", "text", "says"),
    [
        ("plug_b", "import not_installed_anywhere\n", "needs the Python module 'not_installed_anywhere'"),
        ("plug_c", "raise OSError('libamdhip64.so: cannot open')\n", "importing plug_c raised OSError: libamdhip64"),
    ],
)
def test_a_module_that_cannot_be_imported_says_why(dataset, plugin, module, text, says):
    plugin(module, text)
    with pytest.raises(StartFailed, match=says):
        create(f"{module}:Engine", engine_config(dataset))
    (problem,) = preflight(f"{module}:Engine", engine_config(dataset))
    assert problem.fatal
    assert says in problem.found


def test_settings_are_checked_when_an_engine_is_made(dataset):
    with pytest.raises(BadSettings, match="did you mean 'window'"):
        create("echo", engine_config(dataset, windows=3))


@pytest.mark.parametrize("name", ["null", "echo", "synthetic", FAULTY])
def test_preflight_finds_nothing_where_all_is_well(dataset, name):
    assert preflight(name, engine_config(dataset)) == ()


def test_preflight_tells_every_wrong_setting_and_the_missing_dataset(tmp_path):
    found = preflight("synthetic", engine_config(str(tmp_path / "nowhere"), preset="slow", seed=-1))
    assert [problem.what for problem in found] == ["dataset", "settings", "settings"]
    assert all(isinstance(problem, PreflightProblem) and problem.fatal for problem in found)


@pytest.mark.parametrize(
    ("module", "body", "says"),
    [
        (
            "plug_d",
            "from sut.errors import StartFailed\ndef preflight(c):\n    raise StartFailed('no /dev/kfd')\n",
            "/dev/kfd",
        ),
        ("plug_e", "def preflight(c):\n    return 1 / 0\n", "its preflight raised ZeroDivisionError"),
    ],
)
def test_a_preflight_that_raises_is_a_problem_not_a_crash(dataset, plugin, module, body, says):
    plugin(module, body)
    (problem,) = preflight(f"{module}:Engine", engine_config(dataset))
    assert says in problem.found


def test_the_worker_imports_nothing_heavy_and_nothing_of_the_harness():
    code = (
        "import sys, sut.worker, sut.registry, sut.null, sut.echo, sut.synthetic, sut.conformance\n"
        "banned = {'torch', 'vllm', 'harness', 'compliance', 'mlperf_loadgen', 'pydantic', 'typer', 'ray'}\n"
        "print(sorted(banned & {name.partition('.')[0] for name in sys.modules}))"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=REPO, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("json:JSONDecoder", "json:JSONDecoder is no SUT: it has no method start, warm_up, begin"),
        ("json:dumps", "json:dumps is no SUT: dumps(config) raised TypeError"),
        ("builtins:repr", "builtins:repr is no SUT: it has no method start"),
    ],
)
def test_a_class_that_is_no_engine_is_no_sut(name, words):
    with pytest.raises(UnknownSut, match=re.escape(words)):
        create(name, EngineConfig({}, "nowhere", Sampling(1, 2)))


def test_an_unknown_name_is_followed_by_whole_sentences():
    with pytest.raises(UnknownSut, match=r"vllm-rocm(, [^ ]+)*\. A class of your own"):
        create("qqqqqq", EngineConfig({}, "nowhere", Sampling(1, 2)))
