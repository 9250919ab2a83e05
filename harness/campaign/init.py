"""Writes a commented campaign file for a system, a benchmark and a SUT: the start of a submission."""

import json

from compliance.rulebook.model import BenchmarkRules, Round, ScenarioRules
from compliance.vocabulary import Division, Scenario

_ONE_AT_A_TIME = (Scenario.SINGLE_STREAM, Scenario.MULTI_STREAM)
_WITHOUT_A_MODEL = ("null", "echo", "synthetic")
_ACCURACY_RATE = "\n    # accuracy_target_qps: 1.0    # rate of the accuracy run, which has no latency limits"


def campaign_text(
    round_: Round, rules: BenchmarkRules, *, division: Division, submitter: str, system: str, sut: str
) -> str:
    """The text of a campaign file. It is valid as it stands; what only the submitter knows is marked `set this`."""
    scenarios = "\n".join(_scenario(rules.scenarios[name], rules) for name in _first_scenarios(rules))
    return f"""\
# A Weighbridge campaign: one system, one benchmark, one division. Relative paths are relative to this file.
# `weighbridge doctor`, `plan`, `run`, `package` and `report` take this file, `check` takes the tree.
# ${{VAR}} in a value reads the environment.
round: {_yaml(round_.name)}
division: {division.value}            # closed: the rules decide; open: your model, your settings
submitter: {_yaml(submitter)}
# An id of `weighbridge systems list`, the path of a <id>.json, or `capture` for this machine as it is.
# A file of your own: `weighbridge systems capture --name my-box --out my-box.json`, fill in what it calls unknown.
system: {_yaml(system)}
benchmark: {_yaml(rules.name)}     # {rules.title}

sut:
  name: {_yaml(sut)}
  settings: {{}}              # `weighbridge sut-test --describe {sut}` lists them

# Where the engine runs: this interpreter unless you say otherwise. count: one worker per engine. Several kinds: a list.
#   worker: {{python: /path/to/venv/bin/python, count: 8}}
#   worker: {{container: image, args: [--device=/dev/kfd, --device=/dev/dri], count: 8}}
#   worker: {{host: name, count: 8}}
worker: {{count: 1}}

# Prompts as token ids: a folder that `weighbridge dataset convert SOURCE dataset` makes
# ({rules.dataset_size} samples of {rules.dataset}).
dataset: dataset
{_scoring(sut)}
# nltk_data: nltk_data       # sentence model, where a score needs it
out: out                     # logs and records of every run
# Where the division leaves the choice:
# audits: true               # closed: the rules' audits are run always; open: only if true
# equal_issue: {str(rules.equal_issue).lower():<14}# every sample equally often, in whole passes; closed: the rules'

scenarios:
{scenarios}

# The five questions of measurements.json; a result without the answers is invalid. Set these.
measurements:
  input_data_types: int32
  retraining: "no"
  starting_weights_filename: ""
  weight_data_types: ""
  weight_transformations: ""
"""


def _scoring(sut: str) -> str:
    """The lines that decide how answers are scored; those of a SUT without a model are not worth a score."""
    if sut in _WITHOUT_A_MODEL:
        return (
            f"evaluator: none              # {sut} answers without a model: nothing to score\n"
            "# tokenizer: tokenizer.json  # decodes a model's answers when accuracy is computed"
        )
    return (
        "tokenizer: tokenizer.json    # decodes the answers when accuracy is computed\n"
        "# evaluator: rouge           # rouge, choice or none; default: the benchmark's own"
    )


def _first_scenarios(rules: BenchmarkRules) -> tuple[Scenario, ...]:
    """What the first suite demands: its required scenarios and the first of each group of which one is needed."""
    suite = next(iter(rules.suites.values()), None)
    if suite is None:
        return tuple(rules.scenarios)
    return tuple(dict.fromkeys((*suite.required, *(group[0] for group in suite.one_of))))


def _scenario(scenario: ScenarioRules, rules: BenchmarkRules) -> str:
    seconds = scenario.min_duration_ms / 1000
    if scenario.scenario in _ONE_AT_A_TIME:
        return (
            f"  {scenario.scenario}:\n    target_latency_ms: 1000    # set this: the latency you expect for one query"
        )
    limits = ""
    if scenario.max_ttft_p99_ms is not None and scenario.max_tpot_p99_ms is not None:
        limits = f"\n    # limits at p99: TTFT {scenario.max_ttft_p99_ms:g} ms, TPOT {scenario.max_tpot_p99_ms:g} ms"
    what = "samples per second you expect" if scenario.scenario is Scenario.OFFLINE else "queries per second to sustain"
    return (
        f"  {scenario.scenario}:{limits}\n    target_qps: 1.0    # set this: {what}; at least {seconds:g} s are run"
        + (_ACCURACY_RATE if scenario.scenario is not Scenario.OFFLINE else "")
        + (f"\n    # whole passes of {rules.dataset_size} samples are run" if rules.equal_issue else "")
    )


def _yaml(text: str) -> str:
    """Text as a YAML scalar: plain where that is safe, else quoted as JSON, which YAML reads alike."""
    plain = text.replace("-", "").replace("_", "").replace(".", "").replace("/", "")
    return (
        text
        if plain.isalnum() and plain[0].isalpha() and text not in ("null", "true", "false", "yes", "no", "on", "off")
        else json.dumps(text)
    )
