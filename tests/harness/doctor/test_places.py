import os
import tempfile

import pytest

from harness.doctor.finding import Level
from harness.doctor.places import place_findings
from harness.workers.pool import MAX_FOLDER_BYTES
from tests.support.campaigns import campaign_in


def test_places_that_can_be_used(tmp_path):
    campaign = campaign_in(tmp_path)
    assert [finding.level for finding in place_findings(campaign)] == [Level.OK, Level.OK]
    assert not campaign.out.exists()


@pytest.mark.parametrize("out", ["taken", "taken/below", "dangling"])
def test_out_is_no_folder(tmp_path, out):
    (tmp_path / "taken").touch()
    (tmp_path / "dangling").symlink_to(tmp_path / "nowhere")
    finding = next(place_findings(campaign_in(tmp_path, out=out)))
    assert (finding.what, finding.level) == ("out", Level.FAIL)
    assert "cannot be written" in finding.found


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_out_without_permission(tmp_path):
    (tmp_path / "shut").mkdir(mode=0o500)
    finding = next(place_findings(campaign_in(tmp_path, out="shut/out")))
    assert "cannot be written: no permission" in finding.found


@pytest.mark.parametrize(("extra", "level"), [(0, Level.OK), (1, Level.FAIL)])
def test_a_temporary_folder_for_sockets(tmp_path, monkeypatch, extra, level):
    campaign = campaign_in(tmp_path)
    name = "/" + "x" * (MAX_FOLDER_BYTES - len("//wb-12345678") + extra)
    monkeypatch.setattr(tempfile, "tempdir", name)
    sockets = list(place_findings(campaign))[1]
    assert sockets.level is level
