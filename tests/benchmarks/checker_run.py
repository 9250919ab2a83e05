"""One judgement in a process of its own: `python -m tests.benchmarks.checker_run TREE ROUND JOBS`. Prints what it took."""

import json
import resource
import sys
import time
from pathlib import Path

from compliance.report.model import build_report
from compliance.report.text import render_text
from compliance.rulebook.rounds import load_round
from compliance.streaming import JudgedSystem, judge_streaming
from compliance.vocabulary import Profile
from harness.package.parallel import judged_by


def main(tree: Path, round_name: str, jobs: int) -> None:
    started = time.perf_counter()
    first: list[float] = []

    def seen(system: JudgedSystem) -> None:
        outcomes = (*system.outcomes, *(one for result in system.results for one in result.verdicts.outcomes))
        if not first and any(outcome.findings for outcome in outcomes):
            first.append(time.time())

    judgement = judge_streaming(tree, load_round(round_name), None, judged_by(jobs), seen)
    text = render_text(build_report(judgement, Profile.STRICT))
    verdicts = [one.verdicts.official for one in judgement.results]
    figures = {
        "seconds": time.perf_counter() - started,
        "first_finding_at": first[0] if first else None,
        "cpu_s": sum(_cpu_s(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)),
        "results": len(verdicts),
        "valid": verdicts.count("valid"),
        "last_line": text.rstrip().rpartition("\n")[2],
    }
    print(json.dumps(figures))


def _cpu_s(who: int) -> float:
    used = resource.getrusage(who)
    return used.ru_utime + used.ru_stime


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2], int(sys.argv[3]))
