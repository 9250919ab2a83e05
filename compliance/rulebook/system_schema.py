"""The JSON Schema of each round's system description, from the round's own fields.

`python -m compliance.rulebook.system_schema` writes the shipped copies anew.
"""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

import submission_templates
from compliance.rulebook.model import Round
from compliance.rulebook.rounds import load_round, round_names
from compliance.schema import BASE_URI
from compliance.vocabulary import Division

SYSTEM_TYPES = ("datacenter", "edge", "datacenter,edge", "edge,datacenter")
"""system_type is exactly one of these (submission_checker/configuration/configuration.py:62-75)."""
JsonSchema = Mapping[str, object]
_PRESENT: JsonSchema = {"$ref": "#/$defs/present"}
_ANSWER: JsonSchema = {"$ref": "#/$defs/answer"}
_EMPTY: Sequence[object] = ("", 0, False, None, [], {})
_NETWORK = "is_network"


def schema_name(round_name: str) -> str:
    """The name of a round's schema among those that are shipped."""
    return f"system-description-{round_name}"


def schema_path(round_name: str) -> Path:
    """Where the shipped copy lies."""
    folder = Path(next(iter(submission_templates.__path__))) / "schemas"
    return folder / f"{schema_name(round_name)}.schema.json"


def system_schema(round_: Round) -> str:
    """The schema (draft 2020-12) as JSON text. It asks what the checks SYS-003 to SYS-007 ask, in any order."""
    fields = round_.system_fields
    names = tuple(dict.fromkeys((*fields.required, *fields.network, *fields.known)))
    schema = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": f"{BASE_URI}{schema_name(round_.name)}.schema.json",
        "title": f"System description of {round_.title}",
        "description": "systems/<system>.json (submission_checker/constants.py, system_check.py;"
        " submission_rules.adoc:443-512). Names not listed are allowed and unknown.",
        "type": "object",
        "required": list(fields.required),
        "properties": {name: _property(round_, name) for name in names},
        "if": {"required": [_NETWORK], "properties": {_NETWORK: {"not": {"enum": list(_EMPTY)}}}},
        "then": {"required": list(fields.network)},
        "$defs": {
            "present": {"description": "Must stand there; may be empty."},
            "answer": {
                "description": "Must say something: N/A does, an empty string and the number 0 do not.",
                "not": {"enum": list(_EMPTY)},
            },
        },
    }
    return json.dumps(schema, indent=2) + "\n"


def _property(round_: Round, name: str) -> JsonSchema:
    own: Mapping[str, JsonSchema] = {
        "division": {
            "description": "Equals the division's folder in any case.",
            "type": "string",
            "pattern": _in_any_case(tuple(Division)),
        },
        "status": {
            "description": "Availability, in any case.",
            "type": "string",
            "pattern": _in_any_case(round_.availability),
        },
        "system_type": {"description": "Selects the lists of scenarios.", "enum": list(SYSTEM_TYPES)},
        "accelerators_per_node": {
            "description": 'CPU systems write the string "0": the official checker takes the number 0 for no answer.',
            **_ANSWER,
        },
        _NETWORK: {
            "description": "The string true in the network division, absent elsewhere. The official checker stops at a"
            " JSON boolean.",
            "type": ["string", "boolean"],
        },
    }
    return own.get(name) or (_ANSWER if name in round_.system_fields.meaningful else _PRESENT)


def _in_any_case(words: Sequence[str]) -> str:
    """A pattern of whole words without flags, which JSON Schema has none of."""
    spelled = ("".join(f"[{letter.upper()}{letter.lower()}]" for letter in word) for word in words)
    return f"^({'|'.join(spelled)})$"


if __name__ == "__main__":
    from compliance.submission.storage import write_atomic

    for known in round_names():
        write_atomic(schema_path(known), system_schema(load_round(known)))
