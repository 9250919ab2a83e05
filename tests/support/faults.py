"""Ways to break a clean tree: each returns a function that makes the tree anew and breaks it in one place."""

import hashlib
import json
from collections.abc import Callable
from pathlib import Path

from tests.support.tree_files import Record, accuracy_log, scores
from tests.support.trees import ACCURACY, DETAIL, SUMMARY, Tree, clean_tree

INTERACTIVE = ("Offline", "Server", "Interactive")


def tree(scenarios: tuple[str, ...] = ("Offline", "Server"), **options: str) -> Tree:
    return clean_tree(options.pop("benchmark", "llama3.1-8b"), scenarios, **options)


def perf(scenario: str = "Server", *, base: Callable[[], Tree] = tree, **changes: object) -> Callable[[], Tree]:
    return lambda: base().performance(scenario, **changes)


def rates(tokens_per_s: float) -> dict[str, object]:
    """A Server run's rates for answers of a hundred tokens, and as many queries as such a rate takes."""
    count = 13368 * 100
    return {
        "result_completed_tokens_per_second": tokens_per_s,
        "result_completed_samples_per_sec": tokens_per_s / 100,
        "generated_query_count": count,
        "result_query_count": count,
    }


def acc(scenario: str = "Server", **changes: object) -> Callable[[], Tree]:
    return lambda: tree().accuracy(scenario, **changes)


def system(base: Callable[[], Tree] = tree, **changes: object) -> Callable[[], Tree]:
    def make() -> Tree:
        made = base()
        for key, value in changes.items():
            if value is None:
                del made.system[key]
            else:
                made.system[key] = value
        return made

    return make


def texts(rest: str, text: str | None, scenario: str = "Server", base: Callable[[], Tree] = tree) -> Callable[[], Tree]:
    """Replace (None: remove) a file of a scenario's folder."""

    def make() -> Tree:
        made = base()
        path = made.path(scenario, rest)
        if text is None:
            return made.remove(path)
        made.texts[path] = text
        return made

    return make


def conf(*lines: str, scenario: str = "Server", base: Callable[[], Tree] = tree) -> Callable[[], Tree]:
    """A user.conf of these lines."""
    return texts("user.conf", "".join(f"{line}\n" for line in lines), scenario, base)


def replaced(
    rest: str, old: str, new: str, scenario: str = "Server", base: Callable[[], Tree] = tree
) -> Callable[[], Tree]:
    def make() -> Tree:
        made = base()
        return made.replace(made.path(scenario, rest), old, new)

    return make


def at_root(path: str, text: str = "x\n") -> Callable[[], Tree]:
    """Add a file; {sub} stands for the submitter's folder."""

    def make() -> Tree:
        made = tree()
        made.texts[path.replace("{sub}", made.submitter)] = text
        return made

    return make


def after(step: Callable[[Path], object]) -> Callable[[], Tree]:
    """Break the written tree; the step gets the submitter's folder."""

    def make() -> Tree:
        made = tree()
        made.afterwards.append(lambda root: step(root / made.submitter))
        return made

    return make


def invalid_run() -> Tree:
    made = tree().performance("Server", result_validity="INVALID", result_invalid_reason="TTFT")
    return made.replace(made.path("Server", f"performance/run_1/{SUMMARY}"), "is : VALID", "is : INVALID")


def logged_error(folder: str) -> Callable[[], Tree]:
    def make() -> Tree:
        made = tree()
        made.logs[made.path("Server", f"{folder}/{DETAIL}")].append(Record("error_runtime", "slow", is_error=True))
        return made

    return make


def repeated_key() -> Tree:
    made = tree()
    made.logs[made.path("Server", f"performance/run_1/{DETAIL}")].append(Record("result_validity", "VALID"))
    return made


def raw_log(change: Callable[[str], str]) -> Callable[[], Tree]:
    """Change the written performance detail log of Server as text."""

    def make() -> Tree:
        made = tree()
        path = made.path("Server", f"performance/run_1/{DETAIL}")

        def step(root: Path) -> None:
            (root / path).write_text(change((root / path).read_text()))

        made.afterwards.append(step)
        return made

    return make


def offline_log_in_server() -> Tree:
    made = tree()
    made.logs[made.path("Server", f"performance/run_1/{DETAIL}")] = made.logs[
        made.path("Offline", f"performance/run_1/{DETAIL}")
    ]
    return made.replace(made.path("Server", f"performance/run_1/{SUMMARY}"), ": Server", ": Offline")


def whole_log_wrong_hash() -> Tree:
    made = tree()
    made.texts[made.path("Server", f"accuracy/{ACCURACY}")] = accuracy_log([(0, [5, 6]), (1, [7, 8])], first=True)
    return made


def padded_log(size: int) -> Callable[[], Tree]:
    def make() -> Tree:
        made = tree()
        path = made.path("Server", f"accuracy/{ACCURACY}")
        made.texts[path] = made.texts[path].ljust(size, "x")
        return made

    return make


