"""YAML of an endpoints run: read within bounds of size, depth and expansion, with the members' lines."""

from collections.abc import Iterator
from pathlib import Path
from typing import cast

import yaml

from compliance.errors import UnreadableFile
from compliance.logs.documents import DocumentProblem, JsonValue, pointer_of
from compliance.logs.endpoints_files import LINES_DEPTH, NAME_CHARACTERS, Loaded, bounded
from compliance.logs.lines import read_bytes

YAML_LIMIT_BYTES = 256 * 1024
"""Most bytes of a YAML file; published ones have a few thousand."""
_YAML_NODES = 50_000
"""Most values of a YAML file with every alias written out."""
_YAML_DEPTH = 64
_INTEGER = "tag:yaml.org,2002:int"
_DIGITS = 1000
"""Python refuses to print an integer of more than 4300 decimal digits."""


def load_yaml(path: Path) -> Loaded:
    """A YAML mapping, read by the safe loader, with the lines of its members.

    Raises UnreadableFile, with the line where known, for no mapping, for values nested deeper than 64 or aliases that
    stand for more than 50 000 values.
    """
    bounded(path, YAML_LIMIT_BYTES)
    data = read_bytes(path)
    try:
        loader = yaml.SafeLoader(data.decode())
    except (UnicodeDecodeError, yaml.YAMLError) as error:
        raise UnreadableFile(path, "not YAML in UTF-8; save it as UTF-8 without control characters") from error
    try:
        node = loader.get_single_node()
        if not isinstance(node, yaml.MappingNode):
            raise UnreadableFile(path, "a YAML mapping is wanted (name: value); write one", 1, parsed=True)
        _check_expansion(path, node)
        lines: dict[str, int] = {}
        problems = list(_node_lines(node, "", lines))
        value: object = loader.construct_document(node)
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else None
        raise UnreadableFile(path, f"not YAML: {error.problem}; correct it", line) from error
    except (yaml.YAMLError, ValueError, TypeError, AttributeError, LookupError, OverflowError) as error:
        raise UnreadableFile(path, f"not YAML: {type(error).__name__} in a value; correct it") from error
    except RecursionError as error:
        raise UnreadableFile(path, "nested too deeply; a configuration is a few levels deep") from error
    finally:
        loader.dispose()
    if not isinstance(value, dict):
        raise UnreadableFile(path, "a YAML mapping is wanted (name: value), without a tag; write one", 1, parsed=True)
    return Loaded(path, cast("dict[str, JsonValue]", value), lines, tuple(problems))


def _check_expansion(path: Path, root: yaml.Node) -> None:
    """Raises UnreadableFile where aliases make a tree too large or too deep, or an endless one."""
    sizes: dict[int, int] = {}
    open_nodes: set[int] = set()

    def size(node: yaml.Node, depth: int) -> int:
        known = sizes.get(id(node))
        if known is not None:
            return known
        if depth > _YAML_DEPTH or id(node) in open_nodes:
            line = node.start_mark.line + 1
            raise UnreadableFile(path, "nested too deeply, or in itself; a configuration is a few levels deep", line)
        if isinstance(node, yaml.ScalarNode) and node.tag == _INTEGER and len(node.value) > _DIGITS:
            reason = f"a number of more than {_DIGITS} digits; no setting is so large"
            raise UnreadableFile(path, reason, node.start_mark.line + 1)
        open_nodes.add(id(node))
        total = 1 + sum(size(child, depth + 1) for child in _children(node))
        open_nodes.discard(id(node))
        if total > _YAML_NODES:
            line = node.start_mark.line + 1
            raise UnreadableFile(path, f"more than {_YAML_NODES} values by aliases; write them out", line)
        sizes[id(node)] = total
        return total

    size(root, 0)


def _children(node: yaml.Node) -> Iterator[yaml.Node]:
    if isinstance(node, yaml.MappingNode):
        for key, value in node.value:
            yield key
            yield value
    elif isinstance(node, yaml.SequenceNode):
        yield from node.value


def _node_lines(node: yaml.MappingNode, pointer: str, lines: dict[str, int]) -> Iterator[DocumentProblem]:
    """Fills in the lines of a mapping's members and yields names that stand twice."""
    own: set[str] = set()
    for key, value in node.value:
        if not isinstance(key, yaml.ScalarNode):
            continue
        name = f"{pointer}{pointer_of(key.value[:NAME_CHARACTERS])}"
        if name in own:
            reason = f'"{key.value[:NAME_CHARACTERS]}" stands twice in one mapping; the last one counts, keep one'
            yield DocumentProblem(key.start_mark.line + 1, reason, official=True)
        own.add(name)
        lines[name] = key.start_mark.line + 1
        if isinstance(value, yaml.MappingNode) and name.count("/") < LINES_DEPTH:
            yield from _node_lines(value, name, lines)
