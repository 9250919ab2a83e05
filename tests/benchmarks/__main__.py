"""`make bench`: ceilings of the harness over the null SUT, the harness over the engine against the engine alone, and the
checker's speed and memory, with `--official DIR` beside the official checker's.

Prints a table and writes a list of {name, value, unit, against, ratio, runs, low, high}. Ratios are taken in one run of
the bench; where a figure varies with the machine's load the pairs are interleaved.
"""

import argparse
import subprocess
import sys
import tempfile
from pathlib import Path

from harness.demo.assets import find
from harness.demo.fetch import default_cache
from sut.dataset import TokenDataset, write_dataset
from sut.protocol import Sampling
from tests.benchmarks import harness_runs
from tests.benchmarks.ceilings import ceilings
from tests.benchmarks.checker import FOLDERS, checker
from tests.benchmarks.stats import Row, paired, save, table

ENGINE_SAMPLES, ENGINE_TOKENS = 64, 24


def engine(folder: Path, pairs: int) -> list[Row]:
    """Offline tokens/s through the whole harness over the engine driven directly, on the same prompts, interleaved."""
    assets = find(default_cache())
    if assets is None:
        print("The engine bench is left out: the demo model is not here; run `make engine` first.")
        return []
    sampling = Sampling(min_new_tokens=2, max_new_tokens=ENGINE_TOKENS, ignore_eos=True)
    settings = {"model": str(assets.model)}
    source, dataset = TokenDataset.open(assets.dataset), folder / "prompts"
    prompts = [source.tokens(index).tolist() for index in range(ENGINE_SAMPLES)]
    write_dataset(dataset, "bench", prompts, source="demo", licence="as the demo's", tokenizer_sha256="")
    command = [sys.executable, "-m", "tests.benchmarks.direct", str(dataset), str(assets.model)]
    command += [str(ENGINE_SAMPLES), str(ENGINE_TOKENS)]
    with (
        (folder / "direct.log").open("wb") as log,
        subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log, text=True) as direct,
        harness_runs.pool("vllm-cpu", dataset, folder, sampling, settings) as pool,
    ):
        assert direct.stdin is not None
        assert direct.stdout is not None
        direct.stdout.readline()
        ours, theirs = [], []
        for pair in range(pairs + 1):
            direct.stdin.write("run\n")
            direct.stdin.flush()
            theirs.append(float(direct.stdout.readline()))
            figures = harness_runs.run(
                pool, "Offline", 5, ENGINE_SAMPLES, ENGINE_SAMPLES, folder / f"e{pair}", ENGINE_TOKENS
            )
            ours.append(figures["result_tokens_per_second"])
            print(f"pair {pair}: harness {ours[-1]:.1f}, engine alone {theirs[-1]:.1f} tokens/s", flush=True)
        direct.stdin.close()
    # The first pair warms both engines up on these very prompts.
    return [
        paired("Offline vLLM-CPU through the harness", "tokens/s", ours[1:], theirs[1:], "the engine driven directly")
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=Path("build/bench.json"))
    parser.add_argument("--pairs", type=int, default=10)
    parser.add_argument("--only", choices=["ceilings", "engine", "checker"])
    parser.add_argument("--official", type=Path, help="folder that holds the official package submission_checker")
    parser.add_argument("--folders", type=int, default=FOLDERS, help="results folders of the checker's trees")
    chosen = parser.parse_args()
    rows: list[Row] = []
    with tempfile.TemporaryDirectory() as name:
        if chosen.only in {None, "ceilings"}:
            rows += ceilings(Path(name))
        if chosen.only in {None, "engine"}:
            rows += engine(Path(name), chosen.pairs)
        if chosen.only in {None, "checker"}:
            rows += checker(Path(name), chosen.official, chosen.folders)
    print(table(rows))
    save(rows, chosen.out)
    print(f"written to {chosen.out}")


if __name__ == "__main__":
    main()
