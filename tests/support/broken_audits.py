"""One fault per tree in the folders of the compliance tests; see `broken_trees`."""

from tests.support.audit_faults import (
    audit_log,
    audited,
    differing,
    diffusion,
    dlrm,
    idle_log,
    latin1,
    line_cut,
    logged_error,
    resnet,
    unet,
    verdict_of_another_run,
)
from tests.support.broken_trees import BOTH, NONE, OFFICIAL, STRICT, Broken
from tests.support.faults import gpt, opened, removed, replaced, texts, tree
from tests.support.tree_files import Record
from tests.support.trees import ACCURACY, DETAIL, SUMMARY

_RUN = "TEST04/performance/run_1"
_SEEDED = {"effective_qsl_rng_seed": 1}
_SAMPLES = "result_completed_samples_per_sec"
_ANSWERS = [(index, [5, 6]) for index in range(20)]

AUDIT_CASES = (
    Broken("AUD-001", removed("TEST04", base=resnet), BOTH, name="TEST04"),
    Broken("AUD-002", removed("TEST01/verify_accuracy.txt", base=resnet), BOTH, name="TEST01"),
    Broken("AUD-002", removed("TEST01/verify_performance.txt", base=resnet), BOTH, name="TEST01-performance"),
    Broken("AUD-002", removed("TEST04/verify_performance.txt", base=resnet), BOTH, name="TEST04"),
    Broken("AUD-002", removed("TEST08/verify_accuracy.txt", base=dlrm), BOTH, name="TEST08"),
    Broken("AUD-002", removed("TEST07/verify_accuracy.txt", base=gpt), BOTH, name="TEST07"),
    Broken("AUD-002", removed("TEST09/verify_output_len.txt", base=gpt), BOTH, name="TEST09"),
    Broken("AUD-002", differing(said=None), STRICT, name="TEST01-empty-with-scores"),
    Broken("AUD-002", latin1(resnet, "TEST01/verify_performance.txt"), OFFICIAL, name="TEST01-latin1"),
    Broken("AUD-002", latin1(gpt, "TEST09/verify_output_len.txt"), OFFICIAL, name="TEST09-latin1"),
    Broken("AUD-002", latin1(tree, "TEST06/verify_accuracy.txt"), OFFICIAL, name="TEST06-latin1"),
    Broken("AUD-007", texts(f"TEST01/accuracy/{ACCURACY}", None, base=resnet), NONE, name="TEST01-missing"),
    Broken("AUD-007", texts(f"TEST08/accuracy/{ACCURACY}", "[\n]\n", base=dlrm), NONE, name="TEST08-empty"),
    Broken("AUD-007", texts(f"TEST01/accuracy/{ACCURACY}", "[\n" + "x" * 10238, base=resnet), NONE, name="no-log"),
    Broken("AUD-008", audited(gpt, "TEST09", effective_schedule_rng_seed=0), NONE, name="seed"),
    Broken("AUD-008", audited(dlrm, "TEST08", effective_min_duration_ms=599_999), NONE, name="TEST08-duration"),
    Broken("AUD-009", removed(f"{_RUN}/{DETAIL}", base=resnet), BOTH),
    Broken("AUD-009", removed("TEST01/performance", base=resnet), BOTH, also=("AUD-010",), name="folder"),
    Broken("AUD-010", removed(f"{_RUN}/{SUMMARY}", base=resnet), BOTH),
    Broken("AUD-010", texts(f"{_RUN}/notes.txt", "x\n", base=resnet), BOTH, name="extra"),
    Broken("AUD-011", texts("TEST01/verify_accuracy.txt", "TEST FAIL\n", base=resnet), BOTH),
    Broken("AUD-011", texts("TEST01/verify_accuracy.txt", "TEST PASS?\n", base=resnet), BOTH, name="in-a-line"),
    Broken("AUD-011", differing(without="baseline_accuracy.txt"), BOTH, name="no-baseline"),
    Broken("AUD-011", differing(extra="notes.txt"), BOTH, name="extra-file"),
    Broken("AUD-011", differing(acc=75.5), BOTH, name="over-1-percent"),
    Broken("AUD-011", differing(base=diffusion, CLIP_SCORE=31.2), BOTH, name="clip-1-percent"),
    Broken("AUD-011", differing(base=diffusion, FID_SCORE=24.2), BOTH, name="fid-2-percent"),
    Broken("AUD-012", replaced("TEST08/verify_accuracy.txt", "TEST PASS", "TEST PASS: all", base=dlrm), BOTH),
    Broken("AUD-013", replaced("TEST04/verify_performance.txt", "TEST PASS", "TEST FAIL", base=resnet), BOTH),
    Broken("AUD-013", texts("TEST01/verify_performance.txt", "Verifying\n", base=resnet), BOTH, name="TEST01"),
    Broken("AUD-014", audited(resnet, "TEST01", **_SEEDED), BOTH, name="qsl-seed"),
    Broken("AUD-014", audited(resnet, "TEST04", effective_min_duration_ms=599_999), BOTH, name="duration"),
    Broken("AUD-014", audited(resnet, "TEST04", effective_performance_sample_count=1023), BOTH, name="samples"),
    Broken("AUD-014", audited(resnet, "TEST01", early_stopping_met=False), BOTH, name="early-stopping"),
    Broken(
        "AUD-014",
        audited(resnet, "TEST01", effective_target_latency_ns=15_000_001),
        BOTH,
        also=("AUD-017",),
        name="latency",
    ),
    Broken("AUD-014", audited(resnet, "TEST01", "Offline", effective_samples_per_query=24575), BOTH, at="Offline"),
    Broken("AUD-014", line_cut(resnet, "TEST04"), BOTH, name="cut-line"),
    Broken("AUD-014", audited(resnet, "TEST04", result_validity="INVALID"), STRICT, also=("AUD-017",), name="invalid"),
    Broken("AUD-014", audited(resnet, "TEST01", **{_SAMPLES: None}), BOTH, name="no-metric"),
    Broken("AUD-014", logged_error, NONE, name="loadgen-error"),
    Broken("AUD-015", audited(resnet, "TEST04", effective_performance_issue_same=False), STRICT),
    Broken("AUD-015", audited(gpt, "TEST07", effective_accuracy_log_sampling_target=0), STRICT, name="no-answers"),
    Broken("AUD-016", audit_log(unet, "TEST01", "Offline", [(0, [5]), (7, [6])]), STRICT, at="Offline"),
    Broken("AUD-016", audit_log(unet, "TEST01", "Offline", [(99, [5])]), STRICT, at="Offline", name="other-samples"),
    Broken("AUD-017", audited(resnet, "TEST01", **{_SAMPLES: 74.5 * 0.8}), STRICT, name="TEST01-slower"),
    Broken("AUD-017", audited(resnet, "TEST01", **{_SAMPLES: 74.5 * 1.2}), STRICT, name="TEST01-faster"),
    Broken("AUD-017", audited(resnet, "TEST04", **{_SAMPLES: 74.5 * 1.2}), STRICT, name="TEST04-faster"),
    Broken("AUD-017", verdict_of_another_run, NONE, name="of-another-run"),
    Broken(
        "AUD-017",
        audited(resnet, "TEST04", "SingleStream", early_stopping_latency_ss=800_000_000),
        NONE,
        at="SingleStream",
        name="TEST04-as-the-script-has-it",
    ),
    Broken("AUD-018", replaced("TEST07/verify_accuracy.txt", "60.698", "60.697", base=gpt), STRICT, name="TEST07"),
    Broken("AUD-018", replaced("TEST09/verify_output_len.txt", "1406.02", "1406.03", base=gpt), STRICT, name="printed"),
    Broken("AUD-018", audit_log(gpt, "TEST09", "Server", _ANSWERS), STRICT, also=("AUD-019",), name="log"),
    Broken("AUD-020", idle_log("no log\n"), OFFICIAL),
    Broken("AUD-020", idle_log(':::MLLOG {"key": "a", "val'), OFFICIAL, name="cut"),
    Broken(
        "AUD-020",
        idle_log(Record("effective_scenario", "Server").line() + ":::MLLOG x\n", opened),
        OFFICIAL,
        name="open",
    ),
    Broken("AUD-019", audit_log(gpt, "TEST07", "Server", _ANSWERS), STRICT, name="TEST07"),
    Broken("AUD-019", replaced("TEST09/verify_output_len.txt", ": 6396", ": 6395", base=gpt), STRICT, name="printed"),
)
"""Official verdicts of these were compared with those of the official checker."""
