import shutil
import tempfile
from pathlib import Path

import pytest

from tests.support.core_runs import bench


@pytest.fixture
def short_path():
    """A folder whose path is short enough for sockets, wherever pytest keeps its own."""
    folder = Path(tempfile.mkdtemp(prefix="wb-"))
    yield folder
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture
def table(short_path):
    with bench(short_path) as made:
        yield made
