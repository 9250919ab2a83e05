"""The bandwidth write-up of a datacenter submission: bytes a second in and out (inference_rules.adoc:1163)."""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources

from compliance.errors import RuleError


@dataclass(frozen=True, slots=True)
class TokenBounds:
    """The most tokens that one sample of a benchmark brings in and out, with the rule they come from."""

    max_input_tokens: int
    max_output_tokens: int
    source: str


@dataclass(frozen=True, slots=True)
class Bandwidth:
    """What the network must carry for one result, in bytes per second; `samples_per_s` is the measured rate."""

    scenario: str
    samples_per_s: float
    ingress_bytes_per_s: float
    egress_bytes_per_s: float


@cache
def token_bounds() -> Mapping[str, TokenBounds]:
    """Token bounds by benchmark, as shipped. Raises RuleError when the shipped table is damaged."""
    text = (resources.files("submission_templates") / "bandwidth.toml").read_text(encoding="utf-8")
    try:
        return {name: TokenBounds(**row) for name, row in tomllib.loads(text)["benchmarks"].items()}
    except (tomllib.TOMLDecodeError, KeyError, TypeError) as error:
        raise RuleError(
            f"bandwidth.toml of this installation is damaged: {error}; install Weighbridge again"
        ) from error


def bandwidth(scenario: str, samples_per_s: float, bounds: TokenBounds, token_bytes: int = 4) -> Bandwidth:
    """Bytes per second for a rate of samples, each as large as the rules let it be, a token `token_bytes` wide."""
    return Bandwidth(
        scenario,
        samples_per_s,
        samples_per_s * bounds.max_input_tokens * token_bytes,
        samples_per_s * bounds.max_output_tokens * token_bytes,
    )
