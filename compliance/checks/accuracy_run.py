"""ACC-: the accuracy run: its log, its coverage, its seeds, the sample outputs (accuracy_check.py:245-340)."""

from collections.abc import Iterator

from compliance.checks.facts import ACCURACY_LOG, about, benchmark_of, graded, missing, off_by, result_of, strictly
from compliance.checks.model import Finding, Scope, Skip, Subject
from compliance.checks.registry import check
from compliance.vocabulary import Severity

TRUNCATE = "Run `weighbridge truncate`: it cuts the log to 8199 bytes and appends the whole log's hash to accuracy.txt."


@check(
    "ACC-006",
    "the accuracy log is there",
    "accuracy_check.py:245",
    Scope.RESULT,
    ("loadgen",),
    fix="Copy mlperf_log_accuracy.json of the accuracy run into accuracy/, truncated.",
)
def accuracy_log(subject: Subject) -> Iterator[Finding | Skip]:
    """accuracy/mlperf_log_accuracy.json exists; one that cannot be read is an error in strict."""
    run = result_of(subject).accuracy
    if run.accuracy is not None:
        return
    finding = missing(subject, f"{run.folder}/{ACCURACY_LOG}", "the accuracy log")
    yield from graded(finding, official=None if ACCURACY_LOG in run.files else Severity.ERROR, strict=Severity.ERROR)


@check("ACC-007", "the accuracy log is truncated", "accuracy_check.py:249", Scope.RESULT, ("loadgen",), fix=TRUNCATE)
def truncated(subject: Subject) -> Iterator[Finding | Skip]:
    """mlperf_log_accuracy.json is at most 10 240 bytes."""
    run = result_of(subject).accuracy
    limit = subject.round.accuracy_log_limit_bytes
    if run.accuracy is None:
        yield Skip("no accuracy log (ACC-006)")
    elif run.accuracy.bytes > limit:
        message = off_by(run.accuracy.bytes - limit, limit, "bytes")
        where = f"{run.folder}/{ACCURACY_LOG}"
        yield Finding(where, f"at most {limit} bytes", f"{run.accuracy.bytes} bytes", message=message)


@check(
    "ACC-008",
    "the accuracy run covers the data set",
    "accuracy_check.py:281; old:1899-1928",
    Scope.RESULT,
    ("loadgen", "accuracy", "benchmark"),
    fix="Run accuracy over the whole data set: let the QSL report its size, and override no accuracy_sample_count.",
)
def coverage(subject: Subject) -> Iterator[Finding | Skip]:
    """effective_accuracy_sample_count (else qsl_reported_total_count) is the benchmark's count, in every division."""
    run = result_of(subject).accuracy
    count = benchmark_of(subject).accuracy_samples(result_of(subject).scenario)
    if run.detail is None:
        return
    own = "effective_accuracy_sample_count"
    key = own if run.detail.record(own) else "qsl_reported_total_count"
    if run.detail.value(key) != count:
        yield about(run, key, f"{key} = {count} samples")


@check(
    "ACC-009",
    "the accuracy log holds every response",
    "loadgen/logging.cc:281-303; weighbridge: the official checker does not count the entries",
    Scope.RESULT,
    ("loadgen", "accuracy", "benchmark"),
    fix="Copy the accuracy run's own log; that of a performance run holds no or few responses.",
)
def whole_log(subject: Subject) -> Iterator[Finding | Skip]:
    """An accuracy log that is not truncated holds one entry for each sample of the accuracy run."""
    run = result_of(subject).accuracy
    count = benchmark_of(subject).accuracy_samples(result_of(subject).scenario)
    log = run.accuracy
    if log is None or log.truncated:
        yield Skip("the log is truncated, as it should be")
    elif log.entries is None:
        where = f"{run.folder}/{ACCURACY_LOG}"
        yield strictly(Finding(where, f"{count} entries", log.problem, line=log.problem_line))
    elif log.entries != count:
        yield strictly(Finding(f"{run.folder}/{ACCURACY_LOG}", f"{count} entries", f"{log.entries} entries"))


@check(
    "ACC-010",
    "the accuracy run used the round's seeds",
    "weighbridge: the official checker reads the seeds of the performance run only",
    Scope.RESULT,
    ("loadgen", "accuracy"),
    fix="Run accuracy and performance with the same LoadGen release and settings.",
)
def accuracy_seeds(subject: Subject) -> Iterator[Finding | Skip]:
    """The three seeds of the accuracy run are the round's. They change the order, not the score: a warning."""
    run = result_of(subject).accuracy
    seeds = subject.round.seeds
    for name, seed in (("qsl", seeds.qsl), ("sample_index", seeds.sample_index), ("schedule", seeds.schedule)):
        key = f"effective_{name}_rng_seed"
        if run.detail is not None and run.detail.value(key) != seed:
            yield strictly(about(run, key, f"{key} = {seed}"), Severity.WARNING)


@check(
    "ACC-011",
    "the sample outputs are there",
    "accuracy_check.py:312; utils.py:47-71",
    Scope.RESULT,
    ("benchmark",),
    fix="Copy the outputs of those samples from the accuracy run, named by their numbers.",
)
def sample_outputs(subject: Subject) -> Iterator[Finding | Skip]:
    """The accuracy folder holds the images or videos of the samples that the round lists, in every division."""
    wanted = benchmark_of(subject).accuracy_files
    result = result_of(subject)
    if wanted is None:
        yield Skip("the benchmark asks for no sample outputs")
        return
    there = {name.split(".")[0] for name in result.sample_outputs}
    lacking = [name for name in wanted.names if name not in there]
    if lacking:
        where = f"{result.accuracy.folder}/{wanted.folder}"
        found = "no such folder, or an empty one" if not there else f"missing: {', '.join(lacking)}"
        yield Finding(where, f"the {wanted.folder} of samples {', '.join(wanted.names)}", found)
