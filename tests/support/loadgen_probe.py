"""Starts one LoadGen test with an SUT that never answers and leaves as soon as the effective settings are logged.

Usage: python loadgen_probe.py REQUEST.json, which holds model, scenario, mode, user_conf, audit_conf, total,
performance, attributes and folder. The detail log lies in folder afterwards. The process ends by os._exit: a LoadGen
test that gets no answers never returns.
"""

import json
import os
import sys
import threading
import time
from pathlib import Path

import mlperf_loadgen as lg


def main() -> None:
    request = json.loads(Path(sys.argv[1]).read_text())
    folder = Path(request["folder"])
    (folder / "user.conf").write_text(request["user_conf"])
    audit = folder / "audit.config"
    if request["audit_conf"]:
        audit.write_text(request["audit_conf"])
    settings = lg.TestSettings()
    code = settings.FromConfig(str(folder / "user.conf"), request["model"], request["scenario"], 1)
    if code:
        sys.exit(f"FromConfig returned {code}")
    settings.scenario = getattr(lg.TestScenario, request["scenario"])
    settings.mode = getattr(lg.TestMode, request["mode"])
    for name, value in request["attributes"].items():
        setattr(settings, name, value)
    log = lg.LogSettings()
    output = lg.LogOutputSettings()
    output.outdir = str(folder)
    log.log_output = output
    log.enable_trace = False
    sut = lg.ConstructSUT(lambda _: None, lambda: None)
    qsl = lg.ConstructQSL(request["total"], request["performance"], lambda _: None, lambda _: None)
    threading.Thread(
        target=lg.StartTestWithLogSettings, args=(sut, qsl, settings, log, str(audit)), daemon=True
    ).start()
    detail = folder / "mlperf_log_detail.txt"
    for _ in range(1000):
        if detail.exists() and "generated_query_duration" in detail.read_text():
            os._exit(0)
        time.sleep(0.02)
    os._exit(1)


if __name__ == "__main__":
    main()
