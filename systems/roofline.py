"""The roofline bound: no system of these accelerators can generate more tokens per second, whatever its software.

Generous wherever something is not known, so that a result above it is wrong, not merely surprising: dense peaks at full
clock, attention and communication cost nothing, the weights are held once, the whole memory is used, batches are full.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from systems.fleet import Accelerators, peak_tflops
from systems.token_costs import TokenCosts

LONGEST_MEAN = 1.1
"""Answers may be a tenth longer than the reference's (upper accuracy limits); longer ones share a prompt's work."""

_FLOP_PER_PARAMETER = 2
_TERA, _GIGA = 1e12, 1e9


@dataclass(frozen=True, slots=True)
class Roofline:
    """A bound in output tokens per second, what binds, and everything it comes from.

    `bandwidth_tokens_per_s` is None where the weights do not fit in the accelerators' memory (`fits` is false): what is
    then read from elsewhere is not known. `weight_bits` is None where no number format is stated.
    """

    tokens_per_s: float
    compute_tokens_per_s: float
    bandwidth_tokens_per_s: float | None
    accelerators: tuple[Accelerators, ...]
    weight_bits: int | None
    peak_flop_per_s: float
    flop_per_token: float
    prompt_tokens_per_token: float
    bandwidth_bytes_per_s: float
    memory_bytes: float
    weight_bytes: float
    sequences: float

    @property
    def binds(self) -> str:
        """What holds the rate down: compute or memory bandwidth."""
        bandwidth = self.bandwidth_tokens_per_s
        return "compute" if bandwidth is None or self.compute_tokens_per_s <= bandwidth else "memory bandwidth"

    @property
    def fits(self) -> bool:
        """Whether the weights fit in the accelerators' memory."""
        return self.weight_bytes < self.memory_bytes

    def arithmetic(self) -> str:
        """How the bound comes about, in one line."""
        devices = " + ".join(
            f"{group.count} x {group.model.name} at {peak_tflops(group.model, self.weight_bits)[0] / 1000:.4g} PFLOPS"
            f" ({peak_tflops(group.model, self.weight_bits)[1]} bits)"
            for group in self.accelerators
        )
        compute = (
            f"{devices} = {self.peak_flop_per_s / 1e15:.4g} PFLOPS; {self.flop_per_token / _GIGA:.4g} GFLOP per output"
            f" token (with {self.prompt_tokens_per_token:.3g} prompt tokens each) -> {self.compute_tokens_per_s:,.0f}"
            " tokens/s by compute"
        )
        if self.bandwidth_tokens_per_s is None:
            return (
                f"{compute}; the weights ({self.weight_bytes / _GIGA:.4g} GB) do not fit in"
                f" {self.memory_bytes / _GIGA:.4g} GB of memory"
            )
        return (
            f"{compute}; {self.bandwidth_bytes_per_s / _TERA:.4g} TB/s over {self.weight_bytes / _GIGA:.4g} GB of"
            f" weights and the cache of {self.sequences:,.0f} sequences in {self.memory_bytes / _GIGA:.4g} GB ->"
            f" {self.bandwidth_tokens_per_s:,.0f} by memory bandwidth; {self.binds} binds"
        )


def roofline(
    costs: TokenCosts,
    accelerators: Sequence[Accelerators],
    weight_bits: int | None,
    *,
    tpot_ms: float | None = None,
    draft_tokens: int = 0,
) -> Roofline:
    """The bound of a model on accelerators with weights of so many bits (None: the most generous format).

    `tpot_ms` is the greatest time per output token, which caps how much a step may read (Server, Interactive; None for
    Offline). `draft_tokens` are guessed per step. Raises ValueError without accelerators.
    """
    if not accelerators:
        raise ValueError("a roofline needs at least one accelerator; name them in the system description")
    prompt_tokens = costs.input_tokens / (costs.output_tokens * LONGEST_MEAN)
    flop = _FLOP_PER_PARAMETER * (costs.active_parameters + prompt_tokens * costs.prompt_parameters)
    peak = _TERA * sum(peak_tflops(group.model, weight_bits)[0] * group.count for group in accelerators)
    memory = _GIGA * sum((group.model.memory_gb.value or 0) * group.count for group in accelerators)
    bandwidth = _TERA * sum((group.model.bandwidth_tb_per_s.value or 0) * group.count for group in accelerators)
    weight_bytes = costs.total_parameters * (weight_bits or 4) / 8
    has_fp4 = any(group.model.fp4_tflops.value for group in accelerators)
    sequence_bytes = costs.kv_elements() * (0.5 if has_fp4 else 1)
    active_bytes = costs.active_parameters * (weight_bits or 4) / 8
    step_bytes = None if tpot_ms is None else bandwidth * tpot_ms / 1000 * (1 + draft_tokens)
    sequences = _sequences(memory - weight_bytes, step_bytes, active_bytes, sequence_bytes)
    by_compute = peak / flop
    by_bandwidth = None
    if weight_bytes < memory:
        by_bandwidth = (1 + draft_tokens) * sequences * bandwidth / (active_bytes + sequences * sequence_bytes)
    return Roofline(
        tokens_per_s=by_compute if by_bandwidth is None else min(by_compute, by_bandwidth),
        compute_tokens_per_s=by_compute,
        bandwidth_tokens_per_s=by_bandwidth,
        accelerators=tuple(accelerators),
        weight_bits=weight_bits,
        peak_flop_per_s=peak,
        flop_per_token=flop,
        prompt_tokens_per_token=prompt_tokens,
        bandwidth_bytes_per_s=bandwidth,
        memory_bytes=memory,
        weight_bytes=weight_bytes,
        sequences=sequences,
    )


def _sequences(free_bytes: float, step_bytes: float | None, active_bytes: float, sequence_bytes: float) -> float:
    """How many sequences run at once: as many as fit in memory, and, under a latency limit, in what a step may read."""
    room = free_bytes if step_bytes is None else min(free_bytes, step_bytes - active_bytes)
    return max(room, 0.0) / sequence_bytes
