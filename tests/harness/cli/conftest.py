"""What the tests of the command line share."""

import pytest

from harness.cli import main


@pytest.fixture
def weighbridge(capsys):
    """Runs a command: (exit code, standard output, standard error)."""

    def call(*arguments):
        code = main([str(argument) for argument in arguments])
        out, err = capsys.readouterr()
        assert "Traceback" not in err
        return code, out, err

    return call
