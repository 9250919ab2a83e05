"""Commands on logs that are there: accuracy (score again), audit (verify again), truncate."""

from pathlib import Path
from typing import Annotated

import typer

ACCURACY_LOG = "mlperf_log_accuracy.json"
Rules = Annotated[str, typer.Option("--round", help="The round whose rules count.")]


def _log_of(path: Path) -> Path:
    return path / ACCURACY_LOG if path.is_dir() else path


def accuracy(  # noqa: PLR0913 - one option per input of the score
    log: Annotated[Path, typer.Argument(help="The whole accuracy log, or the folder it is in.")],
    *,
    benchmark: Annotated[str, typer.Option(help="The benchmark.")],
    dataset: Annotated[Path, typer.Option(help="The dataset folder, with references.jsonl.")],
    tokenizer: Annotated[Path, typer.Option(help="tokenizer.json, or the folder it is in.")],
    round_name: Rules = "v6.1",
    division: Annotated[str, typer.Option(help="closed, open or network.")] = "closed",
    evaluator: Annotated[str | None, typer.Option(help="rouge or choice; default: the benchmark's own.")] = None,
    nltk_data: Annotated[Path | None, typer.Option(help="Folder with the sentence model.")] = None,
    write: Annotated[bool, typer.Option("--write", help="Write accuracy.txt beside the log.")] = False,
) -> None:
    """Score an accuracy log again and compare it with the benchmark's targets."""
    from compliance.rulebook.rounds import load_round  # noqa: PLC0415
    from compliance.vocabulary import Division  # noqa: PLC0415
    from harness.plan.plan import benchmark_rules  # noqa: PLC0415
    from harness.run.scoring import render_scores, score_log  # noqa: PLC0415

    if division not in set(Division):
        raise typer.BadParameter(f"{division} is none of {', '.join(Division)}", param_hint="--division")
    if evaluator not in (None, "rouge", "choice"):
        raise typer.BadParameter(f"no evaluator {evaluator!r}; give rouge or choice", param_hint="--evaluator")
    rules = benchmark_rules(load_round(round_name), benchmark)
    _require_files(
        _log_of(log), dataset / "dataset.json", tokenizer / "tokenizer.json" if tokenizer.is_dir() else tokenizer
    )
    score = score_log(_log_of(log), dataset, tokenizer, rules, evaluator, nltk_data, Division(division), write=write)
    typer.echo(render_scores(score), nl=False)
    raise typer.Exit(0 if score.passed else 1)


def _require_files(*paths: Path) -> None:
    from harness.errors import UsageError  # noqa: PLC0415

    if missing := [f"{path}: no such file; correct the command" for path in paths if not path.is_file()]:
        raise UsageError("\n".join(missing))


def audit(
    folder: Annotated[Path, typer.Argument(help="The folder of the audit run, with its accuracy log.")],
    *,
    benchmark: Annotated[str, typer.Option(help="The benchmark.")],
    scenario: Annotated[str, typer.Option(help="The scenario of the run.")],
    test: Annotated[str, typer.Option(help="The audit.")] = "TEST06",
    round_name: Rules = "v6.1",
) -> None:
    """Verify an audit run again and write its verify_accuracy.txt."""
    from compliance.rulebook.rounds import load_round  # noqa: PLC0415
    from compliance.vocabulary import AuditId, Scenario  # noqa: PLC0415
    from harness.plan.audits import verify  # noqa: PLC0415
    from harness.plan.plan import benchmark_rules  # noqa: PLC0415
    from harness.run.identity import require_audit_run  # noqa: PLC0415

    for value, kind, name in ((scenario, Scenario, "--scenario"), (test, AuditId, "--test")):
        if value not in set(kind):
            raise typer.BadParameter(f"{value} is none of {', '.join(kind)}", param_hint=name)
    rules = benchmark_rules(load_round(round_name), benchmark)
    require_audit_run(folder, rules.name, scenario, test)
    passed, text = verify(AuditId(test), folder, rules, Scenario(scenario))
    typer.echo(text, nl=False)
    raise typer.Exit(0 if passed else 1)


def truncate(
    log: Annotated[Path, typer.Argument(metavar="LOG|TREE", help="The accuracy log, or the root of a whole tree.")],
    out: Annotated[
        Path,
        typer.Argument(metavar="OUT", help="Where the short log or the new tree goes; the original is not changed."),
    ],
    *,
    skip: Annotated[list[str] | None, typer.Option(help="A tree: leave this scenario's logs as they are.")] = None,
    apply: Annotated[bool, typer.Option("--apply", help="A tree: do it; without, the plan is printed.")] = False,
) -> None:
    """Cut an accuracy log, or all logs of a tree, as a submission wants them; each log's hash is kept."""
    from compliance.vocabulary import Division  # noqa: PLC0415
    from harness.cli.trees import truncate_tree  # noqa: PLC0415

    if any((log / division).is_dir() for division in Division):
        truncate_tree(log, out, skip or [], apply=apply)
        return
    if skip or apply:
        raise typer.BadParameter("--skip and --apply are for a whole tree, which holds closed/ or open/")
    _truncate_log(log, out)


def _truncate_log(log: Path, out: Path) -> None:
    from compliance.submission.truncate import truncate_accuracy_log  # noqa: PLC0415
    from harness.errors import UsageError  # noqa: PLC0415

    if out.exists():
        raise UsageError(f"{out} is there already; give another name")
    if not out.parent.is_dir():
        raise UsageError(f"{out.parent} is no folder; make it, or give another name")
    source = _log_of(log)
    if log.is_dir() and not source.is_file():
        _refuse_tree_part(log)
    _require_accuracy_log(source)
    typer.echo(f"hash={truncate_accuracy_log(source, out)}")


def _refuse_tree_part(folder: Path) -> None:
    """Ends the command for a folder of a tree that holds no log itself: the tree's root was meant."""
    from harness.errors import UsageError  # noqa: PLC0415
    from harness.package.roots import root_above, root_beneath  # noqa: PLC0415

    near = root_above(folder) or root_beneath(folder)
    if near is not None:
        raise UsageError(f"{folder}: no {ACCURACY_LOG} in it; give the log's folder, or {near} for the whole tree")


def _require_accuracy_log(path: Path) -> None:
    """Ends the command for what cannot be an accuracy log: LoadGen begins one with `[` and its first entry."""
    from harness.errors import UsageError  # noqa: PLC0415

    try:
        with path.open("rb") as stream:
            head = stream.read(4096).split()
    except OSError as error:
        raise UsageError(f"{path}: cannot be read: {error.strerror}; give {ACCURACY_LOG} or its folder") from error
    start = b"".join(head)
    if not start.startswith((b'[{"seq_id"', b"[]")):
        raise UsageError(f"{path}: not an accuracy log of LoadGen; give {ACCURACY_LOG} or its folder")
