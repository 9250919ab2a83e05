"""What an audit is to the harness: the settings it runs under and the configuration file that carries them."""

from collections.abc import Mapping
from dataclasses import dataclass

from compliance.vocabulary import AuditId

ACCURACY_LOG_RNG_SEED = 720381539243781796
"""The seed by which every audit but TEST04 picks the responses to log (compliance/TEST06/audit.config)."""


@dataclass(frozen=True, slots=True)
class AuditPlan:
    """An audit's run. `config_text` is its audit.config; `settings` the same by LoadGen's names, times in ms."""

    audit: AuditId
    config_text: str
    settings: Mapping[str, int]


def plan_of(audit: AuditId, settings: Mapping[str, int]) -> AuditPlan:
    """The plan of a performance run (mode 2) under `settings`.

    Keys are written with the model "*": LoadGen applies the audit's file under that name, so a line for one model would
    do nothing (loadgen/loadgen.cc:1230-1250).
    """
    every = {"mode": 2, **settings}
    text = "".join(f"*.*.{key} = {value}\n" for key, value in every.items())
    return AuditPlan(audit, f"# {audit.value}: settings of the compliance run\n{text}", every)
