"""The yardstick: LoadGen with a null SUT inline in its callback, in a process of its own. Prints one JSON object.

Usage: python -m tests.benchmarks.inline SCENARIO QPS SAMPLES FOLDER [COALESCE]
"""

import array
import json
import sys
import time
from pathlib import Path

import mlperf_loadgen as lg

TOKENS = array.array("i", range(1, 301))
ADDRESS, COUNT = TOKENS.buffer_info()
SIZE = COUNT * TOKENS.itemsize


def settings(scenario: str, qps: float, samples: int, folder: Path, coalesce: int = 0) -> lg.TestSettings:
    conf = folder / "user.conf"
    conf.write_text(
        f"*.{scenario}.target_qps = {qps}\n*.*.min_duration = 0\n*.*.min_query_count = {samples}\n"
        f"*.*.performance_sample_count_override = {samples}\n*.*.sample_concatenate_permutation = 0\n*.Server.coalesce_queries = {coalesce}\n",
        encoding="utf-8",
    )
    made = lg.TestSettings()
    if made.FromConfig(str(conf), "llama2-70b", scenario, 1) != 0:
        raise SystemExit("user.conf was not read")
    made.scenario = getattr(lg.TestScenario, scenario)
    made.mode = lg.TestMode.PerformanceOnly
    return made


def main(scenario: str, qps: float, samples: int, folder: Path, coalesce: int) -> None:
    first = scenario != "Offline"
    issued: list[float] = []

    def issue(ids: list[int], _indices: list[int]) -> None:
        issued.append(time.perf_counter())
        responses = [lg.QuerySampleResponse(i, ADDRESS, SIZE, COUNT) for i in ids]
        if first:
            lg.FirstTokenComplete([lg.QuerySampleResponse(i, ADDRESS, 4, 1) for i in ids])
        lg.QuerySamplesComplete(responses)

    sut = lg.ConstructFastSUT(issue, lambda: None)
    qsl = lg.ConstructQSL(samples, samples, lambda _i: None, lambda _i: None)
    output = lg.LogOutputSettings()
    output.outdir = str(folder)
    log = lg.LogSettings()
    log.log_output = output
    log.enable_trace = False
    started = time.perf_counter()
    lg.StartTestWithLogSettings(sut, qsl, settings(scenario, qps, samples, folder, coalesce), log, str(folder / "none"))
    elapsed_s = time.perf_counter() - started
    lg.DestroyQSL(qsl)
    lg.DestroySUT(sut)
    print(json.dumps({"elapsed_s": elapsed_s}))


if __name__ == "__main__":
    main(
        sys.argv[1],
        float(sys.argv[2]),
        int(sys.argv[3]),
        Path(sys.argv[4]),
        int(sys.argv[5]) if len(sys.argv) > 5 else 0,
    )
