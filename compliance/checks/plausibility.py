"""PERF-2xx: whether a rate of tokens can come from the accelerators described (systems/roofline.py). Strict only."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from compliance.checks.facts import amount, benchmark_of, is_open, place, result_of, strictly, system_of
from compliance.checks.model import Finding, Scope, Skip, Subject
from compliance.checks.registry import check
from compliance.logs.documents import Document
from compliance.metrics.performance import metric_key, read_metric
from compliance.vocabulary import Severity
from systems.fleet import read_fleet
from systems.roofline import Roofline, roofline
from systems.token_costs import token_costs

_NEEDS = ("loadgen", "performance", "benchmark", "description")
_SUSPECT = 0.5
"""A share of the bound above which a result deserves a second look: the best published ones lie near it."""

_UNIT = "Tokens/s"
_FORMAT = re.compile(
    r"(?<![a-z])(?:(?:mx|nv)?fp|b?float|bf|u?int)[ _-]?([2-468]|16|32|64)(?!\d)|(?<![a-z0-9])e([2-5])m([1-9])(?!\d)"
)
_REDUCED = re.compile(r"quanti[sz]")
_BEFORE_QUANTISING = 16
_FIX = (
    "Compare weight_data_types, accelerator_model_name, accelerators_per_node and number_of_nodes with what ran: a run"
    " in a narrower number format or on more accelerators than stated looks like this."
)


@dataclass(frozen=True, slots=True)
class _Claim:
    """A result's rate, its bound, and how the number format of the weights was read."""

    tokens_per_s: float
    roof: Roofline
    read: str

    @property
    def share(self) -> float:
        """Rate over bound, infinite where the bound is 0."""
        return self.tokens_per_s / self.roof.tokens_per_s if self.roof.tokens_per_s else float("inf")


def stated_format(measurements: Document | None) -> tuple[int | None, str]:
    """(bits of the weights, what was read): the narrowest format in weight_data_types and weight_transformations.

    None bits stand for the most generous format: where none is named, or a wide one from before quantising is.
    """
    members = measurements.members if measurements else {}
    types, changes = (str(members.get(f"weight_{name}") or "").lower() for name in ("data_types", "transformations"))
    named = _FORMAT.finditer(f"{types} {changes}")
    bits = min((1 + int(m[2]) + int(m[3]) if m[2] else int(m[1]) for m in named), default=None)
    shown = f"weight_data_types {types[:60]!r}"
    if bits is None:
        return None, f"{shown} names no number format: the most generous one is taken"
    if bits > _BEFORE_QUANTISING or (bits == _BEFORE_QUANTISING and _REDUCED.search(changes)):
        return None, f"{shown} is read as the format before quantising: the most generous is taken"
    return bits, f"{shown}: {bits} bits"


def _claim(subject: Subject) -> _Claim | Skip:
    """The rate and its bound, or why there is none."""
    result, rules = result_of(subject), benchmark_of(subject)
    costs = token_costs().get(rules.name)
    if costs is None:
        return Skip(f"{rules.name} has no costs per token in systems/models.toml")
    metric = read_metric(result, rules)
    if metric.unit != _UNIT or metric.inferred or metric.value is None:
        return Skip("the metric is no measured rate of tokens")
    description = system_of(subject).description
    fleet = read_fleet(description.members if description else {})
    if not fleet.groups:
        return Skip(f"no bound is known: {fleet.reason}")
    bits, read = stated_format(result.measurements)
    tpot_ms = subject.scenario.max_tpot_p99_ms if subject.scenario and not is_open(subject) else None
    drafts = costs.draft_tokens.get(result.scenario.value, 0) if result.scenario else 0
    return _Claim(metric.value, roofline(costs, fleet.groups, bits, tpot_ms=tpot_ms, draft_tokens=drafts), read)


def _about(subject: Subject, claim: _Claim, expected: str, severity: Severity) -> Finding:
    result, scenario = result_of(subject), result_of(subject).scenario
    key = metric_key(benchmark_of(subject), scenario) if scenario else ""
    where, line = place(result.performance, key)
    rate = f"{amount(claim.tokens_per_s, 'tokens/s')}, {claim.share:.1%} of the bound"
    message = f"{claim.roof.arithmetic()}. {claim.read}"
    return strictly(Finding(where, expected, rate, message=message, line=line), severity)


@check(
    "PERF-201",
    "the rate lies below the roof of the hardware",
    "weighbridge: no system is faster than its accelerators",
    Scope.RESULT,
    _NEEDS,
    fix=_FIX,
)
def below_the_roof(subject: Subject) -> Iterator[Finding | Skip]:
    """Tokens per second do not exceed the roofline bound of the accelerators described, in the number format stated.

    The bound is the lesser of two. Compute: dense peak over the FLOP of an output token and its share of the prompt.
    Memory bandwidth: weights and attention cache read once per step, with as many sequences as memory (and, in Server
    and Interactive, the limit of the time per output token) admits. Whatever is not known is taken generously. In the
    open division, where another model may run, it is a warning. Unknown accelerators and benchmarks that generate no
    text are skipped.
    """
    claim = _claim(subject)
    if isinstance(claim, Skip):
        yield claim
    elif claim.share > 1:
        severity = Severity.WARNING if is_open(subject) else Severity.ERROR
        yield _about(subject, claim, f"at most {claim.roof.tokens_per_s:,.6g} tokens/s", severity)


@check(
    "PERF-202",
    "the rate lies below half the roof of the hardware",
    "weighbridge: the best published results reach about half of it",
    Scope.RESULT,
    _NEEDS,
    fix=_FIX,
)
def below_half_the_roof(subject: Subject) -> Iterator[Finding | Skip]:
    """Tokens per second do not exceed half the bound of PERF-201; above it a result deserves a second look.

    A run in a narrower number format than stated shows up here.
    """
    claim = _claim(subject)
    if isinstance(claim, Skip):
        yield claim
    elif _SUSPECT < claim.share <= 1:
        half = _SUSPECT * claim.roof.tokens_per_s
        yield _about(subject, claim, f"at most {half:,.6g} tokens/s, half of the bound", Severity.WARNING)


@check(
    "PERF-203",
    "the weights fit in the accelerators",
    "weighbridge: weights are read in every step",
    Scope.RESULT,
    _NEEDS,
    fix=_FIX,
)
def weights_fit(subject: Subject) -> Iterator[Finding | Skip]:
    """The model's weights, in the number format stated, fit in the memory of the accelerators described."""
    claim = _claim(subject)
    if isinstance(claim, Skip):
        yield claim
    elif not claim.roof.fits:
        where = system_of(subject).path
        memory, weights = claim.roof.memory_bytes / 1e9, claim.roof.weight_bytes / 1e9
        found = f"{memory:.4g} GB on {sum(group.count for group in claim.roof.accelerators)} accelerators"
        yield strictly(
            Finding(where, f"room for {weights:.4g} GB of weights", found, message=claim.read), Severity.WARNING
        )
