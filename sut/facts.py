"""The facts of engines that have no model: null, echo, synthetic."""

from collections.abc import Mapping
from types import MappingProxyType

import numpy as np
import zmq

from sut.dataset import TokenDataset
from sut.protocol import SutFacts

_NO_DETAILS: Mapping[str, str] = MappingProxyType({})


def modelless_facts(
    name: str, dataset: TokenDataset, window: int, *, details: Mapping[str, str] = _NO_DETAILS
) -> SutFacts:
    """Facts that say openly that nothing was inferred: device and model are ``none``."""
    return SutFacts(
        name=name,
        engine=name,
        engine_version="1",
        device="none",
        device_count=0,
        dtype="none",
        model="none",
        model_sha256="none",
        dataset_sha256=dataset.sha256,
        dataset_size=len(dataset),
        window=window,
        packages={"numpy": np.__version__, "pyzmq": zmq.__version__},
        details=dict(details),
    )
