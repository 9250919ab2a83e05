"""A search as people read it, at 80 columns, and as JSON."""

import textwrap
from collections.abc import Iterator
from dataclasses import asdict

import msgspec

from harness.search.probe import Probe
from harness.search.run import Found

WIDTH = 80
_HEAD = f"{'QPS':>12}  {'queries':>8} {'TTFT p99':>10} {'TPOT p99':>10}  verdict"
CLAIM = (
    "LoadGen's VALID is its own statement that, with 99 % confidence, no more queries than one in a hundred are over a "
    "limit at this rate; it is made from the one schedule of the round's seeds. A higher rate may be VALID as well."
)


def render(found: Found) -> str:
    """The table of probes, what bound the result, and the line for the campaign file."""
    lines = [f"{found.scenario}: {len(found.probes)} probes" + (f", {found.kept} kept" if found.kept else ""), _HEAD]
    lines += [line for probe in found.probes for line in _row(probe)]
    lines += ["", *_verdict(found)]
    return "\n".join(lines) + "\n"


def _row(probe: Probe) -> Iterator[str]:
    latencies = [f"{'-' if ms is None else f'{ms:.1f} ms':>10}" for ms in (probe.ttft_p99_ms, probe.tpot_p99_ms)]
    verdict = probe.verdict + (" in full" if probe.full else "")
    yield f"{probe.qps:>12.6g}  {probe.queries:>8} {' '.join(latencies)}  {verdict}"
    yield from textwrap.wrap(probe.reason, WIDTH, initial_indent=" " * 14, subsequent_indent=" " * 14)


def _verdict(found: Found) -> Iterator[str]:
    stop = found.stop
    if stop is None:
        yield "Interrupted; the same command goes on from here."
        return
    if stop.found_qps is None:
        yield from textwrap.wrap(f"No rate was found: {stop.why}.", WIDTH)
        return
    above = "" if stop.lowest_invalid_qps is None else f" Lowest rate tried that is not: {stop.lowest_invalid_qps!r}."
    yield from textwrap.wrap(f"{stop.found_qps!r} QPS is VALID in a run of full length.{above}", WIDTH)
    yield from textwrap.wrap(f"Bound: {bound(found)}", WIDTH)
    yield from textwrap.wrap(CLAIM, WIDTH)
    yield f"In the campaign: {found.scenario}: {{target_qps: {stop.found_qps!r}}}"


def bound(found: Found) -> str:
    """What keeps the rate from being higher: the reason of the lowest rate that is not VALID, or where it stopped."""
    stop = found.stop
    if stop is None:
        return "interrupted"
    failed = [probe for probe in found.probes if probe.qps == stop.lowest_invalid_qps and not probe.valid]
    return failed[-1].reason if failed else stop.why


def render_json(found: Found) -> str:
    """The same as one JSON object."""
    stop = found.stop
    return (
        msgspec.json.format(
            msgspec.json.encode(
                {
                    "scenario": found.scenario.value,
                    "found_qps": None if stop is None else stop.found_qps,
                    "lowest_invalid_qps": None if stop is None else stop.lowest_invalid_qps,
                    "interrupted": found.interrupted,
                    "why": "" if stop is None else stop.why,
                    "bound": bound(found),
                    "kept": found.kept,
                    "folder": str(found.folder),
                    "probes": [asdict(probe) for probe in found.probes],
                }
            )
        ).decode()
        + "\n"
    )
