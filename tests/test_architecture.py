"""The shape of the code: module and function sizes, nesting, and who may import what at start."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PACKAGES = ("harness", "sut", "compliance", "submission_templates", "systems")
MODULES = sorted(path for package in PACKAGES for path in (ROOT / package).rglob("*.py"))
MAX_MODULE_LINES, MAX_FUNCTION_LINES, MAX_NESTING = 320, 55, 4
NESTS = (ast.For, ast.AsyncFor, ast.While, ast.If, ast.With, ast.AsyncWith, ast.Try, ast.Match)


def nesting(node: ast.AST, depth: int = 0) -> int:
    deepest = depth
    for field in ("body", "orelse", "finalbody", "handlers", "cases"):
        for child in getattr(node, field, []):
            # `elif` is an If alone in an orelse: a reader sees it on the same level.
            flat = field == "orelse" and isinstance(node, ast.If) and isinstance(child, ast.If)
            step = 0 if flat or not isinstance(child, NESTS) else 1
            deepest = max(deepest, nesting(child, depth + step))
    return deepest


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(ROOT)))
def test_module_is_small(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert text.count("\n") <= MAX_MODULE_LINES
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            assert node.end_lineno is not None
            assert node.end_lineno - node.lineno < MAX_FUNCTION_LINES, node.name
            assert nesting(node) <= MAX_NESTING, node.name


def test_every_package_explains_itself() -> None:
    for package in ("harness", "sut", "compliance"):
        assert (ROOT / package / "README.md").is_file()


@pytest.mark.parametrize(
    ("module", "forbidden"),
    [
        ("harness.cli", {"numpy", "torch", "vllm", "mlperf_loadgen", "matplotlib", "jsonschema", "pydantic", "zmq"}),
        ("compliance.streaming", {"torch", "vllm", "mlperf_loadgen", "zmq", "ray", "yaml", "jsonschema", "numpy"}),
        ("sut.worker", {"torch", "vllm", "mlperf_loadgen", "harness", "compliance", "pydantic"}),
    ],
)
def test_heavy_modules_come_late(module: str, forbidden: set[str]) -> None:
    code = f"import sys, {module}; print(*sorted(set(sys.modules)))"
    loaded = set(
        subprocess.run(
            [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True
        ).stdout.split()
    )
    assert not loaded & forbidden
