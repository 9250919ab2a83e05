"""MEAS-: the user.conf beside a result says what LoadGen took (loadgen/test_settings_internal.cc:545-814)."""

from collections.abc import Iterator
from difflib import get_close_matches

from compliance.checks.facts import benchmark_of, is_open, result_of, strictly
from compliance.checks.measurements import conf_path
from compliance.checks.model import Finding, Scope, Skip, Subject
from compliance.checks.registry import check
from compliance.vocabulary import Scenario, Severity

_CLOSE = 0.8
_QPS = "target_qps"


def _weight(subject: Subject) -> Severity:
    return Severity.WARNING if is_open(subject) else Severity.ERROR


@check(
    "MEAS-007",
    "every line of user.conf does what it says",
    "loadgen/test_settings_internal.cc:545-814",
    Scope.RESULT,
    ("loadgen",),
    fix="Correct the line and repeat the run: LoadGen ran without it.",
)
def effective_lines(subject: Subject) -> Iterator[Finding | Skip]:
    """No line of user.conf is one that LoadGen drops in silence: unknown key or scenario, no blanks around "=".

    A warning where another line sets what the dropped one means to, where a line is merely set twice, and in open.
    """
    conf = result_of(subject).user_conf
    if conf is None:
        yield Skip("no readable user.conf (MEAS-002)")
        return
    for problem in conf.problems:
        severity = _weight(subject) if problem.loses and not conf.says_elsewhere(problem) else Severity.WARNING
        where, expected = conf_path(subject), "a line that LoadGen takes"
        yield strictly(Finding(where, expected, problem.found, problem.fix, problem.reason, problem.line), severity)


@check(
    "MEAS-008",
    "the rate of the scenario is in force",
    "loadgen/test_settings_internal.cc:545-814",
    Scope.RESULT,
    ("loadgen", "benchmark"),
    fix="Set it: MODEL.Server.target_qps = N, with LoadGen's name of the model, or *.Server.target_qps = N.",
)
def rate_in_force(subject: Subject) -> Iterator[Finding | Skip]:
    """A user.conf that means to set target_qps for the scenario does: none is lost to a misspelt name.

    Where every such line names another model or is dropped, LoadGen runs with its default rate.
    """
    result = result_of(subject)
    conf, scenario = result.user_conf, result.scenario
    if conf is None or scenario not in {Scenario.SERVER, Scenario.INTERACTIVE, Scenario.OFFLINE}:
        yield Skip("no readable user.conf (MEAS-002), or a scenario without a rate")
        return
    limits = benchmark_of(subject).scenarios.get(scenario)
    model = limits.loadgen_model if limits else "*"
    if conf.value(_QPS, scenario.loadgen_name, model) is not None:
        return
    name = scenario.loadgen_name
    lost = [item for item in conf.assignments if _means(item.key, _QPS) and _means(item.scenario, name)]
    if not lost:
        yield Skip("user.conf sets no rate")
        return
    known = {rules.loadgen_model for one in subject.round.benchmarks.values() for rules in one.scenarios.values()}
    other = next((item.model for item in lost if item.model not in {"*", model}), None)
    if other in known:
        yield Skip("user.conf sets the rate of other models only")
        return
    message = "" if other is None else f'LoadGen\'s name of the model is "{model}", not "{other}"'
    expected = f"{model}.{scenario.loadgen_name}.{_QPS} = N"
    found = f"no {_QPS} is in force for {scenario.value}"
    finding = Finding(conf_path(subject), expected, found, message=message, line=lost[0].line)
    yield strictly(finding, _weight(subject) if other is None else Severity.WARNING)


def _means(written: str, name: str) -> bool:
    """Whether a word of a line was meant as that name: itself, everything, or all but it."""
    return written in {name, "*"} or bool(get_close_matches(written.lower(), [name.lower()], n=1, cutoff=_CLOSE))
