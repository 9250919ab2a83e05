"""Settings of the vLLM SUTs: a few of our own; every other name is a field of vLLM's EngineArgs and goes there as is.

Names are checked against the EngineArgs of the installed vLLM, whatever its version. For that its source is read, not
imported: importing vLLM takes seconds and fixes the platform by the environment of that moment.
"""

import ast
import importlib.util
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from types import MappingProxyType

from sut.dataset import TokenDataset
from sut.errors import BadSettings
from sut.protocol import EngineConfig, Sampling

OWN_NAMES = ("model", "window", "threads", "devices")
"""model: folder with the weights. window: samples wanted in flight. threads: CPU threads of one worker. devices: GPU
numbers of this machine that its workers share out, in order."""
_RESERVED: Mapping[str, str] = MappingProxyType(
    {
        "stream_interval": "a SUT reports the first token and the whole answer, nothing between",
        "disable_log_stats": "statistics cost time in the measured loop",
        "skip_tokenizer_init": "the tokenizer holds the end-of-sequence ids that end answers",
        "data_parallel_size": "replicas are workers here: set the number of workers in the campaign",
    }
)
WINDOW_BATCHES = 2
"""Samples in flight per sequence slot: one batch running, one waiting, so that a freed slot never idles."""


@dataclass(frozen=True, slots=True)
class VllmSettings:
    """What the campaign's `settings` mean. `engine_args` holds the platform's defaults overlaid by the campaign's."""

    model: str
    window: int
    threads: int | None
    devices: tuple[int, ...]
    engine_args: Mapping[str, object]

    @property
    def max_num_seqs(self) -> int:
        return _integer(self.engine_args.get("max_num_seqs"), 1)

    @property
    def devices_per_worker(self) -> int:
        """GPUs that one engine spans: tensor times pipeline parallel size."""
        tensor = _integer(self.engine_args.get("tensor_parallel_size"), 1)
        return tensor * _integer(self.engine_args.get("pipeline_parallel_size"), 1)


def engine_arg_names() -> frozenset[str] | None:
    """The fields of the installed vLLM's EngineArgs, read from its source; None where vLLM is not installed."""
    spec = importlib.util.find_spec("vllm")
    if spec is None or not spec.submodule_search_locations:
        return None
    source = Path(spec.submodule_search_locations[0]) / "engine" / "arg_utils.py"
    try:
        tree = ast.parse(source.read_text(encoding="utf-8"))
    except (OSError, SyntaxError):
        return None
    for node in tree.body:
        if isinstance(node, ast.ClassDef) and node.name == "EngineArgs":
            fields = (item.target for item in node.body if isinstance(item, ast.AnnAssign))
            return frozenset(target.id for target in fields if isinstance(target, ast.Name))
    return None


def read_settings(config: EngineConfig, defaults: Mapping[str, object], known: Iterable[str] | None) -> VllmSettings:
    """The settings of one worker. `known`: EngineArgs' names, None when they cannot be told here.

    Raises BadSettings with every problem: unknown names with the nearest known one, wrong types, a missing model.
    """
    problems: list[str] = []
    given = dict(config.settings)
    model = given.pop("model", None)
    if not isinstance(model, str) or not model:
        problems.append("setting 'model' is missing: give the folder that holds the model's weights")
    window = _own_integer(given, "window", problems)
    threads = _own_integer(given, "threads", problems)
    devices = _own_devices(given, problems)
    for name in given:
        problems += _name_problems(name, known)
    merged = {**defaults, **given}
    max_num_seqs = merged.get("max_num_seqs")
    if not isinstance(max_num_seqs, int) or isinstance(max_num_seqs, bool) or max_num_seqs < 1:
        problems.append(f"setting 'max_num_seqs' is {max_num_seqs!r}: give a whole number of at least 1")
        max_num_seqs = 1
    if problems:
        raise BadSettings(tuple(problems))
    return VllmSettings(str(model), window or WINDOW_BATCHES * max_num_seqs, threads, devices, MappingProxyType(merged))


def length_problem(settings: VllmSettings, dataset: TokenDataset, sampling: Sampling) -> str | None:
    """Why the longest prompt and answer do not fit the model length that is set, or None when they do."""
    limit = settings.engine_args.get("max_model_len")
    longest = dataset.info.max_input_tokens
    if not isinstance(limit, int) or longest + sampling.max_new_tokens <= limit:
        return None
    return (
        f"setting 'max_model_len' is {limit}, but the longest prompt has {longest} tokens and answers may have "
        f"{sampling.max_new_tokens}: set it to at least {longest + sampling.max_new_tokens}"
    )


def _name_problems(name: str, known: Iterable[str] | None) -> list[str]:
    if name in _RESERVED:
        return [f"setting {name!r} cannot be set here: {_RESERVED[name]}"]
    if known is None or name in set(known):
        return []
    near = get_close_matches(name, [*OWN_NAMES, *known], n=1)
    hint = f"did you mean {near[0]!r}?" if near else "see EngineArgs in the documentation of the installed version"
    return [f"unknown setting {name!r}: the installed vLLM has no such engine argument; {hint}"]


def _own_integer(given: dict[str, object], name: str, problems: list[str]) -> int | None:
    value = given.pop(name, None)
    if value is None:
        return None
    if isinstance(value, int) and not isinstance(value, bool) and value >= 1:
        return value
    problems.append(f"setting {name!r} is {value!r}: give a whole number of at least 1")
    return None


def _own_devices(given: dict[str, object], problems: list[str]) -> tuple[int, ...]:
    value = given.pop("devices", ())
    if isinstance(value, list | tuple):
        numbers = tuple(item for item in value if isinstance(item, int) and not isinstance(item, bool) and item >= 0)
        if len(numbers) == len(value) == len(set(numbers)):
            return numbers
    problems.append(f"setting 'devices' is {value!r}: give a list of different device numbers, such as [0, 1]")
    return ()


def _integer(value: object, default: int) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) else default
