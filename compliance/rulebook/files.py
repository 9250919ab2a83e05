"""One rule file: TOML read and held against its JSON Schema, so that what follows may trust its form."""

import json
import tomllib
from collections.abc import Mapping
from functools import cache
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any

from compliance.errors import RuleError

if TYPE_CHECKING:
    from jsonschema import Draft202012Validator

Toml = Mapping[str, Any]


def read_rule_file(path: Path, schema: str, *, shipped: bool = False) -> Toml:
    """The members of the TOML file, of the form that `<schema>.schema.json` asks for.

    A `shipped` file is not held against the schema again: a test does that for every one, and it takes longer than all
    else of reading it. Raises RuleError naming the file and every key that is wrong.
    """
    try:
        members = tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise RuleError(f"{path}: missing; a round needs round.toml, layout.toml and benchmarks/*.toml") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, OSError) as error:
        raise RuleError(f"{path}: {error}; correct the file") from error
    if shipped:
        return members
    problems = sorted(_validator(schema).iter_errors(members), key=lambda error: list(map(str, error.absolute_path)))
    if problems:
        raise rule_error(path, [f"{_key(error.absolute_path)}: {error.message}" for error in problems])
    return members


def rule_error(path: Path, problems: list[str]) -> RuleError:
    """Every problem of one rule file in one error, `key: what is wrong` per line."""
    lines = "".join(f"\n  {problem}" for problem in problems)
    return RuleError(
        f"{path}: {len(problems)} wrong {'entry' if len(problems) == 1 else 'entries'}; correct them:{lines}"
    )


def _key(path: Any) -> str:
    return ".".join(map(str, path)) or "(top level)"


@cache
def _validator(schema: str) -> "Draft202012Validator":
    from jsonschema import Draft202012Validator, validators  # noqa: PLC0415 - slow to import; --help does without

    # JSON Schema calls 1e18 an integer; a seed written so has lost its last digits.
    types = Draft202012Validator.TYPE_CHECKER.redefine("integer", lambda _, value: type(value) is int)
    # jsonschema's extend has no types.
    validator: type[Draft202012Validator] = validators.extend(Draft202012Validator, type_checker=types)  # type: ignore[no-untyped-call]
    text = resources.files("submission_templates").joinpath("schemas", f"{schema}.schema.json").read_text("utf-8")
    return validator(json.loads(text))
