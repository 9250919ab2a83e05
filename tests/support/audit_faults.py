"""Ways to break the compliance tests of a clean tree; each returns a function that makes the tree anew."""

from collections.abc import Callable, Iterable

from tests.support.faults import tree
from tests.support.tree_files import Record, accuracy_log, scores
from tests.support.trees import ACCURACY, DETAIL, Tree

Make = Callable[[], Tree]


def resnet() -> Tree:
    """TEST01 and TEST04, in every scenario."""
    scenarios = ("Offline", "Server", "SingleStream", "MultiStream")
    return tree(scenarios, benchmark="resnet", system_type="datacenter,edge")


def diffusion() -> Tree:
    """TEST01 with two metrics that have their own bounds."""
    scenarios = ("Offline", "Server", "SingleStream")
    return tree(scenarios, benchmark="stable-diffusion-xl", system_type="datacenter,edge")


def unet() -> Tree:
    """TEST01 beside an accuracy log that is whole."""
    return tree(("Offline", "SingleStream"), benchmark="3d-unet-99.9", system_type="edge")


def dlrm() -> Tree:
    """TEST08."""
    return tree(benchmark="dlrm-v3")


def audited(base: Make, rest: str, scenario: str = "Server", **changes: object) -> Make:
    """Change keys of an audit's detail log, `rest` being the audit's name."""

    def make() -> Tree:
        made = base()
        return made.change(made.path(scenario, f"{rest}/performance/run_1/{DETAIL}"), changes)

    return make


def differing(
    *, base: Make = resnet, said: str | None = "TEST FAIL\n", without: str = "", extra: str = "", **compliance: float
) -> Make:
    """TEST01 without TEST PASS (`said` in verify_accuracy.txt), with the scores on both runs' answers in Server."""

    def make() -> Tree:
        made = base()
        rules = made.round.benchmarks[made.benchmark]
        folder = made.path("Server", "TEST01")
        made.texts[f"{folder}/verify_accuracy.txt"] = said or ""
        files = {"accuracy.txt": f"{scores(rules)}\n", "baseline_accuracy.txt": f"{scores(rules)}\n"}
        files["compliance_accuracy.txt"] = f"{scores(rules, **compliance)}\n"
        if extra:
            files[extra] = "x\n"
        made.texts |= {f"{folder}/accuracy/{name}": text for name, text in files.items() if name != without}
        return made

    return make


def audit_log(base: Make, audit: str, scenario: str, answers: Iterable[tuple[int, list[int]]]) -> Make:
    """An audit's accuracy log that is whole and holds other answers."""

    def make() -> Tree:
        made = base()
        made.texts[made.path(scenario, f"{audit}/accuracy/{ACCURACY}")] = accuracy_log(answers, first=False)
        return made

    return make


def idle_log(text: str, base: Make = tree) -> Make:
    """A detail log of an audit that the benchmark does not ask for."""

    def make() -> Tree:
        made = base()
        made.texts[made.path("Server", f"TEST04/performance/run_1/{DETAIL}")] = text
        return made

    return make


def latin1(base: Make, rest: str) -> Make:
    """A verdict with a byte in it that is not UTF-8."""

    def make() -> Tree:
        made = base()
        path = made.path("Server", rest)
        made.afterwards.append(lambda root: (root / path).write_bytes((root / path).read_bytes() + b"\xb5s\n"))
        return made

    return make


def line_cut(base: Make, audit: str) -> Make:
    """The audit's detail log ends within a record."""

    def make() -> Tree:
        made = base()
        path = made.path("Server", f"{audit}/performance/run_1/{DETAIL}")
        made.texts[path] = "".join(record.line() for record in made.logs.pop(path))[:-20] + "\n"
        return made

    return make


def verdict_of_another_run() -> Tree:
    """TEST01's performance run is far from this one; its verdict compared it with another."""
    made = audited(resnet, "TEST01", result_completed_samples_per_sec=25212.3, generated_query_count=1024 * 20000)()
    made.texts[made.path("Server", "TEST01/verify_performance.txt")] = "Reference score = 25200.5\nTEST PASS\n"
    return made


def logged_error() -> Tree:
    """LoadGen reported an error in TEST01's run."""
    made = resnet()
    path = made.path("Server", f"TEST01/performance/run_1/{DETAIL}")
    made.logs[path].append(Record("error_runtime", "slow", is_error=True))
    return made
