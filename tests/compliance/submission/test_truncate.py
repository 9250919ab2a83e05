import hashlib
import json

import pytest

from compliance.errors import RenderError
from compliance.submission.truncate import LIMIT_BYTES, SEPARATOR, is_truncated, truncate_accuracy_log


def write(path, size):
    head = "[\n" + json.dumps({"seq_id": 0, "qsl_idx": 0, "data": ""})
    data = (head + " " * (size - len(head) - 3) + "\n]\n").encode()
    assert len(data) == size
    path.write_bytes(data)
    return data


@pytest.mark.parametrize("size", [100, 4096, 8192, 8199, LIMIT_BYTES - 1, LIMIT_BYTES])
def test_a_log_within_the_limit_is_copied_whole(tmp_path, size):
    data = write(tmp_path / "whole.json", size)
    digest = truncate_accuracy_log(tmp_path / "whole.json", tmp_path / "cut.json")
    assert (tmp_path / "cut.json").read_bytes() == data
    assert digest == hashlib.sha256(data).hexdigest()


@pytest.mark.parametrize("size", [LIMIT_BYTES + 1, 20_000, 3_000_000])
def test_a_longer_log_becomes_its_ends(tmp_path, size):
    data = write(tmp_path / "whole.json", size)
    digest = truncate_accuracy_log(tmp_path / "whole.json", tmp_path / "cut.json")
    cut = (tmp_path / "cut.json").read_bytes()
    assert cut == data[:4096] + b"\n\n...\n\n" + data[-4096:]
    assert len(cut) == 8199
    assert is_truncated(cut, len(cut))
    assert digest == hashlib.sha256(data).hexdigest()
    assert (tmp_path / "whole.json").read_bytes() == data


@pytest.mark.parametrize("limit", [0, 100, 9000])
def test_a_smaller_limit(tmp_path, limit):
    data = write(tmp_path / "whole.json", 9001)
    digest = truncate_accuracy_log(tmp_path / "whole.json", tmp_path / "cut.json", limit)
    assert (tmp_path / "cut.json").read_bytes() == data[:4096] + SEPARATOR + data[-4096:]
    assert digest == hashlib.sha256(data).hexdigest()


@pytest.mark.parametrize("size", [50, 4095, 8199])
def test_a_log_shorter_than_its_truncated_form_stays_whole(tmp_path, size):
    data = write(tmp_path / "whole.json", size)
    truncate_accuracy_log(tmp_path / "whole.json", tmp_path / "cut.json", 0)
    assert (tmp_path / "cut.json").read_bytes() == data


def test_the_whole_log_is_never_overwritten(tmp_path):
    data = write(tmp_path / "whole.json", 20_000)
    (tmp_path / "link.json").symlink_to("whole.json")
    for target in ("whole.json", "link.json"):
        with pytest.raises(RenderError, match="another file"):
            truncate_accuracy_log(tmp_path / "whole.json", tmp_path / target)
    assert (tmp_path / "whole.json").read_bytes() == data


def test_a_truncated_log_is_not_truncated_again(tmp_path):
    write(tmp_path / "whole.json", 20_000)
    truncate_accuracy_log(tmp_path / "whole.json", tmp_path / "cut.json")
    with pytest.raises(RenderError, match="original"):
        truncate_accuracy_log(tmp_path / "cut.json", tmp_path / "again.json")
    assert not (tmp_path / "again.json").exists()


def test_a_missing_log_is_an_os_error(tmp_path):
    with pytest.raises(FileNotFoundError):
        truncate_accuracy_log(tmp_path / "none.json", tmp_path / "cut.json")
