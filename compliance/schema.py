"""The shipped JSON Schemas (draft 2020-12) and validation against them, without any network."""

import json
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import TYPE_CHECKING, Any

from compliance.errors import ComplianceError

if TYPE_CHECKING:
    from jsonschema import Draft202012Validator

BASE_URI = "https://weighbridge.dev/schemas/"
_SUFFIX = ".schema.json"
_MESSAGE_CHARACTERS = 300


@dataclass(frozen=True, slots=True)
class SchemaProblem:
    """One way in which a document is not of a schema's form. `pointer` is an RFC 6901 JSON pointer, "" the whole."""

    pointer: str
    message: str


def schema_names() -> tuple[str, ...]:
    """The schemas of this installation, by name."""
    folder = resources.files("submission_templates").joinpath("schemas")
    names = (entry.name for entry in folder.iterdir())
    return tuple(sorted(name.removesuffix(_SUFFIX) for name in names if name.endswith(_SUFFIX)))


@cache
def schema_text(name: str) -> str:
    """The text of a shipped schema. Raises ComplianceError for a name that is none."""
    path = resources.files("submission_templates").joinpath("schemas", f"{name}{_SUFFIX}")
    if name not in schema_names():
        raise ComplianceError(f"no schema {name!r}; known: {', '.join(schema_names())}")
    return path.read_text("utf-8")


def validate(instance: object, name: str) -> tuple[SchemaProblem, ...]:
    """Every problem of a document held against a shipped schema, in order of place; empty when it fits.

    Raises ComplianceError for a name that is no schema. A number written with a point is no integer here.
    """
    errors = _validator(name).iter_errors(instance)
    problems = (SchemaProblem(json_pointer(error.absolute_path), _short(error.message)) for error in errors)
    return tuple(sorted(problems, key=lambda problem: (problem.pointer, problem.message)))


def json_pointer(path: Any) -> str:
    """The RFC 6901 pointer of a path of member names and positions."""
    return "".join(f"/{str(step).replace('~', '~0').replace('/', '~1')}" for step in path)


def _short(message: str) -> str:
    if len(message) <= _MESSAGE_CHARACTERS:
        return message
    half = _MESSAGE_CHARACTERS // 2
    return f"{message[:half]} ... {message[-half:]}"


@cache
def _validator(name: str) -> "Draft202012Validator":
    from jsonschema import Draft202012Validator, validators  # noqa: PLC0415  # slow to import; --help does without
    from referencing import Registry, Resource  # noqa: PLC0415  # as above
    from referencing.jsonschema import DRAFT202012  # noqa: PLC0415  # as above

    schemas = {known: json.loads(schema_text(known)) for known in schema_names()}
    if name not in schemas:
        schema_text(name)
    # A registry without a retriever: a reference to anything that is not shipped is an error, not a download.
    registry: Registry[Any] = Registry().with_resources(
        (f"{BASE_URI}{known}{_SUFFIX}", Resource.from_contents(schema, default_specification=DRAFT202012))
        for known, schema in schemas.items()
    )
    # JSON Schema calls 1.0 an integer; LoadGen's counts and a round's seeds are never written so.
    types = Draft202012Validator.TYPE_CHECKER.redefine("integer", lambda _, value: type(value) is int)
    # jsonschema's extend has no types.
    validator: type[Draft202012Validator] = validators.extend(Draft202012Validator, type_checker=types)  # type: ignore[no-untyped-call]
    return validator(schemas[name], registry=registry)