def empty_log_right_hash() -> Tree:
    made = tree()
    made.texts[made.path("Server", f"accuracy/{ACCURACY}")] = "[\n]\n"
    text = f"{scores(made.round.benchmarks[made.benchmark])}\nhash={hashlib.sha256(b'[' + bytes([10]) + b']' + bytes([10])).hexdigest()}\n"
    made.texts[made.path("Server", "accuracy/accuracy.txt")] = text
    return made


def odd_document(rest: str | None, change: Callable[[str], str]) -> Callable[[], Tree]:
    """Change the text of the system description (rest None) or of a document of Server."""

    def make() -> Tree:
        made = tree()
        path = made.system_path if rest is None else made.path("Server", rest)
        made.texts[path] = change(json.dumps(made.documents.pop(path), indent=1))
        return made

    return make


def measurements(**changes: object) -> Callable[[], Tree]:
    def make() -> Tree:
        made = tree()
        document = made.documents[made.path("Server", "measurements.json")]
        document.update({key: value for key, value in changes.items() if value is not None})
        for key in [key for key, value in changes.items() if value is None]:
            del document[key]
        return made

    return make


def removed(rest: str, scenario: str = "Server", base: Callable[[], Tree] = tree) -> Callable[[], Tree]:
    def make() -> Tree:
        made = base()
        return made.remove(made.path(scenario, rest))

    return make


def stray_folder() -> Tree:
    made = tree()
    made.texts[made.path("old", "notes.md")] = "x\n"
    return made


def renamed_benchmark(name: str, base: Callable[[], Tree] = tree) -> Callable[[], Tree]:
    def make() -> Tree:
        made = base()
        old = made.path("").rstrip("/")
        made.copy(old, f"{old.rpartition('/')[0]}/{name}").remove(old)
        return made

    return make


def lower_case() -> Tree:
    made = tree()
    return made.copy(made.path("Server"), made.path("server")).remove(made.path("Server"))


def extra_scenario() -> Tree:
    made = tree()
    return made.copy(made.path("Server"), made.path("MultiStream")).performance("MultiStream")


def as_file(made: Tree, folder: str) -> Tree:
    """Put a file in a folder's place."""
    made.remove(folder).texts[folder] = "x\n"
    return made


def gpt() -> Tree:
    return tree(benchmark="gpt-oss-120b")


def wan() -> Tree:
    """A benchmark that asks for sample outputs."""
    return tree(("Offline", "SingleStream"), benchmark="wan-2.2-t2v-a14b")


def opened() -> Tree:
    return tree(division="open")


def network() -> Tree:
    return tree(division="network")


def interactive() -> Tree:
    return tree(INTERACTIVE)


def test06_log(answers: list[tuple[int, list[int]]]) -> Callable[[], Tree]:
    return texts(f"TEST06/accuracy/{ACCURACY}", accuracy_log(answers, first=True))


def mapping(text: str) -> Callable[[], Tree]:
    def make() -> Tree:
        made = opened()
        made.texts[f"{made.submitter}/model_mapping.json"] = text
        return made

    return make


def scored(base: Callable[[], Tree] = tree, line: str = "", **values: float) -> Callable[[], Tree]:
    """Other scores in Server's accuracy.txt, and a line after the hash."""

    def make() -> Tree:
        made = base()
        path = made.path("Server", "accuracy/accuracy.txt")
        digest = made.texts[path].strip().splitlines()[-1]
        made.texts[path] = f"{scores(made.round.benchmarks[made.benchmark], **values)}\n\n{digest}\n{line}\n"
        return made

    return make


def numpy_scores() -> Tree:
    made = tree()
    path = made.path("Server", "accuracy/accuracy.txt")
    return made.replace(path, "'rouge1': 38.7792", "'rouge1': np.float64(38.7792)")


def sparse(path: Path, size: int) -> None:
    with path.open("wb") as file:
        file.truncate(size)


def on_mi300x(base: Callable[[], Tree] = tree) -> Tree:
    """Eight accelerators whose roof for this benchmark is known: 123,911 tokens/s in bf16."""
    return system(base, accelerator_model_name="AMD Instinct MI300X 192GB HBM3")()


def open_on_mi300x() -> Tree:
    return on_mi300x(opened)


def on_one_small() -> Tree:
    """Weights of 138 GB in bf16 on one accelerator of 80 GB, at a rate that is no faster for it."""
    made = tree(benchmark="llama2-70b-99.9")
    made.system.update(accelerator_model_name="NVIDIA H100-SXM-80GB", accelerators_per_node=1)
    samples_per_s = 1000 / 294.45
    made.performance("Offline", result_tokens_per_second=1000, result_samples_per_second=samples_per_s)
    return made.performance(
        "Server", result_completed_tokens_per_second=1000, result_completed_samples_per_sec=samples_per_s
    )
