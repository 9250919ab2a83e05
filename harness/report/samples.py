"""From samples.npy to distributions and series: pure functions on arrays of SAMPLES_DTYPE."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from harness.report.model import Distribution, Series

Floats = npt.NDArray[np.float64]
_NS_PER_MS = 1e6
_NS_PER_S = 1e9
_BINS = 36
_STEPS = 60
# Where the largest value is this many times the median, equal steps would put nearly all samples into one bar.
_LOG_RATIO = 6.0


@dataclass(frozen=True, slots=True)
class Limit:
    """A bound to draw beside a distribution, and LoadGen's own 99th percentile of the quantity where it logs one."""

    value: float | None = None
    name: str = "limit"
    reported_p99: float | None = None


def first_token_ms(samples: npt.NDArray[np.void]) -> Floats:
    """TTFT of every sample whose first token was reported, in ms."""
    told = samples[(samples["first_ns"] > 0) & (samples["issued_ns"] > 0)]
    return np.asarray((told["first_ns"] - told["issued_ns"]) / _NS_PER_MS, dtype=np.float64)


def per_token_ms(samples: npt.NDArray[np.void]) -> Floats:
    """TPOT of every sample of two tokens or more: the time after the first token over the tokens after it, in ms."""
    told = samples[(samples["first_ns"] > 0) & (samples["done_ns"] > 0) & (samples["output_tokens"] > 1)]
    steps = told["output_tokens"].astype(np.float64) - 1
    return np.asarray((told["done_ns"] - told["first_ns"]) / _NS_PER_MS / steps, dtype=np.float64)


def latency_ms(samples: npt.NDArray[np.void]) -> Floats:
    """End-to-end latency of every completed sample, in ms."""
    told = samples[(samples["done_ns"] > 0) & (samples["issued_ns"] > 0)]
    return np.asarray((told["done_ns"] - told["issued_ns"]) / _NS_PER_MS, dtype=np.float64)


def output_tokens(samples: npt.NDArray[np.void]) -> Floats:
    """Generated tokens of every completed sample."""
    return np.asarray(samples["output_tokens"][samples["done_ns"] > 0], dtype=np.float64)


def distribution(name: str, unit: str, values: Floats, limit: Limit | None = None) -> Distribution | None:
    """The histogram and percentiles of a quantity; None where no sample has it. Negative values count as they are."""
    if values.size == 0:
        return None
    bound = limit or Limit()
    p50, p90, p99 = (float(p) for p in np.percentile(values, (50, 90, 99)))
    top = max(float(values.max()), bound.value or 0.0)
    low = float(values.min())
    log_scale = low > 0 and p50 > 0 and top / p50 > _LOG_RATIO
    whole = bool(np.all(values == np.floor(values)))
    edges = _edges(low, float(values.max()), log_scale=log_scale, whole=whole)
    counts, _ = np.histogram(values, bins=edges)
    return Distribution(
        name=name,
        unit=unit,
        samples=int(values.size),
        mean=float(values.mean()),
        p50=p50,
        p90=p90,
        p99=p99,
        maximum=float(values.max()),
        limit=bound.value,
        limit_name=bound.name,
        reported_p99=bound.reported_p99,
        edges=tuple(map(float, edges)),
        counts=tuple(map(int, counts)),
        log_scale=log_scale,
    )


def _edges(low: float, high: float, *, log_scale: bool, whole: bool) -> Floats:
    """The histogram's edges: equal ratios, or equal steps from zero where the values lie near it.

    Whole numbers get steps of a whole width, so that no bar covers more of them than another.
    """
    if log_scale:
        ratio: Floats = np.geomspace(low, max(high, low * 1.01), _BINS + 1)
        ratio[0], ratio[-1] = low, max(high, low * 1.01)
        return ratio
    start = 0.0 if 0 <= low < high / 3 else low
    if whole:
        width = max(1.0, np.ceil((high - start + 1) / _BINS))
        return np.arange(np.floor(start), high + width + 1, width, dtype=np.float64) - 0.5
    return np.linspace(start, high if high > start else start + 1.0, _BINS + 1)


def throughput(samples: npt.NDArray[np.void]) -> Series | None:
    """Output tokens per second over the run. A sample's tokens spread evenly from its first token to its end.

    Where first tokens are not reported (Offline) they count when the sample completes. None for a run without answers.
    """
    done = samples[samples["done_ns"] > 0]
    if done.size == 0:
        return None
    edges = _time_edges(samples)
    begin = np.where(done["first_ns"] > 0, done["first_ns"], done["done_ns"]).astype(np.float64)
    end = done["done_ns"].astype(np.float64)
    span = np.maximum(end - begin, 1.0)
    tokens = done["output_tokens"].astype(np.float64)
    made = np.array([float(np.sum(tokens * np.clip((edge - begin) / span, 0.0, 1.0))) for edge in edges])
    made[-1] = float(tokens.sum())
    seconds = np.diff(edges) / _NS_PER_S
    values = np.diff(made) / seconds
    return _series("Output tokens", "tokens/s", edges, values)


def in_flight(samples: npt.NDArray[np.void]) -> Series | None:
    """Samples issued and not yet completed, over the run. None for a run without answers."""
    if not np.any(samples["done_ns"] > 0):
        return None
    edges = _time_edges(samples)
    middles = (edges[:-1] + edges[1:]) / 2
    issued = np.searchsorted(np.sort(samples["issued_ns"][samples["issued_ns"] > 0]), middles, side="right")
    done = np.searchsorted(np.sort(samples["done_ns"][samples["done_ns"] > 0]), middles, side="right")
    return _series("Samples in flight", "samples", edges, (issued - done).astype(np.float64))


def _time_edges(samples: npt.NDArray[np.void]) -> Floats:
    begin = float(samples["issued_ns"][samples["issued_ns"] > 0].min())
    end = float(samples["done_ns"].max())
    return np.linspace(begin, max(end, begin + 1.0), _STEPS + 1)


def _series(name: str, unit: str, edges: Floats, values: Floats) -> Series:
    seconds = (edges - edges[0]) / _NS_PER_S
    return Series(name, unit, tuple(map(float, seconds)), tuple(map(float, values)), float(values.mean()))
