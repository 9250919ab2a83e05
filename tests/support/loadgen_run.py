"""One small real LoadGen test whose SUT answers at once, and a cached way to have its logs.

As a program: python loadgen_run.py FOLDER SCENARIO MODE TOKENS. A second FromConfig in a process loses the
built-in settings, so each test runs in a process of its own.
"""

import array
import functools
import subprocess
import sys
import tempfile
from pathlib import Path

SAMPLES = 8
ANSWER = array.array("i", [29871, 450, 1234, 2])
_keep: list[tempfile.TemporaryDirectory[str]] = []


@functools.cache
def loadgen_logs(scenario: str, mode: str, *, tokens: bool = True) -> Path:
    """The folder of logs of such a test; each kind is run once per test session."""
    holder = tempfile.TemporaryDirectory(prefix="loadgen-logs-")
    _keep.append(holder)
    command = [sys.executable, __file__, holder.name, scenario, mode, str(int(tokens))]
    subprocess.run(command, check=True, timeout=120, capture_output=True)
    return Path(holder.name)


def main() -> None:
    import mlperf_loadgen as lg

    folder, scenario, mode, tokens = sys.argv[1:]
    settings = lg.TestSettings()
    settings.scenario = getattr(lg.TestScenario, scenario)
    settings.mode = getattr(lg.TestMode, mode)
    settings.min_duration_ms = 50
    settings.min_query_count = 20
    settings.server_target_qps = 500
    settings.offline_expected_qps = 500
    settings.use_token_latencies = tokens == "1"
    settings.ttft_latency = 2_000_000_000
    settings.tpot_latency = 200_000_000
    settings.qsl_rng_seed = 2**64 - 5
    settings.sample_index_rng_seed = 2**63 + 1
    log, output = lg.LogSettings(), lg.LogOutputSettings()
    output.outdir = folder
    log.log_output = output
    log.enable_trace = False
    address, _ = ANSWER.buffer_info()
    size = len(ANSWER) * ANSWER.itemsize

    def issue(samples: list[lg.QuerySample]) -> None:
        ids = [sample.id for sample in samples]
        if settings.use_token_latencies and scenario != "Offline":
            lg.FirstTokenComplete([lg.QuerySampleResponse(i, address, ANSWER.itemsize, 1) for i in ids])
        lg.QuerySamplesComplete([lg.QuerySampleResponse(i, address, size, len(ANSWER)) for i in ids])

    sut = lg.ConstructSUT(issue, lambda: None)
    qsl = lg.ConstructQSL(SAMPLES, SAMPLES, lambda _: None, lambda _: None)
    lg.StartTestWithLogSettings(sut, qsl, settings, log, str(Path(folder) / "none.config"))
    lg.DestroyQSL(qsl)
    lg.DestroySUT(sut)


if __name__ == "__main__":
    main()
