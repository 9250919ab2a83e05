"""What a wheel holds, and that nobody else owns our top-level names."""

import importlib.metadata
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PACKAGES = ("harness", "sut", "compliance", "submission_templates", "systems")


@pytest.fixture(scope="module")
def wheel_names(tmp_path_factory: pytest.TempPathFactory) -> set[str]:
    out = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(out)]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
    (wheel,) = out.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        return set(archive.namelist())


def test_wheel_holds_code_and_data(wheel_names: set[str]) -> None:
    wanted = {
        "compliance/rules/v6.1/round.toml",
        "compliance/rules/v6.1/layout.toml",
        "compliance/rules/demo/benchmarks/smollm2-135m.toml",
        "submission_templates/schemas/check-report.schema.json",
        "systems/accelerators.toml",
        "harness/py.typed",
    }
    assert wanted <= wheel_names
    assert any(name.startswith("submission_templates/") and name.endswith(".j2") for name in wheel_names)


def test_wheel_holds_nothing_else(wheel_names: set[str]) -> None:
    tops = {name.split("/")[0] for name in wheel_names}
    assert {top for top in tops if not top.endswith(".dist-info")} == set(PACKAGES)


def test_nobody_else_owns_our_names() -> None:
    owners = importlib.metadata.packages_distributions()
    for package in PACKAGES:
        assert set(owners.get(package, ["weighbridge"])) == {"weighbridge"}
